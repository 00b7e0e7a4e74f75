//! What there is to sort with.

use crate::Error;
use crate::error::find_by_name;
use std::fmt;

/// What does the sorting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// The best engine here for the keys at hand: a device where `bitonic tune` measured that it is faster, transfers
    /// included, and the CPU otherwise, or when the device fails.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A device with an OpenCL driver; see [`opencl`](crate::opencl).
    OpenCl,
    /// An NVIDIA GPU, through its CUDA driver; see [`cuda`](crate::cuda).
    Cuda,
}

impl Engine {
    /// Every engine.
    pub const ALL: &[Self] = &[Self::Auto, Self::Cpu, Self::OpenCl, Self::Cuda];

    /// Whether it sorts on devices that are opened for it; the CPU engine does not, and `Auto` chooses among the others.
    pub const fn has_devices(self) -> bool {
        !matches!(self, Self::Auto | Self::Cpu)
    }

    /// Whether its kernels are built by compilers of other vendors, of which nobody has seen all.
    pub(crate) const fn compiles_elsewhere(self) -> bool {
        matches!(self, Self::OpenCl)
    }

    /// The engine's name, as `Display` writes it and `FromStr` reads it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::OpenCl => "opencl",
            Self::Cuda => "cuda",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        find_by_name("engine", name, Self::ALL, Self::name)
    }
}
