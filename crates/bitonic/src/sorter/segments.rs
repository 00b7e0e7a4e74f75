//! Segments of any lengths.

use super::{Operation, Sorter, arrays_of_indices, arrays_of_pairs, check_lengths};
use crate::cpu::{self, Bounds, KeysPlan, Settings};
use crate::gpu::execute::{HostArrays, HostData};
use crate::key::{Bits, Key, as_bits, as_bits_mut, bits_as_bytes_mut};
use crate::plan::Plan;
use crate::request::{Request, Segments};
use crate::{Error, Report};

impl Sorter {
    /// Sorts every segment of keys for itself, in place. Segment i has the keys from `offsets[i]` to `offsets[i + 1]`: there is one
    /// offset more than segments. Segments may be empty; keys before the first offset and from the last on stay as they are.
    ///
    /// - Order and result: as in [`Sorter::sort`].
    /// - Memory: as in [`Sorter::sort`]; what devices need, [`Sorter::plan_segments`] says.
    /// - Engine: the CPU, or a device that is asked for by name. Of segments that its memory does not hold it gets as many at a time as
    ///   fit; one that does not fit alone is cut, and merged on the host. See [`Sorter::chunks`].
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
        // SAFETY: every segment gets back a permutation of its bits.
        let keys = unsafe { as_bits_mut(keys) };
        self.run(request, &mut KeysOfSegments { keys, offsets })
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
        // SAFETY: every segment gets back a permutation of its bits.
        let keys = unsafe { as_bits_mut(keys) };
        self.run(request, &mut PairsOfSegments { keys, values, offsets })
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
        let keys = as_bits(keys);
        self.run(request, &mut ArgsortOfSegments { keys, indices: &mut indices, offsets })?;
        Ok(indices)
    }

    /// What [`Sorter::sort_segments`] would do with this many keys.
    pub fn plan_segments<K: Key>(&self, len: usize, offsets: &[usize]) -> Result<Plan, Error> {
        let request = Request::keys::<K>(Segments::offsets(offsets, len)?);
        self.plan_of_segments(request, Some(offsets), cpu::plan_keys::<K::Bits>)
    }

    /// What [`Sorter::sort_pairs_segments`] would do with this many keys and values.
    pub fn plan_pairs_segments<K: Key, V>(&self, len: usize, offsets: &[usize]) -> Result<Plan, Error> {
        let request = Request::pairs::<K, V>(Segments::offsets(offsets, len)?);
        self.plan_of_segments(request, Some(offsets), cpu::plan_pairs::<K::Bits, V>)
    }

    /// What [`Sorter::argsort_segments`] would do with this many keys.
    pub fn plan_argsort_segments<K: Key>(&self, len: usize, offsets: &[usize]) -> Result<Plan, Error> {
        let request = Request::argsort::<K>(Segments::offsets(offsets, len)?);
        self.plan_of_segments(request, Some(offsets), cpu::plan_argsort::<K::Bits>)
    }
}

/// What the segments are cut from.
fn covered(offsets: &[usize]) -> std::ops::Range<usize> {
    Bounds::Offsets(offsets).covered()
}

struct KeysOfSegments<'a, B> {
    keys: &'a mut [B],
    offsets: &'a [usize],
}

impl<B: Bits> Operation for KeysOfSegments<'_, B> {
    fn plan_for_cpu(&self, request: &Request, settings: Settings) -> KeysPlan {
        cpu::plan_keys::<B>(request, settings)
    }

    fn run_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error> {
        cpu::sort_parts(self.keys, request.map(), Bounds::Offsets(self.offsets), settings)
    }

    fn data(&mut self, _: &Request) -> Result<HostData<'_>, Error> {
        let arrays = HostArrays::Keys(bits_as_bytes_mut(&mut self.keys[covered(self.offsets)]));
        Ok(HostData { arrays, offsets: Some(self.offsets) })
    }

    fn offsets(&self) -> Option<&[usize]> {
        Some(self.offsets)
    }
}

struct PairsOfSegments<'a, B, V> {
    keys: &'a mut [B],
    values: &'a mut [V],
    offsets: &'a [usize],
}

impl<B: Bits, V: Copy + Send> Operation for PairsOfSegments<'_, B, V> {
    fn plan_for_cpu(&self, request: &Request, settings: Settings) -> KeysPlan {
        cpu::plan_pairs::<B, V>(request, settings)
    }

    fn run_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error> {
        let bounds = Bounds::Offsets(self.offsets);
        cpu::sort_pairs_of_parts(self.keys, self.values, request.map(), bounds, request.stable, settings)
    }

    fn data(&mut self, request: &Request) -> Result<HostData<'_>, Error> {
        let covered = covered(self.offsets);
        let arrays = arrays_of_pairs(&mut self.keys[covered.clone()], &mut self.values[covered], request);
        Ok(HostData { arrays, offsets: Some(self.offsets) })
    }

    fn offsets(&self) -> Option<&[usize]> {
        Some(self.offsets)
    }
}

struct ArgsortOfSegments<'a, B> {
    keys: &'a [B],
    indices: &'a mut Vec<usize>,
    offsets: &'a [usize],
}

impl<B: Bits> Operation for ArgsortOfSegments<'_, B> {
    fn plan_for_cpu(&self, request: &Request, settings: Settings) -> KeysPlan {
        cpu::plan_argsort::<B>(request, settings)
    }

    fn run_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error> {
        *self.indices =
            cpu::argsort_parts(self.keys, request.map(), Bounds::Offsets(self.offsets), settings)?;
        Ok(())
    }

    fn data(&mut self, _: &Request) -> Result<HostData<'_>, Error> {
        let arrays = arrays_of_indices(&self.keys[covered(self.offsets)], self.indices)?;
        Ok(HostData { arrays, offsets: Some(self.offsets) })
    }

    fn offsets(&self) -> Option<&[usize]> {
        Some(self.offsets)
    }
}
