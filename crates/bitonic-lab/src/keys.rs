//! Keys made for a measurement.

use bitonic_testkit::{Pattern, TestKey};

/// Makes keys; the same seed makes the same ones. Refuses keys that this machine cannot hold `copies` times, before it makes
/// the first of them.
///
/// # Errors
///
/// How much memory is missing.
pub fn make<K: TestKey>(len: usize, pattern: Pattern, seed: u64, copies: usize) -> Result<Vec<K>, String> {
    let bytes = len.saturating_mul(size_of::<K>()).saturating_mul(copies);
    if Vec::<u8>::new().try_reserve_exact(bytes).is_err() {
        return Err(format!("no memory for {len} keys, which take {bytes} bytes: ask for fewer"));
    }
    Ok(pattern.generate(len, seed))
}
