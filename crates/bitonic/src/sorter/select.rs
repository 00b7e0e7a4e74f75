//! Less than a sort: the key of one rank, the first keys in order, the best k.

use super::{Operation, Sorter};
use crate::Error;
use crate::cpu::{self, Bounds, KeysPlan, Settings};
use crate::gpu::execute::{HostArrays, HostData};
use crate::key::{Bits, Key, Order, as_bits, bits_as_bytes, bits_as_bytes_mut};
use crate::plan::Plan;
use crate::request::{Request, Segments};

/// The best k keys and where they were, the best first: see [`Sorter::top_k`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopK<K> {
    /// The keys, in order.
    pub keys: Vec<K>,
    /// The index of each of them.
    pub indices: Vec<usize>,
}

/// What [`Sorter::select_nth`] gives: what is before the place, the key there, what is behind it.
type Selected<'a, K> = (&'a mut [K], &'a mut K, &'a mut [K]);

impl Sorter {
    /// The `k` largest keys and their indices, the largest first; with [`order(Order::Ascending)`](Sorter::order) the smallest ones,
    /// the smallest first. Of equal keys those with the lowest indices come, in the order of their indices, so that there is one
    /// answer. If there are fewer keys, all come. The keys stay as they are.
    ///
    /// - Order: total, as in [`Sorter::sort`]: a positive NaN is larger than every number, unless [`Sorter::nan_last`] says otherwise.
    /// - Memory: on the CPU for about 2 `k` keys and indices in each thread; with [`oblivious(true)`](Sorter::oblivious) as much as for
    ///   an argsort of all keys. On a device for the keys, and some thousand candidates; for more than some thousand best keys, or
    ///   obliviously, as much as for an argsort.
    /// - Obliviously, all keys are sorted with their indices by the network, on every engine, and the first `k` are taken: `k` changes
    ///   what is returned, and nothing else.
    /// - Engine: with [`Engine::Auto`](crate::Engine::Auto) the CPU, which reads all keys in less time than it takes to send them to a
    ///   device. Keys that are on a device already are for its `ResidentSorter`.
    /// - Errors: those of [`Sorter::argsort`].
    ///
    /// ```
    /// let top = bitonic::Sorter::new().top_k(&[0.5_f32, 2.5, -1.0, 2.5, 1.0], 3)?;
    /// assert_eq!((top.keys, top.indices), (vec![2.5, 2.5, 1.0], vec![1, 3, 4]));
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn top_k<K: Key>(&self, keys: &[K], k: usize) -> Result<TopK<K>, Error> {
        self.for_top().top_of_parts(keys, Segments::one(keys.len()), None, k)
    }

    /// [`Sorter::top_k`] of every row of `row_length` keys, one after the other: `k` keys and indices for each, or `row_length`
    /// if that is less. Indices count from the beginning of the row.
    ///
    /// - Errors: [`Error::Rows`] if the keys are not a whole number of rows.
    ///
    /// ```
    /// let top = bitonic::Sorter::new().top_k_rows(&[3, 1, 2, 7, 9, 8], 3, 2)?;
    /// assert_eq!((top.keys, top.indices), (vec![3, 2, 9, 8], vec![0, 2, 1, 2]));
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn top_k_rows<K: Key>(&self, keys: &[K], row_length: usize, k: usize) -> Result<TopK<K>, Error> {
        self.for_top().top_of_parts(keys, Segments::rows(keys.len(), row_length)?, None, k)
    }

