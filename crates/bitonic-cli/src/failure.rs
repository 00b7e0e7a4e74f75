//! How the command ends when it could not do its work: one line on standard error, exit code 2. A check that was
//! done and answers no has exit code 1.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why the command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something is wrong with the input, the options or the machine; the text says what, where and the way out.
    Message(String),
    /// The work was a check, and the answer is no; the text says why.
    No(String),
    /// The reader of our output went away, as in `bitonic sort big.txt | head`. Not an error.
    ClosedPipe,
}

impl Failure {
    /// A failure with this text.
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self::Message(message.to_string())
    }

    /// A failure to write to standard output.
    pub(crate) fn output(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Message(format!("cannot write to standard output: {error}")),
        }
    }

    /// Tells the user and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Self::Message(message) => (message, 2),
            Self::No(message) => (message, 1),
            Self::ClosedPipe => return ExitCode::SUCCESS,
        };
        // Where standard error cannot be written, the exit code has to do; `eprintln!` would panic.
        let _ = writeln!(io::stderr().lock(), "bitonic: {message}");
        ExitCode::from(code)
    }
}

impl From<bitonic::Error> for Failure {
    fn from(error: bitonic::Error) -> Self {
        Self::new(error)
    }
}
