//! The half-cleaner theorem, tried on every bitonic 0-1 input, 512 at a time.
//!
//! The theorem speaks of each half on its own, so thresholds do not help: two changes in a half are right, four
//! are wrong. There are only about n^2 bitonic inputs, and half-cleaners are small.

use super::parallel::first_failure;
use super::sorting::first_bit;
use crate::Network;

/// The most wires: at this size a proof takes seconds, with each doubling eight times as long.
pub(super) const MAX_WIRES: usize = 1 << 10;

/// As many 0-1 inputs as are evaluated at once.
type Chunk = [u64; 8];
const CHUNK: usize = 512;

/// A bitonic input after which one of the halves is not bitonic, or a key of the lower half is greater than one of
/// the upper half.
pub(super) fn unclean_bitonic(network: &Network) -> Option<Vec<bool>> {
    let wires = network.wires();
    // A task is a start. Its inputs are the ends above it, each with the ones inside and with the ones outside.
    let input_of = move |start: usize, number: usize| {
        let inside = start..start + 1 + number / 2;
        move |wire: usize| inside.contains(&wire) == number.is_multiple_of(2)
    };
    let (start, number) = first_failure(wires as u64, || {
        let mut keys: Vec<Chunk> = vec![[0; 8]; wires];
        move |task| {
            let start = task as usize;
            let inputs = 2 * (wires - start);
            (0..inputs).step_by(CHUNK).find_map(|first| {
                keys.fill([0; 8]);
                for number in first..inputs.min(first + CHUNK) {
                    let is_one = input_of(start, number);
                    let (word, bit) = ((number - first) / 64, number % 64);
                    for (wire, keys) in keys.iter_mut().enumerate() {
                        keys[word] |= u64::from(is_one(wire)) << bit;
                    }
                }
                network.apply_zero_one(&mut keys).expect("there is a key for every wire");
                // Behind the last input all keys are zero, which is clean.
                Some((start, first + first_bit(&unclean(&keys))?))
            })
        }
    })?;
    Some((0..wires).map(input_of(start, number)).collect())
}

/// Which of the evaluated inputs came out wrong.
fn unclean(keys: &[Chunk]) -> Chunk {
    let (low, high) = keys.split_at(keys.len() / 2);
    std::array::from_fn(|word| {
        let one_in_low = low.iter().fold(0, |any, keys| any | keys[word]);
        let zero_in_high = high.iter().fold(0, |any, keys| any | !keys[word]);
        not_bitonic(low, word) | not_bitonic(high, word) | (one_in_low & zero_in_high)
    })
}

/// Which inputs change more than twice on the way round the wires.
fn not_bitonic(half: &[Chunk], word: usize) -> u64 {
    let (mut once, mut twice, mut thrice) = (0, 0, 0);
    for (wire, keys) in half.iter().enumerate() {
        let next = &half[(wire + 1) % half.len()];
        let change = keys[word] ^ next[word];
        thrice |= twice & change;
        twice |= once & change;
        once |= change;
    }
    thrice
}
