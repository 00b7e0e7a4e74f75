//! Keys of 8 and 16 bits: there are so few values that counting them beats comparing them, unless there are few keys, too.

use super::width::{KeysPlan, Settings, Width, scalar_limits};
use crate::Error;
use crate::instructions::Available;
use crate::key::{BitMap, Bits};
use crate::plan::Algorithm;

/// From this many 16-bit keys on, going through a table of 65,536 counters costs less than sorting does.
const COUNT_16_FROM: usize = 3 << 15;

/// 16-bit keys up to this many are sorted on the stack.
const ON_STACK: usize = 4096;

/// With so few keys, clearing a larger buffer, or tables of counters, takes longer than the sort.
const FEW: usize = 512;

/// The same, of rows of a hundred.
const FEWEST: usize = 128;

/// Whether 8-bit keys are so few that sorting them as 32-bit keys takes less time than counting: not without vectors.
fn is_few(len: usize, settings: Settings) -> bool {
    len <= FEW && settings.instructions != Available::PORTABLE
}

/// Sorts 8-bit keys by counting, few of them as 32-bit keys. Needs no memory beyond the stack.
pub(super) fn sort_u8(bits: &mut [u8], map: BitMap<u8>, settings: Settings, _: bool) -> Result<(), Error> {
    if is_few(bits.len(), settings) {
        return if bits.len() <= FEWEST {
            sort_on_stack::<_, FEWEST>(bits, map, settings)
        } else {
            sort_on_stack::<_, FEW>(bits, map, settings)
        };
    }
    // Four tables, so that runs of equal keys do not wait for their own counter.
    let mut counts = [[0_usize; 256]; 4];
    let mut fours = bits.chunks_exact(4);
    for four in &mut fours {
        for (table, &bits) in counts.iter_mut().zip(four) {
            table[usize::from(bits)] += 1;
        }
    }
    for &bits in fours.remainder() {
        counts[0][usize::from(bits)] += 1;
    }
    let mut rest = bits;
    for ordered in 0..=u8::MAX {
        let raw = map.from_ordered(ordered);
        let count = counts.iter().map(|table| table[usize::from(raw)]).sum();
        let (run, behind) = rest.split_at_mut(count);
        run.fill(raw);
        rest = behind;
    }
    Ok(())
}

/// What [`sort_u8`] does.
pub(super) fn plan_u8(len: usize, settings: Settings) -> KeysPlan {
    if is_few(len, settings) {
        return u32::plan(len, settings);
    }
    KeysPlan { algorithm: Algorithm::Counting, limits: scalar_limits::<u8>(), scratch_bytes: 0 }
}

/// What [`sort_u16`] does.
pub(super) fn plan_u16(len: usize, settings: Settings) -> KeysPlan {
    if len >= COUNT_16_FROM {
        let scratch_bytes = (1 << 16) * size_of::<usize>();
        return KeysPlan { algorithm: Algorithm::Counting, limits: scalar_limits::<u16>(), scratch_bytes };
    }
    let scratch_bytes = if len <= ON_STACK { 0 } else { len * size_of::<u32>() };
    KeysPlan { scratch_bytes, ..u32::plan(len, settings) }
}

/// Sorts 16-bit keys: few of them as 32-bit keys on the stack, more of them so in memory, many by counting.
pub(super) fn sort_u16(
    bits: &mut [u16],
    map: BitMap<u16>,
    settings: Settings,
    parallel: bool,
) -> Result<(), Error> {
    if bits.len() <= FEWEST {
        sort_on_stack::<_, FEWEST>(bits, map, settings)?;
    } else if bits.len() <= FEW {
        sort_on_stack::<_, FEW>(bits, map, settings)?;
    } else if bits.len() <= ON_STACK {
        sort_on_stack::<_, ON_STACK>(bits, map, settings)?;
    } else if bits.len() < COUNT_16_FROM {
        let mut wide = try_vec(bits.len())?;
        wide.resize(bits.len(), 0);
        sort_widened(bits, &mut wide, map, settings, parallel)?;
    } else {
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
    }
    Ok(())
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

/// Sorts up to `MOST` keys as 32-bit keys on the stack.
fn sort_on_stack<B: Bits, const MOST: usize>(
    bits: &mut [B],
    map: BitMap<B>,
    settings: Settings,
) -> Result<(), Error> {
    let mut buffer = [0_u32; MOST];
    sort_widened(bits, &mut buffer[..bits.len()], map, settings, false)
}

/// Sorts keys as 32-bit keys whose highest bits they are: so the mapping is done by vectors, as for all 32-bit keys.
#[inline(always)]
fn sort_widened<B: Bits>(
    bits: &mut [B],
    wide: &mut [u32],
    map: BitMap<B>,
    settings: Settings,
    parallel: bool,
) -> Result<(), Error> {
    let up = u32::BITS - B::WIDTH;
    wide.iter_mut().zip(bits.iter()).for_each(|(wide, &bits)| *wide = (bits.widen() as u32) << up);
    u32::sort(wide, map.at_the_top(), settings, parallel)?;
    bits.iter_mut().zip(wide.iter()).for_each(|(bits, &wide)| *bits = B::truncate((wide >> up).into()));
    Ok(())
}

/// An empty vector with room for `len` elements.
pub(crate) fn try_vec<T>(len: usize) -> Result<Vec<T>, Error> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(len)
        .map_err(|_| Error::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) })?;
    Ok(vec)
}