    /// What [`Sorter::top_k`] would do with this many keys.
    ///
    /// ```
    /// let plan = bitonic::Sorter::new().plan_top_k::<f32>(1_000_000, 50)?;
    /// assert!(plan.memory.host < 1_000_000);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn plan_top_k<K: Key>(&self, len: usize, k: usize) -> Result<Plan, Error> {
        self.for_top().plan_of(Request::top::<K>(Segments::one(len), k), cpu::top::plan_top::<K::Bits>)
    }

    /// What [`Sorter::top_k_rows`] would do with this many keys.
    pub fn plan_top_k_rows<K: Key>(&self, len: usize, row_length: usize, k: usize) -> Result<Plan, Error> {
        let segments = Segments::rows(len, row_length)?;
        self.for_top().plan_of(Request::top::<K>(segments, k), cpu::top::plan_top::<K::Bits>)
    }

    /// [`Sorter::top_k`] of every segment, one after the other. Segments as in [`Sorter::sort_segments`]; one with fewer than `k` keys
    /// gives all of them. Indices count from the beginning of the segment.
    ///
    /// - Engine: as for [`Sorter::top_k`]. A device has `k` places for the best of each segment; where these are more than keys, all segments
    ///   are sorted instead. Of segments that its memory does not hold it gets as many at a time as fit.
    /// - Errors: [`Error::Offsets`]; [`Error::EngineUnavailable`] on a device with [`oblivious(true)`](Sorter::oblivious), as for
    ///   [`Sorter::sort_segments`].
    ///
    /// ```
    /// let top = bitonic::Sorter::new().top_k_segments(&[3, 1, 2, 7], &[0, 3, 4], 2)?;
    /// assert_eq!((top.keys, top.indices), (vec![3, 2, 7], vec![0, 2, 0]));
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn top_k_segments<K: Key>(&self, keys: &[K], offsets: &[usize], k: usize) -> Result<TopK<K>, Error> {
        let segments = Segments::offsets(offsets, keys.len())?;
        self.for_top().top_of_parts(keys, segments, Some(offsets), k)
    }

    /// What [`Sorter::top_k_segments`] would do with this many keys.
    pub fn plan_top_k_segments<K: Key>(
        &self,
        len: usize,
        offsets: &[usize],
        k: usize,
    ) -> Result<Plan, Error> {
        let request = Request::top::<K>(Segments::offsets(offsets, len)?, k);
        self.for_top().plan_of_segments(request, Some(offsets), cpu::top::plan_top::<K::Bits>)
    }

    /// Puts the key that comes at `place` in sorted order there, keys that come earlier before it and keys that come later behind it,
    /// in no particular order: as the standard library's `select_nth_unstable`, on the total order of [`Sorter::sort`].
    ///
    /// - Memory: none. Runs on the CPU, on one thread. With [`oblivious(true)`](Sorter::oblivious) the keys are sorted.
    /// - Errors: [`Error::NoSuchPlace`] if there are not that many keys.
    ///
    /// ```
    /// let mut keys = [5, 1, 4, 2, 3];
    /// let (before, median, behind) = bitonic::Sorter::new().select_nth(&mut keys, 2)?;
    /// assert_eq!((before.len(), *median, behind.len()), (2, 3, 2));
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn select_nth<'a, K: Key>(&self, keys: &'a mut [K], place: usize) -> Result<Selected<'a, K>, Error> {
        if place >= keys.len() {
            return Err(Error::NoSuchPlace { index: place, len: keys.len() });
        }
        let settings = self.settings()?;
        if settings.oblivious {
            cpu::sort(keys, settings)?;
        } else {
            cpu::select::select(keys, place, settings);
        }
        let (before, rest) = keys.split_at_mut(place);
        let (key, behind) = rest.split_first_mut().expect("the place was checked");
        Ok((before, key, behind))
    }

    /// Sorts the first `k` keys of the sorted order into their places; the others follow in no particular order. `k` may be more than
    /// there are: then all are sorted.
    ///
    /// - Memory: as for [`Sorter::sort`] of `k` keys on the CPU.
    ///
    /// ```
    /// let mut keys = [5, 1, 4, 2, 3];
    /// bitonic::Sorter::new().partial_sort(&mut keys, 2)?;
    /// assert_eq!(keys[..2], [1, 2]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn partial_sort<K: Key>(&self, keys: &mut [K], k: usize) -> Result<(), Error> {
        let settings = self.settings()?;
        if k < keys.len() && !settings.oblivious {
            cpu::select::select(keys, k, settings);
            // The keys are moved already.
            return cpu::sort_in_any_case(&mut keys[..k], settings);
        }
        cpu::sort(keys, settings)
    }

    /// This sorter, for largest keys unless it was told otherwise.
    fn for_top(&self) -> Self {
        self.clone().order(self.order.unwrap_or(Order::Descending))
    }

    /// The best of every row or segment, in this sorter's own order.
    fn top_of_parts<K: Key>(
        &self,
        keys: &[K],
        segments: Segments,
        offsets: Option<&[usize]>,
        k: usize,
    ) -> Result<TopK<K>, Error> {
        let bounds = offsets.map_or(Bounds::rows(keys.len(), segments.longest()), Bounds::Offsets);
        let places = k.min(segments.longest()).saturating_mul(segments.count());
        if self.engine.has_devices() && places > segments.len() {
            return self.top_of_sorted(keys, bounds, k);
        }
        let mut top = Top { bits: as_bits(keys), bounds, offsets, k, best: Vec::new(), indices: Vec::new() };
        match self.run(Request::top::<K>(segments, k), &mut top) {
            Ok(_) => {
                let keys = top.best.into_iter().map(K::from_raw_bits).collect();
                Ok(TopK { keys, indices: top.indices })
            }
            Err(Error::TopTooLarge { .. }) => self.top_of_sorted(keys, bounds, k),
            Err(error) => Err(error),
        }
    }

    /// The same by sorting all: for more than a device keeps apart.
    fn top_of_sorted<K: Key>(&self, keys: &[K], bounds: Bounds<'_>, k: usize) -> Result<TopK<K>, Error> {
        let order = match bounds {
            Bounds::Rows { row_length, .. } => self.indices(keys, Segments::rows(keys.len(), row_length)?)?,
            Bounds::Offsets(offsets) => self.argsort_segments(keys, offsets)?,
        };
        let first = bounds.covered().start;
        let mut top = TopK { keys: Vec::new(), indices: Vec::new() };
        for part in (0..bounds.count()).map(|number| bounds.range(number)) {
            let best = &order[part.start - first..][..k.min(part.len())];
            top.keys.extend(best.iter().map(|&index| keys[part.start + index]));
            top.indices.extend(best);
        }
        Ok(top)
    }
}

