//! The one error type.

use crate::Engine;
use std::fmt;

/// Why a sort was not done. The caller's arrays are as they were; for buffers on a device, see the sort that was asked for.
///
/// Every message says what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Keys and values differ in number.
    LengthMismatch {
        /// The number of keys.
        keys: usize,
        /// The number of values.
        values: usize,
    },

    /// Rows that the keys do not make.
    Rows {
        /// The number of keys.
        len: usize,
        /// The length of a row.
        row_length: usize,
    },

    /// Offsets of segments that do not ascend, or leave the array.
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

    /// Rows with strides that overlap, or leave the array.
    Strides {
        /// What is wrong, and what would be right.
        reason: String,
    },

    /// A place that the array does not have.
    NoSuchPlace {
        /// The place, counted from 0.
        index: usize,
        /// The number of keys.
        len: usize,
    },

    /// An axis that the array does not have.
    NoSuchAxis {
        /// The axis, counted from 0.
        axis: usize,
        /// The number of axes.
        axes: usize,
    },

    /// More of the best keys of a row than a device can find.
    TopTooLarge {
        /// The device's name.
        device: String,
        /// How many were asked for.
        k: usize,
        /// How many it can find.
        most: usize,
    },

    /// Indices that are no permutation.
    NoPermutation {
        /// The place of the first wrong index.
        place: usize,
        /// The index there: too great, or there already.
        index: usize,
        /// The number of items.
        len: usize,
    },

    /// Room for a result that has another length.
    OutputLength {
        /// The length of the result.
        needed: usize,
        /// The length of the slice.
        given: usize,
    },

    /// The engine asked for cannot work here.
    EngineUnavailable {
        /// The engine asked for.
        engine: Engine,
        /// What is missing.
        reason: String,
        /// What to do.
        advice: String,
    },

    /// The sort needs memory beyond the caller's arrays, and the system refused it.
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: usize,
    },

    /// The threads asked for could not be started.
    Threads {
        /// The number asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },

    /// More sorted runs than so much memory can merge in one pass.
    MemoryLimit {
        /// How many bytes of memory the sort may have.
        bytes: usize,
        /// The number of runs.
        runs: usize,
    },

    /// The temporary file of a sort of more than memory holds failed.
    Temporary {
        /// The folder that it is in.
        folder: String,
        /// What was to be done with it.
        operation: &'static str,
        /// What the system said.
        reason: String,
        /// What to do.
        advice: &'static str,
    },

    /// What came back from the temporary file is not what was written to it, or not all.
    Damaged,

    /// A sort of more than memory holds cannot hide the keys.
    ObliviousMerge,

    /// Bytes that are no whole number of records.
    RecordSize {
        /// The number of bytes.
        bytes: usize,
        /// The size of a record.
        size: usize,
    },

    /// A key that lies outside of the record.
    RecordKey {
        /// Where it begins.
        offset: usize,
        /// How many bytes it has.
        length: usize,
        /// The size of a record.
        size: usize,
    },

    /// A record that is too long.
    RecordLength {
        /// How many bytes it has.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },

    /// A kernel's source was refused by the device's compiler.
    KernelBuild {
        /// The program's name.
        kernel: String,
        /// The device it was built for.
        device: String,
        /// What the compiler said.
        log: String,
    },

    /// A program was built, but the kernel asked for is not in it.
    KernelMissing {
        /// The kernel asked for.
        kernel: String,
        /// The device that the program was built for.
        device: String,
    },

    /// A device refused memory.
    DeviceMemory {
        /// The device.
        device: String,
        /// How many bytes were asked for.
        bytes: u64,
        /// The most that the device gives to one buffer when its memory is free.
        available: u64,
    },

    /// A sort does not fit the memory of a device, and must not be cut into chunks.
    LargerThanDevice {
        /// The device.
        device: String,
        /// What has to fit at once: all arrays, or those of one row or segment where these may be sorted in turn.
        bytes: u64,
        /// The most that a sort may have: of the device, or as the program or the user said.
        limit: u64,
        /// Whether that is in all, or in one buffer.
        part: &'static str,
        /// What to do.
        advice: &'static str,
    },

    /// An environment variable that says nothing of use.
    Setting {
        /// Its name.
        variable: &'static str,
        /// What it says.
        value: String,
        /// What it should say.
        expected: &'static str,
    },

    /// A device failed at something else, or was lost.
    Device {
        /// The device.
        device: String,
        /// What it should have done.
        operation: &'static str,
        /// What the driver said: the name and number of its code.
        reason: String,
    },

    /// What a device brought back cannot be the result: it was checked, and counts for nothing.
    WrongResult {
        /// The device.
        device: String,
        /// The platform of its driver, and the version.
        driver: String,
        /// How it sorted: the algorithm and the kernels.
        plan: String,
        /// What is wrong.
        finding: &'static str,
    },

    /// No device answers to the choice made.
    NoSuchDevice {
        /// The choice.
        choice: String,
        /// The devices there are, each with its index, name and kind.
        known: String,
    },

    /// A name that stands for nothing.
    UnknownName {
        /// What kind of thing was named.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
}

// Written out: a crate that derives it, and the second parser of Rust that it brings, would be three more for every user.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LengthMismatch { keys, values } => {
                write!(f, "there are {keys} keys but {values} values: give one value for every key")
            }
            Self::Rows { len, row_length } => write!(
                f,
                "{len} keys are no whole number of rows of {row_length}: give a row length that divides the number of keys"
            ),
            Self::Offsets { place, offset, least, most } => write!(
                f,
                "offset number {place} is {offset} and must be from {least} to {most}: give offsets in ascending order, the last \
                 at most the number of keys"
            ),
            Self::Strides { reason } => f.write_str(reason),
            Self::NoSuchPlace { index, len } => {
                write!(f, "there is no place {index} among {len} keys: give a place below the number of keys")
            }
            Self::NoSuchAxis { axis, axes } => {
                write!(
                    f,
                    "there is no axis {axis} in an array of {axes}: give an axis below the number of axes"
                )
            }
            Self::TopTooLarge { device, k, most } => write!(
                f,
                "{device} finds up to {most} best keys of a row, and {k} were asked for: ask for fewer, or take the first {k} of an \
                 argsort"
            ),
            Self::NoPermutation { place, index, len } => write!(
                f,
                "index {index} at place {place} makes the indices no permutation of {len} items: give every index below {len} \
                 once"
            ),
            Self::OutputLength { needed, given } => write!(
                f,
                "the result has {needed} elements and there is room for {given}: give a slice of just that length"
            ),
            Self::EngineUnavailable { engine, reason, advice } => {
                write!(f, "the {engine} engine is not available: {reason}; {advice}")
            }
            Self::OutOfMemory { bytes } => write!(
                f,
                "{bytes} bytes of working memory were refused: sort fewer keys at a time, or choose a sort that needs \
                 none: the cpu engine, oblivious(true), stable(false)"
            ),
            Self::Threads { threads, reason } => {
                write!(f, "{threads} threads could not be started: {reason}; ask for fewer with threads()")
            }
            Self::MemoryLimit { bytes, runs } => write!(
                f,
                "{runs} sorted runs cannot be merged in one pass with {bytes} bytes of memory: allow more with memory()"
            ),
            Self::Temporary { folder, operation, reason, advice } => {
                write!(f, "cannot {operation} a temporary file in {folder}: {reason}: {advice}")
            }
            Self::Damaged => write!(
                f,
                "what was read from the temporary file is not what was written: sort again, and if that does not help, test \
                 the disk and the memory"
            ),
            Self::ObliviousMerge => write!(
                f,
                "what memory does not hold is merged, and the addresses of a merge depend on keys: leave out oblivious(true), \
                 or sort less at a time"
            ),
            Self::RecordSize { bytes, size } => write!(
                f,
                "{bytes} bytes are no whole number of records of {size} bytes: the last is cut off, or they have another size"
            ),
            Self::RecordKey { offset, length, size } => write!(
                f,
                "a key of {length} bytes at offset {offset} is not within a record of {size} bytes: give another offset, or \
                 the whole size of a record"
            ),
            Self::RecordLength { bytes, most } => {
                write!(f, "a record of {bytes} bytes is longer than {most}: cut it into several")
            }
            Self::KernelBuild { kernel, device, log } => write!(
                f,
                "kernel '{kernel}' does not build on {device}:\n{log}\nupdate the device's driver, or choose another device or \
                 the cpu engine"
            ),
            Self::KernelMissing { kernel, device } => write!(
                f,
                "the program built for {device} has no kernel '{kernel}': correct the name, or update the device's driver, or \
                 choose the cpu engine"
            ),
            Self::DeviceMemory { device, bytes, available } => write!(
                f,
                "{device} refused a buffer of {bytes} bytes, where one buffer has at most {available}: sort fewer keys at a \
                 time, free memory of the device, or choose the cpu engine"
            ),
            Self::LargerThanDevice { device, bytes, limit, part, advice } => write!(
                f,
                "the sort needs {bytes} bytes {part} of the memory of {device}, and may have {limit}: {advice}"
            ),
            Self::Setting { variable, value, expected } => write!(
                f,
                "the environment variable {variable} is '{value}': give {expected}, or leave it out"
            ),
            Self::Device { device, operation, reason } => write!(
                f,
                "{device} could not {operation}: {reason}; try again, or choose another device or the cpu engine"
            ),
            Self::WrongResult { device, driver, plan, finding } => write!(
                f,
                "{device} brought back a wrong result, with driver {driver}, by {plan}: {finding}; update the driver, test the \
                 device's memory, or choose another device or the cpu engine"
            ),
            Self::NoSuchDevice { choice, known } => {
                write!(f, "no device is '{choice}': choose one of {known}")
            }
            Self::UnknownName { what, name, known } => {
                write!(f, "unknown {what} '{name}': use one of {known}")
            }
        }
    }
}

