//! Merges of two sorted runs by a network: no branch and no address depends on a key.
//!
//! ```text
//!   runs       1 4 9    2 4
//!   valley     9 4 1 2 4        the first run backwards and the second behind it: falling, then rising
//!   cleaned    1 2 4 4 9        half-cleaners: each key with the one 4 places on, then 2, then 1
//! ```
//!
//! A valley is bitonic, and stays so when infinite keys follow: these go on rising. So the half-cleaners of the next power of two sort
//! it, and those that reach past its end do nothing. That holds for runs of any two lengths, in half of log2(n) comparisons a key.
//!
//! [`merge`](super::merge) takes whichever key comes next instead, where keys are no secret.

use super::narrow::try_vec;
use super::pairs::unpack_indexed;
use super::scalar::{Indexed, Run};
use super::together::{self, Holder};
use super::width::{self, Settings};
use crate::Error;
use crate::key::{BitMap, Bits};

/// Merges two sorted runs of keys into `merged`, which is as long as both.
pub(super) fn merge_keys<B: Bits>(
    first: &[B],
    second: &[B],
    merged: &mut [B],
    map: BitMap<B>,
    settings: Settings,
    parallel: bool,
) {
    if second.is_empty() {
        return merged.copy_from_slice(first);
    }
    write_valley(first, second, merged);
    width::clean(merged, map, settings, parallel);
}

/// Merges two sorted runs of keys with their values. Of equal keys, those of the first run come first, and each run's in its order:
/// every key has its place in both runs beside it, in one integer with the value where that holds all three.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; nothing is written then.
pub(super) fn merge_pairs<B: Bits, V: Copy + Send>(
    (first, of_first): (&[B], &[V]),
    (second, of_second): (&[B], &[V]),
    (merged, of_merged): (&mut [B], &mut [V]),
    map: BitMap<B>,
    settings: Settings,
    parallel: bool,
) -> Result<(), Error> {
    if Holder::of::<B, V>(merged.len(), true).is_some() {
        let merged = (merged, of_merged);
        return together::merge((first, of_first), (second, of_second), merged, map, settings, parallel);
    }
    let mut indexed = try_vec(merged.len())?;
    let element = |index, &bits: &B| Indexed { key: map.to_ordered(bits), index };
    indexed.extend(first.iter().enumerate().rev().map(|(index, bits)| element(index, bits)));
    indexed.extend(second.iter().enumerate().map(|(index, bits)| element(first.len() + index, bits)));
    write_valley(of_first, of_second, of_merged);
    Run::new(&mut indexed, of_merged).clean(parallel);
    unpack_indexed(merged, &indexed, map);
    Ok(())
}

