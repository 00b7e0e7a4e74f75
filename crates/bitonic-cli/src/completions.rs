//! Shell completions: the script that `bitonic completions` prints, and the words that a shell can complete.

use crate::failure::Failure;
use crate::{names, quantity};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap_complete::Shell;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::sync::Arc;

/// What `bitonic completions` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell that will read the script
    #[arg(value_name = "SHELL", value_parser = Word::one_of("shell", SHELLS, shell_name))]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  bash   bitonic completions bash > ~/.local/share/bash-completion/completions/bitonic
  zsh    bitonic completions zsh > _bitonic     in a folder that $fpath names
  fish   bitonic completions fish > ~/.config/fish/completions/bitonic.fish";

const SHELLS: &[Shell] = &[Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell];

fn shell_name(shell: Shell) -> &'static str {
    match shell {
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
        Shell::Elvish => "elvish",
        Shell::PowerShell => "powershell",
        // The enum may grow; only the shells above are offered.
        _ => "bash",
    }
}

/// Prints the script for a shell.
pub(crate) fn run<Cli: clap::CommandFactory>(arguments: Arguments) -> Result<(), Failure> {
    // The generator panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "bitonic", &mut script);
    io::stdout().lock().write_all(&script).map_err(Failure::output)
}

/// Reads one word of the command line. The shell completes the known words, the help lists them, and a wrong word is
/// answered with one line that says what is wrong.
#[derive(Clone)]
pub(crate) struct Word<T> {
    known: Vec<&'static str>,
    read: Arc<Read<T>>,
}

type Read<T> = dyn Fn(&str) -> Result<T, String> + Send + Sync;

impl<T: Copy + Send + Sync + 'static> Word<T> {
    /// The name of one of the given things; `what` says what kind of thing they are.
    pub(crate) fn one_of(what: &'static str, all: &'static [T], name_of: fn(T) -> &'static str) -> Self {
        let known: Vec<&'static str> = all.iter().map(|&item| name_of(item)).collect();
        let listed = known.clone();
        let read = move |word: &str| {
            let found = all.iter().copied().find(|&item| name_of(item) == word);
            found.ok_or_else(|| names::unknown(what, word, &listed))
        };
        Self { known, read: Arc::new(read) }
    }
}

impl Word<usize> {
    /// A count: 1000, 16M, 2^24, 1e6.
    pub(crate) fn count() -> Self {
        Self { known: Vec::new(), read: Arc::new(quantity::parse) }
    }

    /// A number of threads. No machine has use for more than a thousand, and starting a million takes minutes.
    pub(crate) fn threads() -> Self {
        let read = |word: &str| match quantity::parse(word)? {
            threads @ 0..=1024 => Ok(threads),
            threads => {
                Err(format!("{threads} threads are too many: use at most 1024, or 0 for one on every core"))
            }
        };
        Self { known: Vec::new(), read: Arc::new(read) }
    }
}

impl Word<u64> {
    /// A seed: any number of 64 bits.
    pub(crate) fn seed() -> Self {
        let read = |word: &str| {
            word.parse().map_err(|_| format!("'{word}' is no seed: use a number from 0 to {}", u64::MAX))
        };
        Self { known: Vec::new(), read: Arc::new(read) }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Word<T> {
    type Value = T;

    fn parse_ref(&self, _: &clap::Command, _: Option<&clap::Arg>, word: &OsStr) -> Result<T, clap::Error> {
        // What is no text is no known word either; the replacement characters show where.
        (self.read)(&word.to_string_lossy())
            .map_err(|reason| clap::Error::raw(ErrorKind::InvalidValue, format!("{reason}\n")))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        (!self.known.is_empty()).then(|| Box::new(self.known.iter().map(PossibleValue::new)) as Box<_>)
    }
}
