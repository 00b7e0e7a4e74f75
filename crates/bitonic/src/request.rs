//! A sort as data: what is sorted, in which segments, how. Every engine plans from it.

use crate::key::{BitMap, Bits, Key, KeyType, Order, plain_number_bytes};
use crate::{Engine, Error};

/// What a sort is asked to do. The public functions are typed doors to it.
///
/// ```
/// use bitonic::{Request, Segments};
///
/// let request = Request::keys::<f32>(Segments::rows(6, 3)?);
/// assert_eq!((request.len(), request.segments.count()), (6, 2));
/// # Ok::<(), bitonic::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The operation.
    pub what: What,
    /// The parts that are sorted each for itself.
    pub segments: Segments,
    /// The type of the keys.
    pub key: KeyType,
    /// The direction.
    pub order: Order,
    /// Whether NaNs of both signs come last, whatever the direction.
    pub nan_last: bool,
    /// Whether values of equal keys keep their order.
    pub stable: bool,
    /// Whether no branch and no address may depend on a key.
    pub oblivious: bool,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum What {
    /// Sort keys.
    Keys,
    /// Sort keys, and move a value of this type with each.
    Pairs(ValueType),
    /// Tell the index of every key in sorted order; the keys stay.
    Argsort,
    /// Tell this many keys that come first in sorted order, or all where there are fewer, and their indices; the keys stay.
    Top(usize),
}

/// The type of a value, as far as engines need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueType {
    /// The size of a value.
    pub bytes: usize,
    /// Whether it is a number of 4 or 8 bytes. All bits of a number mean something, so they may travel as bits.
    pub is_number: bool,
}

impl ValueType {
    /// The value type of `V`.
    pub fn of<V>() -> Self {
        Self { bytes: size_of::<V>(), is_number: plain_number_bytes::<V>().is_some() }
    }
}

/// The parts of the arrays that are sorted each for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Segments {
    /// All keys are one segment.
    One {
        /// How many keys there are.
        len: usize,
    },
    /// Rows of equal length, one after the other.
    Rows {
        /// How many rows there are.
        rows: usize,
        /// The keys of a row.
        row_length: usize,
    },
    /// Segments of any lengths, one after the other. Where each begins is data, which the caller has.
    Offsets {
        /// How many segments there are.
        segments: usize,
        /// The keys of the longest.
        longest: usize,
        /// The keys of all.
        len: usize,
    },
}

impl Segments {
    /// All keys as one segment.
    pub const fn one(len: usize) -> Self {
        Self::One { len }
    }

    /// Rows of this length.
    ///
    /// # Errors
    ///
    /// [`Error::Rows`] if the keys are not a whole number of rows.
    pub fn rows(len: usize, row_length: usize) -> Result<Self, Error> {
        match len.checked_rem(row_length) {
            Some(0) => Ok(Self::Rows { rows: len / row_length, row_length }),
            None if len == 0 => Ok(Self::Rows { rows: 0, row_length }),
            _ => Err(Error::Rows { len, row_length }),
        }
    }

    /// Segments that begin and end at these offsets: the first one from the first offset to the second, and so on. Keys before
    /// the first offset and from the last on belong to no segment.
    ///
    /// # Errors
    ///
    /// [`Error::Offsets`] if the offsets do not ascend, or end after this many keys.
    pub fn offsets(offsets: &[usize], keys: usize) -> Result<Self, Error> {
        let mut least = 0;
        for (place, &offset) in offsets.iter().enumerate() {
            if offset < least || offset > keys {
                return Err(Error::Offsets { place, offset, least, most: keys });
            }
            least = offset;
        }
        let longest = offsets.windows(2).map(|ends| ends[1] - ends[0]).max();
        let len = offsets.first().map_or(0, |first| least - first);
        let segments = offsets.len().saturating_sub(1);
        Ok(Self::Offsets { segments, longest: longest.unwrap_or(0), len })
    }

    /// The most segments of different lengths that a device sorts at a time: kernels number them, and what is behind the last, with 32 bits.
    const MOST_ON_DEVICE: usize = i32::MAX as usize;

    /// How many segments there are.
    pub const fn count(self) -> usize {
        match self {
            Self::One { .. } => 1,
            Self::Rows { rows, .. } => rows,
            Self::Offsets { segments, .. } => segments,
        }
    }

    /// The keys of the longest segment.
    pub const fn longest(self) -> usize {
        match self {
            Self::One { len } => len,
            Self::Rows { row_length, .. } => row_length,
            Self::Offsets { longest, .. } => longest,
        }
    }

    /// The keys of all segments.
    pub const fn len(self) -> usize {
        match self {
            Self::One { len } => len,
            Self::Rows { rows, row_length } => rows.saturating_mul(row_length),
            Self::Offsets { len, .. } => len,
        }
    }

