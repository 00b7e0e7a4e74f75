//! How much of a device's memory a sort may use, and where arrays are cut that need more.

use super::facts::{Allowance, DeviceFacts};
use super::job::Job;
use crate::Error;
use crate::plan::Chunks;
use std::env;
use std::ops::Range;

/// The variable that says how much of a device's memory a sort may use, where the program does not.
const LIMIT_VARIABLE: &str = "BITONIC_DEVICE_MEMORY";

/// How many elements of a job fit the memory.
fn capacity(allowance: Allowance, job: &Job) -> usize {
    let element = job.element;
    let by_buffer = allowance.buffer_bytes / element.key_bytes().max(element.value_bytes()) as u64;
    let beside = job.offset_bytes() as u64;
    let elements = by_buffer.min(allowance.bytes.saturating_sub(beside) / element.stored_bytes() as u64);
    usize::try_from(elements).unwrap_or(usize::MAX)
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
    /// Nowhere, whatever the user allows: the best keys that kernels look for, and segments of different lengths.
    Never,
}

/// Where arrays are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    row_length: usize,
    len: usize,
    /// The most elements in a chunk.
    capacity: usize,
    cuts: Cuts,
}

impl Cut {
    /// How a job is cut for a device, with at most `limit` bytes of its memory for the arrays.
    ///
    /// # Errors
    ///
    /// [`Error::LargerThanDevice`] if that is not allowed, or even the smallest chunk does not fit.
    pub(crate) fn new(job: &Job, facts: &DeviceFacts, cuts: Cuts, limit: Option<u64>) -> Result<Self, Error> {
        let allowance = Allowance::of(facts, limit);
        let cuts = match cuts {
            _ if job.best.is_some() || job.ragged.is_some() => Cuts::Never,
            Cuts::Anywhere if job.in_place => Cuts::BetweenRows,
            cuts => cuts,
        };
        let len = job.len();
        let cut = Self { row_length: job.row_length, len, capacity: capacity(allowance, job).min(len), cuts };
        if cut.is_whole() || cut.smallest() <= cut.capacity {
            return Ok(cut);
        }
        let needed = |bytes_each: usize| cut.smallest() as u64 * bytes_each as u64;
        let in_all = needed(job.element.stored_bytes());
        let in_one = needed(job.element.key_bytes().max(job.element.value_bytes()));
        let (bytes, limit, part) = if in_all > allowance.bytes {
            (in_all, allowance.bytes, "in all")
        } else {
            (in_one, allowance.buffer_bytes, "in one buffer")
        };
        let device = facts.name.clone();
        Err(Error::LargerThanDevice { device, bytes, limit, part, advice: cut.advice() })
    }

    /// Whether nothing is cut at all.
    pub(crate) fn is_whole(&self) -> bool {
        self.len <= self.capacity
    }

    /// The length of all rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The chunks, for a plan; `None` if nothing is cut.
    pub(crate) fn chunks(&self) -> Option<Chunks> {
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
    pub(crate) fn next(&self, start: usize) -> Range<usize> {
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
    pub(crate) fn job(&self, chunk_len: usize, job: &Job) -> Job {
        let row_length = self.row_length.min(chunk_len);
        let element = job.element.for_segments_of(row_length);
        Job { element, row_length, rows: chunk_len / row_length, ..*job }
    }

    /// Smaller chunks, if this error of one is that the device has no memory for it.
    pub(crate) fn after(self, error: Error, chunk_len: usize) -> Result<Self, Error> {
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
            Cuts::Nowhere | Cuts::Never => self.len,
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
            Cuts::Never => {
                "these go to the device in one piece: give it fewer at a time, choose the cpu engine, or raise device_memory() or \
                 BITONIC_DEVICE_MEMORY where they set the limit"
            }
        }
    }
}

/// The first share when so many are cut evenly into as few parts as there can be with at most `most` in each.
fn even(count: usize, most: usize) -> usize {
    count.div_ceil(count.div_ceil(most))
}

/// The limit that the user's settings say, if they say one.
///
/// # Errors
///
/// [`Error::Setting`] if they say something else.
pub(crate) fn limit_of_user() -> Result<Option<u64>, Error> {
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
    use crate::request::{Request, Segments};

    fn job(request: impl Fn(Segments) -> Request, row_length: usize, rows: usize) -> Job {
        Job::of(&request(Segments::Rows { rows, row_length }))
    }

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
        let job = job(Request::argsort::<u32>, 10, 4);
        let of = |capacity, len| {
            let job = cut(10, 4, capacity).job(len, &job);
            (job.row_length, job.rows, job.element.value_bits)
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
    fn memory_and_the_largest_buffer_bound_what_a_device_holds() {
        const GIB: u64 = 1 << 30;
        let holds = |buffer_bytes, request: fn(Segments) -> Request| {
            capacity(Allowance { bytes: GIB, buffer_bytes }, &job(request, 1, 1)) as u64
        };
        assert_eq!(holds(GIB, Request::keys::<u32>), GIB / 4);
        assert_eq!(holds(GIB, Request::pairs::<u32, f32>), GIB / 8);
        assert_eq!(holds(GIB / 4, Request::pairs::<u32, f64>), GIB / 32, "the values' buffer decides");
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
