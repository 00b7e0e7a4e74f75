//! The laboratory from experiments to reports.

mod browser;
mod company;
mod dropin;
mod made_up;
mod recompute;
mod resume;
mod run;
mod shown;
mod silent;
