//! What implementations run on.

use bitonic::{DeviceChoice, Engine};
use std::fmt;

/// What an implementation runs on: the place in its full name, `place:name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunsOn {
    /// The processor.
    Cpu,
    /// A device with an OpenCL driver.
    OpenCl,
    /// An NVIDIA GPU with its CUDA driver.
    Cuda,
}

/// The name that stands for CUDA or OpenCL, whichever is better here.
pub(super) const GPU: &str = "gpu";

impl RunsOn {
    /// Everything that there is to run on.
    pub const ALL: &[Self] = &[Self::Cpu, Self::OpenCl, Self::Cuda];

    /// The name, as `Display` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::OpenCl => "opencl",
            Self::Cuda => "cuda",
        }
    }

    /// What has this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|runs_on| runs_on.name() == name)
    }

    /// Whether it is a device, and not the processor.
    pub const fn is_device(self) -> bool {
        !matches!(self, Self::Cpu)
    }

    /// Checks that sorts on it can be measured here.
    ///
    /// # Errors
    ///
    /// The reason, with the way out.
    pub fn check(self, device: &DeviceChoice) -> Result<(), bitonic::Error> {
        match self {
            Self::Cpu => Ok(()),
            _ => bitonic::device::open(self.engine(), device).map(drop),
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

    /// What `gpu` stands for here: CUDA where there is such a device, else OpenCL.
    pub fn gpu(device: &DeviceChoice) -> Self {
        match Self::Cuda.check(device) {
            Ok(()) => Self::Cuda,
            Err(_) => Self::OpenCl,
        }
    }
}

impl fmt::Display for RunsOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
