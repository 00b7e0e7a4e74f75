//! The sorts that can take part: one table, and a tiny adapter for each.

use crate::element::Element;
use bitonic::Sorter;
use bitonic_testkit::{Pattern, TestKey};
use rayon::slice::ParallelSliceMut;
use std::fmt;

/// A sort that can take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// `bitonic::sort` and `bitonic::sort_pairs`, in a thread pool of one thread.
    Bitonic,
    /// `slice::sort_unstable`; for floats with `total_cmp`.
    Standard,
    /// `numpy.ndarray.sort`, in place: x86-simd-sort or Highway, by the processor.
    Numpy,
    /// The crate glidesort.
    Glidesort,
    /// The crate rdst, with its single-threaded tuner.
    Rdst,
    /// The crate voracious_radix_sort.
    Voracious,
    /// The crate radsort.
    Radsort,
    /// `Sorter::oblivious`, on one thread.
    BitonicOblivious,
    /// The crate djbsort, which sorts in constant time too.
    Djbsort,
    /// `bitonic::sort` and `bitonic::sort_pairs`, in a thread pool with all cores.
    BitonicThreads,
    /// rayon's `par_sort_unstable`.
    Rayon,
    /// The crate rdst as it comes.
    RdstThreads,
    /// The crate voracious_radix_sort, `voracious_mt_sort` with as many threads as there are cores.
    VoraciousThreads,
}

/// A kind of sorts that are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One thread, as fast as it goes.
    Default,
    /// One thread, and neither time nor addresses tell anything about the keys.
    Oblivious,
    /// All cores.
    Threads,
}

/// Below this length handing work to threads is all that a parallel sort would be measured by.
const THREADS_FROM: usize = 1 << 12;

impl Sort {
    /// Every sort, in the order of the table.
    pub const ALL: &[Self] = &[
        Self::Bitonic,
        Self::Standard,
        Self::Numpy,
        Self::Glidesort,
        Self::Rdst,
        Self::Voracious,
        Self::Radsort,
        Self::BitonicOblivious,
        Self::Djbsort,
        Self::BitonicThreads,
        Self::Rayon,
        Self::RdstThreads,
        Self::VoraciousThreads,
    ];

    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bitonic => "bitonic",
            Self::Standard => "std",
            Self::Numpy => "numpy",
            Self::Glidesort => "glidesort",
            Self::Rdst => "rdst",
            Self::Voracious => "voracious",
            Self::Radsort => "radsort",
            Self::BitonicOblivious => "bitonic-oblivious",
            Self::Djbsort => "djbsort",
            Self::BitonicThreads => "bitonic-threads",
            Self::Rayon => "rayon",
            Self::RdstThreads => "rdst-threads",
            Self::VoraciousThreads => "voracious-threads",
        }
    }

    /// What kind of sort it is.
    pub const fn mode(self) -> Mode {
        match self {
            Self::BitonicOblivious | Self::Djbsort => Mode::Oblivious,
            Self::BitonicThreads | Self::Rayon | Self::RdstThreads | Self::VoraciousThreads => Mode::Threads,
            _ => Mode::Default,
        }
    }

    /// Whether it is ours.
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Bitonic | Self::BitonicOblivious | Self::BitonicThreads)
    }

    /// Why it does not take part in a measurement; `None` if it does.
    pub fn left_out(self, element: Element, pattern: Pattern, size: usize) -> Option<&'static str> {
        match self {
            Self::Voracious | Self::VoraciousThreads if element.has_nan(pattern) => Some("panics on NaN"),
            Self::Numpy if element.has_nan(pattern) => Some("does not keep the bits of NaNs"),
            Self::Numpy if element == Element::U128 => Some("has no 128-bit integers"),
            Self::Rayon | Self::RdstThreads | Self::VoraciousThreads if size < THREADS_FROM => {
                Some("is not measured with threads below 2^12 keys")
            }
            _ => None,
        }
    }

    /// Sorts every row of `size` keys. [`Sort::Numpy`] sorts in another program and does nothing here.
    pub fn sort_rows<K: PeerKey>(self, keys: &mut [K], size: usize) -> Result<(), bitonic::Error> {
        match self {
            Self::Bitonic | Self::BitonicThreads => each_row(keys, size, bitonic::sort),
            Self::BitonicOblivious => {
                let sorter = Sorter::new().oblivious(true);
                return keys.chunks_exact_mut(size).try_for_each(|row| sorter.sort(row).map(drop));
            }
            Self::Standard => each_row(keys, size, K::standard_sort),
            Self::Rayon => each_row(keys, size, K::rayon_sort),
            Self::Glidesort => each_row(keys, size, K::glidesort),
            Self::Rdst => each_row(keys, size, |row| {
                let builder = rdst::RadixSort::radix_sort_builder(row);
                builder.with_parallel(false).with_single_threaded_tuner().sort();
            }),
            Self::RdstThreads => each_row(keys, size, rdst::RadixSort::radix_sort_unstable),
            Self::Voracious => each_row(keys, size, voracious_radix_sort::RadixSort::voracious_sort),
            Self::VoraciousThreads => {
                let threads = rayon::current_num_threads();
                each_row(keys, size, |row| voracious_radix_sort::RadixSort::voracious_mt_sort(row, threads));
            }
            Self::Radsort => each_row(keys, size, radsort::sort),
            Self::Djbsort => each_row(keys, size, |row| djbsort::sort(row, djbsort::Order::Asc)),
            Self::Numpy => {}
        }
        Ok(())
    }

    /// Sorts every row of `size` pairs, if it is ours; the peers know no pairs in two slices.
    pub fn sort_pair_rows(
        self,
        keys: &mut [u32],
        values: &mut [u32],
        size: usize,
    ) -> Result<(), bitonic::Error> {
        let mut rows = keys.chunks_exact_mut(size).zip(values.chunks_exact_mut(size));
        if self == Self::BitonicOblivious {
            let sorter = Sorter::new().oblivious(true);
            return rows.try_for_each(|(keys, values)| sorter.sort_pairs(keys, values).map(drop));
        }
        rows.try_for_each(|(keys, values)| bitonic::sort_pairs(keys, values))
    }
}

