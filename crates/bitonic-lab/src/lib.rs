#![forbid(unsafe_code)]
//! The laboratory: experiments with sorts as data, measured, verified, judged, plotted and reported.

pub mod analysis;
pub mod callgrind;
pub mod dropin;
pub mod experiment;
pub mod figures;
pub mod glob;
pub mod implementation;
mod markup;
pub mod measure;
pub mod names;
pub mod plot;
pub mod quantity;
pub mod record;
pub mod report;
