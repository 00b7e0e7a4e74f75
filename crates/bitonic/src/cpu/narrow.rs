//! Keys of 8 and 16 bits: there are so few values that counting them beats comparing them, unless there are few keys, too.

use super::width::{KeysPlan, Settings, Width, plan_partition, scalar_limits, sort_by_partition};
use crate::Error;
use crate::instructions::{Available, Instructions};
use crate::key::BitMap;
use crate::plan::{Algorithm, Limits};

/// From how many 16-bit keys on going through a table of 65,536 counters costs less than sorting does.
fn count_16_from(settings: Settings) -> usize {
    match settings.instructions.set() {
        Instructions::Avx512 => 1 << 17,
        Instructions::Portable => 1 << 13,
        _ => 3 << 15,
    }
}

/// With so few keys, clearing tables of counters takes longer than the sort.
const FEW: usize = 1024;

/// With so few, clearing a buffer of [`FEW`] keys does.
const FEWEST: usize = 128;

/// Whether 8-bit keys are so few that sorting them as 16-bit keys takes less time than counting: not without vectors.
fn is_few(len: usize, settings: Settings) -> bool {
    len <= FEW && settings.instructions != Available::PORTABLE
}

/// Sorts 8-bit keys by counting, few of them as 16-bit keys. Needs no memory beyond the stack.
pub(super) fn sort_u8(bits: &mut [u8], map: BitMap<u8>, settings: Settings, _: bool) -> Result<(), Error> {
    if is_few(bits.len(), settings) {
        return if bits.len() <= FEWEST {
            sort_on_stack::<FEWEST>(bits, map, settings)
        } else {
            sort_on_stack::<FEW>(bits, map, settings)
        };
    }
    let counts = counts(bits);
    let mut rest = bits;
    for ordered in 0..=u8::MAX {
        let raw = map.from_ordered(ordered);
        let (run, behind) = rest.split_at_mut(counts[usize::from(raw)]);
        run.fill(raw);
        rest = behind;
    }
    Ok(())
}

/// How often each value is there.
pub(super) fn counts(bits: &[u8]) -> [usize; 256] {
    // Four tables, so that runs of equal keys do not wait for their own counter.
    let mut tables = [[0_usize; 256]; 4];
    let mut fours = bits.chunks_exact(4);
    for four in &mut fours {
        for (table, &bits) in tables.iter_mut().zip(four) {
            table[usize::from(bits)] += 1;
        }
    }
    for &bits in fours.remainder() {
        tables[0][usize::from(bits)] += 1;
    }
    std::array::from_fn(|value| tables.iter().map(|table| table[value]).sum())
}

/// What [`sort_u8`] does.
pub(super) fn plan_u8(len: usize, settings: Settings) -> KeysPlan {
    if is_few(len, settings) {
        return u16::plan(len, settings);
    }
    KeysPlan { algorithm: Algorithm::Counting, limits: scalar_limits::<u8>(), scratch_bytes: 0 }
}

/// Sorts more 16-bit keys than a tile holds: many by counting.
pub(super) fn sort_u16(
    bits: &mut [u16],
    map: BitMap<u16>,
    settings: Settings,
    parallel: bool,
) -> Result<(), Error> {
    if bits.len() < count_16_from(settings) {
        return sort_by_partition(bits, map, settings, parallel);
    }
    let mut counts: Vec<usize> = try_vec(1 << 16)?;
    counts.resize(1 << 16, 0);
    for &bits in bits.iter() {
        counts[usize::from(bits)] += 1;
    }
    let mut rest = bits;
    for ordered in 0..=u16::MAX {
        let raw = map.from_ordered(ordered);
        rest = write_run(rest, raw, counts[usize::from(raw)]);
    }
    Ok(())
}

/// What [`sort_u16`] does.
pub(super) fn plan_u16(len: usize, settings: Settings, limits: Limits) -> KeysPlan {
    if len < count_16_from(settings) {
        return plan_partition(len, settings, limits);
    }
    let scratch_bytes = (1 << 16) * size_of::<usize>();
    KeysPlan { algorithm: Algorithm::Counting, limits, scratch_bytes }
}

/// Writes so many keys, and returns the places behind them. These are still to be written, so that most runs are one block, whatever
/// their length: that takes no branch that depends on it.
#[inline(always)]
fn write_run(keys: &mut [u16], key: u16, count: usize) -> &mut [u16] {
    const BLOCK: usize = 16;
    match keys.first_chunk_mut::<BLOCK>() {
        Some(block) if count <= BLOCK => *block = [key; BLOCK],
        _ => keys[..count].fill(key),
    }
    &mut keys[count..]
}

/// Sorts up to `MOST` keys on the stack, as 16-bit keys whose highest bits they are: so the mapping is done by vectors, as for all 16-bit
/// keys.
fn sort_on_stack<const MOST: usize>(
    bits: &mut [u8],
    map: BitMap<u8>,
    settings: Settings,
) -> Result<(), Error> {
    let mut buffer = [0_u16; MOST];
    let wide = &mut buffer[..bits.len()];
    wide.iter_mut().zip(bits.iter()).for_each(|(wide, &bits)| *wide = u16::from(bits) << u8::BITS);
    u16::sort(wide, map.at_the_top(), settings, false)?;
    bits.iter_mut().zip(wide.iter()).for_each(|(bits, &wide)| *bits = (wide >> u8::BITS) as u8);
    Ok(())
}

/// An empty vector with room for `len` elements.
pub(crate) fn try_vec<T>(len: usize) -> Result<Vec<T>, Error> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(len)
        .map_err(|_| Error::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) })?;
    Ok(vec)
}
