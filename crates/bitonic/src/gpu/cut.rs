//! How much of a device's memory a sort may use, and where arrays are cut that need more.

use super::facts::{Allowance, DeviceFacts};
use super::job::{Job, Ragged};
use crate::Error;
use crate::plan::Chunks;
use std::env;
use std::ops::Range;

/// The variable that says how much of a device's memory a sort may use, where the program does not.
const LIMIT_VARIABLE: &str = "BITONIC_DEVICE_MEMORY";

/// How many elements a chunk may have.
fn capacity(room: Allowance, job: &Job) -> usize {
    let fit = |in_all: usize, in_one: usize| {
        let most = (room.bytes / in_all.max(1) as u64).min(room.buffer_bytes / in_one.max(1) as u64);
        usize::try_from(most).unwrap_or(usize::MAX)
    };
    if job.best.is_none() {
        let element = job.element;
        return fit(element.stored_bytes(), element.key_bytes().max(element.value_bytes()));
    }
    if job.ragged.is_some() {
        // What the best of each segment take beside is counted segment by segment.
        return fit(job.element.key_bytes(), job.element.key_bytes());
    }
    let row = Job { rows: 1, ..*job };
    fit(row.stored_bytes(), row.largest_array_bytes()).saturating_mul(job.row_length)
}

/// Where arrays may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cuts {
    /// Wherever memory ends: the chunks of a row are merged on the host.
    Anywhere,
    /// Between rows only: a merge would show where keys go, or there is none, as for the best keys.
    BetweenRows,
    /// Nowhere: what is too large is refused.
    Nowhere,
}

/// Where arrays are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut<'a> {
    job: Job,
    /// Where rows of different lengths begin and end. A plan may be made without: then it counts chunks as if they were cut wherever
    /// memory ends.
    offsets: Option<&'a [usize]>,
    /// What a chunk may take of the device's memory.
    room: Allowance,
    /// The most elements in a chunk.
    capacity: usize,
    cuts: Cuts,
}

/// What a chunk is to the device.
pub(crate) struct Part<'a> {
    pub(crate) job: Job,
    /// Where its rows begin and end, if they have different lengths.
    pub(crate) offsets: Option<&'a [usize]>,
}

/// All chunks of a cut.
struct All {
    chunks: Chunks,
    /// The first one of the longest.
    longest: Range<usize>,
}

impl<'a> Cut<'a> {
    /// How a job is cut for a device, with at most `limit` bytes of its memory for the arrays.
    ///
    /// # Errors
    ///
    /// [`Error::LargerThanDevice`] if that is not allowed, or even the smallest chunk does not fit.
    pub(crate) fn new(
        job: &Job,
        offsets: Option<&'a [usize]>,
        facts: &DeviceFacts,
        cuts: Cuts,
        limit: Option<u64>,
    ) -> Result<Self, Error> {
        let room = Allowance::of(facts, limit);
        let is_never_merged = job.best.is_some() || job.in_place;
        let cuts = if is_never_merged && cuts == Cuts::Anywhere { Cuts::BetweenRows } else { cuts };
        let offsets = offsets.filter(|_| job.ragged.is_some());
        let cut = Self { job: *job, offsets, room, capacity: capacity(room, job).min(job.len()), cuts };
        let smallest = cut.smallest();
        if cut.is_whole() || (cuts != Cuts::Nowhere && cut.has_room(&smallest)) {
            return Ok(cut);
        }
        let [in_all, in_one] =
            [smallest.stored_bytes(), smallest.largest_array_bytes()].map(|bytes| bytes as u64);
        let (bytes, limit, part) = if in_all > room.bytes {
            (in_all, room.bytes, "in all")
        } else {
            (in_one, room.buffer_bytes, "in one buffer")
        };
        let device = facts.name.clone();
        Err(Error::LargerThanDevice { device, bytes, limit, part, advice: cut.advice() })
    }

