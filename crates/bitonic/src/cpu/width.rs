//! One key width: which sort serves it.

use super::instructions::{HasKernels, kernels_of_128_bits};
use super::kernels::Kernels;
use super::packed::{self, Packing};
use super::scalar::Run;
use super::select::select_bits;
use super::threads::{PARALLEL_FROM, with_threads_for};
use super::top::top_indices;
use super::{narrow, network, quicksort};
use crate::Error;
use crate::instructions::Available;
use crate::key::{BitMap, Bits, Key, KeyType, Order};
use crate::plan::{Algorithm, Limits};
use rayon::prelude::*;
use std::any::TypeId;
use std::ptr;

/// How a sort is to run on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) order: Order,
    /// Whether NaNs of both signs come last.
    pub(crate) nan_last: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) oblivious: bool,
    pub(crate) instructions: Available,
}

impl Settings {
    /// Those of a [`Sorter`](crate::Sorter) that was told nothing, without one.
    #[inline]
    pub(crate) fn usual() -> Self {
        let instructions = Available::detected();
        Self { order: Order::Ascending, nan_last: false, threads: None, oblivious: false, instructions }
    }

    /// What brings keys of this type into the order of these settings.
    #[inline]
    pub(crate) fn map<K: Key>(&self) -> BitMap<K::Bits> {
        self.map_of(K::TYPE)
    }

    /// The same, of a type that is known at run time only.
    #[inline]
    pub(crate) fn map_of<B: Bits>(&self, key: KeyType) -> BitMap<B> {
        BitMap::of(key, self.order, self.nan_last)
    }
}

/// The sorts of one key width.
///
/// Its implementations are not generic: but for the short way of a tile they are compiled once, with the library, and not again
/// for every key type in every crate that sorts. Generic code reaches them through [`sort`] and its like.
pub(super) trait Width: Sized {
    /// Sorts bits in memory so that what `map` makes of them ascends.
    fn sort(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) -> Result<(), Error>;

    /// The same, on as many threads as are asked for and the length is worth.
    fn sort_on_threads(bits: &mut [Self], map: BitMap<Self>, settings: Settings) -> Result<(), Error>;

    /// The vector kernels, if there are any.
    fn vector_kernels(available: Available) -> Option<&'static Kernels<Self>>;

    /// Sorts bits that fall and then rise, by half-cleaners; see [`merging`](super::merging).
    fn clean(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool);

    /// The keys packed with their indices, sorted; see [`packed`].
    fn sorted_with_indices(
        bits: &[Self],
        map: BitMap<Self>,
        settings: Settings,
    ) -> Result<Sorted<Self>, Error>;

    /// Puts the key of this rank in its place; see [`select`](super::select).
    fn select(bits: &mut [Self], map: BitMap<Self>, place: usize, settings: Settings);

    /// The indices of the first `k` keys in sorted order; see [`top`](super::top).
    fn top(bits: &[Self], map: BitMap<Self>, k: usize, settings: Settings) -> Result<Vec<usize>, Error>;

    /// How [`Width::sort`] would do it.
    fn plan(len: usize, settings: Settings) -> KeysPlan;
}

/// The same slice, if `A` and `B` are one type: what the compiler does not know of the bits of a generic key, but finds out.
#[inline(always)]
fn same_slice<A: 'static, B: 'static>(slice: &mut [A]) -> Option<&mut [B]> {
    // SAFETY: A and B are the same type; the borrow is handed on.
    (TypeId::of::<A>() == TypeId::of::<B>()).then(|| unsafe { &mut *(ptr::from_mut(slice) as *mut [B]) })
}

/// The same slice to read, if `A` and `B` are one type.
#[inline(always)]
fn same_shared<A: 'static, B: 'static>(slice: &[A]) -> Option<&[B]> {
    // SAFETY: A and B are the same type; the borrow is handed on.
    (TypeId::of::<A>() == TypeId::of::<B>()).then(|| unsafe { &*(ptr::from_ref(slice) as *const [B]) })
}

/// The same value, if `A` and `B` are one type.
#[inline(always)]
fn same_value<A: Copy + 'static, B: Copy + 'static>(value: A) -> Option<B> {
    // SAFETY: A and B are the same type.
    (TypeId::of::<A>() == TypeId::of::<B>()).then(|| unsafe { ptr::from_ref(&value).cast::<B>().read() })
}