    /// Whether there is no key at all.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// The bytes of an index of a key in a segment of this length, where it travels with the key.
pub(crate) const fn index_bytes(segment_length: usize) -> usize {
    if segment_length as u64 <= u32::MAX as u64 { size_of::<u32>() } else { size_of::<u64>() }
}

/// An unsigned number that counts keys: `u32`, `u64` or `usize`.
pub trait Index: Copy + sealed::Sealed {
    /// The index, if the type has it.
    fn from_usize(index: usize) -> Option<Self>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! index {
    ($($type:ty)+) => {$(
        impl sealed::Sealed for $type {}
        impl Index for $type {
            #[inline]
            fn from_usize(index: usize) -> Option<Self> {
                Self::try_from(index).ok()
            }
        }
    )+};
}
index!(u32 u64 usize);

impl Request {
    /// Sort keys of type `K`: ascending, not obliviously.
    pub fn keys<K: Key>(segments: Segments) -> Self {
        Self::new::<K>(What::Keys, segments)
    }

    /// Sort keys of type `K`, and move a value of type `V` with each: ascending, not stable, not obliviously.
    pub fn pairs<K: Key, V>(segments: Segments) -> Self {
        Self::new::<K>(What::Pairs(ValueType::of::<V>()), segments)
    }

    /// Tell the order of keys of type `K`: ascending, equal keys by lowest index.
    pub fn argsort<K: Key>(segments: Segments) -> Self {
        Self::new::<K>(What::Argsort, segments)
    }

    /// Tell the `k` keys of type `K` that come first and their indices: ascending, equal keys by lowest index.
    pub fn top<K: Key>(segments: Segments, k: usize) -> Self {
        Self::new::<K>(What::Top(k), segments)
    }

    fn new<K: Key>(what: What, segments: Segments) -> Self {
        Self {
            what,
            segments,
            key: K::TYPE,
            order: Order::Ascending,
            nan_last: false,
            stable: false,
            oblivious: false,
        }
    }

    /// How many keys there are.
    pub const fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there is no key at all.
    pub const fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// What brings the keys into the order that is asked for.
    pub(crate) fn map<B: Bits>(&self) -> BitMap<B> {
        BitMap::of(self.key, self.order, self.nan_last)
    }

    /// The bytes of a value that the caller's arrays have for every key; 0 for keys alone.
    pub const fn value_bytes(&self) -> usize {
        match self.what {
            What::Pairs(value) => value.bytes,
            What::Keys | What::Argsort | What::Top(_) => 0,
        }
    }

    /// Whether a device sorts keys with their values. Otherwise it sorts keys with their indices, and the host puts the values
    /// in place by these.
    pub const fn carries_values(&self) -> bool {
        match self.what {
            What::Pairs(value) => value.is_number && !self.stable,
            What::Keys | What::Argsort | What::Top(_) => true,
        }
    }

    /// Whether a device compares more than one machine word: key and what travels with it have more than 64 bits.
    const fn is_wide(&self) -> bool {
        let with_key = match self.what {
            What::Keys => 0,
            What::Pairs(value) if self.carries_values() => value.bytes,
            What::Pairs(_) | What::Argsort | What::Top(_) => index_bytes(self.segments.longest()),
        };
        self.key.bytes() + with_key > size_of::<u64>()
    }

