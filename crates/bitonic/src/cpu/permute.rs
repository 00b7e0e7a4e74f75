//! Items moved to where a permutation says.

use super::narrow::try_vec;
use crate::Error;
use std::mem::MaybeUninit;
use std::ptr;

/// Puts `items[indices[i]]` at i. Items are moved, never cloned. By way of a copy if there is memory for one, because then no move
/// waits for another; else along the cycles of the permutation, which takes a bit for every item.
///
/// The indices must be a permutation: see [`check`].
pub(crate) fn permute<T>(items: &mut [T], indices: &[usize]) -> Result<(), Error> {
    assert_eq!(items.len(), indices.len());
    match try_vec(items.len()) {
        Ok(room) => permute_by_copy(items, indices, room),
        Err(_) => permute_along_cycles(items, indices, &mut Marks::new(items.len())?),
    }
    Ok(())
}

fn permute_by_copy<T>(items: &mut [T], indices: &[usize], mut room: Vec<MaybeUninit<T>>) {
    // SAFETY: every item is read bit by bit into the room, at a checked index, and afterwards every place is written from there. The
    // indices are a permutation, so each item is in one place before and after; in between nothing can panic but a wrong index, before
    // anything is written, and the room drops no item.
    unsafe {
        room.extend(
            indices.iter().map(|&index| ptr::from_ref(&items[index]).cast::<MaybeUninit<T>>().read()),
        );
        ptr::copy_nonoverlapping(room.as_ptr().cast::<T>(), items.as_mut_ptr(), items.len());
    }
}

fn permute_along_cycles<T>(items: &mut [T], indices: &[usize], done: &mut Marks) {
    for start in 0..items.len() {
        if !done.set(start) {
            continue;
        }
        let mut place = start;
        // The item that was at `place` wanders along with each swap, and is at home when the cycle closes.
        while done.set(indices[place]) {
            items.swap(place, indices[place]);
            place = indices[place];
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
                let (mut by_copy, mut along_cycles) = (items.clone(), items);
                check(&indices, len).unwrap();
                permute(&mut by_copy, &indices).unwrap();
                permute_along_cycles(&mut along_cycles, &indices, &mut Marks::new(len).unwrap());
                assert_eq!(by_copy, expected, "{indices:?}");
                assert_eq!(along_cycles, expected, "{indices:?}");
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
