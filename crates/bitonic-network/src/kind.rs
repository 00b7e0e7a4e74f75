//! [`Kind`]: every network this crate can generate, by name, with what it claims to do.

use std::fmt;
use std::str::FromStr;

use crate::generate::{bitonic, bubble, cleaner, insertion, odd_even_merge, transposition};
use crate::{Network, best};

/// The most comparators [`Kind::generate`] makes: half a gibibyte of them. Beyond it a slip of the keyboard
/// (`insertion` of a million wires) would exhaust the memory instead of getting an answer.
pub const MAX_COMPARATORS: u128 = 1 << 25;

/// A family of networks; [`Kind::generate`] makes the member with a given number of wires.
///
/// Every kind exists for every number of wires unless its description says otherwise. 0 and 1 wires give a
/// network without comparators.
///
/// ```
/// use bitonic_network::{Claim, Kind};
///
/// let kind: Kind = "odd-even-merge-sort".parse()?;
/// assert_eq!(kind, Kind::OddEvenMergeSort);
/// assert_eq!(kind.generate(8)?.size(), 19);
/// assert_eq!(kind.claim(8), Claim::Sorts);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// Batcher's bitonic sorter in flip form: every comparator puts the smaller key on the lower wire.
    ///
    /// The merge of 2^k wires first pairs wire i with i xor (2^k - 1), then i with i xor 2^j for
    /// j = k-2, .., 0. Comparators that would reach past the last wire are left out: a key there would be
    /// +infinity and never move.
    Bitonic,
    /// Batcher's bitonic sorter as textbooks draw it: neighbouring blocks are sorted in opposite directions.
    BitonicAlternating,
    /// Batcher's odd-even merge sort: the smallest of the simple constructions.
    OddEvenMergeSort,
    /// Odd-even transposition: n phases that compare neighbours, alternately from wire 0 and from wire 1.
    OddEvenTransposition,
    /// Insertion sort, one comparator a stage.
    Insertion,
    /// Insertion sort with every comparator in the earliest stage possible: 2n - 3 stages.
    InsertionParallel,
    /// Bubble sort, one comparator a stage.
    Bubble,
    /// Bubble sort with every comparator in the earliest stage possible: the same network as
    /// [`Kind::InsertionParallel`].
    BubbleParallel,
    /// The last merge of [`Kind::Bitonic`]: merges two ascending runs, the first as long as the greatest power
    /// of two below n.
    BitonicMerge,
    /// Sorts any bitonic sequence. For a power of two it is the half-cleaner recursion.
    BitonicCleaner,
    /// The last merge of [`Kind::OddEvenMergeSort`], of the same two runs as [`Kind::BitonicMerge`].
    OddEvenMerge,
    /// One stage that pairs wire i with wire i + n/2. Needs an even number of wires.
    HalfCleaner,
    /// The network with the fewest comparators known, for up to [`BEST_KNOWN_MAX_WIRES`](crate::BEST_KNOWN_MAX_WIRES)
    /// wires.
    Smallest,
    /// The network with the fewest stages known, for up to [`BEST_KNOWN_MAX_WIRES`](crate::BEST_KNOWN_MAX_WIRES)
    /// wires.
    Shallowest,
}

impl Kind {
    /// Every kind, sorting networks first.
    pub const ALL: [Self; 14] = [
        Self::Bitonic,
        Self::BitonicAlternating,
        Self::OddEvenMergeSort,
        Self::OddEvenTransposition,
        Self::Insertion,
        Self::InsertionParallel,
        Self::Bubble,
        Self::BubbleParallel,
        Self::Smallest,
        Self::Shallowest,
        Self::BitonicMerge,
        Self::BitonicCleaner,
        Self::OddEvenMerge,
        Self::HalfCleaner,
    ];

