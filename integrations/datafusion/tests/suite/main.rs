//! All tests, as one program: DataFusion is linked once.

#[cfg(feature = "command")]
mod command;
mod differential;
mod plans;
mod tables;
