//! The keys of a job on a device: brought there, sorted, fetched, compared.

use super::contender::Own;
use super::ground::{Arrays, Ground, Run};
use super::job::Job;
use super::keys::{Bytes, Fetched, Keys};
use crate::failure::Failure;
use bitonic_ladder::Rung;
use bitonic_testkit::TestKey;
use std::time::{Duration, Instant};

/// The keys of a job, and room for them on a device.
pub(super) struct Arena<'a, G: Ground> {
    ground: &'a G,
    job: Job,
    keys: &'a Keys,
    /// What is sorted.
    arrays: Arrays<G::Buffer>,
    /// The same unsorted, where the device can copy it from there.
    unsorted: Option<Arrays<G::Buffer>>,
    fetched: Fetched,
}

impl<'a, G: Ground> Arena<'a, G> {
    pub(super) fn new(ground: &'a G, job: Job, keys: &'a Keys) -> Result<Self, Failure> {
        let arrays = allocate(ground, keys.own())?;
        let unsorted = G::COPIES.then(|| allocate(ground, keys.own())).transpose()?;
        if let Some(unsorted) = &unsorted {
            upload(ground, keys.own(), unsorted)?;
        }
        Ok(Self { ground, job, keys, arrays, unsorted, fetched: Fetched::room_for(keys.own()) })
    }

    /// Sorts the unsorted keys over and over until so much time is over, so that the device is awake; then fetches what the
    /// last sort has made of them and compares. What the last one took.
    pub(super) fn run<K: TestKey>(&mut self, own: Own, warm_up: Duration) -> Result<Run, Failure> {
        let started = Instant::now();
        let run = loop {
            let run = self.run_once::<K>(own)?;
            if started.elapsed() >= warm_up {
                break run;
            }
        };
        if own != Own::Copy {
            self.verify(own)?;
        }
        Ok(run)
    }

    /// What a rung takes for the first keys of the job.
    pub(super) fn time_rung<K: TestKey>(&self, rung: Rung, len: usize) -> Result<Duration, Failure> {
        self.ground.upload(&self.keys.ordered().input[..len * size_of::<K>()], &self.arrays.keys)?;
        Ok(self.ground.sort_with_rung::<K::Bits>(rung, &self.arrays.keys, len)?.span)
    }

    fn run_once<K: TestKey>(&self, own: Own) -> Result<Run, Failure> {
        let copied = self.restore(self.form(own))?;
        match own {
            Own::Engine(way) => self.ground.sort::<K>(way, &self.arrays, self.job.rows),
            Own::Rung(rung) => self.ground.sort_with_rung::<K::Bits>(rung, &self.arrays.keys, self.job.len()),
            Own::Copy => Ok(Run { span: copied, launches: Some(1), note: String::new() }),
        }
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
        match &self.unsorted {
            Some(unsorted) if std::ptr::eq(form, self.keys.own()) => {
                let mut span = self.ground.copy(&unsorted.keys, &self.arrays.keys)?;
                if let (Some(from), Some(to)) = (&unsorted.values, &self.arrays.values) {
                    span += self.ground.copy(from, to)?;
                }
                Ok(span)
            }
            _ => upload(self.ground, form, &self.arrays).map(|()| Duration::ZERO),
        }
    }

    fn verify(&mut self, own: Own) -> Result<(), Failure> {
        self.ground.download(&self.arrays.keys, &mut self.fetched.keys)?;
        if let Some(values) = &self.arrays.values {
            self.ground.download(values, &mut self.fetched.values)?;
        }
        match self.form(own).mistake(&self.fetched) {
            None => Ok(()),
            Some(mistake) => Err(Failure::new(format!(
                "{} sorted {} {} keys in rows of {} wrongly, {mistake}; this is a defect of bitonic or of the device's \
                 driver, please report it with this command line and `bitonic devices`",
                own.name(),
                self.job.len(),
                self.job.key_type,
                self.job.rows.row_length,
            ))),
        }
    }
}

fn allocate<G: Ground>(ground: &G, bytes: &Bytes) -> Result<Arrays<G::Buffer>, Failure> {
    let has_values = !bytes.values.is_empty();
    let values = has_values.then(|| ground.allocate(bytes.values.len())).transpose()?;
    Ok(Arrays { keys: ground.allocate(bytes.input.len())?, values })
}

fn upload<G: Ground>(ground: &G, bytes: &Bytes, arrays: &Arrays<G::Buffer>) -> Result<(), Failure> {
    ground.upload(&bytes.input, &arrays.keys)?;
    match &arrays.values {
        Some(values) => ground.upload(&bytes.values, values),
        None => Ok(()),
    }
}
