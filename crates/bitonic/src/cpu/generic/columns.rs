//! A pure network for as many keys as fit the first-level cache: sort columns, merge columns, transpose once.
//!
//! The keys are R rows of as many lanes as a register has; every lane is a column of R keys. Sorting all columns needs
//! no shuffle, only minima and maxima of rows. Then pairs of columns are merged, then pairs of pairs, until one
//! sequence runs down column 0, then down column 1, and so on; a transposition writes it out in order. Only
//! 1 + 2 + 3 + 4 steps (for 16 lanes) move keys between lanes, however many rows there are: that is why this
//! beats a network over consecutive keys, where every merge has them.
//!
//! ```text
//!             lane 0   lane 1   lane 2   lane 3
//!   row 0     9 (0)    2 (4)    7 (8)    4 (12)       (n): where the key of this place belongs
//!   row 1     .. (1)   ..       ..       ..           in the end, if columns held their keys downwards
//! ```
//!
//! # Rows that mirror each other
//!
//! Merging column A with column B compares A's key k with B's key R-1-k: a flip. Those are lanes of two rows, k and R-1-k, and the
//! same two rows hold B's key k and A's key R-1-k, which are compared as well. So a pass between lanes takes rows in such pairs, with
//! one shuffle for a comparison of two whole rows; the steps that follow are between lanes of the same row, and a pair of rows makes
//! them cheaper, too ([`Vector::merge_lanes`]). Neither branches nor addresses depend on keys.
//!
//! # Any number of keys
//!
//! A half-cleaner wants an even number of rows, so R is B x 2^j with B = 10, 12, 14 or 16 (fewer rows: 1 to 8 or those). That
//! is at most a quarter more than the keys need, a twelfth on average; the lanes and rows past the last key hold the
//! greatest key, in registers and in the buffer only.

use super::places::{Rows, TileBuffer, max_rows, read_rows, write_rows};
use super::rows::{clean_rows, merge_rows, sort_rows};
use super::unrolled::unrolled;
use super::vector::{Vector, clean_lanes};
use crate::key::Bits;

/// The most rows that stay in registers.
pub(crate) const REGISTER_ROWS: usize = 16;

/// How the rows that a length needs are rounded up, and which [`sort_in_buffer`] has them: (index of B among 10, 12, 14, 16;
/// doublings). For more than [`REGISTER_ROWS`] rows.
#[inline(always)]
pub(crate) fn buffer_shape(needed_rows: usize) -> (usize, u32) {
    debug_assert!(needed_rows > REGISTER_ROWS);
    // Eighths of the power of two below, rounded up to an even number of them.
    let doublings = (needed_rows - 1).ilog2() - 3;
    let eighths = (needed_rows - 1) >> doublings;
    ((eighths - 8) / 2, doublings)
}

/// Sorts keys that fill more than R-1 rows (R-2 if R is above 8) and at most R: everything happens in registers.
///
/// # Safety
///
/// As for [`Vector`]; `keys` must be valid for reading and writing `len` keys.
#[inline(always)]
pub(crate) unsafe fn sort_in_registers<V: Vector, const R: usize>(keys: *mut V::Lane, len: usize) {
    // SAFETY: `load_rows` and `store_columns` stay within `len` keys; the rest is the caller's promise.
    unsafe {
        let whole = if R > 8 { R - 2 } else { R - 1 };
        debug_assert!(len > whole * V::LANES && len <= R * V::LANES);
        let mut rows: [V; R] = load_rows(keys, len, whole);
        sort_rows(&mut rows);
        if V::LANES >= 2 {
            steps_between_lanes::<V, R, 1>(&mut rows);
            clean_rows(&mut rows);
        }
        if V::LANES >= 4 {
            steps_between_lanes::<V, R, 3>(&mut rows);
            clean_rows(&mut rows);
        }
        if V::LANES >= 8 {
            steps_between_lanes::<V, R, 7>(&mut rows);
            clean_rows(&mut rows);
        }
        if V::LANES >= 16 {
            steps_between_lanes::<V, R, 15>(&mut rows);
            clean_rows(&mut rows);
        }
        if V::LANES >= 32 {
            steps_between_lanes::<V, R, 31>(&mut rows);
            clean_rows(&mut rows);
        }
        store_columns(rows, keys, whole, len);
    }
}

/// The steps between lanes of one merge.
#[inline(always)]
unsafe fn steps_between_lanes<V: Vector, const R: usize, const MASK: usize>(rows: &mut [V; R]) {
    // SAFETY: registers only, and the caller vouches for the instructions.
    unsafe {
        unrolled!(row below R / 2 => {
            (rows[row], rows[R - 1 - row]) = rows[row].merge_lanes::<MASK>(rows[R - 1 - row]);
        });
        if R % 2 == 1 {
            rows[R / 2] = merge_lanes_alone::<V, MASK>(rows[R / 2]);
        }
    }
}

