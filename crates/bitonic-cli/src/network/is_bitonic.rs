//! `bitonic network is-bitonic`: whether a sequence is bitonic, and from where on it rises and then falls.
//!
//! Laid out on a circle, a bitonic sequence has one way up and one way down. Equal neighbours are neither. So it is bitonic if, once
//! around the circle, the direction changes twice at most; and the rotation that shows it begins where a way down ends.

use super::values;
use crate::failure::Failure;
use crate::figures::counted;
use crate::output;
use std::cmp::Ordering;

/// What `bitonic network is-bitonic` is asked for.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The sequence: numbers with spaces between them
    #[arg(value_name = "VALUES", allow_hyphen_values = true)]
    values: String,
}

/// Prints the answer; exit code 1 if the sequence is not bitonic.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let sequence = values::read(&arguments.values)?;
    let shown = |values: &mut dyn Iterator<Item = &values::Decimal<'_>>| {
        values.map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    match judge(&sequence) {
        Shape::Bitonic { rotation: 0 } => {
            output::print(|out| writeln!(out, "bitonic: it rises and then falls as it stands"))
        }
        Shape::Bitonic { rotation } => {
            let rotated = shown(&mut sequence[rotation..].iter().chain(&sequence[..rotation]));
            let moved = counted(rotation, "value");
            output::print(|out| {
                writeln!(
                    out,
                    "bitonic: with its first {moved} moved to the end it rises and then falls\n{rotated}"
                )
            })
        }
        Shape::Turns(turns) => {
            let at = shown(&mut turns.iter().map(|&at| &sequence[at]));
            let count = turns.len();
            Err(Failure::No(format!(
                "not bitonic: around the circle it turns {count} times, at {at}; a bitonic sequence turns twice"
            )))
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// With so many values moved from its beginning to its end it rises and then falls.
    Bitonic { rotation: usize },
    /// Where it changes its direction, once around the circle.
    Turns(Vec<usize>),
}

fn judge<T: Ord>(sequence: &[T]) -> Shape {
    let count = sequence.len();
    // Steps that go up or down, by where they begin; the last one leads back to the beginning.
    let steps: Vec<(usize, Ordering)> = (0..count)
        .map(|at| (at, sequence[(at + 1) % count].cmp(&sequence[at])))
        .filter(|(_, direction)| direction.is_ne())
        .collect();
    let before = |index: usize| steps[(index + steps.len() - 1) % steps.len()].1;
    let turns: Vec<usize> = (0..steps.len()).filter(|&index| before(index) != steps[index].1).collect();
    if turns.len() > 2 {
        return Shape::Turns(turns.into_iter().map(|index| steps[index].0).collect());
    }
    // The sequence as it stands, if that rises and then falls: without the step back, no way up comes after one down.
    let inside = || steps.iter().filter(|(at, _)| at + 1 < count);
    let first_down = inside().position(|(_, direction)| direction.is_lt()).unwrap_or(usize::MAX);
    if inside().skip(first_down.min(count)).all(|(_, direction)| direction.is_lt()) {
        return Shape::Bitonic { rotation: 0 };
    }
    let lowest = turns.into_iter().find(|&index| steps[index].1.is_gt());
    Shape::Bitonic { rotation: lowest.map_or(0, |index| steps[index].0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rises_then_falls<T: Ord>(sequence: &[T]) -> bool {
        let top = (0..sequence.len()).max_by_key(|&at| &sequence[at]).unwrap_or(0);
        sequence.is_empty()
            || sequence[..=top].is_sorted() && sequence[top..].is_sorted_by(|a, b| a >= b)
            || sequence.is_sorted()
    }

    #[test]
    fn examples_that_are_and_are_not() {
        for (sequence, rotation) in [
            (&[1, 3, 5, 4, 2][..], 0),
            (&[5, 4, 2, 1, 3], 3),
            (&[2, 1], 0),
            (&[7, 7, 7], 0),
            (&[], 0),
            (&[3], 0),
            (&[1, 0, 1], 1),
        ] {
            assert_eq!(judge(sequence), Shape::Bitonic { rotation }, "{sequence:?}");
        }
        assert_eq!(judge(&[1, 3, 2, 4]), Shape::Turns(vec![0, 1, 2, 3]));
    }

    proptest! {
        #[test]
        fn it_is_bitonic_if_any_rotation_rises_and_falls(sequence in proptest::collection::vec(0_u8..4, 0..9)) {
            let rotated = |by: usize| [&sequence[by..], &sequence[..by]].concat();
            let found = (0..sequence.len().max(1)).any(|by| rises_then_falls(&rotated(by)));
            match judge(&sequence) {
                Shape::Bitonic { rotation } => prop_assert!(rises_then_falls(&rotated(rotation)), "{rotation}"),
                Shape::Turns(turns) => prop_assert!(!found && turns.len() > 2),
            }
        }
    }
}
