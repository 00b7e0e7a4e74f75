//! Plans and runs requests on the CPU: the one way from a request to the sorts of this folder.

use super::pairs::{
    self, argsort, each_indexed, for_each_index, sort_in_place, sort_pairs, sort_run, structures_plan,
    unpack_indexed,
};
use super::parts::{Bounds, Parts, each_batch, each_part};
use super::scalar::Indexed;
use super::together::{self, Holder};
use super::width::{KeysPlan, Settings};
use super::{short_parts, sort_bits, sort_bits_in_any_case, threads, try_vec, width};
use crate::key::{BitMap, Bits};
use crate::plan::{Memory, Plan};
use crate::request::{Request, Segments};
use crate::{Engine, Error};
use std::borrow::Cow;

/// What [`sort_segments`] will do.
pub(crate) fn plan_keys<B: Bits>(request: &Request, settings: Settings) -> KeysPlan {
    width::plan::<B>(request.segments.longest(), settings)
}

/// What [`sort_pairs`] and [`sort_pairs_of_parts`] will do.
pub(crate) fn plan_pairs<B: Bits, V>(request: &Request, settings: Settings) -> KeysPlan {
    let longest = request.segments.longest();
    if !request.stable || matches!(request.segments, Segments::One { .. }) {
        return pairs::plan_pairs::<B, V>(longest, request.stable, settings);
    }
    // All parts at once: see there.
    let len = request.len();
    match Holder::of::<B, V>(len, true).filter(|_| request.oblivious) {
        Some(holder) => {
            let scratch_bytes = holder.plan(len, settings).scratch_bytes;
            KeysPlan { scratch_bytes, ..holder.plan(longest, settings) }
        }
        None if request.oblivious => KeysPlan {
            scratch_bytes: len.saturating_mul(size_of::<Indexed<B>>()),
            ..structures_plan(longest, 0)
        },
        None => {
            let order = pairs::plan_argsort::<B>(longest, settings);
            let sorted = len.saturating_mul(size_of::<B>() + size_of::<V>());
            let indices = len.saturating_mul(size_of::<usize>());
            KeysPlan { scratch_bytes: indices.saturating_add(sorted.max(order.scratch_bytes)), ..order }
        }
    }
}

/// What [`argsort_segments`] will do. Its result is not counted as working memory.
pub(crate) fn plan_argsort<B: Bits>(request: &Request, settings: Settings) -> KeysPlan {
    pairs::plan_argsort::<B>(request.segments.longest(), settings)
}

/// The plan of a request whose segments are sorted like this. Inlined, so that a plan is written where it is wanted: it has hundreds of
/// bytes, and moving it takes longer than sorting a few keys.
#[inline(always)]
pub(crate) fn plan_request(request: &Request, settings: Settings, of_segment: KeysPlan) -> Plan {
    Plan {
        request: *request,
        engine: Engine::Cpu,
        device: Cow::Borrowed(super::device()),
        algorithm: of_segment.algorithm,
        limits: of_segment.limits,
        threads: threads::count_for(request.len(), settings.threads),
        instructions: Some(settings.instructions.set()),
        kernels: None,
        chunks: None,
        memory: Memory { host: of_segment.scratch_bytes, ..Memory::default() },
        predicted: None,
    }
}

/// Sorts every segment.
pub(crate) fn sort_segments<B: Bits>(
    bits: &mut [B],
    map: BitMap<B>,
    segments: Segments,
    settings: Settings,
) -> Result<(), Error> {
    match bounds(segments) {
        None => sort_bits(bits, map, settings),
        Some(bounds) => sort_parts(bits, map, bounds, settings),
    }
}

/// The index of every key in its segment, in the order of the segment; equal keys by index.
pub(crate) fn argsort_segments<B: Bits>(
    bits: &[B],
    map: BitMap<B>,
    segments: Segments,
    settings: Settings,
) -> Result<Vec<usize>, Error> {
    match bounds(segments) {
        None => argsort(bits, map, settings),
        Some(bounds) => argsort_parts(bits, map, bounds, settings),
    }
}

/// The bounds of segments, if they say them: where there are offsets, the caller has them.
fn bounds(segments: Segments) -> Option<Bounds<'static>> {
    match segments {
        Segments::One { .. } => None,
        Segments::Rows { rows, row_length } => Some(Bounds::Rows { rows, row_length }),
        Segments::Offsets { .. } => unreachable!("segments with offsets are sorted as parts"),
    }
}

