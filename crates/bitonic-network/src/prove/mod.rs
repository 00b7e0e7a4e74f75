//! Proofs that a network does what it claims, on every input.
//!
//! All rest on the 0-1 principle. A comparator does not look at keys, only at their order, so a network commutes
//! with every monotone mapping of the keys. If it left some input unsorted, with a key x above a smaller key y,
//! mapping keys below x to 0 and the others to 1 would make a 0-1 input that it leaves unsorted too. So a network
//! that sorts all 2^n inputs of zeros and ones sorts every input. The same mapping turns two ascending runs into
//! two ascending 0-1 runs and a bitonic sequence into a bitonic 0-1 sequence, of which there are only O(n^2).
//!
//! It also settles selections, one wire at a time. Say that the wire for the j-th largest key y carries x instead. If x
//! is smaller than y, mapping keys below y to 0 and the others to 1 leaves at least j ones, and a zero on the wire. If
//! x is larger, mapping keys below x to 0 and the others to 1 leaves fewer than j ones, and a one on the wire. So the
//! network fails on a 0-1 input too.
//!
//! - `sorting`: sorting and selecting, all 2^n inputs, 512 at a time on all cores;
//! - `reachable`: its head start, the states that the first stages can leave;
//! - `thresholds`: merges, all O(n^2) inputs in O(n) evaluations;
//! - `half_cleaner`: the half-cleaner theorem;
//! - `parallel`: the cores; `verdict`: the results.

mod half_cleaner;
mod parallel;
mod reachable;
mod sorting;
mod thresholds;
mod verdict;

pub use verdict::{Counterexample, Proof, ProveError};

use crate::{Claim, Kind, Network};

impl Network {
    /// Proves that the network sorts every input, or finds one that it does not sort.
    ///
    /// Every 0-1 input is covered, on all cores. The answer is the same every time.
    ///
    /// ```
    /// use bitonic_network::{Comparator, Kind, Network};
    ///
    /// let proof = Kind::Bitonic.generate(32)?.prove()?;
    /// assert_eq!(proof.wires(), 32);
    ///
    /// let wrong = Network::new(3, vec![vec![Comparator::new(0, 1)], vec![Comparator::new(1, 2)]])?;
    /// let error = wrong.prove().unwrap_err();
    /// assert_eq!(error.counterexample().unwrap().input(), [true, true, false]);
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the network does not sort 110: out comes 101; likewise of 1 2 0 it makes 1 0 2"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Cost
    /// The network is evaluated on the 0-1 states that its first stages can leave, at most 3^(n/2) if its first
    /// stage pairs all wires, far fewer if it sorts blocks first and merges them.
    ///
    /// # Errors
    /// [`ProveError::Refuted`] with a counterexample; [`ProveError::TooManyWires`] beyond 128 wires;
    /// [`ProveError::TooManyCases`] where more than 2^35 states would have to be tried.
    pub fn prove(&self) -> Result<Proof, ProveError> {
        self.exhaust(Claim::Sorts, self.wires())
    }

    /// Proves that the network selects the k largest keys of every input: that its last k wires carry what they would
    /// carry if all keys were sorted. Or finds an input with which it fails.
    ///
    /// It is enough to try all inputs of zeros and ones. A network commutes with monotone mappings of the keys. If the
    /// wire for the j-th largest key y carried a smaller key, then mapping keys below y to 0 and the others to 1
    /// would make an input with j ones or more that leaves a zero there. If it carried a larger key x, then mapping
    /// keys below x to 0 and the others to 1 would make an input with fewer than j ones that leaves a one there.
    ///
    /// ```
    /// use bitonic_network::{Comparator, Merging, Network};
    ///
    /// assert!(Merging::Bitonic.top_k(100, 10)?.prove_top_k(10).is_ok());
    ///
    /// // Two rounds of a tournament: the largest key, but not the two largest.
    /// let c = Comparator::new;
    /// let tournament = Network::new(4, vec![vec![c(0, 1), c(2, 3)], vec![c(1, 3)]])?;
    /// assert!(tournament.prove_top_k(1).is_ok());
    /// assert_eq!(
    ///     tournament.prove_top_k(2).unwrap_err().to_string(),
    ///     "the network does not select the 2 largest keys of 1100: out comes 1001; \
    ///      likewise of 2 3 0 1 it makes 2 1 0 3"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Cost
    /// As [`Network::prove`]. States that differ only in keys that the network has left behind are tried once.
    ///
    /// # Errors
    /// [`ProveError::Refuted`] with a counterexample; [`ProveError::SelectionOutOfRange`] if k is more than the number
    /// of wires; [`ProveError::TooManyWires`] beyond 128 wires; [`ProveError::TooManyCases`] where more than 2^35
    /// states would have to be tried.
    pub fn prove_top_k(&self, k: usize) -> Result<Proof, ProveError> {
        match k > self.wires() {
            true => Err(ProveError::SelectionOutOfRange { k, wires: self.wires() }),
            false => self.exhaust(Claim::SelectsLargest { k }, k),
        }
    }

