//! What all devices share; each engine on a kind of device is a [`backend`].
//!
//! ```text
//!   layout      what an element is: bits of key, bits of value                    (of the call)
//!   shape       how many elements a tile, a work-item, a pass holds               (of the device)
//!   cluster, columns   the two other ways to sort more than a tile
//!   launches    layout x shape x length -> which kernels run, over what           (the plan, executed)
//!   source      a kernel's text for one dialect, with the plan's constants; kernels/ has the texts
//!   planning    the plan as callers see it
//!   sort        arrays of the caller: up, sorted, down when whole; landing, copy
//!   chunks      the same for arrays that the device does not hold; chunking says where they are cut, merge joins them again
//!   tune        tries shapes on a device; tuning is what is stored, in the cache
//!   backend     what an engine provides: buffers, transfers, launches
//!   opencl/     the engine on OpenCL
//!   cuda/       the engine on CUDA
//!   chosen      a device of either; choice is how a user names it, auto what `Auto` takes
//!   scratch     buffers that an engine keeps; programs are those it has built, bandwidth is the speed it measures
//!   staging     pinned memory that its transfers pass through
//! ```

pub(crate) mod auto;
pub(crate) mod backend;
mod bandwidth;
mod buckets;
mod cache;
mod choice;
pub(crate) mod chosen;
pub(crate) mod chunking;
mod chunks;
mod cluster;
mod columns;
mod copy;
pub mod cuda;
mod landing;
mod launches;
mod layout;
mod lock;
mod merge;
pub mod opencl;
mod planning;
mod programs;
mod scratch;
mod shape;
mod sort;
mod source;
mod staging;
#[cfg(test)]
mod testing;
pub(crate) mod tune;
mod tuning;

pub use cache::cache_folder;
#[doc(hidden)]
pub use cache::is_trusted;
