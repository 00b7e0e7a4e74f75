//! `bitonic lab list`: everything that an experiment can name.

use crate::failure::Failure;
use crate::output;
use crate::table::Plain;
use bitonic::key::KeyType;
use bitonic_lab::experiment::PRESETS;
use bitonic_lab::implementation;
use bitonic_testkit::Pattern;

/// Prints the lists.
pub(super) fn run() -> Result<(), Failure> {
    let mut presets = Plain::new(["preset", "what it is for"]);
    for preset in PRESETS {
        presets.add([preset.name, preset.description]);
    }
    let mut implementations = Plain::new(["implementation", "time grows with", "what it is"]);
    for one in implementation::all() {
        implementations.add([&one.to_string(), one.algorithm().growth(), one.description()]);
    }
    let types: Vec<String> = KeyType::ALL.iter().map(ToString::to_string).collect();
    let distributions: Vec<&str> = Pattern::ALL.iter().map(|pattern| pattern.name()).collect();
    output::print(|out| {
        write!(out, "{presets}\n{implementations}\n")?;
        writeln!(out, "types          {}", types.join(", "))?;
        writeln!(out, "distributions  {}", distributions.join(", "))
    })
}
