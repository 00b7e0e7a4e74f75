//! Many short parts of an array, sorted in the order of how many registers their keys fill.
//!
//! Which network sorts a part depends on how many registers it fills. A processor that goes through the parts as they lie finds the wrong
//! network ready most of the time. And the last register of a part is written by a mask: a read of what follows, the next part, may have to wait
//! until that is in memory. So the parts of a batch are listed by their number of registers
//! first, and sorted list by list: each list has one network, and the next part of a list is rarely the neighbour.
//!
//! Where the parts are is no secret, so this is how oblivious sorts of parts go as well.

use super::generic::columns::REGISTER_ROWS;
use super::kernels::Kernels;
use super::parts::{Bounds, Parts};
use super::prefetch::prefetch;
use crate::Error;
use crate::key::{BitMap, Bits};
use std::ops::Range;

/// The most parts of a batch: their numbers within it fit a byte.
const MOST_PARTS: usize = 1 << 8;

/// A batch has about so many bytes of keys: the first-level cache holds it and the next.
const BYTES: usize = 1 << 14;

/// Every third part is listed first, then the ones behind those, then the others: so neighbours do not follow each other.
const TURNS: usize = 3;

/// Parts of more registers than one kernel takes are in the last list.
const LISTS: usize = REGISTER_ROWS + 2;

/// Fewer parts than this are long, and few guesses are wrong: each is a batch for itself.
const FEWEST_PARTS: usize = 8;

/// How many parts go into a batch.
pub(super) fn parts_of_batch<B>(bounds: Bounds<'_>) -> usize {
    let keys = BYTES / size_of::<B>();
    let parts = keys.saturating_mul(bounds.count()) / bounds.len().max(1);
    if parts < FEWEST_PARTS { 1 } else { parts.min(MOST_PARTS) }
}

