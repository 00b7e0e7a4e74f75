//! Peers: sorts of other libraries, each library in a program of its own that sorts the same keys. All peers speak one
//! protocol, which is described at the top of `peers/cub/peer.cu`.

mod cub;
mod numpy;
mod process;
mod pytorch;

pub use process::{Exchanged, Fetched, Peer};

use crate::names;
use bitonic::key::KeyType;
use std::ffi::OsString;
use std::path::{self, Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A library whose sorts can take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// NVIDIA's CUB.
    Cub,
    /// PyTorch.
    Torch,
    /// numpy, on the processor.
    Numpy,
}

/// What a peer is wanted for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The types of the keys.
    pub key_types: Vec<KeyType>,
    /// The number that CUDA has for the device.
    pub ordinal: usize,
    /// The interpreter of peers that are written in Python.
    pub python: PathBuf,
    /// How long the peer may take for an answer.
    pub patience: Duration,
}

impl Library {
    /// The libraries that sort on a CUDA device.
    pub const ON_DEVICES: &'static [Self] = &[Self::Cub, Self::Torch];

    /// The name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cub => "cub",
            Self::Torch => "torch",
            Self::Numpy => "numpy",
        }
    }

    /// The variable that names a program to be used as this peer, in place of the one that comes with this command.
    const fn variable(self) -> &'static str {
        match self {
            Self::Cub => "BITONIC_CUB_PEER",
            Self::Torch => "BITONIC_TORCH_PEER",
            Self::Numpy => "BITONIC_NUMPY_PEER",
        }
    }

    /// The libraries on devices that the words choose: names, `all` or `none`.
    ///
    /// # Errors
    ///
    /// A message that names the word which chooses nothing, and what there is.
    pub fn select(words: &[String]) -> Result<Vec<Self>, String> {
        let known: Vec<&str> =
            Self::ON_DEVICES.iter().map(|library| library.name()).chain(["all", "none"]).collect();
        if let Some(unknown) = words.iter().find(|word| !known.contains(&word.as_str())) {
            return Err(names::unknown("peer", unknown, &known));
        }
        let is_chosen = |library: &Self| words.iter().any(|word| word == "all" || word == library.name());
        Ok(Self::ON_DEVICES.iter().copied().filter(is_chosen).collect())
    }

    /// Starts its program. `hears` is told what is being done, since that may take a minute.
    ///
    /// # Errors
    ///
    /// Why the library does not take part, and what to do about it.
    pub fn start(self, wanted: &Wanted, hears: &mut dyn FnMut(&'static str)) -> Result<Peer, String> {
        let variable = self.variable();
        let start =
            |program: Program| Peer::start(self.name(), program.on_device(wanted.ordinal), wanted.patience);
        if let Some(named) = std::env::var_os(variable).filter(|program| !program.is_empty()) {
            return start(Program::named(named))
                .map_err(|reason| format!("{reason}; {variable} names this peer"));
        }
        match self {
            Self::Cub => cub::program(wanted, hears).and_then(start),
            Self::Torch => {
                let program = pytorch::program(&wanted.python);
                start(program).map_err(|reason| format!("{reason}: {}", pytorch::ADVICE))
            }
            Self::Numpy => {
                let program = numpy::program(&wanted.python);
                start(program).map_err(|reason| format!("{reason}: {}", numpy::advice(&wanted.python)))
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
        assert_eq!(chosen(&["all"]).unwrap(), Library::ON_DEVICES);
        assert_eq!(chosen(&["torch"]).unwrap(), [Library::Torch]);
        assert_eq!(chosen(&["none"]).unwrap(), []);
        let message = chosen(&["cubb"]).unwrap_err();
        assert_eq!(message, "unknown peer 'cubb': did you mean 'cub'? Known: cub, torch, all, none");
    }

    /// `false` starts, and ends without a word, as an interpreter that is broken does.
    #[cfg(unix)]
    #[test]
    fn an_interpreter_without_numpy_is_named_with_the_way_out() {
        let refused = |python: &str| {
            let patience = Duration::from_secs(10);
            let wanted = Wanted { key_types: Vec::new(), ordinal: 0, python: python.into(), patience };
            Library::Numpy.start(&wanted, &mut |_| ()).unwrap_err()
        };
        let missing = refused("no-such-python");
        assert!(missing.starts_with("no-such-python cannot be started: "), "{missing}");
        let broken = refused("false");
        assert!(broken.starts_with("it has ended ("), "{broken}");
        for (reason, python) in [(missing, "no-such-python"), (broken, "false")] {
            let advice = format!(": install numpy with `{python} -m pip install numpy`, or name an ");
            assert!(reason.contains(&advice), "{reason}");
        }
    }

    #[test]
    fn a_path_leads_to_the_same_program_from_any_folder() {
        let program = |name: &str| Program::named(name.into()).command.get_program().to_owned();
        assert_eq!(program("peer"), "peer");
        assert!(Path::new(&program("./peer")).is_absolute() && Path::new(&program("a/peer")).is_absolute());
    }
}
