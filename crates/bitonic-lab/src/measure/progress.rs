//! What a run tells whoever watches it.

use crate::experiment::Case;
use crate::statistics::Summary;

/// Somebody who watches a run.
pub trait Watch {
    /// About so much of so much is done; one unit is about a millisecond.
    fn advanced(&mut self, done: u64, amount: u64, doing: &str);

    /// An instance is measured, or the last instance of a size.
    fn row(&mut self, row: &Row<'_>);

    /// Something was not measured, and why.
    fn note(&mut self, note: &str);
}

/// What was measured.
#[derive(Debug)]
pub struct Row<'a> {
    /// The instance that is done.
    pub case: &'a Case,
    /// Whether it is the last one of its size.
    pub last_of_its_size: bool,
    /// What the implementations took for this instance, in the order of the experiment.
    pub of_instance: Vec<RowCell>,
    /// What they took for all instances of its size so far.
    pub of_size: Vec<RowCell>,
}

/// What an implementation took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowCell {
    /// Nothing was measured.
    Nothing,
    /// What was measured.
    Measured(Summary),
    /// It would take so many seconds.
    Extrapolated(f64),
}
