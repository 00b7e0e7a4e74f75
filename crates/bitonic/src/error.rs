//! The one error type.

use crate::Engine;

/// Why a sort was not done. The caller's data is as it was.
///
/// Every message says what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Keys and values differ in number.
    #[error("there are {keys} keys but {values} values: give one value for every key")]
    LengthMismatch {
        /// The number of keys.
        keys: usize,
        /// The number of values.
        values: usize,
    },

    /// The engine asked for cannot work here.
    #[error("the {engine} engine is not available: {reason}; {advice}")]
    EngineUnavailable {
        /// The engine asked for.
        engine: Engine,
        /// What is missing.
        reason: String,
        /// What to do.
        advice: String,
    },

    /// The sort needs memory beyond the caller's arrays, and the system refused it.
    #[error(
        "{bytes} bytes of working memory were refused: sort fewer keys at a time, or choose a sort that needs \
         none: oblivious(true) with stable(false)"
    )]
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: usize,
    },

    /// The threads asked for could not be started.
    #[error("{threads} threads could not be started: {reason}; ask for fewer with threads()")]
    Threads {
        /// The number asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },

    /// A name that stands for nothing.
    #[error("unknown {what} '{name}': use one of {known}")]
    UnknownName {
        /// What kind of thing was named.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
}

/// The item with this name, or the error that lists the names there are.
pub(crate) fn find_by_name<T: Copy>(
    what: &'static str,
    name: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, Error> {
    all.iter().copied().find(|&item| name_of(item) == name).ok_or_else(|| Error::UnknownName {
        what,
        name: name.to_owned(),
        known: all.iter().map(|&item| name_of(item)).collect::<Vec<_>>().join(", "),
    })
}