/// Tries the code with every width that bits can have; one of them returns.
macro_rules! with_each_width {
    ($W:ident => $code:block) => {{
        {
            type $W = u32;
            $code
        }
        {
            type $W = u64;
            $code
        }
        {
            type $W = u8;
            $code
        }
        {
            type $W = u16;
            $code
        }
        {
            type $W = u128;
            $code
        }
        unreachable!("bits have one of five widths")
    }};
}

/// Sorts bits in memory so that what `map` makes of them ascends.
#[inline]
pub(super) fn sort<B: Bits>(
    bits: &mut [B],
    map: BitMap<B>,
    settings: Settings,
    parallel: bool,
) -> Result<(), Error> {
    with_each_width!(W => {
        if let (Some(bits), Some(map)) = (same_slice::<B, W>(bits), same_value::<_, BitMap<W>>(map)) {
            return <W as Width>::sort(bits, map, settings, parallel);
        }
    })
}

/// The same, on as many threads as are asked for and the length is worth.
#[inline]
pub(super) fn sort_on_threads<B: Bits>(
    bits: &mut [B],
    map: BitMap<B>,
    settings: Settings,
) -> Result<(), Error> {
    with_each_width!(W => {
        if let (Some(bits), Some(map)) = (same_slice::<B, W>(bits), same_value::<_, BitMap<W>>(map)) {
            return <W as Width>::sort_on_threads(bits, map, settings);
        }
    })
}

/// The vector kernels of keys of this width, if there are any.
pub(super) fn kernels<B: Bits>(available: Available) -> Option<&'static Kernels<B>> {
    with_each_width!(W => {
        if TypeId::of::<B>() == TypeId::of::<W>() {
            let kernels = <W as Width>::vector_kernels(available);
            // SAFETY: B and W are the same type.
            return kernels.map(|kernels| unsafe { &*ptr::from_ref(kernels).cast::<Kernels<B>>() });
        }
    })
}

/// Sorts bits in memory that fall and then rise by what `map` makes of them: obliviously.
pub(super) fn clean<B: Bits>(bits: &mut [B], map: BitMap<B>, settings: Settings, parallel: bool) {
    with_each_width!(W => {
        if let (Some(bits), Some(map)) = (same_slice::<B, W>(bits), same_value::<_, BitMap<W>>(map)) {
            return <W as Width>::clean(bits, map, settings, parallel);
        }
    })
}

/// Elements of keys and their indices, in order, and how they are made.
type Sorted<B> = (Vec<u64>, Packing<B>);

/// The keys packed with their indices, sorted; equal keys by index. Oblivious if asked for and if any key fits with its index.
pub(super) fn sorted_with_indices<B: Bits>(
    bits: &[B],
    map: BitMap<B>,
    settings: Settings,
) -> Result<Sorted<B>, Error> {
    with_each_width!(W => {
        if let (Some(bits), Some(map)) = (same_shared::<B, W>(bits), same_value::<_, BitMap<W>>(map)) {
            let (elements, packing) = <W as Width>::sorted_with_indices(bits, map, settings)?;
            return Ok((elements, same_value(packing).expect("W and B are one type")));
        }
    })
}

/// Puts the key of this rank in its place, those before it on its left and those after it on its right.
pub(super) fn select<B: Bits>(bits: &mut [B], map: BitMap<B>, place: usize, settings: Settings) {
    with_each_width!(W => {
        if let (Some(bits), Some(map)) = (same_slice::<B, W>(bits), same_value::<_, BitMap<W>>(map)) {
            return <W as Width>::select(bits, map, place, settings);
        }
    })
}

/// The indices of the first `k` keys in sorted order; equal keys by index. `k` is at most the number of keys.
pub(super) fn top<B: Bits>(
    bits: &[B],
    map: BitMap<B>,
    k: usize,
    settings: Settings,
) -> Result<Vec<usize>, Error> {
    with_each_width!(W => {
        if let (Some(bits), Some(map)) = (same_shared::<B, W>(bits), same_value::<_, BitMap<W>>(map)) {
            return <W as Width>::top(bits, map, k, settings);
        }
    })
}

/// How [`sort`] would do it.
pub(super) fn plan<B: Bits>(len: usize, settings: Settings) -> KeysPlan {
    with_each_width!(W => {
        if TypeId::of::<B>() == TypeId::of::<W>() {
            return <W as Width>::plan(len, settings);
        }
    })
}

/// How keys of one width are sorted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeysPlan {
    pub(crate) algorithm: Algorithm,
    pub(crate) limits: Limits,
    /// Memory beyond the keys, in bytes.
    pub(crate) scratch_bytes: usize,
}