/// The bits of keys, and what is found among them.
struct Top<'a, B> {
    bits: &'a [B],
    bounds: Bounds<'a>,
    offsets: Option<&'a [usize]>,
    k: usize,
    best: Vec<B>,
    indices: Vec<usize>,
}

impl<B: Bits> Operation for Top<'_, B> {
    fn plan_for_cpu(&self, request: &Request, settings: Settings) -> KeysPlan {
        cpu::top::plan_top::<B>(request, settings)
    }

    fn run_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error> {
        // What a device that failed had made room for.
        self.best.clear();
        self.indices.clear();
        for part in (0..self.bounds.count()).map(|number| self.bounds.range(number)) {
            let (best, indices) = cpu::top::top(&self.bits[part], request.map(), self.k, settings)?;
            if self.indices.is_empty() {
                (self.best, self.indices) = (best, indices);
            } else {
                self.best.extend(best);
                self.indices.extend(indices);
            }
        }
        Ok(())
    }

    fn data(&mut self, _: &Request) -> Result<HostData<'_>, Error> {
        let of_part = |number| self.k.min(self.bounds.range(number).len());
        let count = (0..self.bounds.count()).map(of_part).sum();
        self.best = cpu::try_vec(count)?;
        self.best.resize(count, B::ZERO);
        self.indices = cpu::try_vec(count)?;
        self.indices.resize(count, 0);
        let arrays = HostArrays::Best {
            keys: bits_as_bytes(&self.bits[self.bounds.covered()]),
            k: self.k,
            best: bits_as_bytes_mut(&mut self.best),
            indices: &mut self.indices,
        };
        Ok(HostData { arrays, offsets: self.offsets })
    }

    fn offsets(&self) -> Option<&[usize]> {
        self.offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    #[test]
    fn a_device_takes_the_best_keys_of_segments_obliviously_no_more_than_it_sorts_them() {
        let sorter = Sorter::new().oblivious(true);
        assert_eq!(sorter.top_k_segments(&[1, 3, 2], &[0, 2, 3], 1).unwrap().indices, [1, 0]);
        for engine in [Engine::OpenCl, Engine::Cuda] {
            let sorter = sorter.clone().engine(engine);
            let sorted = sorter.sort_segments(&mut [1, 3, 2], &[0, 2, 3]).unwrap_err();
            assert!(matches!(sorted, Error::EngineUnavailable { .. }), "{sorted}");
            // Fewer places than keys, and more.
            for k in [1, 2] {
                assert_eq!(sorter.top_k_segments(&[1, 3, 2], &[0, 2, 3], k).unwrap_err(), sorted);
            }
        }
    }

    #[test]
    fn what_a_device_had_room_for_is_no_result_of_the_cpu() {
        let (keys, offsets) = ([3_u32, 1, 2, 7], [0, 3, 4]);
        let (bounds, segments) = (Bounds::Offsets(&offsets), Segments::offsets(&offsets, 4).unwrap());
        let mut top =
            Top { bits: &keys[..], bounds, offsets: Some(&offsets), k: 2, best: vec![], indices: vec![] };
        let request = Request { order: Order::Descending, ..Request::top::<u32>(segments, 2) };
        top.data(&request).unwrap();
        top.run_on_cpu(&request, Sorter::new().order(Order::Descending).settings().unwrap()).unwrap();
        assert_eq!((top.best, top.indices), (vec![3, 2, 7], vec![0, 2, 0]));
    }
}