    /// The name by which [`FromStr`] and the command line know it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bitonic => "bitonic",
            Self::BitonicAlternating => "bitonic-alternating",
            Self::OddEvenMergeSort => "odd-even-merge-sort",
            Self::OddEvenTransposition => "odd-even-transposition",
            Self::Insertion => "insertion",
            Self::InsertionParallel => "insertion-parallel",
            Self::Bubble => "bubble",
            Self::BubbleParallel => "bubble-parallel",
            Self::BitonicMerge => "bitonic-merge",
            Self::BitonicCleaner => "bitonic-cleaner",
            Self::OddEvenMerge => "odd-even-merge",
            Self::HalfCleaner => "half-cleaner",
            Self::Smallest => "smallest",
            Self::Shallowest => "shallowest",
        }
    }

    /// What it is, in one line.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Bitonic => "Batcher's bitonic sorter, flip form: all comparators point the same way",
            Self::BitonicAlternating => {
                "Batcher's bitonic sorter, textbook form: blocks alternate in direction"
            }
            Self::OddEvenMergeSort => "Batcher's odd-even merge sort",
            Self::OddEvenTransposition => "odd-even transposition: n phases of neighbours",
            Self::Insertion => "insertion sort, one comparator a stage",
            Self::InsertionParallel => "insertion sort, comparators as early as possible",
            Self::Bubble => "bubble sort, one comparator a stage",
            Self::BubbleParallel => "bubble sort, comparators as early as possible",
            Self::BitonicMerge => "merges two ascending runs, the last merge of `bitonic`",
            Self::BitonicCleaner => "sorts any bitonic sequence by half-cleaners",
            Self::OddEvenMerge => "merges two ascending runs, the last merge of `odd-even-merge-sort`",
            Self::HalfCleaner => "one half-cleaner stage: wire i with wire i + n/2; even n",
            Self::Smallest => "the sorting network with the fewest comparators known; up to 20 wires",
            Self::Shallowest => "the sorting network with the fewest stages known; up to 20 wires",
        }
    }

    /// The network of this kind on `wires` wires.
    ///
    /// # Errors
    /// [`GenerateError`] where the kind has no member with so many wires, or it would have more than
    /// [`MAX_COMPARATORS`] comparators.
    pub fn generate(self, wires: usize) -> Result<Network, GenerateError> {
        if wires as u128 > MAX_COMPARATORS || self.size(wires).is_some_and(|size| size > MAX_COMPARATORS) {
            return Err(GenerateError::TooManyComparators { kind: self, wires });
        }
        Ok(match self {
            Self::Bitonic => bitonic::flip(wires),
            Self::BitonicAlternating => bitonic::alternating(wires),
            Self::OddEvenMergeSort => odd_even_merge::sort(wires),
            Self::OddEvenTransposition => transposition::odd_even(wires),
            Self::Insertion => insertion::sequential(wires),
            Self::InsertionParallel => insertion::parallel(wires),
            Self::Bubble => bubble::sequential(wires),
            Self::BubbleParallel => bubble::parallel(wires),
            Self::BitonicMerge => bitonic::flip_merge(wires),
            Self::BitonicCleaner => cleaner::bitonic_cleaner(wires),
            Self::OddEvenMerge => odd_even_merge::merge(wires),
            Self::HalfCleaner if wires.is_multiple_of(2) => cleaner::half_cleaner(wires),
            Self::HalfCleaner => return Err(GenerateError::OddWires { kind: self, wires }),
            Self::Smallest => best::smallest(wires).ok_or(GenerateError::NotKnown { kind: self, wires })?,
            Self::Shallowest => {
                best::shallowest(wires).ok_or(GenerateError::NotKnown { kind: self, wires })?
            }
        })
    }

    /// What the network on `wires` wires is supposed to do; [`Kind::prove`] checks it.
    pub fn claim(self, wires: usize) -> Claim {
        match self {
            Self::Bitonic
            | Self::BitonicAlternating
            | Self::OddEvenMergeSort
            | Self::OddEvenTransposition
            | Self::Insertion
            | Self::InsertionParallel
            | Self::Bubble
            | Self::BubbleParallel
            | Self::Smallest
            | Self::Shallowest => Claim::Sorts,
            Self::BitonicMerge | Self::OddEvenMerge => {
                Claim::MergesTwoRuns { split: greatest_power_of_two_below(wires) }
            }
            Self::BitonicCleaner => Claim::MergesBitonic,
            Self::HalfCleaner => Claim::HalfCleans,
        }
    }
}

