//! How the command ends when it could not do its work: one line on standard error, exit code 2. A check that was
//! done and answers no has exit code 1.

use crate::flags::in_flags;
use crate::output;
use std::fmt;

/// Why the command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something is wrong with the input, the options or the machine; the text says what, where and the way out.
    Message(String),
    /// The work was a check, and the answer is no; the text says why.
    No(String),
    /// Nothing was asked for; the answer is the help.
    Nothing(clap::Error),
    /// The reader of our output went away, as in `bitonic sort big.txt | head`. Not an error.
    ClosedPipe,
}

impl Failure {
    /// A failure with this text.
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self::Message(message.to_string())
    }

    /// Tells the user and gives the exit code.
    pub(crate) fn report(self) -> u8 {
        match self {
            Self::Message(message) => tell(&message, 2),
            Self::No(message) => tell(&message, 1),
            Self::Nothing(help) => {
                // Where standard error cannot be written, the exit code has to do.
                let _ = help.print();
                2
            }
            Self::ClosedPipe => 0,
        }
    }
}

fn tell(message: &str, code: u8) -> u8 {
    remark(message);
    code
}

/// Says something on standard error that is no failure.
pub(crate) fn remark(message: &str) {
    output::note(format_args!("bitonic: {}\n", on_one_line(message)));
}

/// The message with everything escaped that would break its line: file names and words of the command line may hold
/// line ends and what terminals take for commands.
pub(crate) fn on_one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for character in message.chars() {
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}

impl From<bitonic::Error> for Failure {
    fn from(error: bitonic::Error) -> Self {
        Self::new(in_flags(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_on_one_line_whatever_it_quotes() {
        assert_eq!(on_one_line("cannot read a\nb\u{1b}[1m'ä'"), "cannot read a\\nb\\u{1b}[1m'ä'");
    }
}
