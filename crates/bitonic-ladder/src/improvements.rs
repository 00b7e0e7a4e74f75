//! Which rung was written to be better than which.

use crate::Rung;

impl Rung {
    /// The rung that this one was written to improve on, if it was. It need not be faster: some lessons are that it is not.
    pub const fn improves_on(self) -> Option<Self> {
        Some(match self {
            Self::IterativeScan => Self::Recursive,
            Self::IterativeBlocks => Self::IterativeScan,
            Self::IterativeFolded => Self::IterativeBlocks,
            Self::IterativeShifts => Self::IterativeFolded,
            Self::NetworkNoDependency => Self::NetworkPasses,
            Self::ParallelSteps => Self::ParallelGuarded,
            Self::ParallelRecursive => Self::Recursive,
            Self::ParallelMerges => Self::ParallelRecursive,
            Self::OddEvenThreads => Self::OddEven,
            Self::NaiveFolded => Self::NaiveScan,
            Self::NaiveShifts => Self::NaiveFolded,
            Self::LocalMemory => Self::NaiveShifts,
            Self::LocalMemoryQueued => Self::LocalMemory,
            Self::LocalManySteps => Self::LocalMemoryQueued,
            Self::OddEvenOneKernel => Self::OddEvenTwoKernels,
            Self::OddEvenLocal | Self::OddEvenStrided => Self::OddEvenOneKernel,
            Self::Recursive
            | Self::NetworkPasses
            | Self::OddEven
            | Self::ParallelGuarded
            | Self::OddEvenBarriers
            | Self::NaiveScan
            | Self::XorGuarded
            | Self::ComparePair
            | Self::OneItemGroups
            | Self::OddEvenTwoKernels => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_improves_on_an_earlier_one_of_its_algorithm() {
        for (place, &rung) in Rung::ALL.iter().enumerate() {
            let Some(before) = rung.improves_on() else { continue };
            assert!(Rung::ALL[..place].contains(&before), "{rung} after {before}");
            assert_eq!(rung.is_quadratic(), before.is_quadratic(), "{rung} after {before}");
            assert_eq!(rung.runs_on(), before.runs_on(), "{rung} after {before}");
        }
    }
}