/// The same for the row in the middle, which mirrors itself.
#[inline(always)]
unsafe fn merge_lanes_alone<V: Vector, const MASK: usize>(row: V) -> V {
    // SAFETY: registers only, and the caller vouches for the instructions.
    unsafe {
        let partner = row.xor_lanes::<MASK>();
        match MASK {
            1 => row.max_where_bit::<1>(partner),
            3 => clean_lanes::<V, 1>(row.max_where_bit::<2>(partner)),
            7 => clean_lanes::<V, 2>(row.max_where_bit::<4>(partner)),
            15 => clean_lanes::<V, 4>(row.max_where_bit::<8>(partner)),
            _ => clean_lanes::<V, 8>(row.max_where_bit::<16>(partner)),
        }
    }
}

/// `R` rows of consecutive keys; places past the last key hold the greatest key. The first `whole` rows are known to be full.
#[inline(always)]
unsafe fn load_rows<V: Vector, const R: usize>(keys: *const V::Lane, len: usize, whole: usize) -> [V; R] {
    // SAFETY: only keys below `len` are read.
    unsafe {
        let mut rows = [V::splat(V::Lane::MAX); R];
        unrolled!(row below R => {
            let from = row * V::LANES;
            if row < whole {
                rows[row] = V::load(keys.add(from));
            } else if from < len {
                rows[row] = V::load_up_to(keys.add(from), len - from);
            }
        });
        rows
    }
}

/// Writes columns of R keys one after the other, `len` keys in all. The first `whole` registers of them are known to be full.
///
/// For R that is no power of two some keys are written behind columns; the next ones overwrite them.
#[inline(always)]
unsafe fn store_columns<V: Vector, const R: usize>(rows: [V; R], to: *mut V::Lane, whole: usize, len: usize) {
    // SAFETY: nothing is written past `len` keys; the rest is the caller's promise.
    unsafe {
        if V::LANES == 1 {
            return store_all(rows, to, len);
        }
        match R {
            1 => store_within(rows[0], to, 0, len),
            2 => store_zipped::<V, R, 2>(widen(rows), to, whole, len),
            3 | 4 => store_zipped::<V, R, 4>(widen(rows), to, whole, len),
            5..=8 => store_zipped::<V, R, 8>(widen(rows), to, whole, len),
            _ => store_zipped::<V, R, 16>(widen(rows), to, whole, len),
        }
    }
}

/// The same rows, with copies of the first behind them.
#[inline(always)]
fn widen<V: Vector, const R: usize, const P: usize>(rows: [V; R]) -> [V; P] {
    let mut wide = [rows[0]; P];
    unrolled!(row below if R < P { R } else { P } => {
        wide[row] = rows[row];
    });
    wide
}

/// Transposes: what was down column 0, then down column 1, and so on, comes out along the registers.
#[inline(always)]
unsafe fn zip<V: Vector, const P: usize>(mut rows: [V; P]) -> [V; P] {
    unrolled!(_round below P.ilog2() as usize => {
        let before = rows;
        unrolled!(row below P / 2 => {
            // SAFETY: registers only, and the caller vouches for the instructions.
            (rows[2 * row], rows[2 * row + 1]) = unsafe { before[row].interleave(before[row + P / 2]) };
        });
    });
    rows
}

/// Writes registers one after the other.
#[inline(always)]
unsafe fn store_all<V: Vector, const P: usize>(registers: [V; P], to: *mut V::Lane, limit: usize) {
    unrolled!(index below P => {
        // SAFETY: the caller vouches for V's instructions, and for room for `limit` keys or all registers.
        unsafe { store_within(registers[index], to, index * V::LANES, limit) };
    });
}

/// Writes columns of P rows, of which the first R have keys, one after the other.
#[inline(always)]
unsafe fn store_zipped<V: Vector, const R: usize, const P: usize>(
    rows: [V; P],
    to: *mut V::Lane,
    whole: usize,
    len: usize,
) {
    debug_assert!(len > whole * V::LANES);
    // SAFETY: the caller vouches for V's instructions and the places to write; nothing is written past `len`.
    unsafe {
        let registers = zip(rows);
        unrolled!(index below P => {
            let register = registers[index];
            if P >= V::LANES {
                let per_column = P / V::LANES;
                let offset = index / per_column * R + index % per_column * V::LANES;
                store_within(register, to, offset, len);
            } else {
                // Several columns share a register.
                let register = if R == P { register } else { register.close_gaps::<R, P>() };
                let offset = V::LANES / P * R * index;
                if offset + V::LANES <= whole * V::LANES {
                    register.store(to.add(offset));
                } else {
                    register.store_up_to(to.wrapping_add(offset), len.saturating_sub(offset));
                }
            }
        });
    }
}

