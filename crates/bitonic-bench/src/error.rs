//! Why a benchmark stopped.

use crate::measure::Place;
use std::path::PathBuf;

/// Why a benchmark stopped. Every message says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sort gave a wrong result.
    #[error(
        "{place}: wrong from index {index} of row {row} on (seed {seed}); report it to the maker of that sort, and \
         leave it out with --contenders"
    )]
    Wrong {
        /// What was measured.
        place: Place,
        /// Which array of the sample.
        row: usize,
        /// The first place in that array with a wrong key.
        index: usize,
        /// The seed of the experiment.
        seed: u64,
    },

    /// Our own sort refused to work.
    #[error(transparent)]
    Sort(#[from] bitonic::Error),

    /// The threads for the measurement could not be started.
    #[error("the threads for the measurement could not be started: {0}; end other programs and try again")]
    Threads(#[from] rayon::ThreadPoolBuildError),

    /// The numpy process stopped answering.
    #[error("the numpy process failed: {0}; leave it out with --contenders, or repair that installation")]
    Numpy(std::io::Error),

    /// The results could not be written.
    #[error("cannot write {}: {reason}; name another file with --csv", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
}
