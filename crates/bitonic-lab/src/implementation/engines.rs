//! The library's engines as implementations.

use super::{Algorithm, DeviceShare, RunsOn, Settings};
use bitonic::key::KeysMut;
use bitonic::{DeviceTimes, Error, Sorter, with_keys};

/// The library's own sort, in one of its modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum EngineSort {
    /// As it comes, with as many threads as the experiment says.
    Best,
    /// On one thread.
    OneThread,
    /// The pure network: no branch and no address depends on a key.
    Oblivious,
}

impl EngineSort {
    /// Every mode, on everything where it makes a difference.
    pub(super) const ALL: &[(RunsOn, Self)] = &[
        (RunsOn::Cpu, Self::Best),
        (RunsOn::Cpu, Self::OneThread),
        (RunsOn::Cpu, Self::Oblivious),
        (RunsOn::OpenCl, Self::Best),
        (RunsOn::Cuda, Self::Best),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Best => "bitonic",
            Self::OneThread => "bitonic_one_thread",
            Self::Oblivious => "bitonic_oblivious",
        }
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Best => "bitonic::sort, the library's engine",
            Self::OneThread => "bitonic::sort on one thread",
            Self::Oblivious => "bitonic::sort as a pure network, in constant time, on one thread",
        }
    }

    pub(super) fn algorithm(self) -> Algorithm {
        match self {
            Self::Oblivious => Algorithm::Bitonic,
            Self::Best | Self::OneThread => Algorithm::Other,
        }
    }

    pub(super) fn is_one_thread(self) -> bool {
        !matches!(self, Self::Best)
    }

    pub(super) fn sort(
        self,
        keys: KeysMut<'_>,
        runs_on: RunsOn,
        settings: &Settings,
    ) -> Result<Option<DeviceShare>, Error> {
        let sorter = Sorter::new().engine(runs_on.engine()).device(settings.device.clone());
        let sorter = match self {
            Self::Best => sorter.threads(settings.threads.map_or(0, |threads| threads.get())),
            Self::OneThread => sorter.threads(1),
            Self::Oblivious => sorter.threads(1).oblivious(true),
        };
        let report = with_keys!(keys, keys => sorter.sort(keys))?;
        // The CPU's time is not the device's.
        if let Some(reason) = report.fallback {
            let device = report.plan.device.into_owned();
            return Err(Error::Device { device, operation: "sort what was measured", reason });
        }
        Ok(report.times.as_ref().map(DeviceShare::from))
    }
}

impl From<&DeviceTimes> for DeviceShare {
    fn from(times: &DeviceTimes) -> Self {
        Self {
            upload: Some(times.upload),
            kernels: times.kernels,
            busy: None,
            download: Some(times.download),
            launches: Some(times.launches as u64),
            kernel_bytes: Some(times.kernel_bytes),
        }
    }
}
