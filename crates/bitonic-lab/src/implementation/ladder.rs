//! The ladder's rungs as implementations: the one file that knows how a rung is run.

use super::{Algorithm, DeviceShare, RunsOn, Settings};
use bitonic::key::KeysMut;
use bitonic::with_keys;
use bitonic_ladder::{DeviceTimes, LadderError, Options, Rung};

/// A rung of the ladder.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RungSort(Rung);

impl RungSort {
    /// Every rung, with everything that it runs on.
    pub(super) fn all() -> impl Iterator<Item = (RunsOn, Self)> {
        Rung::ALL.iter().flat_map(|&rung| rung.runs_on().iter().map(move |&runs_on| (runs_on, Self(rung))))
    }

    pub(super) fn rung(&self) -> Rung {
        self.0
    }

    pub(super) fn name(&self) -> &'static str {
        self.0.name()
    }

    pub(super) fn description(&self) -> &'static str {
        self.0.description()
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        Algorithm::of(self.0)
    }

    pub(super) fn is_parallel(&self) -> bool {
        self.0.is_parallel()
    }

    pub(super) fn takes(&self, len: usize) -> bool {
        self.0.sizes().contain(len)
    }

    /// Sorts on `runs_on`, which is one of the rung's.
    pub(super) fn sort(
        &self,
        keys: KeysMut<'_>,
        runs_on: RunsOn,
        settings: &Settings,
    ) -> Result<Option<DeviceShare>, LadderError> {
        let options = Options {
            threads: settings.threads,
            device: settings.device.clone(),
            runs_on: Some(runs_on),
            ..Options::default()
        };
        let (times, bytes) = with_keys!(keys, keys => (self.0.sort_timed(keys, &options), size_of_val(keys)));
        Ok(times?.device.map(|device| DeviceShare::of_rung(&device, bytes)))
    }
}

impl DeviceShare {
    /// What a device did for a rung that sorted keys of so many bytes. Every kernel of a rung reads and writes every key once.
    pub fn of_rung(times: &DeviceTimes, bytes: usize) -> Self {
        let launches: usize = times.kernels.each.iter().map(|kernel| kernel.launches).sum();
        Self {
            upload: Some(times.upload),
            kernels: times.kernels.span,
            busy: Some(times.kernels.each.iter().map(|kernel| kernel.time).sum()),
            download: Some(times.download),
            launches: Some(launches as u64),
            kernel_bytes: Some(2 * launches as u64 * bytes as u64),
        }
    }
}
