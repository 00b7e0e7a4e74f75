#![deny(unsafe_code)]
//! Every known way to write bitonic and odd-even sort, from the first to the fastest, for learning and
//! measuring.
//!
//! A *rung* is one implementation in its plainest form. The rungs stand in the order in which people found
//! them: each file opens with a picture, says what the form costs, and how the next rung avoids that cost. All
//! of them sort any [`Key`](bitonic::Key) in both directions and with the same result, so that time
//! is the only difference. To sort something in earnest, use [`bitonic::sort`].
//!
//! A rung is run by its name, or as a value of [`Rung`]:
//!
//! ```
//! use bitonic_ladder::{Options, Rung};
//!
//! let rung: Rung = "iterative_blocks".parse()?;
//! let mut keys = [5_u32, 7, 1, 8, 2, 6, 3, 4];
//! rung.sort(&mut keys, &Options::default())?;
//! assert_eq!(keys, [1, 2, 3, 4, 5, 6, 7, 8]);
//! # Ok::<(), bitonic_ladder::LadderError>(())
//! ```
//!
//! One thread, in `src/cpu/one_thread/`:
//!
//! | rung | what it is | what to look at |
//! |---|---|---|
//! | `recursive` | the definition | calls, and the locality they bring |
//! | `iterative_scan` | three loops over every position | half of the work leads to nothing |
//! | `iterative_blocks` | four loops over the comparators | no branch, no comparator met twice |
//! | `iterative_folded` | comparators by number, with a division | the division |
//! | `iterative_shifts` | comparators by number, with shifts | what a GPU thread will do |
//! | `network_passes` | half-cleaners, the direction carried by a flag | the dependency between blocks |
//! | `network_no_dependency` | half-cleaners, the direction from the index | vector instructions |
//! | `odd_even` | neighbours only, any length | quadratic work |
//!
//! Many threads, in `src/cpu/threads/`:
//!
//! | rung | what it is | what to look at |
//! |---|---|---|
//! | `parallel_guarded` | a guarded loop over positions, in parallel | half of the threads find the guard shut |
//! | `parallel_steps` | the comparators of a step in parallel | a barrier after every step |
//! | `parallel_recursive` | a thread for each half, merges on one | what stays on one thread |
//! | `parallel_merges` | sorts and merges fork | what still stays on one thread |
//! | `odd_even_threads` | a chunk for every thread, any length | the borders between chunks |
//! | `odd_even_barriers` | the same in lock step, any length | barriers |
//!
//! Devices, through OpenCL or through CUDA, a kernel in `src/gpu/kernels/` and the host's loop around it in
//! `src/gpu/rungs/`:
//!
//! | rung | what it is | what to look at |
//! |---|---|---|
//! | `naive_scan` | a work-item for every key | memory is the limit, idle work-items are not |
//! | `naive_folded` | a work-item for every comparator, with a division | the division costs nothing here |
//! | `naive_shifts` | a work-item for every comparator, with shifts | a pass over memory for every step |
//! | `xor_guarded` | a loop's body as it was, 1024 in a group | the guard for the surplus |
//! | `compare_pair` | the host waits after every launch | span and sum of the kernels' times |
//! | `one_item_groups` | work-groups of one | empty lanes |
//! | `local_memory` | the kernels `local_small_biton`, `local_big_biton`, `local_big_bucket` | keys staged for one comparison |
//! | `local_memory_queued` | the same without waits | what the waits cost |
//! | `local_many_steps` | all steps inside a tile in one launch | keys staged for many comparisons |
//! | `odd_even_two_kernels` | odd-even transposition, any length | n launches and n/2 waits |
//! | `odd_even_one_kernel` | groups that fill the device, no waits | what remains is the algorithm |
//! | `odd_even_local` | keys staged in local memory | a detour |
//! | `odd_even_strided` | a grid of the device's size | n launches still |
//!
//! `local_memory` is one rung with three kernels, because a sort uses all three, each for the steps that only it can do.
//! [`Rung::sort_timed`] tells the time of each, as it does for `odd_even_two_kernels`; [`Rung::sort_buffer`] sorts keys
//! that are on a device already.
//!
//! Kernel and loop of a rung are the same text through OpenCL and through CUDA, so that what differs is driver and compiler.
//! A rung's name is the same, too; what it runs on is a [`RunsOn`], which [`Options::runs_on`] chooses:
//!
//! ```no_run
//! use bitonic_ladder::{Options, Rung, RunsOn};
//!
//! let mut keys: Vec<u32> = (0..1 << 20).rev().collect();
//! let options = Options { runs_on: Some(RunsOn::Cuda), ..Options::default() };
//! Rung::ComparePair.sort(&mut keys, &options)?;
//! # Ok::<(), bitonic_ladder::LadderError>(())
//! ```
//!
//! Bitonic sort in these forms needs a power of two; other lengths get [`LadderError::NotAPowerOfTwo`]. How the
//! library sorts every length without padding is told in [`bitonic::plan`].

mod cpu;
mod document;
mod error;
mod gpu;
mod improvements;
mod options;
mod rung;
mod runs_on;
mod sizes;
mod sort;
mod times;

pub use document::Document;
pub use error::LadderError;
pub use options::Options;
pub use rung::{Rung, Text};
pub use runs_on::RunsOn;
pub use sizes::Sizes;
pub use times::{DeviceTimes, KernelTime, KernelTimes, Times};
