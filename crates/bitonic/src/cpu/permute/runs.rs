//! A permutation of more items than the caches hold, without a look at memory that nobody foresaw.
//!
//! ```text
//!   the array      | run 0 | run 1 | run 2 | ..           a run fits the second-level cache
//!   1. lists       for each run, where in it are the items that go first, second, ..
//!   2. gather      every run by its list, into the place of the run before it; run 0 into a room beside the array
//!   3. deal        the next item is always the next of some run: as many streams as there are runs. The result fills free
//!                  slots; a slot of a run that was read to its end is free again
//!   4. arrange     slots go where they belong, each as a whole
//! ```
//!
//! An item moves three times, but each look is into a cache or at the next of a stream, and no page of memory is touched for the first time
//! but those of the room and of the lists, which have two bytes for an item. A look at any item of a large array takes a walk through the
//! tables of pages as well; a second array takes thousands of first touches.

use crate::Error;
use crate::cpu::narrow::try_vec;
use crate::cpu::prefetch::prefetch;
use std::mem::{self, MaybeUninit};
use std::ptr;

/// A run has at most so many bytes.
const RUN_BYTES: usize = 1 << 20;

/// A run has at most two to the power of this many items. Their places within the run fit 16 bits.
const RUN_LOG2: u32 = 15;

/// Fewer items are cut into this many runs. Processors find as many pages at once without a loss.
const FEW_RUNS: usize = 32;

/// A slot has so many bytes, or a little less. Smaller ones take longer to arrange.
const SLOT_BYTES: usize = 8 << 10;

/// Lists are so many entries apart: without a gap, those that grow evenly would end in the same few lines of a cache.
const GAP: usize = 32;

/// How many bytes ahead of its next item a stream asks for memory.
const STREAM_AHEAD: usize = 256;

/// How items are cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    len: usize,
    /// A run has two to the power of this many items; the last may have fewer.
    run_log2: u32,
    /// A slot has two to the power of this many items: at most as many as a run.
    slot_log2: u32,
}

impl Shape {
    /// For so many items of this type, which has at most as many bytes as a slot.
    pub(super) fn of<T>(len: usize) -> Self {
        let log2 = |bytes: usize| (bytes / size_of::<T>()).ilog2();
        let slot_log2 = log2(SLOT_BYTES);
        let few = len.div_ceil(FEW_RUNS).next_power_of_two().ilog2();
        Self { len, run_log2: few.min(log2(RUN_BYTES)).min(RUN_LOG2).max(slot_log2), slot_log2 }
    }

    fn run(self) -> usize {
        1 << self.run_log2
    }

    fn slot(self) -> usize {
        1 << self.slot_log2
    }

    fn runs(self) -> usize {
        self.len.div_ceil(self.run())
    }

    /// How many slots the array has. Items behind the last one are less than a slot.
    fn slots_of_array(self) -> usize {
        self.len >> self.slot_log2
    }

    /// How many slots the room has: for a run, and one more for every run. Of each run at most one slot is read in part; so wherever
    /// the deal stands, one of all slots is free.
    fn slots_of_room(self) -> usize {
        (self.run() >> self.slot_log2) + self.runs()
    }

    /// How far a list is from the next.
    fn list(self) -> usize {
        self.run() + GAP
    }

    /// How many bytes [`Runs::prepare`] asks for.
    pub(super) fn bytes<T>(self) -> usize {
        let lists = self.runs().saturating_mul(self.list() * size_of::<u16>());
        let room = self.slots_of_room().saturating_mul(self.slot() * size_of::<T>());
        let slots = 2 * self.slots_of_array() + self.slots_of_room();
        let tables = slots.saturating_mul(size_of::<usize>());
        let streams = self.runs().saturating_mul(size_of::<Stream<T>>());
        lists.saturating_add(room).saturating_add(tables).saturating_add(streams)
    }
}

/// A run that was gathered, as far as it was dealt.
struct Stream<T> {
    start: *const T,
    dealt: usize,
    /// The number of its first slot.
    slot: usize,
}

/// What a permutation in runs needs.
pub(super) struct Runs<T> {
    shape: Shape,
    /// For every run, the places within it in the order in which its items are dealt.
    lists: Vec<u16>,
    room: Vec<MaybeUninit<T>>,
    streams: Vec<Stream<T>>,
    /// The numbers of free slots. Those of the room follow those of the array.
    free: Vec<usize>,
    /// For every slot of the result, the number of the slot where it is.
    found: Vec<usize>,
}