/// Writes a register at an offset, as far as `limit` keys reach.
#[inline(always)]
unsafe fn store_within<V: Vector>(register: V, to: *mut V::Lane, offset: usize, limit: usize) {
    // SAFETY: at most `limit - offset` keys are written.
    unsafe {
        if offset + V::LANES <= limit {
            register.store(to.add(offset));
        } else if offset < limit {
            register.store_partial(to.add(offset), limit - offset);
        }
    }
}

/// Writes half a register at an offset, as far as `limit` keys reach.
#[inline(always)]
unsafe fn store_half_within<V: Vector, const UPPER: bool>(
    register: V,
    to: *mut V::Lane,
    offset: usize,
    limit: usize,
) {
    // SAFETY: at most `limit - offset` keys are written.
    unsafe {
        if offset + V::LANES / 2 <= limit {
            register.store_half::<UPPER>(to.add(offset), V::LANES / 2);
        } else if offset < limit {
            register.store_half::<UPPER>(to.add(offset), limit - offset);
        }
    }
}

/// Sorts up to B x 2^doublings rows of keys. They live in a buffer on the stack, and every pass takes up to 16 of them
/// through the registers.
///
/// # Safety
///
/// As for [`Vector`]; `keys` must be valid for reading and writing `len` keys.
#[inline(always)]
pub(crate) unsafe fn sort_in_buffer<V: Vector, const B: usize>(
    keys: *mut V::Lane,
    len: usize,
    doublings: u32,
) {
    let rows = B << doublings;
    debug_assert!(rows <= max_rows::<V>() && rows * V::LANES >= len);
    const { assert!(V::LANES <= 2 * REGISTER_ROWS) };
    let mut buffer = TileBuffer::new();
    let buffer: *mut V = buffer.rows();
    // SAFETY: `load_and_sort` writes all rows before anything reads them; all passes stay within `rows`, and the
    // stores within `len`.
    unsafe {
        load_and_sort::<V, B>(keys, len, buffer, rows);
        merge_groups::<V, B>(buffer, rows);
        if V::LANES >= 2 {
            merge_lanes::<V, B, 1>(buffer, rows);
        }
        if V::LANES >= 4 {
            merge_lanes::<V, B, 3>(buffer, rows);
        }
        if V::LANES >= 8 {
            merge_lanes::<V, B, 7>(buffer, rows);
        }
        if V::LANES >= 16 {
            merge_lanes::<V, B, 15>(buffer, rows);
        }
        if V::LANES >= 32 {
            merge_lanes::<V, B, 31>(buffer, rows);
        }
        store_transposed::<V>(buffer, rows, keys, len);
    }
}

/// Reads the keys as rows and sorts every group of B rows.
#[inline(always)]
unsafe fn load_and_sort<V: Vector, const B: usize>(
    keys: *const V::Lane,
    len: usize,
    buffer: *mut V,
    rows: usize,
) {
    // SAFETY: the caller vouches for V's instructions, and for `rows` rows in the buffer; `load_rows` reads no key at or past
    // `len`.
    unsafe {
        let mut group = 0;
        while group < rows {
            let from = (group * V::LANES).min(len);
            let left = len - from;
            let mut registers: [V; B] = if left >= B * V::LANES {
                load_rows(keys.add(from), left, B)
            } else {
                load_rows(keys.add(from), left, 0)
            };
            sort_rows(&mut registers);
            write_rows(registers, buffer.add(group), 1);
            group += B;
        }
    }
}

/// Merges sorted groups of B rows to one sorted column a lane: the network in flip form over rows.
#[inline(always)]
unsafe fn merge_groups<V: Vector, const B: usize>(buffer: *mut V, rows: usize) {
    let mut width = B;
    // SAFETY: the caller vouches for V's instructions, and for `rows` rows in the buffer; `rows` is a multiple of 2 x width.
    unsafe {
        while width < rows {
            // The flip with up to three steps of the half-cleaners that follow.
            match width / B {
                1 => flip_pass::<V, 2>(buffer, rows, 2 * width),
                2 => flip_pass::<V, 4>(buffer, rows, 2 * width),
                4 => flip_pass::<V, 8>(buffer, rows, 2 * width),
                _ => flip_pass::<V, 16>(buffer, rows, 2 * width),
            }
            clean::<V, B>(buffer, rows, (width / 8).max(B));
            width *= 2;
        }
    }
}

