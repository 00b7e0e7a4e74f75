//! Keys with values, stable sorts, and argsort.
//!
//! Keys travel with their indices ([`packed`]), which is stable, and values are gathered afterwards. A key of at most
//! 32 bits and a value of 32 bits make one 64-bit key, where the sort need not be stable: nothing is gathered then ([`together`]).
//!
//! The caller's arrays are written last, when nothing can fail any more: after an error keys and values are as they were. Gathering
//! values by index would show where each key went: an oblivious sort has them in one integer with their keys, of up to 128 bits, or moves
//! them through the network itself.

use super::narrow::try_vec;
use super::packed::{self, Packing};
use super::parts::Bounds;
use super::permute::{self, Moves};
use super::scalar::{Indexed, Ranked, Run};
use super::threads;
use super::together::{self, Holder};
use super::width::{self, KeysPlan, Settings, Width, scalar_limits};
use crate::Error;
use crate::instructions::Available;
use crate::key::{BitMap, Bits};
use crate::plan::Algorithm;

/// Sorts keys in place and moves every value with its key; values of equal keys keep their order if `stable`.
pub(crate) fn sort_pairs<B: Bits, V: Copy + Send>(
    keys: &mut [B],
    values: &mut [V],
    map: BitMap<B>,
    stable: bool,
    settings: Settings,
) -> Result<(), Error> {
    match way::<B, V>(keys.len(), stable, settings) {
        Way::Together(holder) => {
            let bounds = Bounds::Rows { rows: 1, row_length: keys.len() };
            together::sort(keys, values, holder, bounds, map, stable, settings)
        }
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
    match order_way::<B>(keys.len(), settings) {
        OrderWay::Packed if packed::is_counted::<B>(keys.len(), settings) => packed::counted_order(keys, map),
        OrderWay::Packed => {
            let (mut elements, packing) = width::sorted_with_indices(keys, map, settings)?;
            elements.iter_mut().for_each(|element| *element = packing.index(*element) as u64);
            // Where an index has 64 bits, it takes the room of its element.
            bytemuck::allocation::try_cast_vec(elements).or_else(|(_, elements)| {
                let mut indices = try_vec(elements.len())?;
                indices.extend(elements.iter().map(|&index| index as usize));
                Ok(indices)
            })
        }
        OrderWay::Short => together::indices::<B, u32>(&together::ordered(keys, map, settings)?),
        OrderWay::Together => together::indices::<B, u128>(&together::ordered(keys, map, settings)?),
        OrderWay::Network => {
            let mut indices = try_vec(keys.len())?;
            for_each_index(keys, map, settings, |index| indices.push(index))?;
            Ok(indices)
        }
    }
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
    mut take: impl FnMut(usize),
) -> Result<(), Error> {
    for_each_in_order(keys, map, settings, |_, index| take(index))
}

/// The first `k` keys and their indices, in the order of [`argsort`]. Looking a key up by its index would show where it was: it comes from
/// where its index does.
pub(super) fn first_obliviously<B: Bits>(
    keys: &[B],
    map: BitMap<B>,
    k: usize,
    settings: Settings,
) -> Result<(Vec<B>, Vec<usize>), Error> {
    let (mut first, mut indices) = (try_vec(k)?, try_vec(k)?);
    for_each_in_order(keys, map, settings, |ordered, index| {
        if first.len() < k {
            first.push(map.from_ordered(ordered()));
            indices.push(index);
        }
    })?;
    Ok((first, indices))
}

/// Hands over every index and what its key's ordered bits are, where the sort is oblivious: other sorts may have but a part of them.
fn for_each_in_order<B: Bits>(
    keys: &[B],
    map: BitMap<B>,
    settings: Settings,
    mut take: impl FnMut(&dyn Fn() -> B, usize),
) -> Result<(), Error> {
    match order_way::<B>(keys.len(), settings) {
        OrderWay::Short => {
            let elements: Vec<u32> = together::ordered(keys, map, settings)?;
            let index = together::index::<B, u32>;
            elements.iter().for_each(|&element| take(&|| together::key(element), index(element)));
        }
        OrderWay::Packed => {
            let (elements, packing) = width::sorted_with_indices(keys, map, settings)?;
            elements.iter().for_each(|&element| take(&|| packing.key(element), packing.index(element)));
        }
        OrderWay::Together => {
            let elements: Vec<u128> = together::ordered(keys, map, settings)?;
            let index = together::index::<B, u128>;
            elements.iter().for_each(|&element| take(&|| together::key(element), index(element)));
        }
        OrderWay::Network => {
            let mut indexed = indexed(keys, map)?;
            // A vector of `()` allocates nothing.
            sort_run(&mut indexed, vec![(); keys.len()].as_mut_slice(), settings)?;
            indexed.iter().for_each(|element| take(&|| element.key, element.index));
        }
    }
    Ok(())
}

/// What [`sort_pairs`] does with this many keys and values.
pub(crate) fn plan_pairs<B: Bits, V>(len: usize, stable: bool, settings: Settings) -> KeysPlan {
    match way::<B, V>(len, stable, settings) {
        Way::Together(holder) => holder.plan(len, settings),
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
    match order_way::<B>(len, settings) {
        OrderWay::Packed => {
            indexed_plan::<B>(len, len.saturating_mul(packed::bytes_per_key::<B>(len)), settings)
        }
        OrderWay::Short => KeysPlan {
            scratch_bytes: len.saturating_mul(size_of::<u32>()),
            ..width::plan::<u32>(len, settings)
        },
        OrderWay::Together => KeysPlan {
            scratch_bytes: len.saturating_mul(size_of::<u128>()),
            ..width::plan::<u128>(len, settings)
        },
        OrderWay::Network => structures_plan(len, size_of::<Indexed<B>>()),
    }
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
pub(super) fn structures_plan(len: usize, bytes: usize) -> KeysPlan {
    KeysPlan {
        algorithm: Algorithm::Network,
        limits: scalar_limits::<[u64; 2]>(),
        scratch_bytes: len.saturating_mul(bytes),
    }
}

/// How pairs are sorted.
enum Way {
    /// As integers that hold key and value.
    Together(Holder),
    /// 64-bit keys of key and index; values are gathered afterwards.
    PackIndices,
    /// The scalar network on keys and values where they are.
    NetworkInPlace,
    /// The scalar network on structures of key and index, and on values.
    NetworkWithIndices,
}

fn way<B: Bits, V>(len: usize, stable: bool, settings: Settings) -> Way {
    match (Holder::of::<B, V>(len, stable), settings.oblivious, stable) {
        (Some(Holder::Bits64), _, _) => Way::Together(Holder::Bits64),
        (Some(holder), true, _) => Way::Together(holder),
        // Integers of 128 bits take longer than 64 bits of key and index, and gathering.
        (_, false, _) => Way::PackIndices,
        (None, true, false) => Way::NetworkInPlace,
        (None, true, true) => Way::NetworkWithIndices,
    }
}

/// How an order is found.
enum OrderWay {
    /// By integers of 32 bits that hold key and index.
    Short,
    /// By 64-bit keys of key and index.
    Packed,
    /// By integers of 128 bits that hold key and index.
    Together,
    /// By the scalar network on structures of key and index.
    Network,
}

fn order_way<B: Bits>(len: usize, settings: Settings) -> OrderWay {
    let is_short = B::WIDTH + packed::index_bits(len) <= u32::BITS;
    // Without vectors, counting is faster.
    let is_counted = settings.instructions == Available::PORTABLE && packed::is_counted::<B>(len, settings);
    if is_short && !is_counted {
        OrderWay::Short
    } else if !settings.oblivious || Packing::<B>::of_any_keys(len).is_some() {
        // Where an index leaves no room for every key, packing looks at the keys to see what they have in common.
        OrderWay::Packed
    } else if B::WIDTH <= u64::BITS {
        OrderWay::Together
    } else {
        OrderWay::Network
    }
}

pub(super) fn unpack_indexed<B: Bits>(keys: &mut [B], indexed: &[Indexed<B>], map: BitMap<B>) {
    for (bits, element) in keys.iter_mut().zip(indexed) {
        *bits = map.from_ordered(element.key);
    }
}

fn indexed<B: Bits>(keys: &[B], map: BitMap<B>) -> Result<Vec<Indexed<B>>, Error> {
    let mut indexed = try_vec(keys.len())?;
    indexed.extend(each_indexed(keys, map));
    Ok(indexed)
}

/// Every key with its index.
pub(super) fn each_indexed<B: Bits>(keys: &[B], map: BitMap<B>) -> impl Iterator<Item = Indexed<B>> {
    keys.iter().enumerate().map(move |(index, &bits)| Indexed { key: map.to_ordered(bits), index })
}

pub(super) fn sort_run<T: Ranked, V: Copy + Send>(
    keys: &mut [T],
    values: &mut [V],
    settings: Settings,
) -> Result<(), Error> {
    let mut run = Run::new(keys, values);
    threads::with_threads_for(run.len(), settings.threads, |parallel| run.sort(parallel))
}
