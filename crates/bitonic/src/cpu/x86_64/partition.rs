//! Partitions of the keys of a register by a table of permutations.

use crate::cpu::generic::orders::{bytes_of_sets, set_first};
use std::arch::x86_64::*;

/// For every set of 8 lanes, the order that puts them first and the others last, a byte a lane.
pub(super) static PARTITION_8: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < table.len() {
        let lanes = set_first::<8>(set);
        let mut place = 0;
        while place < lanes.len() {
            table[set] |= (lanes[place] as u64) << (8 * place);
            place += 1;
        }
        set += 1;
    }
    table
};

/// For every set of 4 lanes of 128 bits, the order of their halves that puts them first and the others last, as AVX-512 takes it.
pub(super) static PARTITION_WIDE: [[u64; 8]; 16] = {
    let mut table = [[0; 8]; 16];
    let mut set = 0;
    while set < table.len() {
        let lanes = set_first::<4>(set);
        let mut half = 0;
        while half < table[set].len() {
            table[set][half] = (2 * lanes[half / 2] + half % 2) as u64;
            half += 1;
        }
        set += 1;
    }
    table
};

/// The same for lanes of 64 bits, as AVX2 takes it.
pub(super) static PARTITION_4: [[u32; 8]; 16] = {
    let mut table = [[0; 8]; 16];
    let mut place = 0;
    while place < 16 * 8 {
        table[place / 8][place % 8] = PARTITION_WIDE[place / 8][place % 8] as u32;
        place += 1;
    }
    table
};

/// For every set of 8 lanes of 16 bits, the order of their bytes that puts them first and the others last.
static PARTITION_WORDS: [[u8; 16]; 256] = bytes_of_sets::<8, 256>();

/// Writes the keys of the lanes in a set from `left` on, and the others so that they end at `right`; returns how many are in the set.
///
/// # Safety
///
/// The processor has AVX2, and either pointer has room for 8 keys.
#[inline(always)]
pub(super) unsafe fn partition_words(keys: __m128i, set: u8, left: *mut u16, right: *mut u16) -> usize {
    // SAFETY: the caller's promise; an entry of the table is as long as what is loaded.
    unsafe {
        let bytes = _mm_loadu_si128(PARTITION_WORDS[usize::from(set)].as_ptr().cast());
        let parted = _mm_shuffle_epi8(keys, bytes);
        _mm_storeu_si128(left.cast(), parted);
        _mm_storeu_si128(right.sub(8).cast(), parted);
        set.count_ones() as usize
    }
}
