#![forbid(unsafe_code)]
//! Named inputs and exact checks for anything that sorts.
//!
//! A sort is wrapped in a tiny adapter, and [`SortChecks`] runs it over every small length, lengths around powers of two,
//! every key type, every named [`Pattern`] and both orders, and compares the result bit for bit with a reference:
//!
//! ```
//! use bitonic_testkit::{SortChecks, SortsKeys, TestKey};
//! use bitonic::Order;
//!
//! struct Standard;
//!
//! impl SortsKeys for Standard {
//!     fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order) {
//!         bitonic::key::with_ordered_bits(keys, order, |bits| bits.sort_unstable());
//!     }
//! }
//!
//! SortChecks::new("the standard library").max_len(200).check_keys(&Standard);
//! ```
//!
//! For kernels there is [`oclgrind`] besides: it runs a test where every access to memory is checked. For benchmarks there is
//! [`record`].

mod child;
mod device;
mod instance;
pub mod oclgrind;
mod pattern;
pub mod record;
mod sort_checks;

pub use child::{in_child, is_child};
pub use device::device_or_skip;
pub use instance::TestKey;
pub use oclgrind::{Oclgrind, PlantedFault};
pub use pattern::Pattern;
pub use sort_checks::{ArgSorts, SortChecks, SortsKeys, SortsPairs, SortsRows};
