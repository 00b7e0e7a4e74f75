//! Running a network on keys: [`Network::apply`], [`Network::trace`], and 512 or more 0-1 inputs at a time.

use std::cmp::Ordering;
use std::fmt;

use crate::{Network, Stage};

impl Network {
    /// Sends the keys through the network: key i enters on wire i, and leaves on the wire that is its new index.
    ///
    /// A comparator swaps only keys that are out of order, so equal keys stay where they are.
    ///
    /// ```
    /// use bitonic_network::Kind;
    ///
    /// let mut keys = ["pear", "fig", "plum", "apple", "date"];
    /// Kind::Bitonic.generate(5)?.apply(&mut keys)?;
    /// assert_eq!(keys, ["apple", "date", "fig", "pear", "plum"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LengthMismatch`] unless there is one key for each wire; the keys are then untouched.
    pub fn apply<T: Ord>(&self, keys: &mut [T]) -> Result<(), LengthMismatch> {
        self.apply_by(keys, T::cmp)
    }

    /// As [`Network::apply`], in the order that `compare` gives. `compare` need not be consistent: whatever it
    /// answers, the result is a permutation of the keys.
    ///
    /// # Errors
    /// [`LengthMismatch`] unless there is one key for each wire; the keys are then untouched.
    pub fn apply_by<T>(
        &self,
        keys: &mut [T],
        mut compare: impl FnMut(&T, &T) -> Ordering,
    ) -> Result<(), LengthMismatch> {
        self.check_length(keys.len())?;
        for stage in self.stages() {
            apply_stage(stage, keys, &mut compare);
        }
        Ok(())
    }

    /// The keys on the wires before the first stage and after every stage: `depth() + 1` states.
    ///
    /// ```
    /// use bitonic_network::Kind;
    ///
    /// let states = Kind::OddEvenTransposition.generate(3)?.trace(&[3, 2, 1])?;
    /// assert_eq!(states, [[3, 2, 1], [2, 3, 1], [2, 1, 3], [1, 2, 3]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LengthMismatch`] unless there is one key for each wire.
    pub fn trace<T: Ord + Clone>(&self, keys: &[T]) -> Result<Vec<Vec<T>>, LengthMismatch> {
        self.check_length(keys.len())?;
        let mut states = Vec::with_capacity(self.depth() + 1);
        let mut state = keys.to_vec();
        for stage in self.stages() {
            states.push(state.clone());
            apply_stage(stage, &mut state, &mut T::cmp);
        }
        states.push(state);
        Ok(states)
    }

    /// Sends `64 * WORDS` 0-1 inputs through the network at once: bit b of word k of `wires[w]` is the key of
    /// input `64 * k + b` on wire w.
    ///
    /// On bits the smaller of two keys is their AND and the larger their OR, so a comparator costs `2 * WORDS`
    /// machine instructions, fewer where the compiler uses vector registers.
    ///
    /// ```
    /// use bitonic_network::Kind;
    ///
    /// // The eight 0-1 inputs of three wires, one in each of the low eight bits.
    /// let mut wires = [[0b1010_1010], [0b1100_1100], [0b1111_0000]];
    /// Kind::Bitonic.generate(3)?.apply_zero_one(&mut wires)?;
    /// // One of them has all ones, four have two ones or more, seven have a one.
    /// assert_eq!(wires.map(|[word]: [u64; 1]| word.count_ones()), [1, 4, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LengthMismatch`] unless there is one element for each wire; they are then untouched.
    pub fn apply_zero_one<const WORDS: usize>(
        &self,
        wires: &mut [[u64; WORDS]],
    ) -> Result<(), LengthMismatch> {
        self.check_length(wires.len())?;
        apply_stages_zero_one(self.stages(), wires);
        Ok(())
    }

    fn check_length(&self, keys: usize) -> Result<(), LengthMismatch> {
        if keys == self.wires() { Ok(()) } else { Err(LengthMismatch { keys, wires: self.wires() }) }
    }
}

fn apply_stage<T>(stage: &Stage, keys: &mut [T], compare: &mut impl FnMut(&T, &T) -> Ordering) {
    for &comparator in stage.comparators() {
        let (min, max) = (comparator.min(), comparator.max());
        if compare(&keys[min], &keys[max]) == Ordering::Greater {
            keys.swap(min, max);
        }
    }
}

/// Some stages of a network on `64 * WORDS` 0-1 inputs; see [`Network::apply_zero_one`].
pub(crate) fn apply_stages_zero_one<const WORDS: usize>(stages: &[Stage], wires: &mut [[u64; WORDS]]) {
    for stage in stages {
        for &comparator in stage.comparators() {
            let (min, max) = (comparator.min(), comparator.max());
            let (mut at_min, mut at_max) = (wires[min], wires[max]);
            for (a, b) in at_min.iter_mut().zip(&mut at_max) {
                (*a, *b) = (*a & *b, *a | *b);
            }
            (wires[min], wires[max]) = (at_min, at_max);
        }
    }
}

/// The number of keys is not the number of wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthMismatch {
    /// How many keys were given.
    pub keys: usize,
    /// How many wires the network has.
    pub wires: usize,
}

impl fmt::Display for LengthMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keys, wires } = self;
        write!(f, "{keys} keys do not fit a network of {wires} wires: give one key for each wire")
    }
}

impl std::error::Error for LengthMismatch {}
