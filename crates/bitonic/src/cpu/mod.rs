//! The CPU engine.
//!
//! | keys | default | oblivious |
//! |---|---|---|
//! | 16, 32 and 64 bits | up to a tile: the network of [`generic::columns`]; above: [`quicksort`] down to it; many of 16 bits: [`narrow`], counted | [`network`] |
//! | 8 bits | [`narrow`]: counted, a few as 16 bits | [`scalar`] |
//! | 128 bits | with AVX-512 as 16 to 64 bits are, without it by the standard library | with AVX-512 [`network`], without it [`scalar`] |
//!
//! Keys are their bits and a mapping here, so that code is compiled for five widths and not for every type of a key.
//!
//! Pairs, stable sorts and argsort pack a key and its value or index into one integer ([`pairs`], [`packed`], [`together`]).

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod exchange;
mod execute;
pub(crate) mod fingerprint;
mod generic;
pub(crate) mod in_order;
mod instructions;
mod kernels;
pub(crate) mod merge;
mod merging;
mod narrow;
mod network;
mod packed;
mod pairs;
mod parts;
pub(crate) mod permute;
mod portable;
mod prefetch;
mod quicksort;
mod scalar;
pub(crate) mod select;
mod short_parts;
pub(crate) mod stretch;
mod threads;
mod together;
pub(crate) mod top;
mod vectorized;
mod width;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::Error;
use crate::key::{BitMap, Bits, Key, as_bits_mut};
use std::sync::OnceLock;

pub(crate) use execute::{
    argsort_parts, argsort_segments, plan_argsort, plan_keys, plan_pairs, plan_request, sort_pairs_of_parts,
    sort_parts, sort_segments,
};
pub(crate) use narrow::try_vec;
pub(crate) use pairs::{for_each_index, sort_items, sort_pairs};
pub(crate) use parts::Bounds;
pub(crate) use threads::{count as thread_count, with_threads_for};
pub(crate) use width::{KeysPlan, Settings};

/// The processor's name as the system gives it.
pub(crate) fn device() -> &'static str {
    static DEVICE: OnceLock<String> = OnceLock::new();
    DEVICE.get_or_init(|| processor_name().unwrap_or_else(|| std::env::consts::ARCH.to_owned()))
}

/// The processor's marketing name where the system tells it without a call to anything but a file.
fn processor_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Sorts keys in place.
#[inline]
pub(crate) fn sort<K: Key>(keys: &mut [K], settings: Settings) -> Result<(), Error> {
    // SAFETY: see `sort_bits`.
    sort_bits(unsafe { as_bits_mut(keys) }, settings.map::<K>(), settings)
}

/// The same, where there is no way back: if memory is refused, the network, which needs none, sorts the keys.
#[inline]
pub(crate) fn sort_in_any_case<K: Key>(keys: &mut [K], settings: Settings) -> Result<(), Error> {
    // SAFETY: see `sort_bits`.
    sort_bits_in_any_case(unsafe { as_bits_mut(keys) }, settings.map::<K>(), settings)
}

/// Sorts bits in memory so that what `map` makes of them ascends. They are a permutation of what they were afterwards, or as they were,
/// and so those of keys if they were before; nothing of the caller's is called, so nothing panics in between.
#[inline]
pub(crate) fn sort_bits<B: Bits>(bits: &mut [B], map: BitMap<B>, settings: Settings) -> Result<(), Error> {
    if bits.len() < threads::PARALLEL_FROM {
        return width::sort(bits, map, settings, false);
    }
    width::sort_on_threads(bits, map, settings)
}

/// The same, where there is no way back.
#[inline]
fn sort_bits_in_any_case<B: Bits>(bits: &mut [B], map: BitMap<B>, settings: Settings) -> Result<(), Error> {
    sort_bits(bits, map, settings).or_else(|_| sort_bits(bits, map, Settings { oblivious: true, ..settings }))
}
