//! What the records mean.

mod statistics;
mod student;

pub use statistics::Summary;
