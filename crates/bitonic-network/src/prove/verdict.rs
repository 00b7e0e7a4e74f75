//! What a proof attempt ends with: a [`Proof`], or a [`ProveError`] with, for a wrong network, a
//! [`Counterexample`].

use std::fmt;

use super::sorting;
use crate::{Claim, GenerateError, Network};

/// A network does what was claimed, on every input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub(super) claim: Claim,
    pub(super) wires: usize,
    pub(super) cases: u128,
}

impl Proof {
    /// What was proved.
    pub fn claim(&self) -> Claim {
        self.claim
    }

    /// The number of wires.
    pub fn wires(&self) -> usize {
        self.wires
    }

    /// How many cases were checked one by one. They cover all 0-1 inputs that the claim speaks of, and with
    /// them, by the 0-1 principle, all inputs. They are fewer than the inputs where many inputs are one case.
    pub fn cases(&self) -> u128 {
        self.cases
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { claim, wires, cases } = self;
        write!(f, "proved: the network {claim} (")?;
        match claim {
            Claim::Sorts | Claim::SelectsLargest { .. } => write!(f, "all 2^{wires} 0-1 inputs")?,
            Claim::MergesTwoRuns { split } => {
                let inputs = (*split as u128 + 1) * ((wires - split) as u128 + 1);
                write!(f, "all {inputs} two-run 0-1 inputs")?;
            }
            Claim::MergesBitonic | Claim::HalfCleans => {
                write!(f, "all {} bitonic 0-1 inputs", bitonic_inputs(*wires))?;
            }
        }
        write!(f, ", as {cases} {})", if *cases == 1 { "case" } else { "cases" })
    }
}

/// How many 0-1 sequences are bitonic: n^2 - n + 2, a number of ones from 1 to n - 1 starting anywhere on the
/// circle, or all keys equal.
fn bitonic_inputs(wires: usize) -> u128 {
    let n = wires as u128;
    if n == 0 { 1 } else { n * n - n + 2 }
}

/// An input with which a network fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    claim: Claim,
    input: Vec<bool>,
    output: Vec<bool>,
    permutation: Vec<usize>,
    permutation_output: Vec<usize>,
}

impl Counterexample {
    /// What the network makes of a 0-1 input with which it does not hold its claim.
    pub(super) fn new(network: &Network, claim: Claim, input: Vec<bool>) -> Self {
        let permutation = match claim {
            Claim::MergesBitonic | Claim::HalfCleans => bitonic_ranks(&input),
            _ => ascending_ranks(&input),
        };
        let mut output = input.clone();
        let mut permutation_output = permutation.clone();
        network.apply(&mut output).expect("there is a key for every wire");
        network.apply(&mut permutation_output).expect("there is a key for every wire");
        Self { claim, input, output, permutation, permutation_output }
    }

    /// The claim that it refutes.
    pub fn claim(&self) -> Claim {
        self.claim
    }

    /// The 0-1 input, one key for each wire.
    pub fn input(&self) -> &[bool] {
        &self.input
    }

    /// What comes out for it.
    pub fn output(&self) -> &[bool] {
        &self.output
    }

    /// A permutation of 0..n of the kind that the claim speaks of (any, two runs, or bitonic) with which the
    /// network fails too. It gives the zeros of the 0-1 input the smallest numbers.
    pub fn permutation(&self) -> &[usize] {
        &self.permutation
    }

    /// What comes out for the permutation.
    pub fn permutation_output(&self) -> &[usize] {
        &self.permutation_output
    }
}

/// Zeros get the ranks 0..z and ones the ranks z..n, each in the order of the wires: runs stay runs.
fn ascending_ranks(input: &[bool]) -> Vec<usize> {
    let (mut next_zero, mut next_one) = (0, zeros(input));
    let mut next = |is_one| {
        let next = if is_one { &mut next_one } else { &mut next_zero };
        *next += 1;
        *next - 1
    };
    input.iter().map(|&is_one| next(is_one)).collect()
}

/// The same division of ranks between zeros and ones, such that a bitonic input gets a bitonic permutation.
fn bitonic_ranks(input: &[bool]) -> Vec<usize> {
    // The last keys that are equal, where the permutation has turned and comes back.
    let tail = input.iter().rev().take_while(|&key| Some(key) == input.last()).count();
    let (zeros, n) = (zeros(input), input.len());
    if input.last() == Some(&false) {
        // Up through zeros and ones; down through what is left of the zeros.
        let mut ranks = ascending_ranks(input);
        ranks.truncate(n - tail);
        ranks.extend((zeros - tail..zeros).rev());
        ranks
    } else {
        // Down through ones and zeros; up through what is left of the ones.
        let (mut next_zero, mut next_one) = (zeros, n);
        let mut next = |&is_one: &bool| {
            let next = if is_one { &mut next_one } else { &mut next_zero };
            *next -= 1;
            *next
        };
        let mut ranks: Vec<usize> = input[..n - tail].iter().map(&mut next).collect();
        ranks.extend(zeros..zeros + tail);
        ranks
    }
}