/// What is alike for all widths.
macro_rules! threads_and_indices {
    () => {
        fn sort_on_threads(bits: &mut [Self], map: BitMap<Self>, settings: Settings) -> Result<(), Error> {
            with_threads_for(bits.len(), settings.threads, |parallel| {
                Self::sort(bits, map, settings, parallel)
            })?
        }

        fn sorted_with_indices(
            bits: &[Self],
            map: BitMap<Self>,
            settings: Settings,
        ) -> Result<Sorted<Self>, Error> {
            packed::sorted(bits, map, settings)
        }
    };
}

/// Sorts more keys than a tile holds, fast rather than obliviously.
pub(super) fn sort_by_partition<B: HasKernels + Bits>(
    bits: &mut [B],
    map: BitMap<B>,
    settings: Settings,
    parallel: bool,
) -> Result<(), Error> {
    quicksort::sort(bits, map, B::kernels(settings.instructions), parallel);
    Ok(())
}

/// What [`sort_by_partition`] does.
pub(super) fn plan_partition(_: usize, _: Settings, limits: Limits) -> KeysPlan {
    KeysPlan { algorithm: Algorithm::Partition, limits, scratch_bytes: 0 }
}

/// Obliviously sorts by vector kernels.
fn sort_by_network<B: Bits>(bits: &mut [B], map: BitMap<B>, parallel: bool, kernels: &Kernels<B>) {
    map_all(bits, map, kernels.to_ordered, parallel);
    network::sort(bits, kernels, parallel);
    map_all(bits, map, kernels.from_ordered, parallel);
}

/// Sorts bits that fall and then rise by vector kernels.
fn clean_by_kernels<B: Bits>(bits: &mut [B], map: BitMap<B>, parallel: bool, kernels: &Kernels<B>) {
    map_all(bits, map, kernels.to_ordered, parallel);
    network::clean(bits, kernels, parallel);
    map_all(bits, map, kernels.from_ordered, parallel);
}

/// [`Width::top`] by vector kernels.
fn top_by_kernels<B: Bits>(
    bits: &[B],
    map: BitMap<B>,
    k: usize,
    settings: Settings,
    kernels: &Kernels<B>,
) -> Result<Vec<usize>, Error> {
    top_indices(bits, map, k, settings, |bits, map, bound| {
        // SAFETY: the kernels were handed out for this processor; pointer and length are the slice's.
        unsafe { (kernels.first_below)(bits.as_ptr(), bits.len(), map, bound) }
    })
}

/// [`Width::plan`] of vector kernels; more keys than a tile holds go the way of `plan_fast` if they need not be sorted obliviously.
fn plan_kernels<B: Bits>(
    len: usize,
    settings: Settings,
    kernels: &Kernels<B>,
    plan_fast: impl FnOnce(usize, Settings, Limits) -> KeysPlan,
) -> KeysPlan {
    let limits = Limits { tile_log2: kernels.tile.ilog2(), fused_steps: 3 };
    if settings.oblivious || len <= kernels.tile {
        return KeysPlan { algorithm: Algorithm::Network, limits, scratch_bytes: 0 };
    }
    plan_fast(len, settings, limits)
}

macro_rules! vector_width {
    ($($Bits:ty: $sort_many:ident, $sort_fast:path, $plan_fast:path;)+) => {$(
        /// Sorts more keys than a tile holds.
        #[inline(never)]
        fn $sort_many(
            bits: &mut [$Bits],
            map: BitMap<$Bits>,
            settings: Settings,
            parallel: bool,
        ) -> Result<(), Error> {
            if !settings.oblivious {
                return $sort_fast(bits, map, settings, parallel);
            }
            sort_by_network(bits, map, parallel, <$Bits>::kernels(settings.instructions));
            Ok(())
        }

        impl Width for $Bits {
            #[inline]
            fn sort(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) -> Result<(), Error> {
                let kernels = <$Bits>::kernels(settings.instructions);
                if bits.len() <= kernels.tile {
                    sort_tile(bits, map, kernels);
                    Ok(())
                } else {
                    $sort_many(bits, map, settings, parallel)
                }
            }

            threads_and_indices!();

            fn vector_kernels(available: Available) -> Option<&'static Kernels<Self>> {
                Some(<$Bits>::kernels(available))
            }

            fn clean(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) {
                clean_by_kernels(bits, map, parallel, <$Bits>::kernels(settings.instructions));
            }

            fn select(bits: &mut [Self], map: BitMap<Self>, place: usize, settings: Settings) {
                select_bits(bits, map, place, <$Bits>::kernels(settings.instructions));
            }

            fn top(bits: &[Self], map: BitMap<Self>, k: usize, settings: Settings) -> Result<Vec<usize>, Error> {
                top_by_kernels(bits, map, k, settings, <$Bits>::kernels(settings.instructions))
            }

            fn plan(len: usize, settings: Settings) -> KeysPlan {
                plan_kernels(len, settings, <$Bits>::kernels(settings.instructions), $plan_fast)
            }
        }
    )+};
}
vector_width! {
    u16: sort_many_u16, narrow::sort_u16, narrow::plan_u16;
    u32: sort_many_u32, sort_by_partition, plan_partition;
    u64: sort_many_u64, sort_by_partition, plan_partition;
}

