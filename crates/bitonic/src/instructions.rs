//! The instruction sets that the CPU engine has kernels for.

use crate::error::find_by_name;
use crate::{Engine, Error};
use std::fmt;
use std::sync::OnceLock;

/// An instruction set that the CPU engine has kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Instructions {
    /// 512-bit registers of x86-64 (AVX-512 F, BW, DQ and VL).
    Avx512,
    /// 256-bit registers of x86-64.
    Avx2,
    /// 128-bit registers of AArch64.
    Neon,
    /// What every processor of the target has; the compiler vectorises it as far as the target allows.
    Portable,
}

/// The environment variable that chooses the instruction set for a whole process.
pub(crate) const VARIABLE: &str = "BITONIC_INSTRUCTIONS";

impl Instructions {
    /// Every instruction set, fastest first.
    pub const ALL: &[Self] = &[Self::Avx512, Self::Avx2, Self::Neon, Self::Portable];

    /// The name, as `Display` writes it and `FromStr` reads it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Portable => "portable",
        }
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Portable => true,
        }
    }

    /// The fastest one here, or the one that the environment variable `BITONIC_INSTRUCTIONS` names, if this processor has it.
    /// Found out once for the process.
    #[inline]
    pub fn detected() -> Self {
        Available::detected().set()
    }
}

/// An instruction set that this processor has. Nothing but detection makes one, so whoever holds it may run its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Available(Instructions);

impl Available {
    /// What the compiler makes of plain Rust runs everywhere.
    pub(crate) const PORTABLE: Self = Self(Instructions::Portable);

    /// The instruction set, if this processor has it.
    pub(crate) fn of(set: Instructions) -> Option<Self> {
        set.is_available().then_some(Self(set))
    }

    /// The instruction set, or the error that this processor lacks it.
    pub(crate) fn require(set: Instructions) -> Result<Self, Error> {
        Self::of(set).ok_or_else(|| Error::EngineUnavailable {
            engine: Engine::Cpu,
            reason: format!("this processor has no {set}"),
            advice: format!("leave the choice to bitonic, which takes {} here", Instructions::detected()),
        })
    }

    /// See [`Instructions::detected`].
    #[inline]
    pub(crate) fn detected() -> Self {
        static DETECTED: OnceLock<Available> = OnceLock::new();
        *DETECTED.get_or_init(Self::detect)
    }

    /// Which one it is.
    #[inline(always)]
    pub(crate) fn set(self) -> Instructions {
        self.0
    }

    #[cold]
    fn detect() -> Self {
        let best = Instructions::ALL.iter().find_map(|&set| Self::of(set)).unwrap_or(Self::PORTABLE);
        let best_set = best.set();
        let chosen = match std::env::var(VARIABLE).ok().map(|name| name.parse::<Instructions>()) {
            None => best,
            Some(Ok(set)) => Self::of(set).unwrap_or_else(|| {
                tracing::warn!("{VARIABLE} names {set}, which this processor lacks: using {best_set}");
                best
            }),
            Some(Err(error)) => {
                tracing::warn!("{VARIABLE}: {error}; using {best_set}");
                best
            }
        };
        tracing::debug!(instructions = %chosen.set(), "CPU engine");
        chosen
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Instructions {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        find_by_name("instruction set", name, Self::ALL, Self::name)
    }
}
