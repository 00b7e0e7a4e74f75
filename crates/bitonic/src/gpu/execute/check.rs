//! What comes from a device counts only when it was checked: in order, and with the fingerprint of what was sent.
//!
//! Both arrays are looked at while they are copied, when every block is in the nearest cache anyway:
//!
//! ```text
//!   the caller's arrays  ── copied for the device, and shown ──►  fingerprint before
//!   landed               ◄─ copied from the device, and shown ──  fingerprint after, and order within a block
//!                           in the end                            order across the ends of blocks
//! ```
//!
//! Keys with values are shown with the values, which travel last, so that key and value are mixed together. Keys with indices have
//! none yet when they are sent: index and place are the same then. They come back both, so that what is looked at lies one after
//! the other, and no key is looked up by its index.

use crate::cpu::fingerprint::Fingerprint;
use crate::cpu::in_order::{is_in_order, is_in_stable_order};
use crate::cpu::stretch::{Index, Nothing, Place};
use crate::gpu::job::Job;
use crate::gpu::lock::lock;
use crate::gpu::memory::BLOCK_BYTES;
use crate::key::{self, Bits};
use crate::request::Request;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a check finds.
pub(super) const OTHER_ELEMENTS: &str = "elements were lost, doubled or changed";
pub(super) const NOT_IN_ORDER: &str = "it is not in order";

/// The ends of blocks that a core looks at, at least.
const BORDERS_OF_CORE: usize = 256;

/// The check of one sort, or of a chunk of it.
pub(super) struct Check<'a> {
    request: Request,
    /// Of what lands.
    job: Job,
    /// Whether less lands than was sent: the best elements of every row.
    lands_less: bool,
    /// Where rows of different lengths begin and end, the first one with the arrays.
    offsets: Option<&'a [usize]>,
    sent: Mutex<Fingerprint>,
    landed: Mutex<Fingerprint>,
    in_order: AtomicBool,
}

/// Elements from this one on: keys, and values where they are given.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    start: usize,
    keys: &'a [u8],
    values: Option<&'a [u8]>,
}

impl<'a> Check<'a> {
    pub(super) fn new(request: &Request, job: &Job, offsets: Option<&'a [usize]>) -> Self {
        Self {
            request: *request,
            job: Job { row_length: job.best.unwrap_or(job.row_length), ..*job },
            lands_less: job.best.is_some(),
            offsets,
            sent: Mutex::default(),
            landed: Mutex::default(),
            in_order: AtomicBool::new(true),
        }
    }

    /// Looks at a block of keys that are sent: alone, or to be sorted with their indices.
    pub(super) fn sent_keys(&self, offset: usize, keys: &[u8]) {
        self.send(self.of_keys(offset, keys));
    }

    /// Looks at a block of values that are sent, and at their keys, which are somewhere in all of these.
    pub(super) fn sent_values(&self, all_keys: &[u8], offset: usize, values: &[u8]) {
        self.send(self.of_values(all_keys, offset, values));
    }

    /// Looks at a block of keys that have landed and have no values.
    pub(super) fn landed_keys(&self, offset: usize, keys: &[u8]) {
        self.land(self.of_keys(offset, keys));
    }

    /// Looks at a block of values or indices that have landed, and at their keys.
    pub(super) fn landed_values(&self, all_keys: &[u8], offset: usize, values: &[u8]) {
        self.land(self.of_values(all_keys, offset, values));
    }

