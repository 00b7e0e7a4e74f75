//! Peers: sorts of other libraries, each library in a program of its own that sorts the same keys on the same device.

mod cub;
mod process;
mod pytorch;

pub(super) use process::Peer;

use crate::failure::Failure;
use crate::names;
use crate::progress::Progress;
use bitonic::key::KeyType;
use std::ffi::OsString;
use std::path::{self, Path};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A library whose sorts can take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// NVIDIA's CUB.
    Cub,
    /// PyTorch.
    Torch,
}

/// What a peer is wanted for.
pub(super) struct Wanted {
    /// The types of the keys.
    pub(super) key_types: Vec<KeyType>,
    /// The number that CUDA has for the device.
    pub(super) ordinal: usize,
    /// How long the peer may take for an answer.
    pub(super) patience: Duration,
}

impl Library {
    pub(super) const ALL: &'static [Self] = &[Self::Cub, Self::Torch];

    /// The name on the command line and in tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cub => "cub",
            Self::Torch => "torch",
        }
    }

    /// The variable that names a program to be used as this peer, in place of the one that comes with this command.
    const fn variable(self) -> &'static str {
        match self {
            Self::Cub => "BITONIC_CUB_PEER",
            Self::Torch => "BITONIC_TORCH_PEER",
        }
    }

    /// The libraries that the words choose: names, `all` or `none`.
    pub(super) fn select(words: &[String]) -> Result<Vec<Self>, Failure> {
        let known: Vec<&str> =
            Self::ALL.iter().map(|library| library.name()).chain(["all", "none"]).collect();
        if let Some(unknown) = words.iter().find(|word| !known.contains(&word.as_str())) {
            return Err(Failure::new(names::unknown("peer", unknown, &known)));
        }
        let is_chosen = |library: &Self| words.iter().any(|word| word == "all" || word == library.name());
        Ok(Self::ALL.iter().copied().filter(is_chosen).collect())
    }

    /// Starts its program, or says why it does not take part and what to do about it.
    pub(super) fn start(self, wanted: &Wanted) -> Result<Peer, String> {
        let variable = self.variable();
        let start = |program: Program| {
            let _progress = Progress::spinner("starting the program of another library");
            Peer::start(self.name(), program.on_device(wanted.ordinal), wanted.patience)
        };
        if let Some(named) = std::env::var_os(variable).filter(|program| !program.is_empty()) {
            return start(Program::named(named))
                .map_err(|reason| format!("{reason}; {variable} names this peer"));
        }
        match self {
            Self::Cub => cub::program(wanted).and_then(start),
            Self::Torch => {
                start(pytorch::program()).map_err(|reason| format!("{reason}: {}", pytorch::ADVICE))
            }
        }
    }
}

/// How a peer is started.
struct Program {
    command: Command,
    /// The folder that it was built in, if it is not kept.
    folder: Option<TempDir>,
}

impl Program {
    /// A program of the user's.
    fn named(program: OsString) -> Self {
        // Peers are started in another folder, where a relative path would lead elsewhere. A mere name is looked for in PATH.
        let is_name = Path::new(&program).components().count() == 1;
        let program = match path::absolute(&program) {
            Ok(absolute) if !is_name => absolute.into(),
            _ => program,
        };
        Self { command: Command::new(program), folder: None }
    }

    fn on_device(mut self, ordinal: usize) -> Self {
        self.command.arg(ordinal.to_string());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_chosen_by_their_names() {
        let chosen = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Library::select(&words)
        };
        assert_eq!(chosen(&["all"]).unwrap(), Library::ALL);
        assert_eq!(chosen(&["torch"]).unwrap(), [Library::Torch]);
        assert_eq!(chosen(&["none"]).unwrap(), []);
        let Err(Failure::Message(message)) = chosen(&["cubb"]) else { panic!("an unknown name was taken") };
        assert_eq!(message, "unknown peer 'cubb': did you mean 'cub'? Known: cub, torch, all, none");
    }

    #[test]
    fn a_path_leads_to_the_same_program_from_any_folder() {
        let program = |name: &str| Program::named(name.into()).command.get_program().to_owned();
        assert_eq!(program("peer"), "peer");
        assert!(Path::new(&program("./peer")).is_absolute() && Path::new(&program("a/peer")).is_absolute());
    }
}