    /// Whether nothing is cut at all.
    pub(crate) fn is_whole(&self) -> bool {
        self.len() == 0 || self.len() <= self.capacity && self.has_room(&self.job)
    }

    /// The length of all rows.
    pub(crate) fn len(&self) -> usize {
        self.job.len()
    }

    /// The chunks, for a plan; `None` if nothing is cut.
    pub(crate) fn chunks(&self) -> Option<Chunks> {
        (!self.is_whole()).then(|| self.all().chunks)
    }

    /// What the device gets at a time: the longest chunk.
    pub(crate) fn at_a_time(&self) -> Job {
        if self.is_whole() { self.job } else { self.part(&self.all().longest).job }
    }

    /// The chunk from this place on: whole rows, as many as fit; or, if none does, a part of one. What is left of rows of one length, or
    /// of one row, is shared evenly, so that no chunk is much shorter than the others. Empty rows at either end of a chunk are in none.
    pub(crate) fn next(&self, start: usize) -> Range<usize> {
        let row = self.row_at(start);
        let whole_rows = if row.start == start { self.end_of_whole_rows(start) } else { None };
        start..whole_rows.unwrap_or_else(|| start + even(row.end - start, self.capacity))
    }

    /// What a chunk is to the device: rows, or one that is alone or a part, which is a row to it even where rows have different lengths.
    pub(crate) fn part(&self, chunk: &Range<usize>) -> Part<'a> {
        let len = chunk.len();
        if let Some(offsets) = self.offsets {
            let offsets = &offsets[self.segment_at(chunk.start)..=self.offsets_before(chunk.end)];
            if offsets.len() > 2 {
                let longest = offsets.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
                let job = Job { ragged: Some(Ragged::new(len)), ..self.rows_of(longest, offsets.len() - 1) };
                return Part { job, offsets: Some(offsets) };
            }
        }
        let row_length = self.job.row_length.min(len);
        let job = match self.job.ragged {
            Some(_) if self.offsets.is_none() => {
                // As many rows as the chunk has on average.
                let rows = (self.job.rows as u128 * len as u128).div_ceil(self.len().max(1) as u128);
                Job { ragged: Some(Ragged::new(len)), ..self.rows_of(row_length, rows as usize) }
            }
            _ => self.rows_of(row_length, len / row_length),
        };
        Part { job, offsets: None }
    }

    /// Whether a row ends at this place; otherwise it goes on in the next chunk.
    pub(crate) fn is_end_of_row(&self, end: usize) -> bool {
        match self.offsets {
            Some(offsets) => offsets[self.offsets_before(end)] - offsets[0] == end,
            None => end.is_multiple_of(self.job.row_length),
        }
    }

    /// Smaller chunks, if this error of one is that the device has no memory for it.
    pub(crate) fn after(self, error: Error, chunk_len: usize) -> Result<Self, Error> {
        let halved = Self { capacity: (chunk_len / 2).max(self.smallest().len()), ..self };
        let is_cut = self.cuts != Cuts::Nowhere && halved.capacity < chunk_len;
        if !matches!(error, Error::DeviceMemory { .. }) || !is_cut {
            return Err(error);
        }
        tracing::debug!(%error, capacity = halved.capacity, "the device gets smaller chunks");
        Ok(halved)
    }

    /// The row that an element is in.
    fn row_at(&self, place: usize) -> Range<usize> {
        match (self.offsets, self.job.ragged) {
            (Some(offsets), _) => {
                let segment = self.segment_at(place);
                offsets[segment] - offsets[0]..offsets[segment + 1] - offsets[0]
            }
            (None, Some(ragged)) => 0..ragged.len,
            (None, None) => {
                let start = place - place % self.job.row_length;
                start..start + self.job.row_length
            }
        }
    }

    /// The number of the segment that an element is in.
    fn segment_at(&self, place: usize) -> usize {
        let offsets = self.offsets.unwrap_or_default();
        offsets.partition_point(|offset| offset - offsets[0] <= place) - 1
    }

    /// How many offsets are before this place.
    fn offsets_before(&self, place: usize) -> usize {
        let offsets = self.offsets.unwrap_or_default();
        offsets.partition_point(|offset| offset - offsets[0] < place)
    }

    /// Where the whole rows end that fit a chunk from this place on, at which one begins; `None` if none does.
    fn end_of_whole_rows(&self, start: usize) -> Option<usize> {
        if let Some(offsets) = self.offsets {
            let first = self.segment_at(start);
            let (mut fit, mut too_many) = (0, offsets.len() - first);
            while too_many - fit > 1 {
                let segments = fit.midpoint(too_many);
                if self.holds(segments, offsets[first + segments] - offsets[first]) {
                    fit = segments;
                } else {
                    too_many = segments;
                }
            }
            return (fit > 0).then(|| offsets[first + fit] - offsets[0]);
        }
        let most = if self.job.ragged.is_some() { 0 } else { self.capacity / self.job.row_length };
        let left = (self.len() - start) / self.job.row_length;
        (most > 0).then(|| start + even(left, most) * self.job.row_length)
    }

    /// Whether a chunk may have so many whole segments of different lengths, with so many elements.
    fn holds(&self, segments: usize, elements: usize) -> bool {
        let rows = self.rows_of(self.job.row_length, segments);
        // One alone needs no table.
        let alone = Job { row_length: elements, ..rows };
        let several = Job { ragged: Some(Ragged::new(elements)), ..rows };
        elements <= self.capacity && self.has_room(if segments == 1 { &alone } else { &several })
    }

    /// All chunks: counted where rows have one length, since there may be any number of them, and gone through otherwise.
    fn all(&self) -> All {
        let (len, longest_row) = (self.len(), self.job.row_length);
        if self.job.ragged.is_some() && self.offsets.is_none() {
            let count = len.div_ceil(self.capacity);
            let row_pieces = longest_row.div_ceil(self.capacity);
            return All {
                chunks: Chunks { count, len: len.div_ceil(count), row_pieces },
                longest: self.next(0),
            };
        }
        if self.offsets.is_none() {
            let rows = len / longest_row;
            let chunks = match self.capacity / longest_row {
                0 => {
                    let row_pieces = longest_row.div_ceil(self.capacity);
                    let count = rows.saturating_mul(row_pieces);
                    Chunks { count, len: longest_row.div_ceil(row_pieces), row_pieces }
                }
                most => {
                    Chunks { count: rows.div_ceil(most), len: even(rows, most) * longest_row, row_pieces: 1 }
                }
            };
            return All { chunks, longest: self.next(0) };
        }
        let mut all = All { chunks: Chunks { count: 0, len: 0, row_pieces: 1 }, longest: 0..0 };
        let mut start = 0;
        while start < len {
            let (row, chunk) = (self.row_at(start), self.next(start));
            let pieces = if chunk.end < row.end { row.len().div_ceil(self.capacity) } else { 1 };
            all.chunks.count += pieces;
            all.chunks.row_pieces = all.chunks.row_pieces.max(pieces);
            start = row.end.max(chunk.end);
            if chunk.len() > all.longest.len() {
                all.longest = chunk;
            }
        }
        all.chunks.len = all.longest.len();
        all
    }

    /// So many rows of this length.
    fn rows_of(&self, row_length: usize, rows: usize) -> Job {
        let element = self.job.element.for_segments_of(row_length);
        let best = self.job.best.map(|best| best.min(row_length));
        Job { element, row_length, rows, best, ragged: None, ..self.job }
    }

    /// Whether the arrays of a job fit the memory.
    fn has_room(&self, job: &Job) -> bool {
        job.stored_bytes() as u64 <= self.room.bytes
            && job.largest_array_bytes() as u64 <= self.room.buffer_bytes
    }

    /// The least that a chunk must be.
    fn smallest(&self) -> Job {
        let row_length = match self.cuts {
            Cuts::Anywhere => 1,
            Cuts::BetweenRows => self.job.row_length,
            Cuts::Nowhere => return self.job,
        };
        // With elements as wide as those of all, which chunks are counted with.
        Job { element: self.job.element, ..self.rows_of(row_length, 1) }
    }

    fn advice(&self) -> &'static str {
        match self.cuts {
            Cuts::Anywhere => "raise device_memory() or BITONIC_DEVICE_MEMORY, or choose the cpu engine",
            Cuts::BetweenRows if self.job.best.is_some() => {
                "the best keys of a row are found in one piece: choose the cpu engine, or raise device_memory() or \
                 BITONIC_DEVICE_MEMORY where they set the limit"
            }
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

    const UNLIMITED: Allowance = Allowance { bytes: u64::MAX, buffer_bytes: u64::MAX };

    fn cut(row_length: usize, rows: usize, capacity: usize) -> Cut<'static> {
        let job = job(Request::argsort::<u32>, row_length, rows);
        Cut { job, offsets: None, room: UNLIMITED, capacity, cuts: Cuts::Anywhere }
    }

    /// How segments are cut for a device with so many bytes.
    fn cut_segments(
        request: impl Fn(Segments) -> Request,
        offsets: &[usize],
        bytes: u64,
        cuts: Cuts,
    ) -> Result<Cut<'_>, Error> {
        let segments = Segments::offsets(offsets, usize::MAX).expect("they ascend");
        let facts = DeviceFacts { buffer_bytes: bytes, ..DeviceFacts::plain_gpu() };
        Cut::new(&Job::of(&request(segments)), Some(offsets), &facts, cuts, Some(bytes))
    }

    /// Offsets of segments of these lengths, the first one somewhere in an array.
    fn offsets_of(lengths: &[usize]) -> Vec<usize> {
        let ends = lengths.iter().scan(7, |end, length| {
            *end += length;
            Some(*end)
        });
        std::iter::once(7).chain(ends).collect()
    }

    fn all_chunks(cut: Cut<'_>) -> Vec<Range<usize>> {
        let mut chunks = vec![];
        while chunks.last().map_or(0, |last: &Range<usize>| last.end) < cut.len() {
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
        let of = |capacity, len| {
            let job = cut(10, 4, capacity).part(&(0..len)).job;
            (job.row_length, job.rows, job.element.value_bits)
        };
        assert_eq!(of(20, 20), (10, 2, 32), "and indices are as wide as the chunk needs");
        assert_eq!(of(7, 5), (5, 1, 32));
    }

    /// Lengths of segments: none, empty ones everywhere, one that is longer than all others, many short ones.
    const LENGTHS: [&[usize]; 7] = [
        &[],
        &[0, 0, 0],
        &[0, 5, 0, 0, 3, 2, 0, 0, 0, 0, 10, 1, 0],
        &[100],
        &[1, 2, 90, 0, 3, 0],
        &[1; 60],
        &[8, 8, 8, 8, 8, 8, 8, 8],
    ];

    #[test]
    fn segments_are_cut_between_segments_and_as_few_chunks_are_made_as_fit() {
        for request in [Request::keys::<u32>, Request::argsort::<u64>] {
            for lengths in LENGTHS {
                let offsets = offsets_of(lengths);
                for bytes in 12..1300 {
                    let cut =
                        cut_segments(request, &offsets, bytes, Cuts::Anywhere).expect("an element fits");
                    if cut.is_whole() {
                        assert!(cut.len() == 0 || cut.job.stored_bytes() as u64 <= bytes, "{cut:?}");
                        continue;
                    }
                    let chunks = all_chunks(cut);
                    check_chunks_of_segments(&cut, &chunks, lengths);
                    let (planned, lens) = (cut.chunks().expect("it is cut"), chunks.iter().map(Range::len));
                    assert_eq!((planned.count, Some(planned.len)), (chunks.len(), lens.max()), "{cut:?}");
                }
            }
        }
    }

    /// Every chunk is whole segments, as many as the device holds, or a part of one that it does not hold.
    fn check_chunks_of_segments(cut: &Cut<'_>, chunks: &[Range<usize>], lengths: &[usize]) {
        let offsets = cut.offsets.expect("they are given");
        let mut most_pieces = 1;
        for chunk in chunks {
            let Part { job, offsets: table } = cut.part(chunk);
            assert_eq!(job.len(), chunk.len());
            assert!(cut.has_room(&job), "{chunk:?} of {lengths:?}: {cut:?}");
            let begins = offsets.contains(&(chunk.start + 7));
            assert_eq!(cut.is_end_of_row(chunk.end), offsets.contains(&(chunk.end + 7)), "{chunk:?}");
            if begins && cut.is_end_of_row(chunk.end) {
                // With the segments up to the next that has elements, it would be too large.
                let next = offsets.iter().position(|&offset| offset > chunk.end + 7).unwrap_or(offsets.len());
                let first = offsets.iter().rposition(|&offset| offset == chunk.start + 7).unwrap_or(0);
                let len = offsets.get(next).map(|offset| offset - chunk.start - 7);
                assert!(len.is_none_or(|len| !cut.holds(next - first, len)), "{chunk:?} of {lengths:?}");
            }
            let Some(table) = table else {
                // One segment, or a part of one.
                assert_eq!((job.rows, job.ragged), (1, None));
                let of_row = |other: &&Range<usize>| cut.row_at(other.start) == cut.row_at(chunk.start);
                most_pieces = most_pieces.max(chunks.iter().filter(of_row).count());
                assert!(cut.row_at(chunk.start).end >= chunk.end, "{chunk:?} of {lengths:?}");
                if !(begins && cut.is_end_of_row(chunk.end)) {
                    assert!(cut.row_at(chunk.start).len() > cut.capacity, "it could be whole");
                }
                continue;
            };
            assert!(begins && cut.is_end_of_row(chunk.end), "{chunk:?} of {lengths:?}");
            assert_eq!((table[0], table[table.len() - 1]), (chunk.start + 7, chunk.end + 7));
            assert_eq!(Some(job.row_length), table.windows(2).map(|ends| ends[1] - ends[0]).max());
            assert_eq!((job.rows, job.ragged), (table.len() - 1, Some(Ragged::new(chunk.len()))));
        }
        assert_eq!(cut.chunks().map(|chunks| chunks.row_pieces), Some(most_pieces), "{cut:?}");
    }

    #[test]
    fn a_segment_that_just_fits_is_not_cut_and_one_more_key_is() {
        let cuts = |bytes, lengths: &[usize]| {
            let offsets = offsets_of(lengths);
            let cut =
                cut_segments(Request::keys::<u32>, &offsets, bytes, Cuts::Anywhere).expect("a key fits");
            all_chunks(cut).into_iter().map(|chunk| chunk.len()).collect::<Vec<_>>()
        };
        // Four bytes a key, and an offset more than there are segments, unless there is one.
        assert_eq!(cuts(400, &[100, 100]), [100, 100]);
        assert_eq!(cuts(400, &[101, 100]), [51, 50, 100]);
        assert_eq!(cuts(400, &[40, 57]), [97], "with three offsets");
        assert_eq!(cuts(400, &[40, 58]), [40, 58]);
        assert_eq!(cuts(400, &[40, 0, 56]), [96], "an empty segment has one, too");
        assert_eq!(cuts(400, &[0, 40, 57, 0, 100]), [97, 100], "those at the ends of a chunk are left out");
    }

    #[test]
    fn segments_that_must_not_be_cut_are_refused_with_what_they_need() {
        let offsets = offsets_of(&[60, 0, 40]);
        let refused = |request: fn(Segments) -> Request, bytes, cuts| match cut_segments(
            request, &offsets, bytes, cuts,
        ) {
            Ok(_) => None,
            Err(Error::LargerThanDevice { bytes, advice, .. }) => Some((bytes, advice)),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(refused(Request::keys::<u32>, 416, Cuts::Nowhere), None);
        let (bytes, advice) =
            refused(Request::keys::<u32>, 415, Cuts::Nowhere).expect("the table does not fit");
        assert!(bytes == 416 && advice.contains("chunks()"), "{bytes}: {advice}");
        // The best of a segment: all of its keys, and a key and an index for each of the best.
        let best = |segments| Request::top::<u32>(segments, 5);
        assert_eq!(refused(best, 280, Cuts::Anywhere), None);
        let (bytes, advice) = refused(best, 279, Cuts::Anywhere).expect("one segment does not fit");
        assert!(bytes == 280 && advice.contains("best keys"), "{bytes}: {advice}");
        assert!(refused(best, 280, Cuts::Nowhere).is_some());
    }

    #[test]
    fn the_best_keys_are_looked_for_in_whole_rows_and_segments() {
        let best = |segments| Request::top::<u32>(segments, 5);
        for lengths in LENGTHS {
            let offsets = offsets_of(lengths);
            for bytes in 440..1300 {
                let cut = cut_segments(best, &offsets, bytes, Cuts::Anywhere).expect("a segment fits");
                for chunk in all_chunks(cut) {
                    let begins = offsets.contains(&(chunk.start + 7));
                    assert!(begins && cut.is_end_of_row(chunk.end), "{chunk:?} of {lengths:?}");
                    assert!(cut.has_room(&cut.part(&chunk).job), "{chunk:?} of {lengths:?}, {bytes} bytes");
                }
            }
        }
        let facts = DeviceFacts::plain_gpu();
        let rows = |bytes| Cut::new(&job(best, 10, 20), None, &facts, Cuts::Anywhere, Some(bytes));
        // Ten keys, and five keys with indices.
        assert_eq!(rows(240).map(|cut| all_chunks(cut).len()), Ok(7));
        assert_eq!(rows(239).map(|cut| all_chunks(cut).len()), Ok(10));
        assert!(rows(79).is_err());
        assert!(rows(1600).is_ok_and(|cut| cut.is_whole()) && rows(1599).is_ok_and(|cut| !cut.is_whole()));
    }

    #[test]
    fn without_offsets_chunks_of_segments_are_counted_as_if_they_were_cut_anywhere() {
        let segments = Segments::Offsets { segments: 10, longest: 250, len: 1000 };
        let job = Job::of(&Request::keys::<u32>(segments));
        let cut =
            Cut::new(&job, None, &DeviceFacts::plain_gpu(), Cuts::Anywhere, Some(400)).expect("a key fits");
        assert_eq!(cut.chunks(), Some(Chunks { count: 10, len: 100, row_pieces: 3 }));
        let at_a_time = cut.at_a_time();
        assert_eq!((at_a_time.len(), at_a_time.rows, at_a_time.row_length), (100, 1, 100));
    }

    #[test]
    fn a_refusal_halves_chunks_as_long_as_they_may_be_cut() {
        let refused = || Error::DeviceMemory { device: "a device".to_owned(), bytes: 1, available: 1 };
        let anywhere = cut(100, 2, 50);
        assert_eq!(anywhere.after(refused(), 50).map(|cut| cut.capacity), Ok(25));
        let segments = offsets_of(&[60, 50, 90]);
        let segments = cut_segments(Request::keys::<u32>, &segments, 4000, Cuts::Anywhere).expect("they fit");
        let halved = segments.after(refused(), 200).expect("they are cut");
        assert_eq!(all_chunks(halved), [0..60, 60..110, 110..200]);
        assert_eq!(halved.after(refused(), 90).map(all_chunks).map(|chunks| chunks.len()), Ok(6));
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
