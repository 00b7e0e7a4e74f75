//! What an instruction set does for keys of one width, as a table of functions.
//!
//! The drivers ([`quicksort`](super::quicksort), [`network`](super::network)) are plain Rust that calls these; each
//! function is one of [`generic`](super::generic)'s, compiled with the instruction set's features enabled.

use super::generic::columns;
use super::generic::scan::COUNTED_VALUES;
use crate::key::BitMap;

/// The functions of one instruction set for keys of type `B`.
///
/// All of them take a pointer and a length; the caller passes keys it may read and write. They may only be called on a
/// processor that has the instruction set. [`HasKernels`](super::instructions::HasKernels) hands a table out for an
/// [`Available`](crate::instructions::Available) only, which shows that.
pub(crate) struct Kernels<B: 'static> {
    /// The base-2 logarithm of how many keys a register holds.
    pub(crate) lanes_log2: u32,
    /// The most keys [`Kernels::sort_tile`] and `clean_tile` take; a power of two.
    pub(crate) tile: usize,
    /// Sorts keys that need as many registers as the index says.
    pub(crate) sort_in_registers: [unsafe fn(*mut B, usize); columns::REGISTER_ROWS + 1],
    /// Sorts more keys, up to a tile; see [`columns::buffer_shape`].
    pub(crate) sort_in_buffer: [unsafe fn(*mut B, usize, u32); 4],
    /// Sorts up to `tile` bitonic keys by half-cleaners.
    pub(crate) clean_tile: unsafe fn(*mut B, usize),
    /// Compares the keys that end at the first pointer with those that begin at the second, mirrored.
    pub(crate) flip: unsafe fn(*mut B, *mut B, usize),
    /// Compares the keys that begin at the first pointer with those that begin at the second.
    pub(crate) half_clean: unsafe fn(*mut B, *mut B, usize),
    /// The first one, two or three steps of a merge, the flip and half-cleaners, on a power of two of keys above `tile`.
    pub(crate) flip_fused: [unsafe fn(*mut B, usize); 3],
    /// One, two or three half-cleaner steps on a power of two of keys above `tile`.
    pub(crate) half_clean_fused: [unsafe fn(*mut B, usize); 3],
    /// Moves the keys whose ordered bits are below the pivot to the front and returns their number.
    pub(crate) partition: unsafe fn(*mut B, usize, BitMap<B>, B) -> usize,
    /// The same, and turns all bits in memory into ordered bits.
    pub(crate) order_and_partition: unsafe fn(*mut B, usize, BitMap<B>, B) -> usize,
    /// Whether the ordered bits of the keys are in ascending order.
    pub(crate) is_ascending: unsafe fn(*const B, usize, BitMap<B>) -> bool,
    /// Whether they are in descending order.
    pub(crate) is_descending: unsafe fn(*const B, usize, BitMap<B>) -> bool,
    /// How often each of the first so many values occurs; `None` if there are others.
    pub(crate) count_values: CountValues<B>,
    /// Where the first key is whose ordered bits are below the bound; as many as there are keys, if none is.
    pub(crate) first_below: unsafe fn(*const B, usize, BitMap<B>, B) -> usize,
    /// Turns bits in memory into ordered bits.
    pub(crate) to_ordered: unsafe fn(*mut B, usize, BitMap<B>),
    /// Turns ordered bits into bits in memory.
    pub(crate) from_ordered: unsafe fn(*mut B, usize, BitMap<B>),
}

/// See [`count_values`](super::generic::scan::count_values).
pub(crate) type CountValues<B> =
    unsafe fn(*const B, usize, &[B; COUNTED_VALUES], usize) -> Option<[usize; COUNTED_VALUES]>;

impl<B> Kernels<B> {
    /// How many registers so many keys fill.
    #[inline]
    pub(crate) fn registers(&self, len: usize) -> usize {
        // No division: that takes as long as sorting a register.
        (len + (1 << self.lanes_log2) - 1) >> self.lanes_log2
    }

    /// Sorts up to `tile` keys by a pure network.
    ///
    /// # Panics
    ///
    /// If there are more keys.
    #[inline]
    pub(crate) fn sort_tile(&self, keys: &mut [B]) {
        assert!(keys.len() <= self.tile);
        let rows = self.registers(keys.len());
        // SAFETY: the table is for this processor; pointer and length are the slice's; the function chosen takes the
        // number of rows that the length needs.
        unsafe {
            if rows <= columns::REGISTER_ROWS {
                (self.sort_in_registers[rows])(keys.as_mut_ptr(), keys.len());
            } else {
                let (shape, doublings) = columns::buffer_shape(rows);
                (self.sort_in_buffer[shape])(keys.as_mut_ptr(), keys.len(), doublings);
            }
        }
    }
}

