//! Why a benchmark stopped.

use crate::measure::CellId;
use std::path::PathBuf;

/// Why a benchmark stopped. Every message says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sort gave a wrong result.
    #[error(
        "{id}: sorted wrongly: {mistake} (seed {seed}); report it to the maker of that sort, and leave it out with \
         --contenders"
    )]
    Wrong {
        /// What was measured.
        id: CellId,
        /// Where the result is wrong.
        mistake: String,
        /// The seed of the experiment.
        seed: u64,
    },

    /// A sort did not sort.
    #[error("{id}: {reason}; leave it out with --contenders, or repair its installation")]
    Failed {
        /// What was measured.
        id: CellId,
        /// What happened.
        reason: String,
    },

    /// The threads for the measurement could not be started.
    #[error("the threads for the measurement could not be started: {0}; end other programs and try again")]
    Threads(#[from] rayon::ThreadPoolBuildError),

    /// The results could not be written.
    #[error("cannot write {}: {reason}; name another file with --csv", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
}
