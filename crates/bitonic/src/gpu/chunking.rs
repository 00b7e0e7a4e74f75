//! How much of a device's memory a sort may use, and where arrays are cut that need more.

use super::backend::Backend;
use super::launches::Job;
use crate::Error;
use crate::plan::Chunks;
use std::env;
use std::ops::Range;

/// The variable that says how much of a device's memory a sort may use, where the program does not.
const LIMIT_VARIABLE: &str = "BITONIC_DEVICE_MEMORY";

/// A device's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceMemory {
    /// All of it.
    pub(crate) bytes: u64,
    /// The largest buffer.
    pub(crate) buffer_bytes: u64,
}

impl DeviceMemory {
    /// What is left to the driver, its kernels and a desktop, if it is not less than [`Self::MOST_RESERVED`]: one part of so
    /// many.
    const RESERVED_SHARE: u64 = 16;

    /// A CUDA context with its kernels takes about half of this on the largest devices.
    const MOST_RESERVED: u64 = 1 << 30;

    /// What the arrays of a sort may have of it.
    fn within(self, limit: Option<u64>) -> Self {
        let reserved = (self.bytes / Self::RESERVED_SHARE).min(Self::MOST_RESERVED);
        let bytes = (self.bytes - reserved).min(limit.unwrap_or(u64::MAX));
        Self { bytes, buffer_bytes: self.buffer_bytes.min(bytes) }
    }

    /// How many elements it holds.
    fn capacity(self, job: &Job) -> usize {
        let layout = job.layout;
        let by_buffer = self.buffer_bytes / layout.key_bytes().max(layout.value_bytes()) as u64;
        let elements = by_buffer.min(self.bytes / layout.stored_bytes() as u64);
        usize::try_from(elements).unwrap_or(usize::MAX)
    }
}

/// Where arrays may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cuts {
    /// Wherever memory ends: the chunks of a row are merged on the host.
    Anywhere,
    /// Between rows only: a merge would show where keys go.
    BetweenRows,
    /// Nowhere: what is too large is refused.
    Nowhere,
}

/// What a sort may use of a device's memory, and what it does where that is not enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunking {
    limit: Option<u64>,
    cuts: Cuts,
    threads: Option<usize>,
}

impl Chunking {
    /// With at most `limit` bytes or, if that is `None`, what the user's settings say. The merge uses so many threads.
    pub(crate) fn new(limit: Option<u64>, cuts: Cuts, threads: Option<usize>) -> Result<Self, Error> {
        let limit = match limit {
            Some(limit) => Some(limit),
            None => limit_of_user()?,
        };
        Ok(Self { limit, cuts, threads })
    }

    /// The threads of the merge.
    pub(super) fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// How a job is cut for a device. An error if that is not allowed, or even the smallest chunk does not fit.
    pub(super) fn cut(&self, device: &impl Backend, job: &Job) -> Result<Cut, Error> {
        let memory = device.memory().within(self.limit);
        let len = job.row_length.saturating_mul(job.rows);
        let cut =
            Cut { row_length: job.row_length, len, capacity: memory.capacity(job).min(len), cuts: self.cuts };
        if cut.is_whole() || cut.smallest() <= cut.capacity {
            return Ok(cut);
        }
        let needed = |bytes_each: usize| cut.smallest() as u64 * bytes_each as u64;
        let in_all = needed(job.layout.stored_bytes());
        let in_one = needed(job.layout.key_bytes().max(job.layout.value_bytes()));
        let (bytes, limit, part) = if in_all > memory.bytes {
            (in_all, memory.bytes, "in all")
        } else {
            (in_one, memory.buffer_bytes, "in one buffer")
        };
        let device = device.name().to_owned();
        Err(Error::LargerThanDevice { device, bytes, limit, part, advice: cut.advice() })
    }
}

/// Where arrays are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    row_length: usize,
    len: usize,
    /// The most elements in a chunk.
    capacity: usize,
    cuts: Cuts,
}

impl Cut {
    /// Whether nothing is cut at all.
    pub(super) fn is_whole(&self) -> bool {
        self.len <= self.capacity
    }

    /// The length of all rows.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The chunks, for a plan; `None` if nothing is cut.
    pub(super) fn chunks(&self) -> Option<Chunks> {
        if self.is_whole() {
            return None;
        }
        let rows = self.len / self.row_length;
        let chunks = match self.capacity / self.row_length {
            0 => {
                let row_pieces = self.row_length.div_ceil(self.capacity);
                let count = rows.saturating_mul(row_pieces);
                Chunks { count, len: self.row_length.div_ceil(row_pieces), row_pieces }
            }
            most => {
                let len = even(rows, most) * self.row_length;
                Chunks { count: rows.div_ceil(most), len, row_pieces: 1 }
            }
        };
        Some(chunks)
    }