/// Sorts no more keys than a tile holds, by one network: obliviously.
#[inline]
pub(super) fn sort_tile<B: Bits>(bits: &mut [B], map: BitMap<B>, kernels: &Kernels<B>) {
    map_all(bits, map, kernels.to_ordered, false);
    kernels.sort_tile(bits);
    map_all(bits, map, kernels.from_ordered, false);
}

/// Turns all bits into ordered bits, or back.
#[inline]
fn map_all<B: Bits>(
    bits: &mut [B],
    map: BitMap<B>,
    convert: unsafe fn(*mut B, usize, BitMap<B>),
    parallel: bool,
) {
    if map.is_identity() {
        return;
    }
    if parallel {
        bits.par_chunks_mut(PARALLEL_FROM).for_each(|part| {
            // SAFETY: the kernels were handed out for this processor; pointer and length are the slice's.
            unsafe { convert(part.as_mut_ptr(), part.len(), map) }
        });
    } else {
        // SAFETY: as above.
        unsafe { convert(bits.as_mut_ptr(), bits.len(), map) }
    }
}

/// Has `arrange` move keys while they are ordered bits.
fn with_ordered<B: Bits>(bits: &mut [B], map: BitMap<B>, parallel: bool, arrange: impl FnOnce(&mut [B])) {
    if map.is_identity() {
        return arrange(bits);
    }
    change_all(bits, parallel, |bits| map.to_ordered(bits));
    arrange(bits);
    change_all(bits, parallel, |bits| map.from_ordered(bits));
}

/// Changes all bits, one by one.
fn change_all<B: Bits>(bits: &mut [B], parallel: bool, change: impl Fn(B) -> B + Sync) {
    let change_part = |part: &mut [B]| part.iter_mut().for_each(|bits| *bits = change(*bits));
    if parallel {
        bits.par_chunks_mut(PARALLEL_FROM).for_each(change_part);
    } else {
        change_part(bits);
    }
}

/// The same as [`with_ordered`] with keys that are exchanged without values.
fn with_ordered_run<B: Bits>(
    bits: &mut [B],
    map: BitMap<B>,
    parallel: bool,
    arrange: impl FnOnce(&mut Run<'_, B, ()>),
) {
    // A vector of `()` allocates nothing.
    let arrange = |bits: &mut [B]| arrange(&mut Run::new(bits, vec![(); bits.len()].as_mut_slice()));
    with_ordered(bits, map, parallel, arrange);
}

/// Sorts by the standard library.
fn sort_by_standard<B: Bits>(bits: &mut [B], map: BitMap<B>, parallel: bool) {
    // Comparing what a map makes of bits takes twice as long as comparing bits.
    let sort = |bits: &mut [B]| if parallel { bits.par_sort_unstable() } else { bits.sort_unstable() };
    with_ordered(bits, map, parallel, sort);
}

/// Obliviously sorts without vector kernels.
fn sort_by_scalar_network<B: Bits>(bits: &mut [B], map: BitMap<B>, parallel: bool) {
    with_ordered_run(bits, map, parallel, |run| run.sort(parallel));
}

/// Sorts bits that fall and then rise without vector kernels.
fn clean_by_scalar_network<B: Bits>(bits: &mut [B], map: BitMap<B>, parallel: bool) {
    with_ordered_run(bits, map, parallel, |run| run.clean(parallel));
}

/// [`Width::select`] without vector kernels.
fn select_by_standard<B: Bits>(bits: &mut [B], map: BitMap<B>, place: usize) {
    with_ordered(bits, map, false, |bits| {
        bits.select_nth_unstable(place);
    });
}

/// [`Width::top`] without vector kernels.
fn top_one_by_one<B: Bits>(
    bits: &[B],
    map: BitMap<B>,
    k: usize,
    settings: Settings,
) -> Result<Vec<usize>, Error> {
    top_indices(bits, map, k, settings, |bits, map, bound| {
        bits.iter().position(|&bits| map.to_ordered(bits) < bound).unwrap_or(bits.len())
    })
}

/// What [`sort_by_scalar_network`] does.
fn plan_scalar_network<B>() -> KeysPlan {
    KeysPlan { algorithm: Algorithm::Network, limits: scalar_limits::<B>(), scratch_bytes: 0 }
}

impl Width for u8 {
    fn sort(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) -> Result<(), Error> {
        if !settings.oblivious {
            return narrow::sort_u8(bits, map, settings, parallel);
        }
        sort_by_scalar_network(bits, map, parallel);
        Ok(())
    }

    threads_and_indices!();

    fn vector_kernels(_: Available) -> Option<&'static Kernels<Self>> {
        None
    }

    fn clean(bits: &mut [Self], map: BitMap<Self>, _: Settings, parallel: bool) {
        clean_by_scalar_network(bits, map, parallel);
    }

    fn select(bits: &mut [Self], map: BitMap<Self>, place: usize, _: Settings) {
        select_by_standard(bits, map, place);
    }

    fn top(bits: &[Self], map: BitMap<Self>, k: usize, settings: Settings) -> Result<Vec<usize>, Error> {
        top_one_by_one(bits, map, k, settings)
    }

    fn plan(len: usize, settings: Settings) -> KeysPlan {
        if settings.oblivious { plan_scalar_network::<Self>() } else { narrow::plan_u8(len, settings) }
    }
}

