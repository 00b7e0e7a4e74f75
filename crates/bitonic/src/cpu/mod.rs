//! The CPU engine.
//!
//! | keys | default | oblivious |
//! |---|---|---|
//! | 32 and 64 bits | up to a tile: the network of [`generic::columns`]; above: [`quicksort`] down to it | [`network`] |
//! | 8 and 16 bits | [`narrow`]: counted, or widened to 32 bits | [`scalar`] |
//! | 128 bits | the standard library's sort | [`scalar`] |
//!
//! Pairs, stable sorts and argsort pack a key and its value or index into one wider key where that fits ([`pairs`]).

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod exchange;
mod execute;
mod generic;
mod instructions;
mod kernels;
mod narrow;
mod network;
mod pairs;
mod portable;
mod prefetch;
mod quicksort;
mod rows;
mod scalar;
mod threads;
mod width;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::Error;
use crate::key::{BitMap, Key, as_bits_mut};
use std::sync::OnceLock;

pub(crate) use execute::{
    argsort_segments, plan_argsort, plan_keys, plan_pairs, sort_pairs_of_rows, sort_segments,
};
pub(crate) use narrow::try_vec;
pub(crate) use pairs::sort_pairs;
pub(crate) use threads::{count as thread_count, with_threads_for};
use width::KeysPlan;
pub(crate) use width::Settings;

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
    let map = BitMap::new(K::TYPE.form(), settings.order);
    // SAFETY: the sorts of a width give back a permutation of the bits, mapped there and back, or the bits as they were. They call
    // nothing of the caller's, so nothing panics in between.
    let bits = unsafe { as_bits_mut(keys) };
    if bits.len() < threads::PARALLEL_FROM {
        return width::sort(bits, map, settings, false);
    }
    width::sort_on_threads(bits, map, settings)
}

/// Sorts every row of `row_length` keys in place, rows in parallel where they are worth it.
pub(crate) fn sort_rows<K: Key>(keys: &mut [K], row_length: usize, settings: Settings) -> Result<(), Error> {
    if keys.is_empty() || row_length == keys.len() {
        return sort(keys, settings);
    }
    let one = Settings { threads: Some(1), ..settings };
    // Rows before this one may be sorted already, so that there is no way back: where memory is refused, the network, which
    // needs none, sorts the row.
    let sort_row = |row: &mut [K]| sort(row, one).or_else(|_| sort(row, Settings { oblivious: true, ..one }));
    let (len, rows) = (keys.len(), rows::Rows::new(keys, row_length));
    // SAFETY: every row comes once.
    rows::each_row(len, row_length, settings.threads, &|row| sort_row(unsafe { rows.row(row) }))
}

/// How [`sort`] would sort this many keys.
fn plan<K: Key>(len: usize, settings: Settings) -> KeysPlan {
    width::plan::<K::Bits>(len, settings)
}
