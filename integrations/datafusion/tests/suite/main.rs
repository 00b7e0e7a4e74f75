//! All tests, as one program: DataFusion is linked once.

mod differential;
mod plans;
mod tables;
