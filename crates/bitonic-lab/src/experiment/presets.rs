//! Experiments that come with the laboratory.

use std::path::Path;

/// An experiment that comes with the laboratory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What it is called.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// The file.
    pub text: &'static str,
}

/// A commented file with everything that a file can have.
pub const EXAMPLE: &str = include_str!("presets/example.toml");

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "quick",
        description: "a first look at everything, in two minutes on two cores",
        text: include_str!("presets/quick.toml"),
    },
    Preset {
        name: "documents",
        description: "the procedure of the research application, with what it was before and after",
        text: include_str!("presets/documents.toml"),
    },
    Preset {
        name: "ladder-cpu",
        description: "every rung on the processor beside the standard library, with counters",
        text: include_str!("presets/ladder-cpu.toml"),
    },
    Preset {
        name: "ladder-gpu",
        description: "every rung on a device beside the library's engine",
        text: include_str!("presets/ladder-gpu.toml"),
    },
    Preset {
        name: "odd-even",
        description: "every form of odd-even transposition sort",
        text: include_str!("presets/odd-even.toml"),
    },
];

/// The preset of this name.
pub(super) fn named(name: &Path) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| name == Path::new(preset.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::file;

    #[test]
    fn every_preset_and_the_example_can_be_read() {
        for preset in PRESETS {
            let experiment =
                file::read(preset.text, preset.name, None).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(experiment.name, preset.name);
        }
        file::read(EXAMPLE, "example", None).unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn the_documents_preset_is_the_documents_procedure() {
        let text = PRESETS.iter().find(|preset| preset.name == "documents").unwrap().text;
        let experiment = file::read(text, "documents", None).unwrap();
        let mut procedure: Vec<(usize, usize, usize)> = experiment
            .cases
            .iter()
            .map(|case| (case.size.ilog2() as usize, case.instances, case.repetitions))
            .collect();
        assert_eq!(procedure.len(), 8 * 5);
        procedure.dedup();
        let repetitions = [100, 100, 100, 100, 60, 25, 10, 1];
        let expected: Vec<_> = (15..=22).zip(repetitions).map(|(log2, count)| (log2, 5, count)).collect();
        assert_eq!(procedure, expected);
    }
}