impl<T> Runs<T> {
    /// All memory, and the lists.
    pub(super) fn prepare(shape: Shape, index_of: impl Fn(usize) -> usize) -> Result<Self, Error> {
        let mut lists = try_vec(shape.runs() * shape.list())?;
        lists.resize(shape.runs() * shape.list(), 0);
        let mut ends = try_vec(shape.runs())?;
        ends.extend((0..shape.runs()).map(|run| run * shape.list()));
        for place in 0..shape.len {
            let index = index_of(place);
            assert!(index < shape.len);
            let end: &mut usize = &mut ends[index >> shape.run_log2];
            lists[*end] = (index & (shape.run() - 1)) as u16;
            *end += 1;
        }
        for (run, end) in ends.into_iter().enumerate() {
            let length = shape.run().min(shape.len - run * shape.run());
            assert_eq!(end, run * shape.list() + length, "the indices are a permutation");
        }
        Ok(Self {
            shape,
            lists,
            room: try_vec(shape.slots_of_room() * shape.slot())?,
            streams: try_vec(shape.runs())?,
            free: try_vec(shape.slots_of_array() + shape.slots_of_room())?,
            found: try_vec(shape.slots_of_array() + 1)?,
        })
    }

    /// Moves the items. The indices are those that this was prepared for.
    pub(super) fn permute(mut self, items: &mut [T], index_of: impl Fn(usize) -> usize) {
        assert_eq!(items.len(), self.shape.len);
        let slots = Slots {
            array: items.as_mut_ptr(),
            of_array: self.shape.slots_of_array(),
            room: self.room.as_mut_ptr().cast(),
            log2: self.shape.slot_log2,
        };
        // SAFETY: the slots are those of the items and of the room, which both live as long as this call, and have the shape's size. Items
        // are moved bit by bit, from place to place. The indices are a permutation, so each item is in one place of the array at last;
        // nothing panics before, since every index was looked at, and the room drops no item.
        unsafe {
            self.gather(slots);
            self.deal(slots, index_of);
            self.arrange(slots);
        }
    }

    /// Gathers every run by its list into the place of the run before it.
    ///
    /// # Safety
    ///
    /// The slots are those of items and of a room of this shape, which hold as many items as it says.
    unsafe fn gather(&mut self, slots: Slots<T>) {
        let shape = self.shape;
        for (number, list) in self.lists.chunks_exact(shape.list()).enumerate() {
            let first = number * shape.run();
            let list = &list[..shape.run().min(shape.len - first)];
            let slot = if number == 0 { slots.of_array } else { (first - shape.run()) >> shape.slot_log2 };
            // SAFETY: the list has as many entries as the run has items, each below their number. The run before this one was gathered
            // already, and the first has the room, so nothing is overwritten.
            unsafe {
                let (run, to) = (slots.array.add(first), slots.at(slot));
                for (place, &source) in list.iter().enumerate() {
                    // The run after this one.
                    prefetch(run.wrapping_add(shape.run() + place));
                    ptr::copy_nonoverlapping(run.add(usize::from(source)), to.add(place), 1);
                }
                self.streams.push(Stream { start: to, dealt: 0, slot });
            }
        }
        let of_run = shape.run() >> shape.slot_log2;
        let behind = shape.len.saturating_sub(shape.run()).div_ceil(shape.slot());
        self.free.extend(behind..slots.of_array);
        self.free.extend(slots.of_array + of_run..slots.of_array + shape.slots_of_room());
    }

    /// Fills free slots with the result.
    ///
    /// # Safety
    ///
    /// As for [`Self::gather`], which was called.
    unsafe fn deal(&mut self, slots: Slots<T>, index_of: impl Fn(usize) -> usize) {
        let Shape { len, run_log2, slot_log2 } = self.shape;
        let last_of_slot = self.shape.slot() - 1;
        let ahead = STREAM_AHEAD / size_of::<T>();
        // For all that the compiler knows, items are written over `self`.
        let streams = self.streams.as_mut_slice();
        for start in (0..len).step_by(self.shape.slot()) {
            let slot = self.free.pop().expect("of each run at most one slot is read in part");
            self.found.push(slot);
            // SAFETY: there is a slot of this number.
            let to = unsafe { slots.at(slot) };
            for place in start..len.min(start + self.shape.slot()) {
                let stream = &mut streams[index_of(place) >> run_log2];
                let dealt = stream.dealt;
                stream.dealt += 1;
                prefetch(stream.start.wrapping_add(dealt + ahead));
                // SAFETY: the stream has as many items as there are indices in its run, and the slot is free: whatever was in it was
                // dealt.
                unsafe { ptr::copy_nonoverlapping(stream.start.add(dealt), to.add(place - start), 1) };
                if dealt & last_of_slot == last_of_slot {
                    self.free.push(stream.slot + (dealt >> slot_log2));
                }
            }
        }
        // The last run may end within a slot.
        if let Some(stream) = self.streams.last().filter(|stream| stream.dealt & last_of_slot != 0) {
            self.free.push(stream.slot + (stream.dealt >> slot_log2));
        }
    }