/// The first run backwards, and the second.
fn write_valley<T: Copy>(first: &[T], second: &[T], valley: &mut [T]) {
    let (falling, rising) = valley.split_at_mut(first.len());
    falling.copy_from_slice(first);
    falling.reverse();
    rising.copy_from_slice(second);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::{Available, Instructions};
    use crate::key::{KeyForm, Order};

    /// Runs of `lengths` zeros and ones, sorted, with so many zeros each: all inputs that a merge can have, by the 0-1 principle.
    fn check_zeros_and_ones<B: Bits>(
        lengths: [usize; 2],
        zeros: [usize; 2],
        settings: Settings,
        parallel: bool,
    ) {
        let one = B::truncate(1);
        let run = |number: usize| -> Vec<B> {
            (0..lengths[number]).map(|at| if at < zeros[number] { B::ZERO } else { one }).collect()
        };
        let (first, second) = (run(0), run(1));
        let mut merged = vec![one; first.len() + second.len()];
        merge_keys(&first, &second, &mut merged, BitMap::IDENTITY, settings, parallel);
        let count = zeros[0] + zeros[1];
        let is_right = merged[..count].iter().all(|&bits| bits == B::ZERO)
            && merged[count..].iter().all(|&bits| bits == one);
        assert!(is_right, "{} bits, {zeros:?} zeros in runs of {lengths:?}, {settings:?}", B::WIDTH);
    }

    fn check_lengths<B: Bits>(lengths: [usize; 2], settings: Settings) {
        for first in 0..=lengths[0] {
            for second in 0..=lengths[1] {
                check_zeros_and_ones::<B>(lengths, [first, second], settings, false);
            }
        }
    }

    #[test]
    fn runs_of_any_two_lengths_are_merged() {
        for instructions in Instructions::ALL.iter().filter_map(|&set| Available::of(set)) {
            let settings = Settings { instructions, oblivious: true, ..Settings::usual() };
            for first in 0..=20 {
                for second in 0..=20 {
                    check_lengths::<u32>([first, second], settings);
                    check_lengths::<u64>([first, second], settings);
                }
            }
        }
        for first in 0..=12 {
            for second in 0..=12 {
                check_lengths::<u8>([first, second], Settings::usual());
            }
        }
        check_lengths::<u16>([9, 30], Settings::usual());
        check_lengths::<u128>([30, 9], Settings::usual());
    }

    #[test]
    fn long_runs_are_merged_on_one_thread_and_on_several() {
        // Within a tile, around some tiles of every instruction set, and so long that threads share them.
        let lengths = [
            [0, 5000],
            [5000, 0],
            [1, 4096],
            [4096, 1],
            [2000, 3001],
            [2048, 2048],
            [4097, 8191],
            [70_000, 60_001],
        ];
        let shares = |length: usize| [0, length / 3, length / 2 + 1, length].map(|zeros| zeros.min(length));
        for instructions in Instructions::ALL.iter().filter_map(|&set| Available::of(set)) {
            let settings = Settings { instructions, oblivious: true, ..Settings::usual() };
            for lengths in lengths {
                for first in shares(lengths[0]) {
                    for second in shares(lengths[1]) {
                        for parallel in [false, true] {
                            let zeros = [first, second];
                            check_zeros_and_ones::<u32>(lengths, zeros, settings, parallel);
                            check_zeros_and_ones::<u64>(lengths, zeros, settings, parallel);
                            check_zeros_and_ones::<u16>(lengths, zeros, settings, parallel);
                            check_zeros_and_ones::<u128>(lengths, zeros, settings, parallel);
                        }
                    }
                }
            }
        }
    }

    /// Runs of five different keys, whose values are their places.
    fn check_places<B: Bits, V: Copy + Send + PartialEq>(
        lengths: [usize; 2],
        value: impl Fn(usize) -> V,
        settings: Settings,
    ) {
        let map = BitMap::new(KeyForm::Signed, Order::Descending);
        let run = |length: usize, start: usize| -> (Vec<B>, Vec<V>) {
            let descending = |at: usize| B::truncate(2_u128.wrapping_sub((5 * at / length) as u128));
            ((0..length).map(descending).collect(), (start..start + length).map(&value).collect())
        };
        let (first, second) = (run(lengths[0], 0), run(lengths[1], lengths[0]));
        let all = [first.0.clone(), second.0.clone()].concat();
        let mut expected: Vec<usize> = (0..all.len()).collect();
        expected.sort_by_key(|&place| map.to_ordered(all[place]));
        for parallel in [false, true] {
            let (mut keys, mut values) = (vec![B::ZERO; all.len()], vec![value(0); all.len()]);
            let (of_first, of_second) = ((&first.0[..], &first.1[..]), (&second.0[..], &second.1[..]));
            merge_pairs(of_first, of_second, (&mut keys, &mut values), map, settings, parallel).unwrap();
            let what = format!("{lengths:?}, {} bits, {} bytes", B::WIDTH, size_of::<V>());
            assert!(values.into_iter().eq(expected.iter().map(|&place| value(place))), "{what}");
            assert!(keys.iter().eq(expected.iter().map(|&place| &all[place])), "{what}");
        }
    }

    #[test]
    fn values_of_equal_keys_stay_in_the_order_of_their_runs() {
        for instructions in Instructions::ALL.iter().filter_map(|&set| Available::of(set)) {
            let settings = Settings { instructions, oblivious: true, ..Settings::usual() };
            for lengths in [[0, 0], [0, 3], [3, 0], [1, 1], [40, 17], [17, 40], [3000, 2000]] {
                // In one integer, with words of both widths, and where there is none for all three.
                check_places::<u8, usize>(lengths, |place| place, settings);
                check_places::<u64, u32>(lengths, |place| place as u32, settings);
                check_places::<u64, u64>(lengths, |place| place as u64, settings);
                check_places::<u128, [u8; 3]>(
                    lengths,
                    |place| [place as u8, (place >> 8) as u8, 7],
                    settings,
                );
            }
        }
    }
}
