//! Keys with values, stable sorts, and argsort.
//!
//! A key of at most 32 bits and an index or value of 32 bits make one 64-bit key, which the vector kernels sort:
//!
//! ```text
//!   63          32 31           0
//!   | ordered bits | index       |   sorted, this is stable: no two are equal, and ties go by index
//!   | ordered bits | value       |   not stable, and no gather of values afterwards
//! ```
//!
//! Wider keys are sorted as a structure of key and index. The caller's arrays are written last, when nothing can fail any
//! more: after an error keys and values are as they were. An oblivious sort moves the values through the network itself:
//! gathering them by index would show where each key went.

use super::narrow::try_vec;
use super::scalar::{Indexed, Ranked, Run};
use super::threads;
use super::width::{self, KeysPlan, Settings, Width, scalar_limits};
use crate::Error;
use crate::key::{BitMap, Bits, Key, as_bits, as_bits_mut, plain_number_bytes};
use crate::plan::Algorithm;

/// Sorts keys in place and moves every value with its key; values of equal keys keep their order if `stable`.
pub(crate) fn sort_pairs<K: Key, V: Copy + Send>(
    keys: &mut [K],
    values: &mut [V],
    stable: bool,
    settings: Settings,
) -> Result<(), Error> {
    match way::<K, V>(keys.len(), stable, settings) {
        Way::PackValues => sort_packed_with_values(keys, values, settings),
        Way::PackIndices => {
            let packed = sorted_with_indices(keys, settings)?;
            gather(values, packed.iter().map(|&packed| packed as u32 as usize))?;
            unpack_keys(keys, &packed, settings);
            Ok(())
        }
        Way::Indices => {
            let indexed = sorted_indexed(keys, settings)?;
            gather(values, indexed.iter().map(|element| element.index))?;
            unpack_indexed(keys, &indexed, settings);
            Ok(())
        }
        Way::NetworkInPlace => {
            crate::key::with_ordered_bits(keys, settings.order, |bits| sort_run(bits, values, settings))
        }
        Way::NetworkWithIndices => {
            let mut indexed = indexed(keys, settings)?;
            sort_run(&mut indexed, values, settings)?;
            unpack_indexed(keys, &indexed, settings);
            Ok(())
        }
    }
}

/// The index of every key in sorted order; equal keys by index.
pub(crate) fn argsort<K: Key>(keys: &[K], settings: Settings) -> Result<Vec<usize>, Error> {
    if fits_packed::<K>(keys.len()) {
        let packed = sorted_with_indices(keys, settings)?;
        let mut indices = try_vec(keys.len())?;
        indices.extend(packed.iter().map(|&packed| packed as u32 as usize));
        return Ok(indices);
    }
    let indexed = if settings.oblivious {
        let mut indexed = indexed(keys, settings)?;
        // A vector of `()` allocates nothing.
        sort_run(&mut indexed, vec![(); keys.len()].as_mut_slice(), settings)?;
        indexed
    } else {
        sorted_indexed(keys, settings)?
    };
    let mut indices = try_vec(keys.len())?;
    indices.extend(indexed.iter().map(|element| element.index));
    Ok(indices)
}

/// What [`sort_pairs`] does with this many keys and values.
pub(crate) fn plan_pairs<K: Key, V>(len: usize, stable: bool, settings: Settings) -> KeysPlan {
    let indexed = size_of::<Indexed<K::Bits>>();
    match way::<K, V>(len, stable, settings) {
        Way::PackValues if len <= ON_STACK => u64::plan(len, settings),
        Way::PackValues => packed_plan(len, 0, settings),
        Way::PackIndices => packed_plan(len, size_of::<V>(), settings),
        Way::Indices => structures_plan(Algorithm::Standard, len, indexed + size_of::<V>()),
        Way::NetworkInPlace => structures_plan(Algorithm::Network, len, 0),
        Way::NetworkWithIndices => structures_plan(Algorithm::Network, len, indexed),
    }
}

/// What [`argsort`] does with this many keys. Its result is not counted as working memory.
pub(crate) fn plan_argsort<K: Key>(len: usize, settings: Settings) -> KeysPlan {
    if fits_packed::<K>(len) {
        return packed_plan(len, 0, settings);
    }
    let algorithm = if settings.oblivious { Algorithm::Network } else { Algorithm::Standard };
    structures_plan(algorithm, len, size_of::<Indexed<K::Bits>>())
}

/// A sort of 64-bit keys, with so many bytes more for each.
fn packed_plan(len: usize, more_bytes: usize, settings: Settings) -> KeysPlan {
    KeysPlan { scratch_bytes: len.saturating_mul(size_of::<u64>() + more_bytes), ..u64::plan(len, settings) }
}

/// A sort of structures of key and index, with so much memory for each.
fn structures_plan(algorithm: Algorithm, len: usize, bytes: usize) -> KeysPlan {
    KeysPlan { algorithm, limits: scalar_limits::<[u64; 2]>(), scratch_bytes: len.saturating_mul(bytes) }
}

/// How pairs are sorted.
enum Way {
    /// 64-bit keys of key and value.
    PackValues,
    /// 64-bit keys of key and index; values are gathered afterwards.
    PackIndices,
    /// Structures of key and index; values are gathered afterwards.
    Indices,
    /// The scalar network on keys and values where they are.
    NetworkInPlace,
    /// The scalar network on structures of key and index, and on values.
    NetworkWithIndices,
}

fn way<K: Key, V>(len: usize, stable: bool, settings: Settings) -> Way {
    let packs = fits_packed::<K>(len);
    match (stable, settings.oblivious) {
        (false, _) if packs && is_plain_word::<V>() => Way::PackValues,
        (_, false) if packs => Way::PackIndices,
        (_, false) => Way::Indices,
        (false, true) => Way::NetworkInPlace,
        (true, true) => Way::NetworkWithIndices,
    }
}

