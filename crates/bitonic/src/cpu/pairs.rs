//! Keys with values, stable sorts, and argsort.
//!
//! Keys travel with their indices ([`packed`]), which is stable, and values are gathered afterwards. A key of at most
//! 32 bits and a value of 32 bits make one 64-bit key, where the sort need not be stable: nothing is gathered then.
//!
//! The caller's arrays are written last, when nothing can fail any more: after an error keys and values are as they were. An
//! oblivious sort moves the values through the network itself: gathering them by index would show where each key went.

use super::narrow::try_vec;
use super::packed::{self, Packing};
use super::permute::{self, Moves};
use super::scalar::{Indexed, Ranked, Run};
use super::threads;
use super::width::{self, KeysPlan, Settings, Width, scalar_limits};
use crate::Error;
use crate::key::{BitMap, Bits, plain_number_bytes};
use crate::plan::Algorithm;

/// Sorts keys in place and moves every value with its key; values of equal keys keep their order if `stable`.
pub(crate) fn sort_pairs<B: Bits, V: Copy + Send>(
    keys: &mut [B],
    values: &mut [V],
    map: BitMap<B>,
    stable: bool,
    settings: Settings,
) -> Result<(), Error> {
    match way::<B, V>(stable, settings) {
        Way::PackValues => sort_packed_with_values(keys, values, map, settings),
        Way::PackIndices => {
            let (elements, packing) = width::sorted_with_indices(keys, map, settings)?;
            let elements = elements.as_slice();
            let index_of = move |place: usize| packing.index(elements[place]);
            let move_values = Moves::prepare(values.len(), index_of)?;
            if packing.holds_keys() {
                for (bits, &element) in keys.iter_mut().zip(elements) {
                    *bits = map.from_ordered(packing.key(element));
                }
            } else if B::WIDTH == u64::BITS {
                // Moving every key takes longer than to sort keys alone, which cannot fail.
                super::sort_bits(keys, map, settings)?;
            } else {
                Moves::prepare(keys.len(), index_of)?.carry_out(keys);
            }
            move_values.carry_out(values);
            Ok(())
        }
        Way::NetworkInPlace => sort_in_place(keys, values, map, settings),
        Way::NetworkWithIndices => {
            let mut indexed = indexed(keys, map)?;
            sort_run(&mut indexed, values, settings)?;
            unpack_indexed(keys, &indexed, map);
            Ok(())
        }
    }
}

/// Sorts keys and values where they are by the scalar network.
pub(super) fn sort_in_place<B: Bits, V: Copy + Send>(
    keys: &mut [B],
    values: &mut [V],
    map: BitMap<B>,
    settings: Settings,
) -> Result<(), Error> {
    keys.iter_mut().for_each(|bits| *bits = map.to_ordered(*bits));
    let sorted = sort_run(keys, values, settings);
    keys.iter_mut().for_each(|bits| *bits = map.from_ordered(*bits));
    sorted
}

/// The index of every key in sorted order; equal keys by index.
pub(crate) fn argsort<B: Bits>(keys: &[B], map: BitMap<B>, settings: Settings) -> Result<Vec<usize>, Error> {
    if settings.oblivious {
        let mut indices = try_vec(keys.len())?;
        for_each_index(keys, map, settings, |index| indices.push(index))?;
        return Ok(indices);
    }
    let (mut elements, packing) = width::sorted_with_indices(keys, map, settings)?;
    elements.iter_mut().for_each(|element| *element = packing.index(*element) as u64);
    // Where an index has 64 bits, it takes the room of its element.
    bytemuck::allocation::try_cast_vec(elements).or_else(|(_, elements)| {
        let mut indices = try_vec(elements.len())?;
        indices.extend(elements.iter().map(|&index| index as usize));
        Ok(indices)
    })
}