/// The loop is inside the adapter, so that the compiler may inline a sort as it would in a program that calls it.
fn each_row<K>(keys: &mut [K], size: usize, sort: impl FnMut(&mut [K])) {
    keys.chunks_exact_mut(size).for_each(sort);
}

impl Mode {
    /// Every mode.
    pub const ALL: &[Self] = &[Self::Default, Self::Oblivious, Self::Threads];

    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Oblivious => "oblivious",
            Self::Threads => "threads",
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A key that every contender can sort. Comparison sorts are called the way a user calls them for the type.
pub trait PeerKey:
    TestKey
    + rdst::RadixKey
    + voracious_radix_sort::RadixKey
    + voracious_radix_sort::Radixable<Self>
    + radsort::Key
    + djbsort::Sortable
{
    /// The standard library's unstable sort.
    fn standard_sort(keys: &mut [Self]);
    /// rayon's unstable sort.
    fn rayon_sort(keys: &mut [Self]);
    /// Glidesort.
    fn glidesort(keys: &mut [Self]);
}

macro_rules! integer_keys {
    ($($type:ty),+) => {$(
        impl PeerKey for $type {
            fn standard_sort(keys: &mut [Self]) {
                keys.sort_unstable();
            }
            fn rayon_sort(keys: &mut [Self]) {
                keys.par_sort_unstable();
            }
            fn glidesort(keys: &mut [Self]) {
                glidesort::sort(keys);
            }
        }
    )+};
}
integer_keys!(u8, u16, u32, u64, u128, i32, i64);

macro_rules! float_keys {
    ($($type:ty),+) => {$(
        impl PeerKey for $type {
            fn standard_sort(keys: &mut [Self]) {
                keys.sort_unstable_by(<$type>::total_cmp);
            }
            fn rayon_sort(keys: &mut [Self]) {
                keys.par_sort_unstable_by(<$type>::total_cmp);
            }
            fn glidesort(keys: &mut [Self]) {
                glidesort::sort_by(keys, <$type>::total_cmp);
            }
        }
    )+};
}
float_keys!(f32, f64);
