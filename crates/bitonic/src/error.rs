//! The one error type.

use crate::Engine;

/// Why a sort was not done. The caller's arrays are as they were; for buffers on a device, see the sort that was asked for.
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

    /// Rows that the keys do not make.
    #[error(
        "{len} keys are no whole number of rows of {row_length}: give a row length that divides the number of keys"
    )]
    Rows {
        /// The number of keys.
        len: usize,
        /// The length of a row.
        row_length: usize,
    },

    /// Offsets of segments that do not ascend, or leave the array.
    #[error(
        "offset number {place} is {offset} and must be from {least} to {most}: give offsets in ascending order, the last at \
         most the number of keys"
    )]
    Offsets {
        /// Which offset, counted from 0.
        place: usize,
        /// What it is.
        offset: usize,
        /// The offset before it.
        least: usize,
        /// The number of keys.
        most: usize,
    },

    /// A place that the array does not have.
    #[error("there is no place {index} among {len} keys: give a place below the number of keys")]
    NoSuchPlace {
        /// The place, counted from 0.
        index: usize,
        /// The number of keys.
        len: usize,
    },

    /// Indices that are no permutation.
    #[error(
        "index {index} at place {place} makes the indices no permutation of {len} items: give every index below {len} once"
    )]
    NoPermutation {
        /// The place of the first wrong index.
        place: usize,
        /// The index there: too great, or there already.
        index: usize,
        /// The number of items.
        len: usize,
    },

    /// Room for a result that has another length.
    #[error(
        "the result has {needed} elements and there is room for {given}: give a slice of just that length"
    )]
    OutputLength {
        /// The length of the result.
        needed: usize,
        /// The length of the slice.
        given: usize,
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
         none: the cpu engine, oblivious(true), stable(false)"
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

    /// A kernel's source was refused by the device's compiler.
    #[error(
        "kernel '{kernel}' does not build on {device}:\n{log}\nupdate the device's driver, or choose another device or \
         the cpu engine"
    )]
    KernelBuild {
        /// The program's name.
        kernel: String,
        /// The device it was built for.
        device: String,
        /// What the compiler said.
        log: String,
    },

    /// A program was built, but the kernel asked for is not in it.
    #[error(
        "the program built for {device} has no kernel '{kernel}': correct the name, or update the device's driver, or \
         choose the cpu engine"
    )]
    KernelMissing {
        /// The kernel asked for.
        kernel: String,
        /// The device that the program was built for.
        device: String,
    },

    /// A device refused memory.
    #[error(
        "{device} refused a buffer of {bytes} bytes, where one buffer has at most {available}: sort fewer keys at a \
         time, free memory of the device, or choose the cpu engine"
    )]
    DeviceMemory {
        /// The device.
        device: String,
        /// How many bytes were asked for.
        bytes: u64,
        /// The most that the device gives to one buffer when its memory is free.
        available: u64,
    },

    /// A sort does not fit the memory of a device, and must not be cut into chunks.
    #[error("the sort needs {bytes} bytes {part} of the memory of {device}, and may have {limit}: {advice}")]
    LargerThanDevice {
        /// The device.
        device: String,
        /// What has to fit at once: all arrays, or those of one row where rows may be sorted in turn.
        bytes: u64,
        /// The most that a sort may have: of the device, or as the program or the user said.
        limit: u64,
        /// Whether that is in all, or in one buffer.
        part: &'static str,
        /// What to do.
        advice: &'static str,
    },

    /// An environment variable that says nothing of use.
    #[error("the environment variable {variable} is '{value}': give {expected}, or leave it out")]
    Setting {
        /// Its name.
        variable: &'static str,
        /// What it says.
        value: String,
        /// What it should say.
        expected: &'static str,
    },

    /// A device failed at something else, or was lost.
    #[error(
        "{device} could not {operation}: {reason}; try again, or choose another device or the cpu engine"
    )]
    Device {
        /// The device.
        device: String,
        /// What it should have done.
        operation: &'static str,
        /// What the driver said: the name and number of its code.
        reason: String,
    },

    /// No device answers to the choice made.
    #[error("no device is '{choice}': choose one of {known}")]
    NoSuchDevice {
        /// The choice.
        choice: String,
        /// The devices there are, each with its index, name and kind.
        known: String,
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
