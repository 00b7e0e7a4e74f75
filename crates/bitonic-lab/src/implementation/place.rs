//! Where implementations work.

use bitonic::{DeviceChoice, Engine};
use std::fmt;

/// Where an implementation works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The processor.
    Cpu,
    /// A device with an OpenCL driver.
    OpenCl,
    /// An NVIDIA GPU with its CUDA driver.
    Cuda,
}

/// The name that stands for the best place with a device.
pub(super) const GPU: &str = "gpu";

impl Place {
    /// Every place.
    pub const ALL: &[Self] = &[Self::Cpu, Self::OpenCl, Self::Cuda];

    /// The place's name, as `Display` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::OpenCl => "opencl",
            Self::Cuda => "cuda",
        }
    }

    /// The place of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|place| place.name() == name)
    }

    /// Whether it is a device, and not the processor.
    pub const fn is_device(self) -> bool {
        !matches!(self, Self::Cpu)
    }

    /// Why nothing can be measured at this place here.
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

    /// The engine that works there.
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

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
