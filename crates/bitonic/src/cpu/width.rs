//! One key width: which sort serves it.

use super::instructions::{HasKernels, Instructions};
use super::scalar::Run;
use super::threads::PARALLEL_FROM;
use super::{narrow, network, quicksort};
use crate::Error;
use crate::key::{BitMap, Bits, Order};
use crate::plan::{Algorithm, Limits};
use rayon::prelude::*;

/// How a sort is to run on the CPU.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub(crate) order: Order,
    pub(crate) threads: Option<usize>,
    pub(crate) oblivious: bool,
    pub(crate) instructions: Instructions,
}

/// The sorts of one key width: a supertrait of [`Bits`], so that generic code reaches the kernels of its width.
pub trait Width: Sized {
    /// Sorts bits in memory so that what `map` makes of them ascends.
    #[doc(hidden)]
    fn sort(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) -> Result<(), Error>;

    /// How [`Width::sort`] would do it.
    #[doc(hidden)]
    fn algorithm(len: usize, settings: Settings) -> (Algorithm, Limits);
}

macro_rules! vector_width {
    ($($Bits:ty),+) => {$(
        impl Width for $Bits {
            #[inline]
            fn sort(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) -> Result<(), Error> {
                let kernels = <$Bits>::kernels(settings.instructions);
                map_all(bits, map, kernels.to_ordered, parallel);
                if settings.oblivious {
                    network::sort(bits, kernels, parallel);
                } else {
                    quicksort::sort(bits, kernels, parallel);
                }
                map_all(bits, map, kernels.from_ordered, parallel);
                Ok(())
            }

            fn algorithm(len: usize, settings: Settings) -> (Algorithm, Limits) {
                let tile = <$Bits>::kernels(settings.instructions).tile;
                let limits = Limits { tile_log2: tile.ilog2(), fused_steps: 3 };
                let algorithm =
                    if settings.oblivious || len <= tile { Algorithm::Network } else { Algorithm::Partition };
                (algorithm, limits)
            }
        }
    )+};
}
vector_width!(u32, u64);

/// Turns all bits into ordered bits, or back.
#[inline]
fn map_all<B: Bits>(
    bits: &mut [B],
    map: BitMap<B>,
    convert: unsafe fn(*mut B, usize, BitMap<B>),
    parallel: bool,
) {
    if map.is_identity() {
        return;
    }
    if parallel {
        bits.par_chunks_mut(PARALLEL_FROM).for_each(|part| {
            // SAFETY: the kernels were handed out for this processor; pointer and length are the slice's.
            unsafe { convert(part.as_mut_ptr(), part.len(), map) }
        });
    } else {
        // SAFETY: as above.
        unsafe { convert(bits.as_mut_ptr(), bits.len(), map) }
    }
}

macro_rules! other_width {
    ($($Bits:ty: $sort:path, $algorithm:expr;)+) => {$(
        impl Width for $Bits {
            fn sort(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) -> Result<(), Error> {
                if !settings.oblivious {
                    return $sort(bits, map, settings, parallel);
                }
                bits.iter_mut().for_each(|bits| *bits = map.to_ordered(*bits));
                // A vector of `()` allocates nothing.
                Run::new(bits, vec![(); bits.len()].as_mut_slice()).sort(parallel);
                bits.iter_mut().for_each(|bits| *bits = map.from_ordered(*bits));
                Ok(())
            }

            fn algorithm(_: usize, settings: Settings) -> (Algorithm, Limits) {
                // Keys of this many bytes in all fit any first-level cache; the merges above go through memory.
                const TILE_BYTES: usize = 1 << 14;
                let limits = Limits { tile_log2: (TILE_BYTES / size_of::<$Bits>()).ilog2(), fused_steps: 1 };
                (if settings.oblivious { Algorithm::Network } else { $algorithm }, limits)
            }
        }
    )+};
}
other_width! {
    u8: narrow::sort_u8, Algorithm::Counting;
    u16: narrow::sort_u16, Algorithm::Counting;
    u128: sort_u128, Algorithm::Standard;
}

/// 128-bit keys have no vector kernels: no instruction set compares them.
fn sort_u128(bits: &mut [u128], map: BitMap<u128>, _: Settings, parallel: bool) -> Result<(), Error> {
    if parallel {
        bits.par_sort_unstable_by_key(|&bits| map.to_ordered(bits));
    } else {
        bits.sort_unstable_by_key(|&bits| map.to_ordered(bits));
    }
    Ok(())
}
