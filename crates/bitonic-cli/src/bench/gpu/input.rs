//! What contenders share: keys on a device, and the programs of other libraries.

use super::contender::Own;
use super::device::{Arrays, MeasuredDevice, Run};
use super::job::Job;
use super::keys::{Bytes, Keys};
use crate::failure::Failure;
use bitonic::device::Driver;
use bitonic_lab::measure::{Timed, WarmUp};
use bitonic_lab::peer::{Exchanged, Fetched, Peer};
use bitonic_ladder::Rung;
use std::time::Duration;

/// The keys of a job, room for them on a device, and the peers that sort them, too.
pub(super) struct DeviceInput<'a, D: Driver> {
    device: &'a MeasuredDevice<D>,
    job: Job,
    keys: &'a Keys,
    /// What is sorted.
    arrays: Arrays<D::Buffer>,
    /// The same unsorted.
    unsorted: Arrays<D::Buffer>,
    fetched: Fetched,
    peers: &'a mut [Peer],
}

impl<'a, D: Driver> DeviceInput<'a, D> {
    pub(super) fn new(
        device: &'a MeasuredDevice<D>,
        job: Job,
        keys: &'a Keys,
        peers: &'a mut [Peer],
    ) -> Result<Self, Failure> {
        let arrays = allocate(device, keys.own())?;
        let unsorted = allocate(device, keys.own())?;
        upload(device, keys.own(), &unsorted)?;
        let fetched =
            Fetched { keys: vec![0; keys.own().input.len()], values: vec![0; keys.own().values.len()] };
        Ok(Self { device, job, keys, arrays, unsorted, fetched, peers })
    }

    /// Every peer with the names of its sorts for these keys, or why it has none.
    pub(super) fn offers(&mut self) -> Vec<(&'static str, Result<Vec<String>, String>)> {
        let (job, bytes) = (self.job, self.keys.own());
        let offered = Exchanged {
            key_type: job.key_type,
            rows: job.rows.rows,
            row_length: job.rows.row_length,
            keys: &bytes.input,
            values: &bytes.values,
        };
        let sorts = |peer: &mut Peer| match job.is_in_order_by_comparison() {
            false => Err(format!("{} keys have NaN, which peers compare otherwise", job.pattern)),
            true => match peer.offer(offered) {
                Ok(sorts) if sorts.is_empty() => Err("has no sort for such keys".to_owned()),
                sorts => sorts,
            },
        };
        self.peers.iter_mut().map(|peer| (peer.name, sorts(peer))).collect()
    }

    /// Restores the unsorted keys and sorts them.
    pub(super) fn run(&self, own: Own) -> Result<Run, Failure> {
        let copied = self.restore(self.form(own))?;
        match own {
            Own::Engine(mode) => self.device.sort(mode, self.job.key_type, &self.arrays, self.job.rows),
            Own::Rung(rung) => self.sort_with_rung(rung, self.job.len()),
            Own::Copy => Ok(Run { span: copied, launches: 1 }),
        }
    }

    /// What a rung takes for the first keys of the job.
    pub(super) fn time_rung(&self, rung: Rung, len: usize) -> Result<Duration, Failure> {
        let bytes = len * self.job.key_type.bytes();
        self.device.upload(&self.keys.ordered().input[..bytes], &self.arrays.keys)?;
        Ok(self.sort_with_rung(rung, len)?.span)
    }

    fn sort_with_rung(&self, rung: Rung, len: usize) -> Result<Run, Failure> {
        self.device.sort_with_rung(rung, self.job.key_type, &self.arrays.keys, len)
    }

    /// What is wrong with the keys on the device after a run, if anything is.
    pub(super) fn mistake(&mut self, own: Own) -> Result<Option<String>, Failure> {
        if own == Own::Copy {
            return Ok(None);
        }
        self.device.download(&self.arrays.keys, &mut self.fetched.keys)?;
        if let Some(values) = &self.arrays.values {
            self.device.download(values, &mut self.fetched.values)?;
        }
        Ok(self.form(own).mistake(&self.fetched))
    }

    /// Lets a peer sort.
    pub(super) fn run_peer(&mut self, name: &str, sort: &str, warm_up: WarmUp) -> Result<Timed, String> {
        self.peer(name)?.run(sort, warm_up)
    }

    /// What is wrong with the result of a peer's last sort, if anything is.
    pub(super) fn mistake_of_peer(&mut self, name: &str) -> Result<Option<String>, String> {
        let has_values = self.job.has_values;
        let fetched = self.peer(name)?.fetch(has_values)?;
        Ok(self.keys.own().mistake(&fetched))
    }

    fn peer(&mut self, name: &str) -> Result<&mut Peer, String> {
        let peer = self.peers.iter_mut().find(|peer| peer.name == name);
        peer.ok_or_else(|| format!("there is no peer {name}"))
    }

    /// The form of the keys that a contender sorts.
    fn form(&self, own: Own) -> &'a Bytes {
        match own {
            Own::Engine(_) | Own::Copy => self.keys.own(),
            Own::Rung(_) => self.keys.ordered(),
        }
    }

    /// Brings the unsorted keys back; what copying them took on the device, if it is that.
    fn restore(&self, form: &Bytes) -> Result<Duration, Failure> {
        if !std::ptr::eq(form, self.keys.own()) {
            return upload(self.device, form, &self.arrays).map(|()| Duration::ZERO);
        }
        let mut span = self.device.copy(&self.unsorted.keys, &self.arrays.keys)?;
        if let (Some(from), Some(to)) = (&self.unsorted.values, &self.arrays.values) {
            span += self.device.copy(from, to)?;
        }
        Ok(span)
    }
}

fn allocate<D: Driver>(device: &MeasuredDevice<D>, bytes: &Bytes) -> Result<Arrays<D::Buffer>, Failure> {
    let has_values = !bytes.values.is_empty();
    let values = has_values.then(|| device.allocate(bytes.values.len())).transpose()?;
    Ok(Arrays { keys: device.allocate(bytes.input.len())?, values })
}

fn upload<D: Driver>(
    device: &MeasuredDevice<D>,
    bytes: &Bytes,
    arrays: &Arrays<D::Buffer>,
) -> Result<(), Failure> {
    device.upload(&bytes.input, &arrays.keys)?;
    match &arrays.values {
        Some(values) => device.upload(&bytes.values, values),
        None => Ok(()),
    }
}
