//! The steps of a merge over more keys than a tile holds: the network in flip form on consecutive keys, in place.
//!
//! Every function takes any number of keys. Keys past the end count as infinite: they are neither read nor written, and
//! their comparators do nothing.

use super::columns::half_clean;
use super::places::{Keys, Rows, TileBuffer, read_rows, write_rows};
use super::rows::{clean_rows, merge_rows};
use super::unrolled::unrolled;
use super::vector::{Vector, clean_lanes};

/// Pairs the last key of the lower run, which ends at `lower_end`, with the first of the upper one, and so on outwards.
///
/// # Safety
///
/// As for [`Vector`]; the `len` keys from `upper` on, and as many before `lower_end`, rounded up to whole registers, must be
/// valid for reading and writing and must not overlap.
#[inline(always)]
pub(crate) unsafe fn flip<V: Vector>(lower_end: *mut V::Lane, upper: *mut V::Lane, len: usize) {
    let whole = len - len % V::LANES;
    // SAFETY: the caller vouches for V's instructions, and for `len` keys before the first pointer and after the second.
    unsafe {
        for offset in (0..whole).step_by(V::LANES) {
            let low = lower_end.sub(offset + V::LANES);
            let high = upper.add(offset);
            let (min, max) = V::load(low).min_max(V::load(high).reverse());
            min.store(low);
            max.reverse().store(high);
        }
        if whole < len {
            // The lanes without an upper key meet infinite ones, and keep their keys.
            let low = lower_end.sub(whole + V::LANES);
            let high = upper.add(whole);
            let (min, max) = V::load(low).min_max(V::load_partial(high, len - whole).reverse());
            min.store(low);
            max.reverse().store_partial(high, len - whole);
        }
    }
}

/// Pairs every key of the lower run with the one of the upper run at the same place.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys from `lower` on and from `upper` on must be valid for reading and writing and must not
/// overlap.
#[inline(always)]
pub(crate) unsafe fn half_clean_pair<V: Vector>(lower: *mut V::Lane, upper: *mut V::Lane, len: usize) {
    let whole = len - len % V::LANES;
    // SAFETY: the caller vouches for V's instructions, and for `len` keys at either pointer.
    unsafe {
        for offset in (0..whole).step_by(V::LANES) {
            let (low, high) = (lower.add(offset), upper.add(offset));
            let (min, max) = V::load(low).min_max(V::load(high));
            min.store(low);
            max.store(high);
        }
        if whole < len {
            let (low, high) = (lower.add(whole), upper.add(whole));
            let left = len - whole;
            let (min, max) = V::load_partial(low, left).min_max(V::load_partial(high, left));
            min.store_partial(low, left);
            max.store_partial(high, left);
        }
    }
}

/// The first log2(P) steps of a merge of two ascending runs of `len` / 2 keys each, in one pass. `len` is a multiple of P
/// registers.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading and writing.
#[inline(always)]
pub(crate) unsafe fn flip_fused<V: Vector, const P: usize>(keys: *mut V::Lane, len: usize) {
    debug_assert!(len.is_multiple_of(P * V::LANES));
    let stride = len / P;
    // SAFETY: the caller vouches for V's instructions, and for `len` keys.
    unsafe {
        for offset in (0..stride).step_by(V::LANES) {
            let (lower, upper) = (keys.add(offset), keys.add(stride - V::LANES - offset));
            let mut registers = [V::load(lower); P];
            unrolled!(index below P => {
                registers[index] = if index < P / 2 {
                    V::load(lower.add(index * stride))
                } else {
                    V::load(upper.add(index * stride)).reverse()
                };
            });
            merge_rows(&mut registers);
            unrolled!(index below P => {
                if index < P / 2 {
                    registers[index].store(lower.add(index * stride));
                } else {
                    registers[index].reverse().store(upper.add(index * stride));
                }
            });
        }
    }
}

/// log2(P) half-cleaner steps in one pass over `len` keys, a multiple of P registers.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading and writing.
#[inline(always)]
pub(crate) unsafe fn half_clean_fused<V: Vector, const P: usize>(keys: *mut V::Lane, len: usize) {
    debug_assert!(len.is_multiple_of(P * V::LANES));
    // SAFETY: the caller vouches for V's instructions, and for `len` keys.
    unsafe { half_clean::<V, P>(Keys::<V>(keys), len / V::LANES, len / V::LANES) }
}

/// Sorts a bitonic tile of up to [`max_rows`](super::places::max_rows) registers.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading and writing.
#[inline(always)]
pub(crate) unsafe fn clean_tile<V: Vector>(keys: *mut V::Lane, len: usize) {
    let rows = len.div_ceil(V::LANES).next_power_of_two();
    // SAFETY: the caller vouches for V's instructions, and for `len` keys; in the buffer all rows are written before they are
    // read.
    unsafe {
        if rows * V::LANES == len {
            return clean_whole_tile(Keys::<V>(keys), rows);
        }
        let mut buffer = TileBuffer::new();
        let buffer: *mut V = buffer.rows();
        for row in 0..rows {
            let offset = (row * V::LANES).min(len);
            buffer.add(row).write(V::load_up_to(keys.add(offset), len - offset));
        }
        clean_whole_tile(buffer, rows);
        for row in 0..len.div_ceil(V::LANES) {
            let offset = row * V::LANES;
            buffer.add(row).read().store_up_to(keys.add(offset), len - offset);
        }
    }
}

/// Half-cleaners between rows, then between the lanes of every row; `rows` is a power of two.
#[inline(always)]
unsafe fn clean_whole_tile<V: Vector>(place: impl Rows<V>, rows: usize) {
    // SAFETY: the caller vouches for V's instructions, and for `rows` rows at the place.
    unsafe {
        // Passes of four steps, the last one with the steps between lanes; a first pass takes what is over.
        let mut width = rows;
        match rows.ilog2() % 4 {
            _ if rows < 16 => {}
            1 => half_clean::<V, 2>(place, rows, width),
            2 => half_clean::<V, 4>(place, rows, width),
            3 => half_clean::<V, 8>(place, rows, width),
            _ => {}
        }
        width >>= rows.ilog2() % 4;
        while width > 16 {
            half_clean::<V, 16>(place, rows, width);
            width >>= 4;
        }
        match rows {
            1 => last_pass::<V, 1>(place, rows),
            2 => last_pass::<V, 2>(place, rows),
            4 => last_pass::<V, 4>(place, rows),
            8 => last_pass::<V, 8>(place, rows),
            _ => last_pass::<V, 16>(place, rows),
        }
    }
}

/// The last steps between rows, in blocks of P of them, and those between lanes.
#[inline(always)]
unsafe fn last_pass<V: Vector, const P: usize>(place: impl Rows<V>, rows: usize) {
    // SAFETY: the caller vouches for V's instructions, and for `rows` rows at the place.
    unsafe {
        let mut block = 0;
        while block < rows {
            let first = place.after(block);
            let mut registers: [V; P] = read_rows(first, 1);
            clean_rows(&mut registers);
            if P == 1 {
                registers[0] = clean_lanes::<V, 16>(registers[0]);
            }
            unrolled!(pair below P / 2 => {
                let row = 2 * pair;
                (registers[row], registers[row + 1]) = registers[row].clean_all_lanes(registers[row + 1]);
            });
            write_rows(registers, first, 1);
            block += P;
        }
    }
}