    /// What is wrong with the arrays, all of whose blocks were looked at; the values are empty if there are none.
    pub(super) fn finding(&self, keys: &[u8], values: &[u8]) -> Option<&'static str> {
        if !self.lands_less && *lock(&self.sent) != *lock(&self.landed) {
            return Some(OTHER_ELEMENTS);
        }
        // Such bits must not become keys, whatever the sums say.
        let mut are_keys = true;
        let all = Stretch { start: 0, keys, values: None };
        self.for_each_part(all, |_, part| are_keys &= key::are_valid(self.request.key, part.keys));
        if !are_keys {
            return Some("bits came back that no key has");
        }
        let in_order = self.in_order.load(Ordering::Relaxed) && self.blocks_are_in_order(keys, values);
        (!in_order).then_some(NOT_IN_ORDER)
    }

    fn send(&self, stretch: Stretch<'_>) {
        let fingerprint = self.fingerprint(stretch);
        *lock(&self.sent) += fingerprint;
    }

    fn land(&self, stretch: Stretch<'_>) {
        let fingerprint = self.fingerprint(stretch);
        *lock(&self.landed) += fingerprint;
        if !self.is_in_order(stretch) {
            self.in_order.store(false, Ordering::Relaxed);
        }
    }

    fn of_keys<'b>(&self, offset: usize, keys: &'b [u8]) -> Stretch<'b> {
        Stretch { start: offset / self.job.element.key_bytes(), keys, values: None }
    }

    fn of_values<'b>(&self, all_keys: &'b [u8], offset: usize, values: &'b [u8]) -> Stretch<'b> {
        let (key_bytes, value_bytes) = (self.job.element.key_bytes(), self.job.element.value_bytes());
        let (start, len) = (offset / value_bytes, values.len() / value_bytes);
        let keys = &all_keys[start * key_bytes..][..len * key_bytes];
        Stretch { start, keys, values: Some(values) }
    }

    /// Whether the last element of every block is in order with the first one of the next.
    fn blocks_are_in_order(&self, keys: &[u8], values: &[u8]) -> bool {
        let (key_bytes, value_bytes) = (self.job.element.key_bytes(), self.job.element.value_bytes());
        // The array that was shown.
        let (bytes, each) =
            if value_bytes == 0 { (keys.len(), key_bytes) } else { (values.len(), value_bytes) };
        // Memory is slow to give one element here and one there: many cores ask at a time.
        (1..bytes.div_ceil(BLOCK_BYTES)).into_par_iter().with_min_len(BORDERS_OF_CORE).all(|block| {
            let first = block * BLOCK_BYTES / each - 1;
            let two = |each| first * each..(first + 2) * each;
            let values = (value_bytes > 0).then(|| &values[two(value_bytes)]);
            self.is_in_order(Stretch { start: first, keys: &keys[two(key_bytes)], values })
        })
    }

    fn fingerprint(&self, stretch: Stretch<'_>) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        self.for_each_part(stretch, |place, part| fingerprint += self.fingerprint_of_part(place, part));
        fingerprint
    }

    fn fingerprint_of_part(&self, place: Place, stretch: Stretch<'_>) -> Fingerprint {
        match self.job.element.key_bits {
            8 => self.fingerprint_of::<u8>(place, stretch),
            16 => self.fingerprint_of::<u16>(place, stretch),
            32 => self.fingerprint_of::<u32>(place, stretch),
            64 => self.fingerprint_of::<u64>(place, stretch),
            _ => self.fingerprint_of::<u128>(place, stretch),
        }
    }

    fn fingerprint_of<B: Bits>(
        &self,
        place: Place,
        Stretch { keys, values, .. }: Stretch<'_>,
    ) -> Fingerprint {
        let keys: &[B] = bytemuck::cast_slice(keys);
        match (values, self.job.element.value_bits) {
            (_, 0) => Fingerprint::of_elements(place, keys, Nothing),
            (Some(values), 32) => {
                Fingerprint::of_elements::<B, &[u32]>(place, keys, bytemuck::cast_slice(values))
            }
            (Some(values), _) => {
                Fingerprint::of_elements::<B, &[u64]>(place, keys, bytemuck::cast_slice(values))
            }
            (None, 32) => Fingerprint::of_elements(place, keys, Index::<32>),
            (None, _) => Fingerprint::of_elements(place, keys, Index::<64>),
        }
    }

    /// Calls `visit` with the parts of a stretch that are looked at as one, and where they are: with all of it, or with those of each
    /// row where rows have different lengths. Of these, the place is that in rows which are all as long as the longest.
    fn for_each_part(&self, stretch: Stretch<'_>, mut visit: impl FnMut(Place, Stretch<'_>)) {
        let Stretch { start, keys, values } = stretch;
        let row_length = self.job.row_length;
        let Some(offsets) = self.offsets else { return visit(Place { start, row_length }, stretch) };
        let (key_bytes, value_bytes) = (self.job.element.key_bytes(), self.job.element.value_bytes());
        let (first, end) = (offsets.first().copied().unwrap_or(0), start + keys.len() / key_bytes);
        let first_row = if self.lands_less {
            start / row_length.max(1)
        } else {
            offsets.partition_point(|offset| offset - first <= start).saturating_sub(1)
        };
        for (row, ends) in offsets.windows(2).enumerate().skip(first_row) {
            let (row_start, row_end) = if self.lands_less {
                (row * row_length, row * row_length + row_length.min(ends[1] - ends[0]))
            } else {
                (ends[0] - first, ends[1] - first)
            };
            if row_start >= end {
                break;
            }
            let (from, to) = (start.max(row_start), end.min(row_end));
            if from < to {
                let place = Place { start: row * row_length + (from - row_start), row_length };
                let bytes = |each: usize| (from - start) * each..(to - start) * each;
                let values = values.map(|values| &values[bytes(value_bytes)]);
                visit(place, Stretch { start: from, keys: &keys[bytes(key_bytes)], values });
            }
        }
    }

    fn is_in_order(&self, stretch: Stretch<'_>) -> bool {
        let mut all = true;
        self.for_each_part(stretch, |place, part| all &= self.part_is_in_order(place, part));
        all
    }

    fn part_is_in_order(&self, place: Place, stretch: Stretch<'_>) -> bool {
        match self.job.element.key_bits {
            8 => self.is_in_order_of::<u8>(place, stretch),
            16 => self.is_in_order_of::<u16>(place, stretch),
            32 => self.is_in_order_of::<u32>(place, stretch),
            64 => self.is_in_order_of::<u64>(place, stretch),
            _ => self.is_in_order_of::<u128>(place, stretch),
        }
    }

    fn is_in_order_of<B: Bits>(&self, place: Place, Stretch { keys, values, .. }: Stretch<'_>) -> bool {
        let keys: &[B] = bytemuck::cast_slice(keys);
        let map = self.request.map();
        match (values, self.job.element.indexed, self.job.element.value_bits) {
            (Some(indices), true, 32) => {
                is_in_stable_order::<B, u32>(place, keys, bytemuck::cast_slice(indices), map)
            }
            (Some(indices), true, _) => {
                is_in_stable_order::<B, u64>(place, keys, bytemuck::cast_slice(indices), map)
            }
            // Values of equal keys may be in any order.
            _ => is_in_order(place, keys, map),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::memory::{Shown, Words, copy, show};
    use crate::key::{Key, as_bytes};
    use crate::request::Segments;
    use std::time::Instant;

    /// What the check finds in keys that were sent, and keys and indices or values that landed.
    fn finding<K: Key>(request: &Request, sent: &[K], landed: &[K], numbers: &[u32]) -> Option<&'static str> {
        finding_in(request, None, sent, landed, numbers)
    }

    /// The same in segments that begin and end at these offsets.
    fn finding_in<K: Key>(
        request: &Request,
        offsets: Option<&[usize]>,
        sent: &[K],
        landed: &[K],
        numbers: &[u32],
    ) -> Option<&'static str> {
        let job = Job::of(request);
        let check = Check::new(request, &job, offsets);
        let numbers: &[u8] = if job.element.value_bits == 0 { &[] } else { as_bytes(numbers) };
        let keys = as_bytes(landed);
        show(as_bytes(sent), &|offset, block| check.sent_keys(offset, block));
        match numbers {
            [] => show(keys, &|offset, block| check.landed_keys(offset, block)),
            _ => show(numbers, &|offset, block| check.landed_values(keys, offset, block)),
        }
        check.finding(keys, numbers)
    }

    #[test]
    fn order_across_the_ends_of_blocks_counts() {
        let len = 5 * BLOCK_BYTES / 4 + 3;
        let (sorted, indices): (Vec<u32>, Vec<u32>) = (0..len as u32).map(|key| (key / 3, key)).unzip();
        for end in (BLOCK_BYTES / 4..len).step_by(BLOCK_BYTES / 4) {
            for row_length in [len, BLOCK_BYTES / 4] {
                let (mut keys, mut numbers) = (sorted.clone(), indices.clone());
                let segments = Segments::Rows { rows: len / row_length, row_length };
                let keys_alone = Request::keys::<u32>(segments);
                if row_length == len {
                    assert_eq!(finding(&keys_alone, &sorted, &keys, &[]), None);
                    let argsort = Request::argsort::<u32>(segments);
                    assert_eq!(finding(&argsort, &sorted, &keys, &numbers), None);
                    // Every block stays in order, and all elements are there.
                    numbers.swap(end - 1, end);
                    keys.swap(end - 1, end);
                    assert!(finding(&argsort, &sorted, &keys, &numbers).is_some(), "indices, {end}");
                }
                let mut keys = sorted.clone();
                keys.swap(end - 1, end);
                let is_wrong = keys != sorted;
                let found = finding(&keys_alone, &sorted, &keys, &[]);
                assert_eq!(found.is_some(), is_wrong, "{end}, rows of {row_length}");
            }
        }
    }

    #[test]
    fn what_went_to_another_row_is_noticed() {
        let request = Request::keys::<u32>(Segments::rows(6, 3).unwrap());
        let sent = [1, 2, 3, 1, 2, 9];
        assert_eq!(finding(&request, &sent, &[1, 2, 3, 1, 2, 9], &[]), None);
        let lost = Some("elements were lost, doubled or changed");
        assert_eq!(finding(&request, &sent, &[1, 2, 9, 1, 2, 3], &[]), lost, "both rows are in order");
        assert_eq!(finding(&request, &sent, &[1, 3, 2, 1, 2, 9], &[]), Some("it is not in order"));
        let sent = ['a', 'b', 'c', 'd', 'e', 'f'];
        let request = Request::keys::<char>(Segments::one(6));
        assert_eq!(finding(&request, &sent, &sent, &[]), None);
    }

    #[test]
    fn segments_of_different_lengths_are_looked_at_each_for_itself() {
        let lost = Some("elements were lost, doubled or changed");
        let offsets = [7, 7, 9, 12, 12];
        let segments = Segments::offsets(&offsets, 12).unwrap();
        let keys = Request::keys::<u32>(segments);
        let find = |landed: &[u32]| finding_in(&keys, Some(&offsets), &[9, 5, 3, 1, 2], landed, &[]);
        assert_eq!(find(&[5, 9, 1, 2, 3]), None);
        assert_eq!(find(&[9, 5, 1, 2, 3]), Some("it is not in order"));
        assert_eq!(find(&[1, 2, 3, 5, 9]), lost, "in order, but from one segment to another");
        let argsort = Request::argsort::<u32>(segments);
        let find = |numbers: &[u32]| {
            finding_in(&argsort, Some(&offsets), &[9, 5, 3, 3, 2], &[5, 9, 2, 3, 3], numbers)
        };
        assert_eq!(find(&[1, 0, 2, 0, 1]), None);
        assert!(find(&[1, 0, 2, 1, 0]).is_some(), "equal keys come by lowest index");
        assert!(find(&[1, 0, 4, 2, 3]).is_some(), "indices count from the beginning of the segment");
        // Segments that begin and end somewhere in a block, and one that is longer than two.
        let len = 3 * BLOCK_BYTES / 4 + 11;
        let offsets = [0, 5, 5, 2 * BLOCK_BYTES / 4 + 7, len - 1, len];
        let keys = Request::keys::<u32>(Segments::offsets(&offsets, len).unwrap());
        let sorted: Vec<u32> = offsets.windows(2).flat_map(|ends| 0..(ends[1] - ends[0]) as u32).collect();
        let find = |landed: &[u32]| finding_in(&keys, Some(&offsets), &sorted, landed, &[]);
        assert_eq!(find(&sorted), None);
        for place in [0, 5, BLOCK_BYTES / 4 - 1, BLOCK_BYTES / 4, 2 * BLOCK_BYTES / 4, len - 3] {
            let mut landed = sorted.clone();
            landed.swap(place, place + 1);
            assert!(find(&landed).is_some(), "{place}");
        }
    }

    /// The speed of copies of so many bytes with this check and without, as `docs/architecture.md` has it.
    fn measure(name: &str, request: Request, bytes: usize) {
        let job = Job::of(&request);
        let (check, value_bytes) = (Check::new(&request, &job, None), job.element.value_bytes());
        let mut from = Words::zeroed(bytes, 1).unwrap();
        from.bytes_mut().iter_mut().enumerate().for_each(|(place, byte)| *byte = (place >> 9) as u8);
        let keys = Words::zeroed(job.array_bytes().0, 1).unwrap();
        let mut to = Words::zeroed(bytes, 1).unwrap();
        let sent = |offset, block: &[u8]| match value_bytes {
            0 => check.sent_keys(offset, block),
            _ if job.element.indexed => check.sent_keys(offset, block),
            _ => check.sent_values(keys.bytes(), offset, block),
        };
        let landed = |offset, block: &[u8]| match value_bytes {
            0 => check.landed_keys(offset, block),
            _ => check.landed_values(keys.bytes(), offset, block),
        };
        let mut best = [f64::MAX; 3];
        for _ in 0..40 {
            let shown = [Shown::Nothing, Shown::Source(&sent), Shown::Target(&landed)];
            for (best, shown) in best.iter_mut().zip(shown) {
                let started = Instant::now();
                copy(from.bytes(), to.bytes_mut(), shown);
                *best = best.min(started.elapsed().as_secs_f64());
            }
        }
        let speed = best.map(|seconds| bytes as f64 / seconds / 1e9);
        println!(
            "{name:24} {bytes:>10} bytes: copied at {:5.1} GB/s, sent {:5.1}, landed {:5.1}",
            speed[0], speed[1], speed[2]
        );
    }

    #[test]
    #[ignore = "it measures: run it alone, with --release and --nocapture"]
    fn what_the_check_takes() {
        for bytes in [64 << 10, 1 << 20, 64 << 20] {
            let one = |each: usize| Segments::one(bytes / each);
            measure("u8", Request::keys::<u8>(one(1)), bytes);
            measure("u16", Request::keys::<u16>(one(2)), bytes);
            measure("u32", Request::keys::<u32>(one(4)), bytes);
            measure("f32", Request::keys::<f32>(one(4)), bytes);
            measure("u64", Request::keys::<u64>(one(8)), bytes);
            measure("u128", Request::keys::<u128>(one(16)), bytes);
            measure("u32, rows of 16", Request::keys::<u32>(Segments::rows(bytes / 4, 16).unwrap()), bytes);
            measure("u32 with u32", Request::pairs::<u32, u32>(one(4)), bytes);
            measure("u64 with u64", Request::pairs::<u64, u64>(one(8)), bytes);
            measure("u32 with indices", Request::argsort::<u32>(one(4)), bytes);
        }
    }
}
