//! Keys made at random.

use crate::failure::Failure;
use crate::progress::Progress;
use bitonic_testkit::{Pattern, TestKey};

/// Makes keys; the same seed makes the same ones. Refuses keys that this machine cannot hold `copies` times, before it makes
/// the first of them.
pub(crate) fn make<K: TestKey>(
    len: usize,
    distribution: Pattern,
    seed: u64,
    copies: usize,
) -> Result<Vec<K>, Failure> {
    let _progress = Progress::spinner("making keys");
    bitonic_lab::keys::make(len, distribution, seed, copies).map_err(Failure::new)
}