    /// The chunk from this place on: whole rows, as many as fit; or, if none does, a part of one. What is left is shared
    /// evenly, so that no chunk is much shorter than the others.
    pub(super) fn next(&self, start: usize) -> Range<usize> {
        let behind_row_start = start % self.row_length;
        let len = match self.capacity / self.row_length {
            most if most > 0 && behind_row_start == 0 => {
                even((self.len - start) / self.row_length, most) * self.row_length
            }
            _ => even(self.row_length - behind_row_start, self.capacity),
        };
        start..start + len
    }

    /// What a chunk is to the device: rows, or a part of one that is a row to it.
    pub(super) fn job(&self, chunk_len: usize, job: &Job) -> Job {
        let row_length = self.row_length.min(chunk_len);
        Job { layout: job.layout.for_rows_of(row_length), row_length, rows: chunk_len / row_length, ..*job }
    }

    /// Smaller chunks, if this error of one is that the device has no memory for it.
    pub(super) fn after(self, error: Error, chunk_len: usize) -> Result<Self, Error> {
        let halved = Self { capacity: chunk_len / 2, ..self };
        if !matches!(error, Error::DeviceMemory { .. }) || halved.capacity < halved.smallest() {
            return Err(error);
        }
        tracing::debug!(%error, capacity = halved.capacity, "the device gets smaller chunks");
        Ok(halved)
    }

    /// The least that a chunk must hold.
    fn smallest(&self) -> usize {
        match self.cuts {
            Cuts::Anywhere => 1,
            Cuts::BetweenRows => self.row_length,
            Cuts::Nowhere => self.len,
        }
    }

    fn advice(&self) -> &'static str {
        match self.cuts {
            Cuts::Anywhere => "raise device_memory() or BITONIC_DEVICE_MEMORY, or choose the cpu engine",
            Cuts::BetweenRows => {
                "an oblivious sort cannot be merged from chunks, which would show where keys go: choose the cpu engine, or \
                 raise device_memory() or BITONIC_DEVICE_MEMORY where they set the limit"
            }
            Cuts::Nowhere => {
                "allow chunks() that are merged on the host, choose the cpu engine, or raise device_memory() or \
                 BITONIC_DEVICE_MEMORY where they set the limit"
            }
        }
    }
}

/// The first share when so many are cut evenly into as few parts as there can be with at most `most` in each.
fn even(count: usize, most: usize) -> usize {
    count.div_ceil(count.div_ceil(most))
}

/// What the user's settings say.
fn limit_of_user() -> Result<Option<u64>, Error> {
    let Some(setting) = env::var_os(LIMIT_VARIABLE).filter(|setting| !setting.is_empty()) else {
        return Ok(None);
    };
    let setting = setting.to_string_lossy();
    match bytes_of(&setting) {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(Error::Setting {
            variable: LIMIT_VARIABLE,
            value: setting.into_owned(),
            expected: "a number of bytes, such as 4000000000, 512M or 4G (4 x 2^30)",
        }),
    }
}

