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

impl Settings {
    /// Ascending order, as fast as can be.
    #[inline]
    pub(crate) fn usual() -> Self {
        let instructions = Instructions::detected();
        Self { order: Order::Ascending, threads: None, oblivious: false, instructions }
    }
}

/// The sorts of one key width: a supertrait of [`Bits`], so that generic code reaches the kernels of its width.
pub trait Width: Sized {
    /// Sorts bits in memory so that what `map` makes of them ascends.
    #[doc(hidden)]
    fn sort(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) -> Result<(), Error>;

    /// How [`Width::sort`] would do it.
    #[doc(hidden)]
    fn plan(len: usize, settings: Settings) -> KeysPlan;
}

/// How keys of one width are sorted.
#[derive(Clone, Copy, Debug)]
pub struct KeysPlan {
    pub(crate) algorithm: Algorithm,
    pub(crate) limits: Limits,
    /// Memory beyond the keys, in bytes.
    pub(crate) scratch_bytes: usize,
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
                    map_all(bits, map, kernels.from_ordered, parallel);
                } else {
                    quicksort::sort(bits, map, kernels, parallel);
                }
                Ok(())
            }

            fn plan(len: usize, settings: Settings) -> KeysPlan {
                let tile = <$Bits>::kernels(settings.instructions).tile;
                let limits = Limits { tile_log2: tile.ilog2(), fused_steps: 3 };
                let algorithm =
                    if settings.oblivious || len <= tile { Algorithm::Network } else { Algorithm::Partition };
                KeysPlan { algorithm, limits, scratch_bytes: 0 }
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
    ($($Bits:ty: $sort:path, $plan:path;)+) => {$(
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

            fn plan(len: usize, settings: Settings) -> KeysPlan {
                if !settings.oblivious {
                    return $plan(len, settings);
                }
                KeysPlan { algorithm: Algorithm::Network, limits: scalar_limits::<$Bits>(), scratch_bytes: 0 }
            }
        }
    )+};
}
other_width! {
    u8: narrow::sort_u8, narrow::plan_u8;
    u16: narrow::sort_u16, narrow::plan_u16;
    u128: sort_u128, plan_u128;
}

/// Where the scalar network cuts: keys of this many bytes in all fit any first-level cache; merges above go through memory.
pub(super) fn scalar_limits<B>() -> Limits {
    const TILE_BYTES: usize = 1 << 14;
    Limits { tile_log2: (TILE_BYTES / size_of::<B>()).ilog2(), fused_steps: 1 }
}

fn plan_u128(_: usize, _: Settings) -> KeysPlan {
    KeysPlan { algorithm: Algorithm::Standard, limits: scalar_limits::<u128>(), scratch_bytes: 0 }
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