    /// The one rule for what an engine cannot do. Obliviously, values that the host puts in place by index show where each key went,
    /// merges of long segments show it, too, and comparisons of more than 64 bits may become branches in some OpenCL compiler.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] with the reason and the way out.
    pub fn check(&self, engine: Engine) -> Result<(), Error> {
        if !engine.has_devices() {
            return Ok(());
        }
        let has_offsets = matches!(self.segments, Segments::Offsets { .. });
        let (reason, advice) = if has_offsets && self.segments.count() > Segments::MOST_ON_DEVICE {
            ("it numbers segments with 31 bits, and these are more", "sort fewer segments at a time")
        } else if !self.oblivious {
            return Ok(());
        } else if has_offsets {
            (
                "it merges the tiles of long segments, and that shows where keys go",
                "sort segments obliviously on the cpu engine, or rows of one length",
            )
        } else if !self.carries_values() {
            (
                "it puts these values in place by index, and that shows where each key went",
                "sort obliviously on the cpu engine, or with values that are numbers of 32 or 64 bits and without stable()",
            )
        } else if engine.compiles_elsewhere() && self.is_wide() {
            (
                "keys with what travels with them have more than 64 bits, and its compilers were not shown to compare these \
                 without a branch",
                "sort obliviously on the cpu engine",
            )
        } else {
            return Ok(());
        };
        Err(Error::EngineUnavailable { engine, reason: reason.to_owned(), advice: advice.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_whole_or_an_error() {
        assert_eq!(Segments::rows(6, 3), Ok(Segments::Rows { rows: 2, row_length: 3 }));
        assert_eq!(Segments::rows(0, 3).map(Segments::count), Ok(0));
        assert_eq!(Segments::rows(0, 0).map(Segments::len), Ok(0));
        assert_eq!(Segments::rows(7, 3), Err(Error::Rows { len: 7, row_length: 3 }));
        assert_eq!(Segments::rows(7, 0), Err(Error::Rows { len: 7, row_length: 0 }));
    }

    #[test]
    fn offsets_ascend_and_stay_within_the_keys_or_are_an_error() {
        let facts = |offsets: &[usize]| Segments::offsets(offsets, 10);
        assert_eq!(facts(&[]), Ok(Segments::Offsets { segments: 0, longest: 0, len: 0 }));
        assert_eq!(facts(&[4]), Ok(Segments::Offsets { segments: 0, longest: 0, len: 0 }));
        assert_eq!(facts(&[2, 2, 7, 10]), Ok(Segments::Offsets { segments: 3, longest: 5, len: 8 }));
        assert_eq!(facts(&[0, 3, 2]), Err(Error::Offsets { place: 2, offset: 2, least: 3, most: 10 }));
        assert_eq!(facts(&[0, 11]), Err(Error::Offsets { place: 1, offset: 11, least: 0, most: 10 }));
    }

    #[test]
    fn a_device_sorts_segments_of_different_lengths_but_not_obliviously() {
        let segments = Segments::offsets(&[0, 4, 9], 9).unwrap();
        let keys = Request::keys::<u32>(segments);
        let many = Segments::Offsets { segments: 1 << 31, longest: 1, len: 1 };
        for (request, is_refused) in [
            (keys, false),
            (Request::argsort::<f64>(segments), false),
            (Request::pairs::<u32, [u8; 3]>(segments), false),
            (Request { oblivious: true, ..keys }, true),
            (Request::top::<u32>(segments, 2), false),
            (Request { oblivious: true, ..Request::top::<u32>(segments, 2) }, true),
            (Request { oblivious: true, ..Request::top::<u32>(Segments::rows(9, 3).unwrap(), 2) }, false),
            (Request::keys::<u32>(many), true),
        ] {
            assert!(request.check(Engine::Cpu).is_ok());
            for engine in [Engine::OpenCl, Engine::Cuda] {
                assert_eq!(request.check(engine).is_err(), is_refused, "{request:?}");
            }
        }
    }

    #[test]
    fn wide_elements_are_not_oblivious_where_any_compiler_may_build_the_kernels() {
        let is_refused =
            |engine, request: Request| Request { oblivious: true, ..request }.check(engine).is_err();
        let one = Segments::one(9);
        for (request, is_wide) in [
            (Request::keys::<u64>(one), false),
            (Request::keys::<i128>(one), true),
            (Request::pairs::<u32, f32>(one), false),
            (Request::pairs::<u8, f64>(one), true),
            (Request::argsort::<f32>(one), false),
            (Request::argsort::<f64>(one), true),
            (Request::top::<f32>(one, 2), false),
            (Request::top::<f64>(one, 2), true),
            (Request::argsort::<u32>(Segments::one(u32::MAX as usize)), false),
            #[cfg(target_pointer_width = "64")]
            (Request::argsort::<u32>(Segments::one(1 << 32)), true),
        ] {
            assert_eq!(is_refused(Engine::OpenCl, request), is_wide, "{request:?}");
            assert!(!is_refused(Engine::Cuda, request) && !is_refused(Engine::Cpu, request), "{request:?}");
        }
    }

    #[test]
    fn a_device_refuses_just_the_oblivious_sorts_whose_values_the_host_would_gather() {
        let numbers = Request::pairs::<u32, f64>(Segments::one(9));
        let structures = Request::pairs::<u32, [u8; 3]>(Segments::one(9));
        for request in [
            numbers,
            structures,
            Request::keys::<u8>(Segments::one(9)),
            Request::argsort::<u8>(Segments::one(9)),
        ] {
            for engine in [Engine::OpenCl, Engine::Cuda] {
                for stable in [false, true] {
                    let request = Request { stable, oblivious: true, ..request };
                    let gathers = request.value_bytes() > 0 && (stable || request.value_bytes() == 3);
                    let is_wide = engine == Engine::OpenCl && request.value_bytes() == 8;
                    assert_eq!(request.check(engine).is_err(), gathers || is_wide, "{request:?}");
                    assert!(request.check(Engine::Cpu).is_ok());
                    assert!(Request { oblivious: false, ..request }.check(engine).is_ok());
                }
            }
        }
    }
}