/// Reads `1000`, `1_000`, `512K`, `16M`, `4G`, `1T` (powers of 1024), with or without `i` and `B`.
fn bytes_of(text: &str) -> Option<u64> {
    let digits: String = text.trim().chars().filter(|&c| c != '_').collect::<String>().to_ascii_uppercase();
    let digits = digits.strip_suffix('B').unwrap_or(&digits);
    let digits = digits.strip_suffix('I').unwrap_or(digits);
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let unit = units.iter().find_map(|&(letter, shift)| Some((digits.strip_suffix(letter)?, 1_u64 << shift)));
    let (digits, factor) = unit.unwrap_or((digits, 1));
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::layout::{Layout, Mapping};
    use crate::key::Order;

    fn cut(row_length: usize, rows: usize, capacity: usize) -> Cut {
        Cut { row_length, len: row_length * rows, capacity, cuts: Cuts::Anywhere }
    }

    fn all_chunks(cut: Cut) -> Vec<Range<usize>> {
        let mut chunks = vec![];
        while chunks.last().map_or(0, |last: &Range<usize>| last.end) < cut.len {
            chunks.push(cut.next(chunks.last().map_or(0, |last| last.end)));
        }
        chunks
    }

    #[test]
    fn chunks_are_as_few_as_can_be_and_as_even_as_can_be_and_as_the_plan_says() {
        for (row_length, rows) in [(1, 1000), (3, 100), (10, 7), (7, 1), (100, 1), (101, 3), (1000, 1)] {
            for capacity in 1..=row_length * rows {
                let cut = cut(row_length, rows, capacity);
                let chunks = all_chunks(cut);
                let lengths: Vec<usize> = chunks.iter().map(ExactSizeIterator::len).collect();
                let longest = lengths.iter().copied().max().unwrap();
                assert!(longest <= capacity, "{cut:?}: {lengths:?}");
                let Some(planned) = cut.chunks() else {
                    assert_eq!(lengths, [row_length * rows], "{cut:?}");
                    continue;
                };
                assert_eq!((planned.count, planned.len), (lengths.len(), longest), "{cut:?}: {lengths:?}");
                let unit = if planned.row_pieces > 1 { 1 } else { row_length };
                assert!(lengths.iter().all(|len| longest - len <= unit), "{cut:?}: {lengths:?}");
                let in_first_row = chunks.iter().filter(|chunk| chunk.start < row_length).count();
                assert_eq!(planned.row_pieces, in_first_row, "{cut:?}: {chunks:?}");
                for chunk in chunks {
                    let rows_are_whole = chunk.start % row_length == 0 && chunk.end % row_length == 0;
                    let is_in_one_row = chunk.start / row_length == (chunk.end - 1) / row_length;
                    assert!(rows_are_whole || is_in_one_row, "{cut:?}: {chunk:?}");
                }
            }
        }
    }

    #[test]
    fn chunks_of_any_number_of_keys_can_be_planned() {
        for (row_length, rows) in [(usize::MAX, 1), (1, usize::MAX), (1 << 40, 1 << 20)] {
            for capacity in [1, 1000, 1 << 33] {
                let chunks = cut(row_length, rows, capacity).chunks().expect("they do not fit");
                assert!(chunks.len <= capacity && chunks.count > 1);
            }
        }
    }

    #[test]
    fn a_chunk_is_whole_rows_or_a_row_of_its_own() {
        let job = Job {
            layout: Layout::indexed::<u32>(usize::MAX),
            mapping: Mapping::new::<u32>(Order::Ascending),
            row_length: 10,
            rows: 4,
        };
        let of = |capacity, len| {
            let job = cut(10, 4, capacity).job(len, &job);
            (job.row_length, job.rows, job.layout.value_bits)
        };
        assert_eq!(of(20, 20), (10, 2, 32), "and indices are as wide as the chunk needs");
        assert_eq!(of(7, 5), (5, 1, 32));
    }

    #[test]
    fn a_refusal_halves_chunks_as_long_as_they_may_be_cut() {
        let refused = || Error::DeviceMemory { device: "a device".to_owned(), bytes: 1, available: 1 };
        let anywhere = cut(100, 2, 50);
        assert_eq!(anywhere.after(refused(), 50).map(|cut| cut.capacity), Ok(25));
        assert_eq!(anywhere.after(refused(), 1), Err(refused()));
        let between_rows = Cut { cuts: Cuts::BetweenRows, ..cut(100, 2, 200) };
        assert_eq!(between_rows.after(refused(), 200).map(|cut| cut.capacity), Ok(100));
        assert_eq!(between_rows.after(refused(), 100), Err(refused()));
        let nowhere = Cut { cuts: Cuts::Nowhere, ..cut(100, 2, 200) };
        assert_eq!(nowhere.after(refused(), 200), Err(refused()));
        let other = Error::OutOfMemory { bytes: 1 };
        assert_eq!(anywhere.after(other.clone(), 50), Err(other));
    }

    #[test]
    fn a_reserve_a_limit_and_the_largest_buffer_bound_what_a_device_holds() {
        const GIB: u64 = 1 << 30;
        let memory = |bytes, buffer_bytes| DeviceMemory { bytes, buffer_bytes };
        let within = |memory: DeviceMemory, limit| {
            let DeviceMemory { bytes, buffer_bytes } = memory.within(limit);
            (bytes, buffer_bytes)
        };
        assert_eq!(within(memory(8 * GIB, 8 * GIB), None), (8 * GIB - GIB / 2, 8 * GIB - GIB / 2));
        assert_eq!(within(memory(128 * GIB, 32 * GIB), None), (127 * GIB, 32 * GIB));
        assert_eq!(within(memory(128 * GIB, 32 * GIB), Some(GIB)), (GIB, GIB));
        assert_eq!(within(memory(2 * GIB, GIB), Some(128 * GIB)), (2 * GIB - GIB / 8, GIB));

        let mapping = Mapping::new::<u32>(Order::Ascending);
        let holds = |memory: DeviceMemory, layout| {
            memory.capacity(&Job { layout, mapping, row_length: 1, rows: 1 }) as u64
        };
        let pairs = |bytes| Layout::pairs::<u32>(bytes).expect("values of 4 and 8 bytes travel");
        assert_eq!(holds(memory(GIB, GIB), Layout::keys::<u32>()), GIB / 4);
        assert_eq!(holds(memory(GIB, GIB), pairs(4)), GIB / 8);
        assert_eq!(holds(memory(GIB, GIB / 4), pairs(8)), GIB / 32, "the values' buffer decides");
    }

    #[test]
    fn numbers_of_bytes_are_read_with_units_and_other_texts_are_not() {
        let numbers = [
            ("0", 0),
            ("1000", 1000),
            (" 1_000 ", 1000),
            ("512K", 512 << 10),
            ("16m", 16 << 20),
            ("4G", 4 << 30),
            ("4GiB", 4 << 30),
            ("4gb", 4 << 30),
            ("1T", 1 << 40),
            ("100B", 100),
        ];
        for (text, bytes) in numbers {
            assert_eq!(bytes_of(text), Some(bytes), "{text}");
        }
        for text in ["", "G", "-1", "+1", "1.5G", "4 G", "1KK", "much", "99999999999999999999", "99999999T"] {
            assert_eq!(bytes_of(text), None, "{text}");
        }
    }
}
