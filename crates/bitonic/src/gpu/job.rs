//! A request as kernels see it: elements of some bits, in rows.

use super::element::{Element, Mapping};
use crate::Error;
use crate::request::{Request, Segments, What, index_bytes};

/// Rows of different lengths: where each begins and ends is in a table on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ragged {
    /// The elements of the arrays.
    pub(crate) len: usize,
    /// The bits of an offset: 32 or 64.
    pub(crate) offset_bits: u32,
}

impl Ragged {
    pub(crate) fn new(len: usize) -> Self {
        Self { len, offset_bits: 8 * index_bytes(len) as u32 }
    }

    /// The table for a device of segments that begin and end at these offsets, counted from the first one.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn table(self, offsets: &[usize]) -> Result<Vec<u8>, Error> {
        let bytes = offsets.len() * self.offset_bits as usize / 8;
        let mut table = Vec::new();
        table.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        let first = offsets.first().copied().unwrap_or(0);
        for &offset in offsets {
            let number = ((offset - first) as u64).to_le_bytes();
            table.extend_from_slice(&number[..self.offset_bits as usize / 8]);
        }
        Ok(table)
    }
}

/// What the kernels of a device sort: `rows` rows of `row_length` elements each, one after the other in the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Job {
    pub(crate) element: Element,
    pub(crate) mapping: Mapping,
    pub(crate) row_length: usize,
    pub(crate) rows: usize,
    /// Where rows have different lengths; then `row_length` is that of the longest, or more.
    pub(crate) ragged: Option<Ragged>,
    /// How many elements of every row the kernels look for, where they do not sort all: the first ones in order. At most a row.
    pub(crate) best: Option<usize>,
    /// Whether the sort may have no memory beyond the arrays: the pure network, which is oblivious.
    pub(crate) in_place: bool,
    /// Whether places are numbered with 64 bits where 32 would do, too. Slower, and only for tests: arrays that need it are
    /// larger than what tests sort.
    pub(crate) wide_index: bool,
}

impl Job {
    /// The job of a request.
    pub(crate) fn of(request: &Request) -> Self {
        let row_length = request.segments.longest();
        let element = match request.what {
            What::Keys => Element::keys(request.key),
            What::Pairs(value) if request.carries_values() => Element::pairs(request.key, value.bytes),
            What::Pairs(_) | What::Argsort | What::Top(_) => Element::indexed(request.key, row_length),
        };
        let best = match request.what {
            // Which keys are passed over shows: obliviously, all are sorted with their indices, and the first of each row land.
            What::Top(k) if !request.oblivious => Some(k.min(row_length)),
            What::Keys | What::Pairs(_) | What::Argsort | What::Top(_) => None,
        };
        Self {
            element,
            mapping: Mapping::new(request.key, request.order, request.nan_last),
            row_length,
            rows: request.segments.count(),
            ragged: match request.segments {
                Segments::Offsets { len, .. } => Some(Ragged::new(len)),
                Segments::One { .. } | Segments::Rows { .. } => None,
            },
            best,
            in_place: request.oblivious,
            wide_index: false,
        }
    }

    /// The same with a table of offsets of another type.
    pub(crate) fn with_offsets_of<O>(self) -> Self {
        let offset_bits = 8 * size_of::<O>() as u32;
        Self { ragged: self.ragged.map(|ragged| Ragged { offset_bits, ..ragged }), ..self }
    }

    /// Whether segments of arrays that are on a device can be sorted; why not.
    pub(crate) fn check_resident_segments(&self) -> Result<(), String> {
        if self.element.indexed && self.element.value_bits != 32 {
            return Err(format!("{} indices do not fit 32 bits", self.row_length));
        }
        Ok(())
    }

    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        self.ragged.map_or(self.row_length.saturating_mul(self.rows), |ragged| ragged.len)
    }

    /// What the arrays take on the device.
    pub(crate) fn stored_bytes(&self) -> usize {
        let (keys, values) = self.array_bytes();
        let beside = self.input_bytes().saturating_add(self.offset_bytes());
        beside.saturating_add(keys).saturating_add(values)
    }

    /// The bytes of the largest array.
    pub(crate) fn largest_array_bytes(&self) -> usize {
        let (keys, values) = self.array_bytes();
        keys.max(values).max(self.input_bytes()).max(self.offset_bytes())
    }

    /// The bytes of keys, and of values: of all elements, or of the best.
    pub(crate) fn array_bytes(&self) -> (usize, usize) {
        let len = self.best.map_or(self.len(), |best| best.saturating_mul(self.rows));
        (len.saturating_mul(self.element.key_bytes()), len.saturating_mul(self.element.value_bytes()))
    }

    /// The bytes of the table of rows of different lengths; 0 where they have the same.
    pub(crate) fn offset_bytes(&self) -> usize {
        self.ragged.map_or(0, |ragged| (self.rows + 1).saturating_mul(ragged.offset_bits as usize / 8))
    }

    /// The bytes of the keys that only the best are taken from; 0 where all are sorted.
    pub(crate) fn input_bytes(&self) -> usize {
        self.best.map_or(0, |_| self.len().saturating_mul(self.element.key_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obliviously_the_best_keys_are_those_of_an_argsort() {
        let rows = Segments::Rows { rows: 3, row_length: 70_000 };
        for segments in [Segments::one(0), Segments::one(300_000), rows] {
            let argsort = Request { oblivious: true, ..Request::argsort::<f32>(segments) };
            for k in [0, 1, 50, 100_000_000] {
                let top = Request { oblivious: true, ..Request::top::<f32>(segments, k) };
                assert_eq!(Job::of(&top), Job::of(&argsort), "{k} of {segments:?}");
                let selecting = Job::of(&Request { oblivious: false, ..top });
                assert_eq!(selecting.best, Some(k.min(segments.longest())));
            }
        }
    }
}