fn zeros(input: &[bool]) -> usize {
    input.iter().filter(|&&is_one| !is_one).count()
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the network does not ")?;
        match self.claim {
            Claim::Sorts => f.write_str("sort")?,
            Claim::MergesTwoRuns { .. } => f.write_str("merge")?,
            Claim::MergesBitonic => f.write_str("sort the bitonic input")?,
            Claim::HalfCleans => f.write_str("half-clean")?,
            Claim::SelectsLargest { k: 1 } => f.write_str("select the largest key of")?,
            Claim::SelectsLargest { k } => write!(f, "select the {k} largest keys of")?,
        }
        let (input, output) = (ZeroOne(&self.input), ZeroOne(&self.output));
        write!(f, " {input}: out comes {output}")?;
        if self.permutation.len() <= SHOWN_WHOLE {
            write!(
                f,
                "; likewise of {} it makes {}",
                Keys(&self.permutation),
                Keys(&self.permutation_output)
            )?;
        }
        Ok(())
    }
}

/// Inputs of more keys are shown by their runs.
const SHOWN_WHOLE: usize = 64;

/// `0110`, or `0*30000 1*2768 0*1` where that would not fit a line.
struct ZeroOne<'a>(&'a [bool]);

impl fmt::Display for ZeroOne<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.len() <= SHOWN_WHOLE {
            return self.0.iter().try_for_each(|&key| write!(f, "{}", u8::from(key)));
        }
        for (index, run) in self.0.chunk_by(|a, b| a == b).enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{}*{}", u8::from(run[0]), run.len())?;
        }
        Ok(())
    }
}

/// `3 1 2 0`
struct Keys<'a>(&'a [usize]);

impl fmt::Display for Keys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, key) in self.0.iter().enumerate() {
            write!(f, "{}{key}", if index == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProveError {
    /// The network does not do what was claimed.
    Refuted(Box<Counterexample>),
    /// The network has more wires than a proof of this claim can treat.
    TooManyWires {
        /// What was to be proved.
        claim: Claim,
        /// The number of wires.
        wires: usize,
        /// The most wires for this claim.
        limit: usize,
    },
    /// The first stages of the network leave too many 0-1 states to try them all.
    TooManyCases {
        /// What was to be proved.
        claim: Claim,
        /// The number of wires.
        wires: usize,
        /// How many states would have to be tried; the greatest number where there are more.
        cases: u128,
    },
    /// The first run is to have more wires than the network.
    SplitOutOfRange {
        /// The number of wires of the first run.
        split: usize,
        /// The number of wires.
        wires: usize,
    },
    /// More keys are to be selected than there are.
    SelectionOutOfRange {
        /// How many keys are to be selected.
        k: usize,
        /// The number of wires.
        wires: usize,
    },
    /// A half-cleaner needs two equal halves.
    OddWires {
        /// The number of wires.
        wires: usize,
    },
    /// There is no network to prove anything about.
    NoNetwork(GenerateError),
}

impl From<GenerateError> for ProveError {
    fn from(error: GenerateError) -> Self {
        Self::NoNetwork(error)
    }
}

impl ProveError {
    /// The counterexample, if there is no proof because the claim is wrong.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        match self {
            Self::Refuted(counterexample) => Some(counterexample),
            _ => None,
        }
    }
}

impl fmt::Display for ProveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refuted(counterexample) => counterexample.fmt(f),
            Self::TooManyWires { claim, wires, limit } => {
                write!(
                    f,
                    "cannot prove that a network of {wires} wires {claim}: the limit is {limit} wires; "
                )?;
                f.write_str(match claim {
                    Claim::Sorts => "prove the merges it is made of instead",
                    _ => "prove a smaller network of the same kind",
                })
            }
            Self::TooManyCases { claim, wires, cases } => {
                let more = if *cases == u128::MAX { "more than " } else { "" };
                write!(
                    f,
                    "cannot prove that this network of {wires} wires {claim}: its first stages leave {more}{cases} 0-1 \
                     states, and the limit is {}; prove a smaller network of the same kind, or the merges it is made of",
                    sorting::MAX_COMBINATIONS
                )
            }
            Self::SplitOutOfRange { split, wires } => write!(
                f,
                "the first run cannot be on {split} wires of a network of {wires}: give a split of at most {wires}"
            ),
            Self::SelectionOutOfRange { k, wires } => write!(
                f,
                "the {k} largest keys cannot come out of a network of {wires} wires: ask for at most {wires}"
            ),
            Self::OddWires { wires } => {
                write!(f, "{wires} wires have no equal halves: a half-cleaner needs an even number of wires")
            }
            Self::NoNetwork(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ProveError {}
