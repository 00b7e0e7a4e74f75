//! What sorts run on.

use bitonic::{DeviceChoice, Engine, Error};
use std::fmt;

/// What a sort runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    /// The engine that runs on it.
    pub const fn engine(self) -> Engine {
        match self {
            Self::Cpu => Engine::Cpu,
            Self::OpenCl => Engine::OpenCl,
            Self::Cuda => Engine::Cuda,
        }
    }

    /// What a GPU is here: CUDA where there is such a device, else OpenCL.
    pub fn gpu(device: &DeviceChoice) -> Self {
        match Self::Cuda.check(device) {
            Ok(()) => Self::Cuda,
            Err(_) => Self::OpenCl,
        }
    }

    /// Checks that something can run on it here.
    ///
    /// # Errors
    ///
    /// The reason, with the way out.
    pub fn check(self, device: &DeviceChoice) -> Result<(), Error> {
        match self {
            Self::Cpu => Ok(()),
            _ => bitonic::device::open(self.engine(), device).map(drop),
        }
    }

    /// Whether it is a device, and not the processor.
    pub const fn is_device(self) -> bool {
        !matches!(self, Self::Cpu)
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