/// Whether a key and an index fit 64 bits.
fn fits_packed<K: Key>(len: usize) -> bool {
    K::Bits::WIDTH <= 32 && u32::try_from(len).is_ok()
}

/// Whether V is a 32-bit number, which may travel inside a key.
fn is_plain_word<V>() -> bool {
    plain_number_bytes::<V>() == Some(size_of::<u32>())
}

fn sort_packed_with_values<K: Key, V: Copy>(
    keys: &mut [K],
    values: &mut [V],
    settings: Settings,
) -> Result<(), Error> {
    // SAFETY: V is a 32-bit number: four bytes, aligned to four, and any bits are a value.
    let words = unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u32>(), values.len()) };
    if keys.len() <= ON_STACK {
        let mut buffer = [0_u64; ON_STACK];
        let packed = &mut buffer[..keys.len()];
        let all = packed_with(keys, words.iter().copied(), settings);
        packed.iter_mut().zip(all).for_each(|(packed, pair)| *packed = pair);
        sort_and_unpack(keys, words, packed, settings)
    } else {
        let mut packed = pack(keys, words.iter().copied(), settings)?;
        sort_and_unpack(keys, words, &mut packed, settings)
    }
}

/// So few pairs are packed on the stack, where asking for memory would take longer than sorting them.
const ON_STACK: usize = 256;

/// Sorts packed pairs and puts their halves where they belong.
fn sort_and_unpack<K: Key>(
    keys: &mut [K],
    words: &mut [u32],
    packed: &mut [u64],
    settings: Settings,
) -> Result<(), Error> {
    sort_words(packed, settings)?;
    unpack_keys(keys, packed, settings);
    words.iter_mut().zip(packed).for_each(|(word, packed)| *word = *packed as u32);
    Ok(())
}

/// The keys packed with their indices, sorted.
fn sorted_with_indices<K: Key>(keys: &[K], settings: Settings) -> Result<Vec<u64>, Error> {
    let mut packed = pack(keys, 0..keys.len() as u32, settings)?;
    sort_words(&mut packed, settings)?;
    Ok(packed)
}

fn pack<K: Key>(keys: &[K], words: impl Iterator<Item = u32>, settings: Settings) -> Result<Vec<u64>, Error> {
    let mut packed = try_vec(keys.len())?;
    packed.extend(packed_with(keys, words, settings));
    Ok(packed)
}

/// Every key above its word.
fn packed_with<K: Key>(
    keys: &[K],
    words: impl Iterator<Item = u32>,
    settings: Settings,
) -> impl Iterator<Item = u64> {
    let map = BitMap::new(K::TYPE.form(), settings.order);
    let halves = as_bits(keys).iter().zip(words);
    halves.map(move |(&bits, word)| (map.to_ordered(bits).widen() as u64) << 32 | u64::from(word))
}

fn unpack_keys<K: Key>(keys: &mut [K], packed: &[u64], settings: Settings) {
    let map = BitMap::new(K::TYPE.form(), settings.order);
    // SAFETY: the packed words are a permutation of those made of these keys, so that every key gets the bits of one.
    let all_bits = unsafe { as_bits_mut(keys) };
    for (bits, &packed) in all_bits.iter_mut().zip(packed) {
        *bits = map.from_ordered(K::Bits::truncate(u128::from(packed >> 32)));
    }
}

fn unpack_indexed<K: Key>(keys: &mut [K], indexed: &[Indexed<K::Bits>], settings: Settings) {
    let map = BitMap::new(K::TYPE.form(), settings.order);
    // SAFETY: the elements are a permutation of those made of these keys, so that every key gets the bits of one.
    let all_bits = unsafe { as_bits_mut(keys) };
    for (bits, element) in all_bits.iter_mut().zip(indexed) {
        *bits = map.from_ordered(element.key);
    }
}

fn sort_words(words: &mut [u64], settings: Settings) -> Result<(), Error> {
    u64::sort_on_threads(words, BitMap::IDENTITY, settings)
}

pub(super) fn indexed<K: Key>(keys: &[K], settings: Settings) -> Result<Vec<Indexed<K::Bits>>, Error> {
    let map = BitMap::new(K::TYPE.form(), settings.order);
    let mut indexed = try_vec(keys.len())?;
    let elements = as_bits(keys).iter().enumerate();
    indexed.extend(elements.map(|(index, &bits)| Indexed { key: map.to_ordered(bits), index }));
    Ok(indexed)
}

fn sorted_indexed<K: Key>(keys: &[K], settings: Settings) -> Result<Vec<Indexed<K::Bits>>, Error> {
    let mut indexed = indexed(keys, settings)?;
    width::sort_indexed(&mut indexed, settings)?;
    Ok(indexed)
}

pub(super) fn sort_run<T: Ranked, V: Copy + Send>(
    keys: &mut [T],
    values: &mut [V],
    settings: Settings,
) -> Result<(), Error> {
    let mut run = Run::new(keys, values);
    threads::with_threads_for(run.len(), settings.threads, |parallel| run.sort(parallel))
}

/// Puts the value with index `indices[i]` at i, for as many indices as there are values.
///
/// All that can fail comes first: memory is asked for and every index is looked up before a value is written, so that
/// after an error, or a panic because of a wrong index, the values are as they were. Values are copied, never cloned: `Clone`
/// may be the caller's code.
fn gather<V: Copy>(values: &mut [V], indices: impl Iterator<Item = usize>) -> Result<(), Error> {
    let mut gathered = try_vec(values.len())?;
    gathered.extend(indices.take(values.len()).map(|index| values[index]));
    values.copy_from_slice(&gathered);
    Ok(())
}