/// The greatest power of two below `n`, where a merge of any number of wires splits them; 0 for `n` below 2.
pub(crate) fn greatest_power_of_two_below(n: usize) -> usize {
    if n < 2 { 0 } else { 1 << (n - 1).ilog2() }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| UnknownKind { name: name.to_owned() })
    }
}

/// What a network is supposed to do with its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Claim {
    /// It sorts every input.
    Sorts,
    /// It sorts every input whose wires `0..split` are ascending and whose wires `split..n` are ascending.
    MergesTwoRuns {
        /// The number of wires of the first run.
        split: usize,
    },
    /// It sorts every bitonic input: one that rises then falls, or falls then rises.
    MergesBitonic,
    /// Of every bitonic input it makes two bitonic halves, and no key of the lower half is greater than a key of
    /// the upper half.
    HalfCleans,
    /// Of every input it puts the k largest keys on its last k wires, in ascending order.
    SelectsLargest {
        /// How many keys it selects.
        k: usize,
    },
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sorts => f.write_str("sorts every input"),
            Self::MergesTwoRuns { split } => {
                let wires = if *split == 1 { "wire" } else { "wires" };
                write!(f, "merges two ascending runs, the first on {split} {wires}")
            }
            Self::MergesBitonic => f.write_str("sorts every bitonic input"),
            Self::HalfCleans => f.write_str("half-cleans every bitonic input"),
            Self::SelectsLargest { k: 1 } => f.write_str("selects the largest key, on its last wire"),
            Self::SelectsLargest { k } => {
                write!(f, "selects the {k} largest keys, ascending, on its last {k} wires")
            }
        }
    }
}

/// Why there is no such network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GenerateError {
    /// Best networks are known for few wires only.
    NotKnown {
        /// The kind asked for.
        kind: Kind,
        /// The number of wires asked for.
        wires: usize,
    },
    /// The kind needs an even number of wires.
    OddWires {
        /// The kind asked for.
        kind: Kind,
        /// The number of wires asked for.
        wires: usize,
    },
    /// The network would have more than [`MAX_COMPARATORS`] comparators.
    TooManyComparators {
        /// The kind asked for.
        kind: Kind,
        /// The number of wires asked for.
        wires: usize,
    },
    /// More keys are to be selected than there are.
    MoreThanAll {
        /// How many keys are to be selected.
        k: usize,
        /// The number of wires asked for.
        wires: usize,
    },
    /// A network of merges that could have more than [`MAX_COMPARATORS`] comparators.
    TooManyMerges {
        /// The number of wires asked for.
        wires: usize,
    },
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotKnown { kind, wires } => write!(
                f,
                "no `{kind}` network of {wires} wires is kept here, only up to {}: use `{}`, which exists for every \
                 number of wires",
                best::MAX_WIRES,
                Kind::OddEvenMergeSort
            ),
            Self::OddWires { kind, wires } => write!(
                f,
                "`{kind}` pairs the wires of two halves, and {wires} wires have no equal halves: ask for an even \
                 number of wires"
            ),
            Self::TooManyComparators { kind, wires } => write!(
                f,
                "`{kind}` of {wires} wires would have more than {MAX_COMPARATORS} comparators: ask for fewer wires"
            ),
            Self::MoreThanAll { k, wires } => write!(
                f,
                "{wires} wires do not have the {k} largest keys: ask for at most {wires} of them, or for more wires"
            ),
            Self::TooManyMerges { wires } => write!(
                f,
                "a network of {wires} wires made of merges could have more than {MAX_COMPARATORS} comparators: ask for \
                 fewer wires or fewer keys"
            ),
        }
    }
}

impl std::error::Error for GenerateError {}

/// A name that no [`Kind`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKind {
    name: String,
}

impl UnknownKind {
    /// The name that was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for UnknownKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Kind::ALL.map(Kind::name).join(", ");
        write!(f, "there is no network called `{}`: choose one of {names}", self.name)
    }
}

impl std::error::Error for UnknownKind {}
