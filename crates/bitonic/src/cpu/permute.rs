//! Items moved to where a permutation says.

mod runs;

use super::narrow::try_vec;
use crate::Error;
use runs::{Runs, Shape};
use std::mem::MaybeUninit;
use std::ptr;

/// Fewer bytes of items than this go by way of a copy, which the caches hold.
const COPIED_BELOW: usize = 2 << 20;

/// Items of more bytes than this go along cycles. A look at one takes as long as before, but there are fewer of them, and each is
/// moved once.
const LARGE_ITEM: usize = 128;

/// Puts `items[index_of(i)]` at i. Items are moved, never cloned. Where memory is refused, they go along the cycles of the permutation,
/// which takes a bit for every item.
///
/// The indices must be a permutation: see [`check`].
pub(crate) fn permute<T>(items: &mut [T], index_of: impl Fn(usize) -> usize + Copy) -> Result<(), Error> {
    let way =
        Way::prepare(items.len(), index_of).or_else(|_| Ok(Way::AlongCycles(Marks::new(items.len())?)))?;
    Moves { way, index_of }.carry_out(items);
    Ok(())
}

/// What puts `items[index_of(i)]` at i and cannot fail any more.
pub(crate) struct Moves<T, I> {
    way: Way<T>,
    index_of: I,
}

impl<T, I: Fn(usize) -> usize + Copy> Moves<T, I> {
    /// For so many items, with all the memory that is needed. The indices must be a permutation.
    pub(crate) fn prepare(len: usize, index_of: I) -> Result<Self, Error> {
        Ok(Self { way: Way::prepare(len, index_of)?, index_of })
    }

    /// Moves as many items as this was prepared for.
    pub(crate) fn carry_out(self, items: &mut [T]) {
        match self.way {
            Way::ByCopy(room) => permute_by_copy(items, self.index_of, room),
            Way::InRuns(runs) => runs.permute(items, self.index_of),
            Way::AlongCycles(mut marks) => permute_along_cycles(items, self.index_of, &mut marks),
        }
    }
}

/// How items are moved, with the memory for it.
enum Way<T> {
    /// By way of a copy: no move waits for another.
    ByCopy(Vec<MaybeUninit<T>>),
    /// Those that are close to each other first.
    InRuns(Runs<T>),
    /// Every item once, to where the one before it was.
    AlongCycles(Marks),
}

impl<T> Way<T> {
    fn prepare(len: usize, index_of: impl Fn(usize) -> usize + Copy) -> Result<Self, Error> {
        Ok(if is_copied::<T>(len) {
            Self::ByCopy(try_vec(len)?)
        } else if size_of::<T>() > LARGE_ITEM {
            Self::AlongCycles(Marks::new(len)?)
        } else {
            Self::InRuns(Runs::prepare(Shape::of::<T>(len), index_of)?)
        })
    }
}

fn is_copied<T>(len: usize) -> bool {
    len.saturating_mul(size_of::<T>()) < COPIED_BELOW
}

/// How many bytes [`Moves::prepare`] asks for.
pub(crate) fn bytes<T>(len: usize) -> usize {
    if is_copied::<T>(len) {
        len * size_of::<T>()
    } else if size_of::<T>() > LARGE_ITEM {
        len / 8
    } else {
        Shape::of::<T>(len).bytes::<T>()
    }
}

fn permute_by_copy<T>(
    items: &mut [T],
    index_of: impl Fn(usize) -> usize + Copy,
    mut room: Vec<MaybeUninit<T>>,
) {
    // SAFETY: every item is read bit by bit into the room, at a checked index, and afterwards every place is written from there. The
    // indices are a permutation, so each item is in one place before and after; in between nothing can panic but a wrong index, before
    // anything is written, and the room drops no item.
    unsafe {
        room.extend(
            (0..items.len())
                .map(|place| ptr::from_ref(&items[index_of(place)]).cast::<MaybeUninit<T>>().read()),
        );
        ptr::copy_nonoverlapping(room.as_ptr().cast::<T>(), items.as_mut_ptr(), items.len());
    }
}

fn permute_along_cycles<T>(items: &mut [T], index_of: impl Fn(usize) -> usize + Copy, done: &mut Marks) {
    for start in 0..items.len() {
        if !done.set(start) {
            continue;
        }
        let mut place = start;
        // The item that was at `place` wanders along with each swap, and is at home when the cycle closes.
        loop {
            let source = index_of(place);
            if !done.set(source) {
                break;
            }
            items.swap(place, source);
            place = source;
        }
    }
}

/// A mark for each of so many places.
pub(crate) struct Marks(Vec<u64>);

impl Marks {
    /// No place is marked.
    pub(crate) fn new(len: usize) -> Result<Self, Error> {
        let mut words = try_vec(len.div_ceil(64))?;
        words.resize(len.div_ceil(64), 0);
        Ok(Self(words))
    }

    /// Marks a place; whether it was not marked before.
    pub(crate) fn set(&mut self, place: usize) -> bool {
        let (word, bit) = (&mut self.0[place / 64], 1 << (place % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// Whether every index below `len` is there once; else the first place whose index is wrong.
pub(crate) fn check(indices: &[usize], len: usize) -> Result<(), Error> {
    if indices.len() != len {
        return Err(Error::OutputLength { needed: len, given: indices.len() });
    }
    let mut seen = Marks::new(len)?;
    for (place, &index) in indices.iter().enumerate() {
        if index >= len || !seen.set(index) {
            return Err(Error::NoPermutation { place, index, len });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All permutations of so many indices.
    fn permutations(len: usize) -> Vec<Vec<usize>> {
        if len == 0 {
            return vec![Vec::new()];
        }
        let shorter = permutations(len - 1);
        shorter
            .iter()
            .flat_map(|permutation| {
                (0..len).map(|at| {
                    let mut longer = permutation.clone();
                    longer.insert(at, len - 1);
                    longer
                })
            })
            .collect()
    }

    #[test]
    fn both_ways_put_every_item_where_the_permutation_says() {
        for len in 0..=6 {
            for indices in permutations(len) {
                let items: Vec<String> = (0..len).map(|number| format!("item {number}")).collect();
                let expected: Vec<String> = indices.iter().map(|&index| items[index].clone()).collect();
                check(&indices, len).unwrap();
                let index_of = |place: usize| indices[place];
                let room = || try_vec(len).unwrap();
                let marks = || Marks::new(len).unwrap();
                for way in [Way::ByCopy(room()), Way::AlongCycles(marks())] {
                    let mut items = items.clone();
                    Moves { way, index_of }.carry_out(&mut items);
                    assert_eq!(items, expected, "{indices:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_permutation_is_told_with_its_place() {
        assert_eq!(check(&[1, 0], 2), Ok(()));
        assert_eq!(check(&[1, 1], 2), Err(Error::NoPermutation { place: 1, index: 1, len: 2 }));
        assert_eq!(check(&[2, 0], 2), Err(Error::NoPermutation { place: 0, index: 2, len: 2 }));
        assert_eq!(check(&[0], 2), Err(Error::OutputLength { needed: 2, given: 1 }));
    }
}
