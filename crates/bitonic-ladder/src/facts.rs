//! What can be known of a rung before it runs: which lengths it takes and what it runs on.

use bitonic::Engine;
use std::fmt;

/// The lengths that a rung can sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sizes {
    /// Every length.
    Any,
    /// Powers of two, and the empty slice.
    PowerOfTwo,
}

impl Sizes {
    /// Whether a slice of this length can be sorted.
    pub const fn contain(self, len: usize) -> bool {
        match self {
            Self::Any => true,
            Self::PowerOfTwo => len == 0 || len.is_power_of_two(),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Any => "any",
            Self::PowerOfTwo => "powers of two",
        })
    }
}

/// What a rung runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunsOn {
    /// The processor.
    Cpu,
    /// A device with an OpenCL driver: most often a GPU, but there are drivers that make one of the processor.
    OpenCl,
    /// An NVIDIA GPU, through its CUDA driver and the compiler NVRTC.
    Cuda,
}

impl RunsOn {
    /// What rungs run on when they use this engine's devices; `None` for engines without devices, and for those that rungs do
    /// not know.
    pub const fn of(engine: Engine) -> Option<Self> {
        match engine {
            Engine::OpenCl => Some(Self::OpenCl),
            Engine::Cuda => Some(Self::Cuda),
            _ => None,
        }
    }

    /// The name, as `Display` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::OpenCl => "opencl",
            Self::Cuda => "cuda",
        }
    }
}

impl fmt::Display for RunsOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