/// Sorts every part of the keys in place, parts in parallel where they are worth it.
pub(crate) fn sort_parts<B: Bits>(
    bits: &mut [B],
    map: BitMap<B>,
    bounds: Bounds<'_>,
    settings: Settings,
) -> Result<(), Error> {
    let parts = Parts::new(bits, bounds);
    let kernels = width::kernels::<B>(settings.instructions);
    let together = kernels.map_or(1, |_| short_parts::parts_of_batch::<B>(bounds));
    each_batch(bounds, together, settings.threads, &|mut numbers, threads| {
        // Parts before this one may be sorted already.
        let sort_alone = |part: &mut [B]| sort_bits_in_any_case(part, map, Settings { threads, ..settings });
        // SAFETY: every part comes once; the bounds ascend, as `Segments` has checked. The kernels were handed out for this processor.
        unsafe {
            match kernels.filter(|_| numbers.len() > 1) {
                Some(kernels) => short_parts::sort(&parts, numbers, map, kernels, sort_alone),
                None => numbers.try_for_each(|number| sort_alone(parts.part(number))),
            }
        }
    })
}

/// The index of every key in its part, in the order of the part; equal keys by index. There is one for every key of a part; keys in no
/// part have none.
pub(crate) fn argsort_parts<B: Bits>(
    bits: &[B],
    map: BitMap<B>,
    bounds: Bounds<'_>,
    settings: Settings,
) -> Result<Vec<usize>, Error> {
    let mut indices = try_vec(bounds.len())?;
    indices.resize(bounds.len(), 0);
    let parts = Parts::from_first(&mut indices, bounds);
    each_part(bounds, settings.threads, &|number, threads| {
        // SAFETY: every part comes once; the bounds ascend, as `Segments` has checked.
        let mut places = unsafe { parts.part(number) }.iter_mut();
        for_each_index(&bits[bounds.range(number)], map, Settings { threads, ..settings }, |index| {
            if let Some(place) = places.next() {
                *place = index;
            }
        })
    })?;
    Ok(indices)
}

/// Sorts every part of the keys, and moves every value with its key. Parts before another may be sorted already, so memory is asked
/// for before the first is, or done without.
pub(crate) fn sort_pairs_of_parts<B: Bits, V: Copy + Send>(
    keys: &mut [B],
    values: &mut [V],
    map: BitMap<B>,
    bounds: Bounds<'_>,
    stable: bool,
    settings: Settings,
) -> Result<(), Error> {
    match (stable, settings.oblivious) {
        (false, _) => {
            let (keys, values) = (Parts::new(keys, bounds), Parts::new(values, bounds));
            each_part(bounds, settings.threads, &|number, threads| {
                let settings = Settings { threads, ..settings };
                // SAFETY: every part comes once; the bounds ascend, as `Segments` has checked.
                let (keys, values) = unsafe { (keys.part(number), values.part(number)) };
                // Where memory is refused, the network, which needs none, sorts the part.
                sort_pairs(keys, values, map, false, settings)
                    .or_else(|_| sort_in_place(keys, values, map, Settings { oblivious: true, ..settings }))
            })
        }
        (true, false) => {
            let indices = argsort_parts(keys, map, bounds, settings)?;
            let (mut sorted_keys, mut sorted_values) = (try_vec(indices.len())?, try_vec(indices.len())?);
            let mut rest = indices.as_slice();
            for number in 0..bounds.count() {
                let range = bounds.range(number);
                let (of_part, later) = rest.split_at(range.len());
                sorted_keys.extend(of_part.iter().map(|index| keys[range.start + index]));
                sorted_values.extend(of_part.iter().map(|index| values[range.start + index]));
                rest = later;
            }
            let covered = bounds.covered();
            keys[covered.clone()].copy_from_slice(&sorted_keys);
            values[covered].copy_from_slice(&sorted_values);
            Ok(())
        }
        (true, true) => {
            if let Some(holder) = Holder::of::<B, V>(bounds.len(), true) {
                return together::sort(keys, values, holder, bounds, map, true, settings);
            }
            let mut elements = try_vec(bounds.len())?;
            for number in 0..bounds.count() {
                elements.extend(each_indexed(&keys[bounds.range(number)], map));
            }
            let one = Settings { threads: Some(1), ..settings };
            let covered = bounds.covered();
            let mut rest = elements.as_mut_slice();
            for number in 0..bounds.count() {
                let range = bounds.range(number);
                let (of_part, later) = rest.split_at_mut(range.len());
                sort_run(of_part, &mut values[range], one)?;
                rest = later;
            }
            unpack_indexed(&mut keys[covered], &elements, map);
            Ok(())
        }
    }
}
