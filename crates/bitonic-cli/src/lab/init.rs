//! `bitonic lab init`: a commented experiment to start from.

use crate::failure::Failure;
use crate::output;
use crate::word::Word;
use bitonic_lab::experiment::{EXAMPLE, PRESETS, Preset};
use std::path::PathBuf;

/// What `bitonic lab init` is asked for.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The file to write; it must not exist. Without it, or as `-`, standard output
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Start from a preset
    #[arg(long, value_name = "NAME", value_parser = Word::one_of("preset", PRESETS, |preset: Preset| preset.name))]
    preset: Option<Preset>,
}

/// Writes the file.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let text = arguments.preset.map_or(EXAMPLE, |preset| preset.text);
    let file = arguments.file.as_deref();
    if let Some(taken) = file.filter(|file| !output::is_standard_stream(file) && file.exists()) {
        return Err(Failure::new(format!("{} exists already: choose another name", taken.display())));
    }
    output::write(file, |out| out.write_all(text.as_bytes()))
}
