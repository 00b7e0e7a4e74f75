//! A watcher that remembers what it was told.

use bitonic_lab::measure::{Row, Watch};

#[derive(Default)]
pub(crate) struct Silent {
    pub(crate) notes: Vec<String>,
    pub(crate) rows: usize,
    pub(crate) furthest: u64,
    pub(crate) amount: u64,
}

impl Watch for Silent {
    fn advanced(&mut self, done: u64, amount: u64, _doing: &str) {
        self.furthest = self.furthest.max(done);
        self.amount = amount;
    }

    fn row(&mut self, _row: &Row<'_>) {
        self.rows += 1;
    }

    fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }
}
