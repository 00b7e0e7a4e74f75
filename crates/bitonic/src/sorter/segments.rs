//! Segments of any lengths: doors to the CPU engine's parts.

use super::{CpuPlanner, Sorter, check_lengths, report};
use crate::cpu::{self, Bounds, Settings};
use crate::key::{Key, as_bits, as_bits_mut};
use crate::plan::Plan;
use crate::request::{Request, Segments};
use crate::{Error, Report};
use std::time::Instant;

impl Sorter {
    /// Sorts every segment of keys for itself, in place. Segment i has the keys from `offsets[i]` to `offsets[i + 1]`: there is one
    /// offset more than segments. Segments may be empty; keys before the first offset and from the last on stay as they are.
    ///
    /// - Order and result: as in [`Sorter::sort`].
    /// - Memory: in place for 32- and 64-bit keys; what others need, [`Sorter::plan_segments`] says.
    /// - Engine: the CPU. A device that is asked for by name refuses; see [`Request::check`].
    /// - Errors: [`Error::Offsets`] if the offsets do not ascend or end after the keys; nothing is moved then.
    ///
    /// ```
    /// let mut keys = [3, 1, 2, 9, 7, 8];
    /// bitonic::Sorter::new().sort_segments(&mut keys, &[0, 2, 2, 6])?;
    /// assert_eq!(keys, [1, 3, 2, 7, 8, 9]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn sort_segments<K: Key>(&self, keys: &mut [K], offsets: &[usize]) -> Result<Report, Error> {
        let request = Request::keys::<K>(Segments::offsets(offsets, keys.len())?);
        self.run_parts(request, cpu::plan_keys::<K::Bits>, |settings| {
            // SAFETY: every part gets back a permutation of its bits.
            let bits = unsafe { as_bits_mut(keys) };
            cpu::sort_parts(bits, settings.map::<K>(), Bounds::Offsets(offsets), settings)
        })
    }

    /// Sorts every segment of keys for itself, in place, and moves every value with its key. Segments as in
    /// [`Sorter::sort_segments`], order, result and stability as in [`Sorter::sort_pairs`].
    ///
    /// - Errors: [`Error::LengthMismatch`], and those of [`Sorter::sort_segments`]; nothing is moved then.
    ///
    /// ```
    /// let (mut keys, mut values) = ([3, 1, 2, 9], ["c", "a", "b", "z"]);
    /// bitonic::Sorter::new().sort_pairs_segments(&mut keys, &mut values, &[0, 3, 4])?;
    /// assert_eq!(values, ["a", "b", "c", "z"]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn sort_pairs_segments<K: Key, V: Copy + Send>(
        &self,
        keys: &mut [K],
        values: &mut [V],
        offsets: &[usize],
    ) -> Result<Report, Error> {
        check_lengths(keys, values)?;
        let request = Request::pairs::<K, V>(Segments::offsets(offsets, keys.len())?);
        self.run_parts(request, cpu::plan_pairs::<K::Bits, V>, |settings| {
            let (map, bounds) = (settings.map::<K>(), Bounds::Offsets(offsets));
            // SAFETY: every part gets back a permutation of its bits.
            let bits = unsafe { as_bits_mut(keys) };
            cpu::sort_pairs_of_parts(bits, values, map, bounds, self.stable, settings)
        })
    }

    /// The index of every key within its segment, in the order of the segment; equal keys by lowest index. The keys stay as they
    /// are. Segments as in [`Sorter::sort_segments`]; there is an index for every key of a segment, those of the first segment
    /// first.
    ///
    /// ```
    /// let order = bitonic::Sorter::new().argsort_segments(&[30, 10, 20, 9], &[0, 3, 4])?;
    /// assert_eq!(order, [1, 2, 0, 0]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn argsort_segments<K: Key>(&self, keys: &[K], offsets: &[usize]) -> Result<Vec<usize>, Error> {
        let request = Request::argsort::<K>(Segments::offsets(offsets, keys.len())?);
        let mut indices = Vec::new();
        self.run_parts(request, cpu::plan_argsort::<K::Bits>, |settings| {
            let map = settings.map::<K>();
            indices = cpu::argsort_parts(as_bits(keys), map, Bounds::Offsets(offsets), settings)?;
            Ok(())
        })?;
        Ok(indices)
    }

    /// What [`Sorter::sort_segments`] would do with this many keys.
    pub fn plan_segments<K: Key>(&self, len: usize, offsets: &[usize]) -> Result<Plan, Error> {
        self.plan_parts(Request::keys::<K>(Segments::offsets(offsets, len)?), cpu::plan_keys::<K::Bits>)
    }

    /// What [`Sorter::sort_pairs_segments`] would do with this many keys and values.
    pub fn plan_pairs_segments<K: Key, V>(&self, len: usize, offsets: &[usize]) -> Result<Plan, Error> {
        self.plan_parts(
            Request::pairs::<K, V>(Segments::offsets(offsets, len)?),
            cpu::plan_pairs::<K::Bits, V>,
        )
    }

    /// What [`Sorter::argsort_segments`] would do with this many keys.
    pub fn plan_argsort_segments<K: Key>(&self, len: usize, offsets: &[usize]) -> Result<Plan, Error> {
        self.plan_parts(Request::argsort::<K>(Segments::offsets(offsets, len)?), cpu::plan_argsort::<K::Bits>)
    }

    /// The plan of a request that only the CPU can do.
    fn plan_parts(&self, request: Request, for_cpu: CpuPlanner) -> Result<Plan, Error> {
        let request = self.complete(request);
        request.check(self.engine)?;
        let settings = self.settings()?;
        Ok(cpu::plan_request(&request, settings, for_cpu(&request, settings)))
    }

    /// Plans and runs a request that only the CPU can do.
    fn run_parts(
        &self,
        request: Request,
        for_cpu: CpuPlanner,
        work: impl FnOnce(Settings) -> Result<(), Error>,
    ) -> Result<Report, Error> {
        let started = Some(Instant::now());
        let plan = self.plan_parts(request, for_cpu)?;
        work(self.settings()?)?;
        report(|| plan, None, None, started)
    }
}
