//! Sorting on devices. Every room may use those above it.
//!
//! ```text
//!   facts, choice     what a device is; how a user names one; opened: those that this process has
//!   element, job      a request as kernels see it: bits and rows; strided: rows that do not lie one after the other
//!   kernel            kernels as a table; kernels/ has their texts
//!   tuning/           what was measured, with the name of its device
//!   strategy/         one file an algorithm: when it fits, its launches, its memory, its words
//!   cut, plan         request x facts x tuning -> plan
//!   driver            what a backend provides: buffers, compiler, launches, copies, times
//!   memory/           buffers, landing and pinned memory that are kept
//!   execute/          plan x arrays -> sorted; state is what is kept for a device meanwhile
//!   trial             sorts the same keys again and again: how long a plan takes, and whether it is always right
//!   search            tries shapes on a device; against_cpu compares it with the CPU; tuned shows what is kept
//!   engine            a device of any backend
//!   opencl/, cuda/    the backends; backends is the list of them
//!   auto              which one `Auto` takes
//! ```

mod against_cpu;
pub(crate) mod auto;
pub(crate) mod backends;
mod bandwidth;
mod budget;
#[cfg(feature = "devices")]
mod cache;
#[cfg(not(feature = "devices"))]
#[path = "no_cache.rs"]
mod cache;
pub(crate) mod choice;
#[cfg(feature = "cuda")]
pub mod cuda;
pub(crate) mod cut;
pub(crate) mod driver;
mod element;
pub(crate) mod engine;
pub(crate) mod execute;
pub(crate) mod facts;
pub(crate) mod job;
pub(crate) mod kernel;
mod lock;
mod memory;
#[cfg(feature = "opencl")]
pub mod opencl;
mod opened;
pub(crate) mod plan;
#[cfg(any(feature = "opencl", feature = "cuda"))]
mod programs;
pub(crate) mod search;
mod state;
pub(crate) mod strategy;
pub(crate) mod strided;
#[cfg(test)]
pub(crate) mod testing;
mod trial;
pub(crate) mod tuned;
pub(crate) mod tuning;

pub use cache::cache_folder;
#[doc(hidden)]
pub use cache::is_trusted;
pub(crate) use state::DeviceState;