/// Puts items of any type in the order of their keys; those with equal keys stay in their order. All keys are asked for before an item
/// is moved.
pub(crate) fn sort_items<T, B: Bits>(
    items: &mut [T],
    mut key_of: impl FnMut(&T) -> B,
    map: BitMap<B>,
    settings: Settings,
) -> Result<(), Error> {
    let (elements, packing) = match Packing::of_any_keys(items.len()) {
        // No array of keys beside that of elements.
        Some(packing) if !packed::is_counted::<B>(items.len(), settings) => {
            let mut elements = try_vec(items.len())?;
            let keys = items.iter().map(|item| map.to_ordered(key_of(item)));
            elements.extend(keys.enumerate().map(|(index, key)| packing.pack(key, index)));
            u64::sort_on_threads(&mut elements, BitMap::IDENTITY, settings)?;
            (elements, packing)
        }
        _ => {
            let mut keys = try_vec(items.len())?;
            keys.extend(items.iter().map(key_of));
            width::sorted_with_indices(&keys, map, settings)?
        }
    };
    let elements = elements.as_slice();
    permute::permute(items, move |place| packing.index(elements[place]))
}

/// Hands over the index of every key in sorted order, when nothing can fail any more; equal keys by index.
pub(crate) fn for_each_index<B: Bits>(
    keys: &[B],
    map: BitMap<B>,
    settings: Settings,
    take: impl FnMut(usize),
) -> Result<(), Error> {
    if settings.oblivious && !fits_packed::<B>(keys.len()) {
        let mut indexed = indexed(keys, map)?;
        // A vector of `()` allocates nothing.
        sort_run(&mut indexed, vec![(); keys.len()].as_mut_slice(), settings)?;
        indexed.iter().map(|element| element.index).for_each(take);
    } else {
        let (elements, packing) = width::sorted_with_indices(keys, map, settings)?;
        elements.iter().map(|&element| packing.index(element)).for_each(take);
    }
    Ok(())
}

/// What [`sort_pairs`] does with this many keys and values.
pub(crate) fn plan_pairs<B: Bits, V>(len: usize, stable: bool, settings: Settings) -> KeysPlan {
    match way::<B, V>(stable, settings) {
        Way::PackValues if len <= ON_STACK => u64::plan(len, settings),
        Way::PackValues => packed_plan(len, len.saturating_mul(size_of::<u64>()), settings),
        Way::PackIndices => {
            let elements = len.saturating_mul(size_of::<u64>());
            let move_keys = if B::WIDTH <= u64::BITS { 0 } else { permute::bytes::<B>(len) };
            let moving = elements.saturating_add(permute::bytes::<V>(len)).saturating_add(move_keys);
            let sorting = len.saturating_mul(packed::bytes_per_key::<B>(len));
            indexed_plan::<B>(len, sorting.max(moving), settings)
        }
        Way::NetworkInPlace => structures_plan(len, 0),
        Way::NetworkWithIndices => structures_plan(len, size_of::<Indexed<B>>()),
    }
}

/// What [`argsort`] does with this many keys. Its result is not counted as working memory.
pub(crate) fn plan_argsort<B: Bits>(len: usize, settings: Settings) -> KeysPlan {
    if settings.oblivious && !fits_packed::<B>(len) {
        return structures_plan(len, size_of::<Indexed<B>>());
    }
    indexed_plan::<B>(len, len.saturating_mul(packed::bytes_per_key::<B>(len)), settings)
}

/// A sort of keys with their indices, with so many bytes in all.
fn indexed_plan<B: Bits>(len: usize, bytes: usize, settings: Settings) -> KeysPlan {
    let plan = packed_plan(len, bytes, settings);
    if packed::is_counted::<B>(len, settings) {
        return KeysPlan { algorithm: Algorithm::Counting, limits: scalar_limits::<u64>(), ..plan };
    }
    plan
}

/// A sort of 64-bit keys, with so many bytes in all.
fn packed_plan(len: usize, scratch_bytes: usize, settings: Settings) -> KeysPlan {
    KeysPlan { scratch_bytes, ..u64::plan(len, settings) }
}

