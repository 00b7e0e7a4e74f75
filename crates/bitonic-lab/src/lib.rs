#![forbid(unsafe_code)]
//! The laboratory: experiments with sorts as data, measured, verified, judged, plotted and reported.
//!
//! ```
//! use bitonic_lab::experiment::file;
//! use bitonic_lab::measure::{self, Row, Watch};
//! use bitonic_lab::report;
//!
//! struct Nobody;
//! impl Watch for Nobody {
//!     fn advanced(&mut self, _done: u64, _amount: u64, _doing: &str) {}
//!     fn row(&mut self, _row: &Row<'_>) {}
//!     fn note(&mut self, _note: &str) {}
//! }
//!
//! let text = "implementations = ['cpu:std', 'cpu:iterative_*']\nsizes = ['2^4..2^6']\nrepetitions = 3";
//! let experiment = file::read(text, "example", None)?;
//! # let folder = std::env::temp_dir().join(format!("bitonic-lab-example-{}", std::process::id()));
//! measure::run(&experiment, &folder, &mut Nobody)?;
//! let page = report::write(&folder)?;
//! assert!(page.ends_with("report.html"));
//! # std::fs::remove_dir_all(folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From top to bottom:
//!
//! | module | what it does |
//! |---|---|
//! | [`implementation`] | what can be measured, by name: rungs of the ladder, engines of the library, other sorts |
//! | [`experiment`] | what is to be measured: TOML files, the research application's configurations, presets |
//! | [`forecast`] | how long a sort will take, before it has taken it |
//! | [`measure`] | the one loop: contenders warm up and take turns, every result is verified, every sort recorded at once |
//! | [`record`] | the folder of a run: what it leaves behind, and what it needs to go on |
//! | [`peer`] | sorts of other libraries, each in a program of its own, behind one protocol |
//! | [`callgrind`] | instructions where the processor's counters cannot be read |
//! | [`statistics`] | many times in a few numbers |
//! | [`analysis`] | what the records mean: statistics, ratios, fits, crossovers, hypotheses, limits |
//! | [`plot`], [`report`] | charts as SVG and PNG, tables for programs, one page for people |
//! | [`dropin`] | what the research application wrote, written the same way |
//!
//! Beside them stand the small things that the laboratory and the command share: [`quantity`], [`figures`], [`names`], [`glob`].

pub mod analysis;
pub mod callgrind;
pub mod dropin;
pub mod experiment;
pub mod figures;
pub mod forecast;
pub mod glob;
pub mod implementation;
pub mod keys;
mod markup;
pub mod measure;
pub mod names;
pub mod peer;
pub mod plot;
pub mod published;
pub mod quantity;
pub mod record;
pub mod report;
pub mod statistics;