/// Sorts the bits of parts: those that one kernel takes here, the others by `sort_long`, before these.
///
/// # Safety
///
/// Nobody else has these parts, of which there are one to [`MOST_PARTS`], and the bounds ascend.
pub(super) unsafe fn sort<B: Bits>(
    parts: &Parts<'_, B>,
    numbers: Range<usize>,
    map: BitMap<B>,
    kernels: &Kernels<B>,
    mut sort_long: impl FnMut(&mut [B]) -> Result<(), Error>,
) -> Result<(), Error> {
    debug_assert!((1..=MOST_PARTS).contains(&numbers.len()));
    let mut lists = [[0_u8; MOST_PARTS]; LISTS];
    let mut lengths = [0; LISTS];
    for turn in 0..TURNS {
        for place in (turn..numbers.len()).step_by(TURNS) {
            let list = kernels.registers(parts.range(numbers.start + place).len()).min(LISTS - 1);
            lists[list][lengths[list]] = place as u8;
            lengths[list] += 1;
        }
    }
    // Long parts in the order of the array: the short ones are what lies between them.
    lists[LISTS - 1][..lengths[LISTS - 1]].sort_unstable();
    let mut lists = lists.iter().zip(lengths).map(|(list, length)| &list[..length]);
    let number = |&place: &u8| numbers.start + usize::from(place);
    let long = lists.next_back().into_iter().flatten().map(number);
    // SAFETY: every number is in one list, once; the rest is the caller's promise. The kernels were handed out for this processor; pointer
    // and length are the slices', and the kernel of a list takes as many registers as its parts fill.
    unsafe {
        long.clone().try_for_each(|number| sort_long(parts.part(number)))?;
        let between_long = |convert: unsafe fn(*mut B, usize, BitMap<B>)| {
            let mut start = numbers.start;
            for end in long.clone().chain([numbers.end]) {
                if !map.is_identity() && start < end {
                    let short = parts.parts(start..end);
                    convert(short.as_mut_ptr(), short.len(), map);
                }
                start = end + 1;
            }
        };
        between_long(kernels.to_ordered);
        // The next batch is about as long.
        let ahead = parts.range(numbers.end - 1).end - parts.range(numbers.start).start;
        for (registers, (list, sort)) in lists.zip(kernels.sort_in_registers).enumerate() {
            for part in list.iter().map(|place| parts.part(number(place))) {
                for register in 0..registers {
                    prefetch(part.as_ptr().wrapping_add(ahead + (register << kernels.lanes_log2)));
                }
                sort(part.as_mut_ptr(), part.len());
            }
        }
        between_long(kernels.from_ordered);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::instructions::{HasKernels, kernels_of_128_bits};
    use crate::cpu::parts::each_batch;
    use crate::instructions::Available;
    use crate::key::{KeyForm, Order};

    /// Parts of these lengths in the middle of an array, in batches of so many.
    fn check<B: Bits>(lengths: &[usize], together: usize, map: BitMap<B>, kernels: &Kernels<B>) {
        let mut offsets = vec![5];
        lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
        let len = offsets[lengths.len()] + 5;
        let random =
            |index: usize| (index as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let keys: Vec<B> = (0..len).map(|index| B::truncate(random(index).rotate_right(64))).collect();
        let mut expected = keys.clone();
        let in_order = |ends: &[usize]| expected[ends[0]..ends[1]].sort_by_key(|&bits| map.to_ordered(bits));
        offsets.windows(2).for_each(in_order);
        let mut sorted = keys;
        let bounds = Bounds::Offsets(&offsets);
        let parts = Parts::new(&mut sorted, bounds);
        let done = each_batch(bounds, together, Some(1), &|numbers, _| {
            let by_key = |part: &mut [B]| {
                assert!(part.len() > REGISTER_ROWS << kernels.lanes_log2);
                part.sort_by_key(|&bits| map.to_ordered(bits));
                Ok(())
            };
            // SAFETY: every part comes once, and the offsets ascend.
            unsafe { sort(&parts, numbers, map, kernels, by_key) }
        });
        assert_eq!(done, Ok(()));
        assert!(sorted == expected, "{lengths:?}, {together} together");
    }

    fn check_all<B: Bits>(kernels: &Kernels<B>) {
        let all: Vec<usize> = (0..=64).map(|length| length * 27 % 65).collect();
        let mixed: Vec<usize> = (0..MOST_PARTS).map(|number| number * number % 300).collect();
        for (form, order) in [
            (KeyForm::Unsigned, Order::Ascending),
            (KeyForm::Unsigned, Order::Descending),
            (KeyForm::Float, Order::Ascending),
        ] {
            let map = BitMap::new(form, order);
            for together in [1, 2, 7, MOST_PARTS] {
                check(&all, together, map, kernels);
                check(&mixed, together, map, kernels);
                check(&[0, 5000, 0, 7, 7, 300, 5000], together, map, kernels);
            }
        }
    }

    #[test]
    fn every_part_of_a_batch_is_sorted_and_nothing_beside_them_moves() {
        for available in [Available::detected(), Available::PORTABLE] {
            check_all(u16::kernels(available));
            check_all(u32::kernels(available));
            check_all(u64::kernels(available));
            if let Some(kernels) = kernels_of_128_bits(available) {
                check_all(kernels);
            }
        }
    }

    #[test]
    fn a_part_that_cannot_be_sorted_is_told_and_no_key_is_lost() {
        let mut keys: Vec<u32> = (0..6000).rev().collect();
        let offsets = [0, 20, 5020, 6000];
        let map = BitMap::new(KeyForm::Unsigned, Order::Descending);
        let parts = Parts::new(&mut keys, Bounds::Offsets(&offsets));
        let refused = |_: &mut [u32]| Err(Error::OutOfMemory { bytes: 7 });
        // SAFETY: nobody else has the parts, and the offsets ascend.
        let done = unsafe { sort(&parts, 0..3, map, u32::kernels(Available::detected()), refused) };
        assert_eq!(done, Err(Error::OutOfMemory { bytes: 7 }));
        keys.sort_unstable();
        assert!(keys.into_iter().eq(0..6000));
    }

    #[test]
    fn short_parts_go_together_and_long_ones_alone() {
        let rows = |row_length| parts_of_batch::<u32>(Bounds::Rows { rows: 1000, row_length });
        assert_eq!(
            [rows(0), rows(1), rows(32), rows(512), rows(513), rows(1 << 40)],
            [256, 256, 128, 8, 1, 1]
        );
        assert_eq!(parts_of_batch::<u64>(Bounds::Offsets(&[])), 1);
    }
}
