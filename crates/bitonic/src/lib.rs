//! Sort with sorting networks, on whatever the machine has. One API, one result, any length, in place.
//!
//! ```
//! let mut keys = vec![0.5_f32, -0.0, f32::NAN, 0.0, -7.25];
//! bitonic::sort(&mut keys);
//! assert_eq!(keys[..4], [-7.25, -0.0, 0.0, 0.5]);
//! assert!(keys[4].is_nan());
//! ```
//!
//! [`Sorter`] has the options: direction, stability, threads, engine, constant-time mode. [`sort_pairs`] moves values
//! along with their keys, [`argsort`] gives the order without moving anything, and [`Sorter::plan`] says beforehand
//! what a sort will do and how much memory it takes. [`top_k`], [`select_nth`] and [`partial_sort`] do less than a sort;
//! [`sort_rows`] and [`sort_segments`] sort parts of an array each for itself; [`sort_by_key`] sorts items of any type;
//! [`merge()`] and [`searchsorted`] work on what is sorted; `external` sorts more than memory holds.
//!
//! # Contract
//!
//! - **Order**: total. Floats by IEEE 754 total order, the same at every size and on every engine;
//!   [`Sorter::nan_last`] puts NaNs of both signs last.
//! - **Result**: a permutation of the input, bit for bit: NaN payloads and the sign of zero are kept.
//! - **Memory**: a network sorts in place; what a sort needs beyond that, its [`Plan`](plan::Plan) says before it runs.
//! - **Stability**: [`Sorter::stable`] for pairs; [`argsort`] breaks ties by lowest index.
//! - **Length**: any, from 0 up; a power of two is nothing special. What a device's memory does not hold is sorted there
//!   in chunks, which the host merges: [`Sorter::chunks`].
//! - **Errors**: one [`Error`], each variant with the way out, and the caller's data as it was.
//!
//! # How it works
//!
//! A key is its ordered bits ([`key`]); a sort is a plan ([`plan`]): the bitonic network in flip form, cut into passes
//! that each do as many steps as the fast memory at hand allows.

#[cfg(feature = "ndarray")]
mod axes;
mod cpu;
pub mod device;
mod engine;
mod error;
mod extension;
#[cfg(feature = "external")]
pub mod external;
mod functions;
// Plans are pure and always there; without a backend nothing runs them.
#[cfg_attr(not(any(feature = "opencl", feature = "cuda")), allow(dead_code, unused_imports))]
mod gpu;
mod instructions;
pub mod key;
mod permutation;
pub mod plan;
mod report;
mod request;
mod sorted;
mod sorter;

#[cfg(feature = "ndarray")]
pub use axes::{BitonicSortAxis, TopAlong};
pub use device::DeviceChoice;
pub use engine::Engine;
pub use error::Error;
pub use extension::{BitonicSort, BitonicSortByKey};
pub use functions::{
    argsort, is_sorted, partial_sort, select_nth, sort, sort_descending, sort_oblivious, sort_pairs,
    sort_rows, sort_segments, top_k,
};
pub use gpu::cache_folder;
#[cfg(feature = "cuda")]
pub use gpu::cuda;
#[doc(hidden)]
pub use gpu::is_trusted;
#[cfg(feature = "opencl")]
pub use gpu::opencl;
pub use instructions::Instructions;
pub use key::{Key, Order};
pub use permutation::{SortKey, apply_permutation, invert_permutation, sort_by_key};
pub use report::{DeviceTimes, Report};
pub use request::{Index, Request, Segments, ValueType, What};
pub use sorted::{merge, merge_many, rank, searchsorted, searchsorted_right, unique};
pub use sorter::{Sorter, TopK};

/// Every device that a sort can run on here: the CPU, and what the backends of this build find. A GPU that several backends find is
/// listed for each.
pub fn devices() -> Vec<Device> {
    let name = format!("{}, {} kernels", cpu::device(), Instructions::detected());
    let cpu = Device { engine: Engine::Cpu, name, units: cpu::thread_count(None) };
    let others = device::list().into_iter().map(|facts| {
        let name = format!("{}: {} ({}, {})", facts.index, facts.name, facts.kind, facts.platform);
        Device { engine: facts.engine, name, units: facts.units }
    });
    std::iter::once(cpu).chain(others).collect()
}

/// Something a sort can run on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// The engine that uses it.
    pub engine: Engine,
    /// Its name.
    pub name: String,
    /// How many independent units it has: cores or multiprocessors.
    pub units: usize,
}

/// The README's examples, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