/// Compiles the generic algorithms for one vector type into a [`Kernels`] table.
macro_rules! instantiate {
    (
        $(#[$documentation:meta])* $table:ident, $Vector:ty, $Bits:ty,
        $(#[$feature:meta])*
    ) => {
        $(#[$documentation])*
        pub(crate) static $table: crate::cpu::kernels::Kernels<$Bits> = {
            use crate::cpu::generic::scan::COUNTED_VALUES;
            use crate::cpu::generic::{columns, merge, ordered, partition, places, scan, vector::Vector};
            use crate::key::BitMap;

            // Each of these is called through the table alone: on a processor that has the instructions (see `Kernels`), with a
            // pointer that is good for as many keys as said. That is all that the generic functions ask for.

            unsafe fn sort_nothing(_: *mut $Bits, _: usize) {}

            $(#[$feature])*
            unsafe fn sort_in_registers<const R: usize>(keys: *mut $Bits, len: usize) {
                // SAFETY: the table is for this processor; pointer and length are handed on, and `sort_tile` takes the R that fits.
                unsafe { columns::sort_in_registers::<$Vector, R>(keys, len) }
            }

            $(#[$feature])*
            unsafe fn sort_in_buffer<const B: usize>(keys: *mut $Bits, len: usize, doublings: u32) {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { columns::sort_in_buffer::<$Vector, B>(keys, len, doublings) }
            }

            $(#[$feature])*
            unsafe fn clean_tile(keys: *mut $Bits, len: usize) {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { merge::clean_tile::<$Vector>(keys, len) }
            }

            $(#[$feature])*
            unsafe fn flip(lower_end: *mut $Bits, upper: *mut $Bits, len: usize) {
                // SAFETY: the table is for this processor; pointers and length are handed on as they came.
                unsafe { merge::flip::<$Vector>(lower_end, upper, len) }
            }

            $(#[$feature])*
            unsafe fn half_clean(lower: *mut $Bits, upper: *mut $Bits, len: usize) {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { merge::half_clean_pair::<$Vector>(lower, upper, len) }
            }

            $(#[$feature])*
            unsafe fn flip_fused<const P: usize>(keys: *mut $Bits, len: usize) {
                // SAFETY: the table is for this processor; pointers and length are handed on as they came.
                unsafe { merge::flip_fused::<$Vector, P>(keys, len) }
            }

            $(#[$feature])*
            unsafe fn half_clean_fused<const P: usize>(keys: *mut $Bits, len: usize) {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { merge::half_clean_fused::<$Vector, P>(keys, len) }
            }

            $(#[$feature])*
            unsafe fn partition_keys(keys: *mut $Bits, len: usize, map: BitMap<$Bits>, pivot: $Bits) -> usize {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { partition::partition::<$Vector>(keys, len, map, pivot) }
            }

            $(#[$feature])*
            unsafe fn order_and_partition(
                keys: *mut $Bits,
                len: usize,
                map: BitMap<$Bits>,
                pivot: $Bits,
            ) -> usize {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { partition::order_and_partition::<$Vector>(keys, len, map, pivot) }
            }

            $(#[$feature])*
            unsafe fn is_ascending(keys: *const $Bits, len: usize, map: BitMap<$Bits>) -> bool {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { scan::is_ascending::<$Vector>(keys, len, map) }
            }

            $(#[$feature])*
            unsafe fn is_descending(keys: *const $Bits, len: usize, map: BitMap<$Bits>) -> bool {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { scan::is_descending::<$Vector>(keys, len, map) }
            }

            $(#[$feature])*
            unsafe fn count_values(
                keys: *const $Bits,
                len: usize,
                values: &[$Bits; COUNTED_VALUES],
                count: usize,
            ) -> Option<[usize; COUNTED_VALUES]> {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { scan::count_values::<$Vector>(keys, len, values, count) }
            }

            $(#[$feature])*
            unsafe fn first_below(keys: *const $Bits, len: usize, map: BitMap<$Bits>, bound: $Bits) -> usize {
                // SAFETY: see above.
                unsafe { scan::first_below::<$Vector>(keys, len, map, bound) }
            }

            $(#[$feature])*
            unsafe fn to_ordered(keys: *mut $Bits, len: usize, map: BitMap<$Bits>) {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { ordered::to_ordered::<$Vector>(keys, len, map) }
            }

            $(#[$feature])*
            unsafe fn from_ordered(keys: *mut $Bits, len: usize, map: BitMap<$Bits>) {
                // SAFETY: the table is for this processor; pointer and length are handed on as they came.
                unsafe { ordered::from_ordered::<$Vector>(keys, len, map) }
            }

            crate::cpu::kernels::Kernels {
                lanes_log2: <$Vector>::LANES.ilog2(),
                tile: places::max_rows::<$Vector>() * <$Vector>::LANES,
                sort_in_registers: [
                    sort_nothing,
                    sort_in_registers::<1>,
                    sort_in_registers::<2>,
                    sort_in_registers::<3>,
                    sort_in_registers::<4>,
                    sort_in_registers::<5>,
                    sort_in_registers::<6>,
                    sort_in_registers::<7>,
                    sort_in_registers::<8>,
                    sort_in_registers::<10>,
                    sort_in_registers::<10>,
                    sort_in_registers::<12>,
                    sort_in_registers::<12>,
                    sort_in_registers::<14>,
                    sort_in_registers::<14>,
                    sort_in_registers::<16>,
                    sort_in_registers::<16>,
                ],
                sort_in_buffer: [
                    sort_in_buffer::<10>,
                    sort_in_buffer::<12>,
                    sort_in_buffer::<14>,
                    sort_in_buffer::<16>,
                ],
                clean_tile,
                flip,
                half_clean,
                flip_fused: [flip_fused::<2>, flip_fused::<4>, flip_fused::<8>],
                half_clean_fused: [half_clean_fused::<2>, half_clean_fused::<4>, half_clean_fused::<8>],
                partition: partition_keys,
                order_and_partition,
                is_ascending,
                is_descending,
                count_values,
                first_below,
                to_ordered,
                from_ordered,
            }
        };
    };
}

pub(crate) use instantiate;
