//! The pure network for any number of keys: in place, oblivious, on one or more threads.
//!
//! The network in flip form, depth first, so that every part that fits a cache is finished there: sort the lower part
//! (a power of two) and the upper one, flip, clean both. Parts up to a tile are one kernel call; a whole power of
//! two above takes up to three steps a pass over memory.

use super::kernels::Kernels;
use super::threads::{PARALLEL_FROM, both};
use crate::key::Bits;

/// Sorts by a pure network: no branch and no address depends on a key.
pub(super) fn sort<B: Bits>(keys: &mut [B], kernels: &Kernels<B>, parallel: bool) {
    if keys.len() <= kernels.tile {
        return kernels.sort_tile(keys);
    }
    let middle = keys.len().next_power_of_two() / 2;
    let parallel = parallel && middle >= PARALLEL_FROM;
    let (lower, upper) = keys.split_at_mut(middle);
    both(parallel, || sort(lower, kernels, parallel), || sort(upper, kernels, parallel));
    if keys.len().is_power_of_two() && !parallel {
        return fused(keys, &kernels.flip_fused, kernels);
    }
    let (lower, upper) = keys.split_at_mut(middle);
    flip(lower, upper, kernels, parallel);
    both(parallel, || clean(lower, kernels, parallel), || clean(upper, kernels, parallel));
}

/// Pairs the last key of `lower` with the first of `upper`, and so on outwards.
fn flip<B: Bits>(lower: &mut [B], upper: &mut [B], kernels: &Kernels<B>, parallel: bool) {
    if parallel && upper.len() >= PARALLEL_FROM {
        // The outer halves and the inner halves are pairs of their own. The kernel works on whole registers of the
        // lower run, so the cut is at a multiple of them.
        let half = upper.len() / 2 / kernels.tile * kernels.tile;
        let (lower_outer, lower_inner) = lower.split_at_mut(lower.len() - half);
        let (upper_inner, upper_outer) = upper.split_at_mut(half);
        return both(
            true,
            || flip_apart(lower_inner, upper_inner, kernels),
            || flip_apart(lower_outer, upper_outer, kernels),
        );
    }
    flip_apart(lower, upper, kernels);
}

/// Flips two runs that need not be neighbours.
fn flip_apart<B: Bits>(lower: &mut [B], upper: &mut [B], kernels: &Kernels<B>) {
    let len = upper.len();
    let lower_end = lower.len();
    debug_assert!(lower_end >= len && lower_end.is_multiple_of(kernels.tile));
    // SAFETY: the kernels were handed out for this processor; `len` keys begin at `upper`'s beginning, and the lower run
    // has at least as many in whole tiles, and so in whole registers.
    unsafe { (kernels.flip)(lower.as_mut_ptr().add(lower_end), upper.as_mut_ptr(), len) }
}

/// Sorts bitonic keys by half-cleaners.
pub(super) fn clean<B: Bits>(keys: &mut [B], kernels: &Kernels<B>, parallel: bool) {
    let len = keys.len();
    if len <= kernels.tile {
        // SAFETY: the kernels were handed out for this processor; pointer and length are the slice's.
        return unsafe { (kernels.clean_tile)(keys.as_mut_ptr(), len) };
    }
    let parallel = parallel && len >= PARALLEL_FROM;
    if len.is_power_of_two() && !parallel {
        return fused(keys, &kernels.half_clean_fused, kernels);
    }
    let middle = len.next_power_of_two() / 2;
    let (lower, upper) = keys.split_at_mut(middle);
    half_clean(lower, upper, kernels, parallel);
    both(parallel, || clean(lower, kernels, parallel), || clean(upper, kernels, parallel));
}

/// A power of two of keys above a tile: as many steps as lead down to tiles, three at the most, in one pass, and then each
/// part by itself.
fn fused<B: Bits>(keys: &mut [B], steps: &[unsafe fn(*mut B, usize); 3], kernels: &Kernels<B>) {
    let count = (keys.len() / kernels.tile).ilog2().min(3);
    // SAFETY: the kernels were handed out for this processor; a power of two above the tile is a multiple of eight
    // registers.
    unsafe { steps[count as usize - 1](keys.as_mut_ptr(), keys.len()) };
    keys.chunks_exact_mut(keys.len() >> count).for_each(|part| clean(part, kernels, false));
}

/// Pairs every key of `upper` with the one of `lower` at the same place.
fn half_clean<B: Bits>(lower: &mut [B], upper: &mut [B], kernels: &Kernels<B>, parallel: bool) {
    if parallel && upper.len() >= PARALLEL_FROM {
        let half = upper.len() / 2;
        let (lower_first, lower_last) = lower.split_at_mut(half);
        let (upper_first, upper_last) = upper.split_at_mut(half);
        return both(
            true,
            || half_clean(lower_first, upper_first, kernels, true),
            || half_clean(lower_last, upper_last, kernels, true),
        );
    }
    // SAFETY: the kernels were handed out for this processor; `upper` is no longer than `lower`.
    unsafe { (kernels.half_clean)(lower.as_mut_ptr(), upper.as_mut_ptr(), upper.len()) }
}