/// A network of structures of key and index, with so much memory for each.
fn structures_plan(len: usize, bytes: usize) -> KeysPlan {
    KeysPlan {
        algorithm: Algorithm::Network,
        limits: scalar_limits::<[u64; 2]>(),
        scratch_bytes: len.saturating_mul(bytes),
    }
}

/// How pairs are sorted.
enum Way {
    /// 64-bit keys of key and value.
    PackValues,
    /// 64-bit keys of key and index; values are gathered afterwards.
    PackIndices,
    /// The scalar network on keys and values where they are.
    NetworkInPlace,
    /// The scalar network on structures of key and index, and on values.
    NetworkWithIndices,
}

fn way<B: Bits, V>(stable: bool, settings: Settings) -> Way {
    match (stable, settings.oblivious) {
        (false, _) if B::WIDTH <= u32::BITS && is_plain_word::<V>() => Way::PackValues,
        (_, false) => Way::PackIndices,
        (false, true) => Way::NetworkInPlace,
        (true, true) => Way::NetworkWithIndices,
    }
}

/// Whether any key and an index fit 64 bits.
fn fits_packed<B: Bits>(len: usize) -> bool {
    Packing::<B>::of_any_keys(len).is_some()
}

/// Whether V is a 32-bit number, which may travel inside a key.
fn is_plain_word<V>() -> bool {
    plain_number_bytes::<V>() == Some(size_of::<u32>())
}

fn sort_packed_with_values<B: Bits, V: Copy>(
    keys: &mut [B],
    values: &mut [V],
    map: BitMap<B>,
    settings: Settings,
) -> Result<(), Error> {
    // SAFETY: V is a 32-bit number: four bytes, aligned to four, and any bits are a value.
    let words = unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u32>(), values.len()) };
    if keys.len() <= ON_STACK {
        let mut buffer = [0_u64; ON_STACK];
        let packed = &mut buffer[..keys.len()];
        let all = packed_with(keys, words.iter().copied(), map);
        packed.iter_mut().zip(all).for_each(|(packed, pair)| *packed = pair);
        sort_and_unpack(keys, words, packed, map, settings)
    } else {
        let mut packed = try_vec(keys.len())?;
        packed.extend(packed_with(keys, words.iter().copied(), map));
        sort_and_unpack(keys, words, &mut packed, map, settings)
    }
}

/// So few pairs are packed on the stack, where asking for memory would take longer than sorting them.
const ON_STACK: usize = 256;

/// Sorts packed pairs and puts their halves where they belong.
fn sort_and_unpack<B: Bits>(
    keys: &mut [B],
    words: &mut [u32],
    packed: &mut [u64],
    map: BitMap<B>,
    settings: Settings,
) -> Result<(), Error> {
    u64::sort_on_threads(packed, BitMap::IDENTITY, settings)?;
    for (bits, &packed) in keys.iter_mut().zip(&*packed) {
        *bits = map.from_ordered(B::truncate(u128::from(packed >> 32)));
    }
    words.iter_mut().zip(packed).for_each(|(word, packed)| *word = *packed as u32);
    Ok(())
}

/// Every key above its word.
fn packed_with<B: Bits>(
    keys: &[B],
    words: impl Iterator<Item = u32>,
    map: BitMap<B>,
) -> impl Iterator<Item = u64> {
    let halves = keys.iter().zip(words);
    halves.map(move |(&bits, word)| (map.to_ordered(bits).widen() as u64) << 32 | u64::from(word))
}

pub(super) fn unpack_indexed<B: Bits>(keys: &mut [B], indexed: &[Indexed<B>], map: BitMap<B>) {
    for (bits, element) in keys.iter_mut().zip(indexed) {
        *bits = map.from_ordered(element.key);
    }
}

pub(super) fn indexed<B: Bits>(keys: &[B], map: BitMap<B>) -> Result<Vec<Indexed<B>>, Error> {
    let mut indexed = try_vec(keys.len())?;
    let elements = keys.iter().enumerate();
    indexed.extend(elements.map(|(index, &bits)| Indexed { key: map.to_ordered(bits), index }));
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