/// The first log2(P) steps of the merge of two ascending runs in every block of `width` rows, in one pass.
#[inline(always)]
unsafe fn flip_pass<V: Vector, const P: usize>(buffer: *mut V, rows: usize, width: usize) {
    let stride = width / P;
    // SAFETY: the caller vouches for V's instructions, and for `rows` rows in the buffer; `rows` is a multiple of `width`, and
    // `width` of P.
    unsafe {
        let mut block = 0;
        while block < rows {
            // Rows of the upper run mirror those of the lower one, each within its stride.
            let mut lower = buffer.add(block);
            let mut upper = lower.add(stride - 1);
            for _ in 0..stride {
                let mut registers = [lower.read(); P];
                unrolled!(index below P => {
                    let from = if index < P / 2 { lower } else { upper };
                    registers[index] = from.add(index * stride).read();
                });
                merge_rows(&mut registers);
                let (lower_to, upper_to) = (lower.written_back(), upper.written_back());
                unrolled!(index below P => {
                    let to = if index < P / 2 { lower_to } else { upper_to };
                    to.add(index * stride).write(registers[index]);
                });
                lower = lower.add(1);
                upper = upper.wrapping_sub(1);
            }
            block += P * stride;
        }
    }
}

/// Sorts bitonic blocks of `width` = B x 2^j rows: half-cleaners, up to four steps a pass, then the cleaner of B rows.
#[inline(always)]
unsafe fn clean<V: Vector, const B: usize>(buffer: *mut V, rows: usize, width: usize) {
    let mut width = width;
    let steps = (width / B).ilog2();
    // SAFETY: the caller vouches for V's instructions, and for `rows` rows in the buffer.
    unsafe {
        match steps % 4 {
            1 => half_clean::<V, 2>(buffer, rows, width),
            2 => half_clean::<V, 4>(buffer, rows, width),
            3 => half_clean::<V, 8>(buffer, rows, width),
            _ => {}
        }
        width >>= steps % 4;
        while width > B {
            half_clean::<V, 16>(buffer, rows, width);
            width >>= 4;
        }
        let mut block = 0;
        while block < rows {
            let first = buffer.add(block);
            let mut registers: [V; B] = read_rows(first, 1);
            clean_rows(&mut registers);
            write_rows(registers, first, 1);
            block += B;
        }
    }
}

/// log2(P) half-cleaner steps on blocks of `width` rows in one pass: P rows at a time go through the registers.
#[inline(always)]
pub(super) unsafe fn half_clean<V: Vector, const P: usize>(place: impl Rows<V>, rows: usize, width: usize) {
    let stride = width / P;
    // SAFETY: the caller vouches for V's instructions, and for `rows` rows at the place; `rows` is a multiple of `width`, and
    // `width` of P.
    unsafe {
        let mut block = 0;
        while block < rows {
            for offset in 0..stride {
                let first = place.after(block + offset);
                let mut registers: [V; P] = read_rows(first, stride);
                clean_rows(&mut registers);
                write_rows(registers, first, stride);
            }
            block += width;
        }
    }
}

/// Merges neighbouring groups of lanes: one pass between lanes over pairs of mirrored rows, then half-cleaners down
/// the columns.
#[inline(always)]
unsafe fn merge_lanes<V: Vector, const B: usize, const MASK: usize>(buffer: *mut V, rows: usize) {
    // SAFETY: the caller vouches for V's instructions, and for `rows` rows in the buffer; `rows` is even.
    unsafe {
        for row in 0..rows / 2 {
            let (upper, lower) = (buffer.add(row), buffer.add(rows - 1 - row));
            let (first, second) = upper.read().merge_lanes::<MASK>(lower.read());
            upper.written_back().write(first);
            lower.written_back().write(second);
        }
        clean::<V, B>(buffer, rows, rows);
    }
}

/// Writes the columns one after the other. There are more rows than registers here; the last ones begin so early that they are
/// all there, and write some keys once more.
#[inline(always)]
unsafe fn store_transposed<V: Vector>(buffer: *mut V, rows: usize, keys: *mut V::Lane, len: usize) {
    debug_assert!(rows >= REGISTER_ROWS);
    // SAFETY: the caller vouches for V's instructions, for `rows` rows in the buffer, and for room for `len` keys.
    unsafe {
        for tile in 0..rows.div_ceil(REGISTER_ROWS) {
            let from = (tile * REGISTER_ROWS).min(rows - REGISTER_ROWS);
            let registers: [V; REGISTER_ROWS] = read_rows(buffer.add(from), 1);
            let (to, limit) = (keys.add(from.min(len)), len.saturating_sub(from));
            let registers = zip(registers);
            unrolled!(index below REGISTER_ROWS => {
                if V::LANES <= REGISTER_ROWS {
                    let per_column = REGISTER_ROWS / V::LANES;
                    let offset = index / per_column * rows + index % per_column * V::LANES;
                    store_within(registers[index], to, offset, limit);
                } else {
                    store_half_within::<V, false>(registers[index], to, 2 * index * rows, limit);
                    store_half_within::<V, true>(registers[index], to, (2 * index + 1) * rows, limit);
                }
            });
        }
    }
}