/// Among fewer 128-bit keys one is selected faster one by one.
const SELECTED_FROM_128_BITS: usize = 1 << 13;

/// Where there are no vector kernels, and where they do not pay, the standard library does it.
impl Width for u128 {
    fn sort(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) -> Result<(), Error> {
        match Self::vector_kernels(settings.instructions) {
            Some(kernels) if bits.len() <= kernels.tile => sort_tile(bits, map, kernels),
            Some(kernels) if settings.oblivious => sort_by_network(bits, map, parallel, kernels),
            Some(kernels) => quicksort::sort(bits, map, kernels, parallel),
            None if settings.oblivious => sort_by_scalar_network(bits, map, parallel),
            None => sort_by_standard(bits, map, parallel),
        }
        Ok(())
    }

    threads_and_indices!();

    fn vector_kernels(available: Available) -> Option<&'static Kernels<Self>> {
        kernels_of_128_bits(available)
    }

    fn clean(bits: &mut [Self], map: BitMap<Self>, settings: Settings, parallel: bool) {
        match Self::vector_kernels(settings.instructions) {
            Some(kernels) => clean_by_kernels(bits, map, parallel, kernels),
            None => clean_by_scalar_network(bits, map, parallel),
        }
    }

    fn select(bits: &mut [Self], map: BitMap<Self>, place: usize, settings: Settings) {
        match Self::vector_kernels(settings.instructions) {
            Some(kernels) if bits.len() >= SELECTED_FROM_128_BITS => select_bits(bits, map, place, kernels),
            _ => select_by_standard(bits, map, place),
        }
    }

    fn top(bits: &[Self], map: BitMap<Self>, k: usize, settings: Settings) -> Result<Vec<usize>, Error> {
        match Self::vector_kernels(settings.instructions) {
            Some(kernels) => top_by_kernels(bits, map, k, settings, kernels),
            None => top_one_by_one(bits, map, k, settings),
        }
    }

    fn plan(len: usize, settings: Settings) -> KeysPlan {
        match Self::vector_kernels(settings.instructions) {
            Some(kernels) => plan_kernels(len, settings, kernels, plan_partition),
            None if settings.oblivious => plan_scalar_network::<Self>(),
            None => {
                KeysPlan { algorithm: Algorithm::Standard, limits: scalar_limits::<Self>(), scratch_bytes: 0 }
            }
        }
    }
}

/// Where the scalar network cuts: keys of this many bytes in all fit any first-level cache; merges above go through memory.
pub(super) fn scalar_limits<B>() -> Limits {
    const TILE_BYTES: usize = 1 << 14;
    Limits { tile_log2: (TILE_BYTES / size_of::<B>()).ilog2(), fused_steps: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_settings_are_those_of_a_sorter_that_was_told_nothing() {
        assert_eq!(Ok(Settings::usual()), crate::Sorter::new().settings());
    }
}
