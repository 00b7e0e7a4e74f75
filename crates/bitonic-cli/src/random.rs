//! Keys made at random.

use crate::failure::Failure;
use crate::progress::Progress;
use bitonic_testkit::{Pattern, TestKey};

/// Makes keys; the same seed makes the same ones. Refuses what this machine cannot hold `copies` times, before it is
/// asked for key by key.
pub(crate) fn make<K: TestKey>(
    len: usize,
    distribution: Pattern,
    seed: u64,
    copies: usize,
) -> Result<Vec<K>, Failure> {
    let _progress = Progress::spinner("making keys");
    make_quietly(len, distribution, seed, copies)
}

/// The same as a part of work that shows its own progress.
pub(crate) fn make_quietly<K: TestKey>(
    len: usize,
    distribution: Pattern,
    seed: u64,
    copies: usize,
) -> Result<Vec<K>, Failure> {
    let bytes = len.saturating_mul(size_of::<K>()).saturating_mul(copies);
    if Vec::<u8>::new().try_reserve_exact(bytes).is_err() {
        return Err(Failure::new(format!(
            "no memory for {len} keys, which take {bytes} bytes: ask for fewer"
        )));
    }
    Ok(distribution.generate(len, seed))
}