impl std::error::Error for Error {}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_names_the_thing_the_reason_and_the_way_out() {
        let text = |text: &str| text.to_owned();
        let expected = [
            (
                Error::LengthMismatch { keys: 3, values: 2 },
                "there are 3 keys but 2 values: give one value for every key",
            ),
            (
                Error::Rows { len: 10, row_length: 3 },
                "10 keys are no whole number of rows of 3: give a row length that divides the number of keys",
            ),
            (
                Error::Offsets { place: 2, offset: 3, least: 4, most: 9 },
                "offset number 2 is 3 and must be from 4 to 9: give offsets in ascending order, the last at most the number of \
                 keys",
            ),
            (Error::Strides { reason: text("R: A") }, "R: A"),
            (
                Error::NoSuchPlace { index: 7, len: 5 },
                "there is no place 7 among 5 keys: give a place below the number of keys",
            ),
            (
                Error::NoSuchAxis { axis: 2, axes: 2 },
                "there is no axis 2 in an array of 2: give an axis below the number of axes",
            ),
            (
                Error::TopTooLarge { device: "a device".to_owned(), k: 9000, most: 8192 },
                "a device finds up to 8192 best keys of a row, and 9000 were asked for: ask for fewer, or take the first 9000 of an \
                 argsort",
            ),
            (
                Error::NoPermutation { place: 1, index: 0, len: 3 },
                "index 0 at place 1 makes the indices no permutation of 3 items: give every index below 3 once",
            ),
            (
                Error::OutputLength { needed: 4, given: 3 },
                "the result has 4 elements and there is room for 3: give a slice of just that length",
            ),
            (
                Error::EngineUnavailable { engine: Engine::Cuda, reason: text("R"), advice: text("A") },
                "the cuda engine is not available: R; A",
            ),
            (
                Error::OutOfMemory { bytes: 7 },
                "7 bytes of working memory were refused: sort fewer keys at a time, or choose a sort that needs none: the cpu \
                 engine, oblivious(true), stable(false)",
            ),
            (
                Error::Threads { threads: 9, reason: text("R") },
                "9 threads could not be started: R; ask for fewer with threads()",
            ),
            (
                Error::WrongResult { device: text("D"), driver: text("V"), plan: text("P"), finding: "F" },
                "D brought back a wrong result, with driver V, by P: F; update the driver, test the device's memory, or choose \
                 another device or the cpu engine",
            ),
            (
                Error::MemoryLimit { bytes: 7, runs: 9 },
                "9 sorted runs cannot be merged in one pass with 7 bytes of memory: allow more with memory()",
            ),
            (
                Error::Temporary { folder: text("F"), operation: "O", reason: text("R"), advice: "A" },
                "cannot O a temporary file in F: R: A",
            ),
            (
                Error::Damaged,
                "what was read from the temporary file is not what was written: sort again, and if that does not help, test \
                 the disk and the memory",
            ),
            (
                Error::ObliviousMerge,
                "what memory does not hold is merged, and the addresses of a merge depend on keys: leave out \
                 oblivious(true), or sort less at a time",
            ),
            (
                Error::RecordSize { bytes: 7, size: 3 },
                "7 bytes are no whole number of records of 3 bytes: the last is cut off, or they have another size",
            ),
            (
                Error::RecordKey { offset: 2, length: 4, size: 5 },
                "a key of 4 bytes at offset 2 is not within a record of 5 bytes: give another offset, or the whole size of a \
                 record",
            ),
            (
                Error::RecordLength { bytes: 9, most: 7 },
                "a record of 9 bytes is longer than 7: cut it into several",
            ),
            (
                Error::KernelBuild { kernel: text("K"), device: text("D"), log: text("L") },
                "kernel 'K' does not build on D:\nL\nupdate the device's driver, or choose another device or the cpu engine",
            ),
            (
                Error::KernelMissing { kernel: text("K"), device: text("D") },
                "the program built for D has no kernel 'K': correct the name, or update the device's driver, or choose the cpu \
                 engine",
            ),
            (
                Error::DeviceMemory { device: text("D"), bytes: 8, available: 4 },
                "D refused a buffer of 8 bytes, where one buffer has at most 4: sort fewer keys at a time, free memory of the \
                 device, or choose the cpu engine",
            ),
            (
                Error::LargerThanDevice { device: text("D"), bytes: 8, limit: 4, part: "P", advice: "A" },
                "the sort needs 8 bytes P of the memory of D, and may have 4: A",
            ),
            (
                Error::Setting { variable: "V", value: text("x"), expected: "E" },
                "the environment variable V is 'x': give E, or leave it out",
            ),
            (
                Error::Device { device: text("D"), operation: "O", reason: text("R") },
                "D could not O: R; try again, or choose another device or the cpu engine",
            ),
            (
                Error::NoSuchDevice { choice: text("C"), known: text("K") },
                "no device is 'C': choose one of K",
            ),
            (
                Error::UnknownName { what: "engine", name: text("N"), known: text("K") },
                "unknown engine 'N': use one of K",
            ),
        ];
        for (error, message) in expected {
            assert_eq!(error.to_string(), message, "{error:?}");
        }
    }
}