    /// Proves a claim that amounts to selecting the k largest keys.
    fn exhaust(&self, claim: Claim, k: usize) -> Result<Proof, ProveError> {
        let wires = self.wires();
        check_wires(claim, wires, sorting::MAX_WIRES)?;
        match sorting::exhaust(self, k) {
            sorting::Outcome::Selects { combinations } => Ok(Proof { claim, wires, cases: combinations }),
            sorting::Outcome::Fails { input } => Err(self.refuted(claim, input)),
            sorting::Outcome::TooMany { combinations } => {
                Err(ProveError::TooManyCases { claim, wires, cases: combinations })
            }
        }
    }

    /// Proves that the network merges two ascending runs, on the wires `0..split` and `split..n`, or finds two runs
    /// that it does not merge.
    ///
    /// ```
    /// use bitonic_network::Kind;
    ///
    /// let merge = Kind::OddEvenMerge.generate(1024)?;
    /// assert!(merge.prove_merge(512).is_ok());
    /// // It merges runs of equal length, not any two.
    /// assert!(merge.prove_merge(500).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Cost
    /// The work of `split + 1` evaluations of the network, vectorised, on all cores.
    ///
    /// # Errors
    /// [`ProveError::Refuted`] with a counterexample; [`ProveError::SplitOutOfRange`] if `split` is more than the
    /// number of wires; [`ProveError::TooManyWires`] beyond 2^17 wires.
    pub fn prove_merge(&self, split: usize) -> Result<Proof, ProveError> {
        let (claim, wires) = (Claim::MergesTwoRuns { split }, self.wires());
        if split > wires {
            return Err(ProveError::SplitOutOfRange { split, wires });
        }
        check_wires(claim, wires, thresholds::MAX_WIRES)?;
        match thresholds::unsorted_two_runs(self, split) {
            Some(input) => Err(self.refuted(claim, input)),
            None => Ok(Proof { claim, wires, cases: split as u128 + 1 }),
        }
    }

    /// Proves that the network sorts every bitonic input, or finds one that it does not sort.
    ///
    /// # Cost
    /// The work of n evaluations of the network, vectorised, on all cores.
    ///
    /// # Errors
    /// [`ProveError::Refuted`] with a counterexample; [`ProveError::TooManyWires`] beyond 2^17 wires.
    pub fn prove_bitonic_merge(&self) -> Result<Proof, ProveError> {
        let (claim, wires) = (Claim::MergesBitonic, self.wires());
        check_wires(claim, wires, thresholds::MAX_WIRES)?;
        match thresholds::unsorted_bitonic(self) {
            Some(input) => Err(self.refuted(claim, input)),
            None => Ok(Proof { claim, wires, cases: wires as u128 }),
        }
    }

    /// Proves the half-cleaner theorem for the network: of every bitonic input it makes two bitonic halves, and no
    /// key of the lower half is greater than a key of the upper half. Or finds an input for which it does not.
    ///
    /// # Cost
    /// n^2 + n evaluations of the network, 512 at a time, on all cores.
    ///
    /// # Errors
    /// [`ProveError::Refuted`] with a counterexample; [`ProveError::OddWires`]; [`ProveError::TooManyWires`] beyond
    /// 1024 wires.
    pub fn prove_half_cleaner(&self) -> Result<Proof, ProveError> {
        let (claim, wires) = (Claim::HalfCleans, self.wires());
        if !wires.is_multiple_of(2) {
            return Err(ProveError::OddWires { wires });
        }
        check_wires(claim, wires, half_cleaner::MAX_WIRES)?;
        match half_cleaner::unclean_bitonic(self) {
            Some(input) => Err(self.refuted(claim, input)),
            None => Ok(Proof { claim, wires, cases: wires as u128 * (wires as u128 + 1) }),
        }
    }

    /// Proves any [`Claim`] by the method made for it.
    ///
    /// # Errors
    /// Those of [`Network::prove`], [`Network::prove_top_k`], [`Network::prove_merge`],
    /// [`Network::prove_bitonic_merge`] or [`Network::prove_half_cleaner`].
    pub fn prove_claim(&self, claim: Claim) -> Result<Proof, ProveError> {
        match claim {
            Claim::Sorts => self.prove(),
            Claim::MergesTwoRuns { split } => self.prove_merge(split),
            Claim::MergesBitonic => self.prove_bitonic_merge(),
            Claim::HalfCleans => self.prove_half_cleaner(),
            Claim::SelectsLargest { k } => self.prove_top_k(k),
        }
    }

    fn refuted(&self, claim: Claim, input: Vec<bool>) -> ProveError {
        ProveError::Refuted(Box::new(Counterexample::new(self, claim, input)))
    }
}

impl Kind {
    /// Generates the network on `wires` wires and proves its [`Kind::claim`].
    ///
    /// # Errors
    /// [`ProveError::NoNetwork`] where there is no such network, otherwise those of [`Network::prove_claim`].
    pub fn prove(self, wires: usize) -> Result<Proof, ProveError> {
        self.generate(wires)?.prove_claim(self.claim(wires))
    }
}

fn check_wires(claim: Claim, wires: usize, limit: usize) -> Result<(), ProveError> {
    if wires > limit { Err(ProveError::TooManyWires { claim, wires, limit }) } else { Ok(()) }
}