    /// Puts every slot of the result where it belongs.
    ///
    /// # Safety
    ///
    /// As for [`Self::gather`]; all was dealt.
    unsafe fn arrange(&mut self, slots: Slots<T>) {
        let rest = self.shape.len & (self.shape.slot() - 1);
        // SAFETY: a slot is copied to another that is free, or whose content was copied before.
        unsafe {
            if rest > 0
                && let Some(slot) = self.found.pop()
            {
                ptr::copy_nonoverlapping(slots.at(slot), slots.array.add(self.shape.len - rest), rest);
                self.free.push(slot);
            }
            // What belongs into a free slot leaves another one free, until that is one of the room.
            for &slot in &self.free {
                let mut free = slot;
                while free < slots.of_array {
                    let from = mem::replace(&mut self.found[free], free);
                    slots.copy(from, free);
                    free = from;
                }
            }
            // The others change places along cycles. The room is free now.
            let aside = slots.of_array;
            for start in 0..slots.of_array {
                if self.found[start] == start {
                    continue;
                }
                slots.copy(start, aside);
                let mut free = start;
                while self.found[free] != start {
                    let from = mem::replace(&mut self.found[free], free);
                    slots.copy(from, free);
                    free = from;
                }
                self.found[free] = free;
                slots.copy(aside, free);
            }
        }
    }
}

/// The slots of the array, and behind them those of the room.
struct Slots<T> {
    array: *mut T,
    of_array: usize,
    room: *mut T,
    log2: u32,
}

impl<T> Clone for Slots<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slots<T> {}

impl<T> Slots<T> {
    /// Where a slot begins.
    ///
    /// # Safety
    ///
    /// There is a slot of this number.
    unsafe fn at(self, slot: usize) -> *mut T {
        // SAFETY: the slot lies in the array or in the room.
        unsafe {
            match slot.checked_sub(self.of_array) {
                None => self.array.add(slot << self.log2),
                Some(slot) => self.room.add(slot << self.log2),
            }
        }
    }

    /// Copies a slot to another.
    ///
    /// # Safety
    ///
    /// There are slots of these numbers, which differ.
    unsafe fn copy(self, from: usize, to: usize) {
        // SAFETY: slots do not overlap.
        unsafe { ptr::copy_nonoverlapping(self.at(from), self.at(to), 1 << self.log2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::permute::{bytes, permute};

    /// A permutation that looks random.
    fn shuffled(len: usize) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..len).collect();
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for place in (1..len).rev() {
            state = state.wrapping_mul(0xDA94_2042_E4DD_58B5).wrapping_add(1);
            indices.swap(place, (state >> 33) as usize % (place + 1));
        }
        indices
    }

    fn check(shape: Shape, indices: &[usize], what: &str) {
        let mut items: Vec<String> = (0..indices.len()).map(|number| format!("item {number}")).collect();
        let expected: Vec<String> = indices.iter().map(|&index| items[index].clone()).collect();
        let index_of = |place: usize| indices[place];
        Runs::prepare(shape, index_of).unwrap().permute(&mut items, index_of);
        assert_eq!(items, expected, "{what}, {shape:?}");
    }

    #[test]
    fn every_item_goes_where_the_permutation_says() {
        for len in (1..70).chain([200, 255, 256, 257, 1000]) {
            for (run_log2, slot_log2) in [(0, 0), (2, 0), (2, 2), (4, 1), (4, 3), (5, 2), (10, 4)] {
                let shape = Shape { len, run_log2, slot_log2 };
                let shuffled = shuffled(len);
                let mut inverse = vec![0; len];
                shuffled.iter().enumerate().for_each(|(place, &index)| inverse[index] = place);
                check(shape, &shuffled, "shuffled");
                check(shape, &inverse, "its inverse");
                check(shape, &(0..len).collect::<Vec<_>>(), "in place");
                check(shape, &(0..len).rev().collect::<Vec<_>>(), "reversed");
                check(shape, &(0..len).map(|place| (place + len / 3) % len).collect::<Vec<_>>(), "rotated");
                let turns = |place: usize| (0..len).skip(place).step_by(7);
                check(shape, &(0..7).flat_map(turns).collect::<Vec<_>>(), "every seventh");
            }
        }
    }

    #[test]
    fn many_items_of_any_size_go_where_the_permutation_says() {
        fn check<T: Clone + PartialEq>(len: usize, item: impl Fn(usize) -> T) {
            let indices = shuffled(len);
            let mut items: Vec<T> = (0..len).map(&item).collect();
            permute(&mut items, |place| indices[place]).unwrap();
            assert!(items.iter().zip(&indices).all(|(moved, &index)| *moved == item(index)));
            assert!(bytes::<T>(len) < len * (3 + size_of::<T>() / 2), "{}", bytes::<T>(len));
        }
        check(2_100_000, |index| index as u8);
        check(300_001, |index| index);
        check(120_000, |index| [index as u8; 24]);
        check(100_000, |index| index.to_string());
        check(30_000, |index| [index as u16; 50]);
        check(10_000, |index| [index as u32; 100]);
    }

    #[test]
    #[should_panic(expected = "the indices are a permutation")]
    fn an_index_that_is_missing_is_seen_before_anything_moves() {
        let shape = Shape { len: 20, run_log2: 3, slot_log2: 1 };
        let _ = Runs::<String>::prepare(shape, |place| place.saturating_sub(9));
    }
}
