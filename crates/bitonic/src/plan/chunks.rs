//! Sorts of more keys than a device holds.

use super::Step;
use std::fmt;

/// How a device sorts keys that its memory does not hold: in chunks, one after the other, each as the plan says. The host
/// merges what comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// How many there are.
    pub count: usize,
    /// How many keys the longest has. The others have as many, or a little less; of segments of different lengths, what fits.
    pub len: usize,
    /// In how many chunks every row is, or the segment that is cut the most: 1 if rows stay whole, and nothing has to be merged.
    pub row_pieces: usize,
}

impl Chunks {
    /// How many times the merge goes through all keys that were cut from each other, every time with half as many runs to merge. Runs that come out in
    /// the wrong place after an even number are copied.
    pub fn merge_passes(&self) -> usize {
        Step::merges(self.row_pieces) as usize
    }
}

impl fmt::Display for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} chunk{} of up to {} keys, ",
            self.count,
            if self.count == 1 { "" } else { "s" },
            self.len
        )?;
        match self.merge_passes() {
            0 => f.write_str("cut between rows or segments"),
            1 => f.write_str("merged on the host in 1 pass"),
            passes => write!(f, "merged on the host in {passes} passes"),
        }
    }
}
