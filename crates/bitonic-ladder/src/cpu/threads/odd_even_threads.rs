//! Odd-even transposition with a chunk of the keys for every thread, each at its own pace, until nothing changes anywhere.
//!
//! ```text
//!                 thread 0            thread 1            thread 2
//!               [ a  b  c  d ]      [ e  f  g  h ]      [ i  j  k  l ]
//!   one sweep      b-c  d-e            f-g  h-i            j-k           odd pairs, the last one across the border,
//!               a-b  c-d            e-f  g-h            i-j  k-l         each followed by the even pair below it
//!
//!   thread      sweeps until a sweep exchanges nothing, and ends
//!   all         are joined; if any of them exchanged a key, all are started again
//! ```
//!
//! Threads do not wait for each other: no barrier between phases, because so many switches of threads would cost more than the
//! comparators between them. Keys cross a border while both neighbours sweep. A chunk that is in order ends its thread; a key
//! that arrives later is seen in the next round.
//!
//! What two threads share is the first key of each chunk: its owner compares it with its second key, the left neighbour with its
//! last one. The program that this rung is taken from lets them race for it. Here it lies in a mutex, which is taken twice a sweep, so it
//! costs next to nothing; the rest of a chunk is an ordinary `&mut` slice. In a round that exchanges nothing the keys do not
//! change at all, and every pair of neighbours was compared: they are sorted.
//!
//! What it costs: it is quadratic. A sweep moves a key two places, so a chunk of n/p keys needs as many sweeps as keys, and a key
//! that has to cross all chunks goes through all of them. The number of threads grows with the length, log2 n - 5 of them at
//! most: for few keys starting threads takes longer than sorting.

use super::start::a_thread_for_each;
use crate::LadderError;
use crate::cpu::one_thread::{compare_exchange, log2, ordered};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

pub(crate) fn sort<T: Copy + Ord + Send>(keys: &mut [T], threads: NonZero<usize>) -> Result<(), LadderError> {
    if keys.len() < 2 {
        return Ok(());
    }
    let threads = threads.get().min(log2(keys.len()).saturating_sub(5).max(1) as usize);
    let length = keys.len() / threads;
    let firsts: Vec<Mutex<T>> = (0..threads).map(|chunk| Mutex::new(keys[chunk * length])).collect();
    let exchanged = AtomicBool::new(true);
    while exchanged.swap(false, Ordering::Relaxed) {
        a_thread_for_each(chunks(keys, &firsts), |mut chunk| {
            while chunk.sweep() {
                // Joining the threads makes it known to all.
                exchanged.store(true, Ordering::Relaxed);
            }
        });
    }
    for (chunk, first) in firsts.into_iter().enumerate() {
        keys[chunk * length] = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
    Ok(())
}

/// The chunks, all of the same length but the last one, which has what is over.
fn chunks<'a, T>(keys: &'a mut [T], firsts: &'a [Mutex<T>]) -> Vec<Chunk<'a, T>> {
    let length = keys.len() / firsts.len();
    let mut left = keys;
    let mut chunks = Vec::new();
    for (index, first) in firsts.iter().enumerate() {
        let next = firsts.get(index + 1);
        let here = if next.is_some() { length } else { left.len() };
        let (chunk, rest) = left.split_at_mut(here);
        chunks.push(Chunk { first, own: &mut chunk[1..], next });
        left = rest;
    }
    chunks
}

/// What one thread sorts: at least two keys.
struct Chunk<'a, T> {
    /// The first key, which the left neighbour may exchange.
    first: &'a Mutex<T>,
    /// The others: place p of the chunk is `own[p - 1]`.
    own: &'a mut [T],
    /// The first key of the right neighbour, if there is one.
    next: Option<&'a Mutex<T>>,
}

impl<T: Copy + Ord> Chunk<'_, T> {
    /// Compares every two neighbours once, and says whether any two were exchanged.
    fn sweep(&mut self) -> bool {
        let last = self.own.len();
        let mut exchanged = false;
        // Places 1, 3, 5, ..: the odd pair that begins there, then the even pair that ends there.
        for odd in (1..=last + 1).step_by(2) {
            if odd < last {
                exchanged |= compare_neighbours(self.own, odd - 1);
            } else if odd == last {
                exchanged |= self.compare_with_next();
            }
            match odd {
                1 => exchanged |= self.compare_with_first(),
                _ if odd <= last => exchanged |= compare_neighbours(self.own, odd - 2),
                _ => exchanged |= self.compare_with_next(),
            }
        }
        exchanged
    }

    fn compare_with_first(&mut self) -> bool {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let second = &mut self.own[0];
        let exchanged = *second < *first;
        (*first, *second) = ordered(*first, *second, false);
        exchanged
    }

    /// The comparator across the border to the right.
    fn compare_with_next(&mut self) -> bool {
        let Some(next) = self.next else { return false };
        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
        let last = self.own.len() - 1;
        let exchanged = *next < self.own[last];
        (self.own[last], *next) = ordered(self.own[last], *next, false);
        exchanged
    }
}

/// Does the comparator of the keys at `low` and after it, and says whether they were exchanged.
fn compare_neighbours<T: Copy + Ord>(keys: &mut [T], low: usize) -> bool {
    let exchanged = keys[low + 1] < keys[low];
    compare_exchange(keys, low, low + 1, false);
    exchanged
}
