//! Odd-even transposition with a chunk of the keys for every thread, phase by phase in lock step.
//!
//! ```text
//!                thread 0          thread 1          thread 2
//!              [ a  b  c  d ]    [ e  f  g  h ]    [ i  j  k ]
//!   even phase   a-b   c-d         e-f   g-h         i-j          within the chunks: their lengths are even
//!   publish      a        d        e        h        i   k        copies of the outermost keys
//!   barrier    ---------------------------------------------
//!   odd phase      b-c               f-g               j-k        within the chunks, and across the borders:
//!                        d = min(d, e)     h = min(h, i)          the thread to the left keeps the smaller key,
//!                                 e = max(d, e)     i = max(h, i) the thread to the right the greater one
//! ```
//!
//! The pair across a border is where a data race lies in wait: two threads, each with one of its keys. Here
//! nobody touches a neighbour's keys. Both threads read copies that were made before the barrier, both do the
//! comparator, and each keeps the half of the result that is its own, as two machines with a wire between them
//! would. So a chunk is an ordinary `&mut` slice for the whole sort. Copies of even and of odd rounds lie in
//! different places: while a slow thread still reads those of one round, a fast one may already publish those
//! of the next; it cannot get further ahead, because of the barrier.
//!
//! What it gains over `odd_even_threads`: no lock, and the same comparators in every run, so that as many phases
//! as keys always suffice. What it costs: a barrier for every two phases, up to n/2 of them, each a few microseconds, against n/threads
//! comparators between them: short inputs get slower with every thread. And it is quadratic: threads divide the
//! work, bitonic sort does away with most of it.

use crate::LadderError;
use crate::cpu::one_thread::{compare_exchange, ordered};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, PoisonError, mpsc};
use std::thread;

pub(crate) fn sort<T: Copy + Ord + Send>(keys: &mut [T], threads: NonZero<usize>) -> Result<(), LadderError> {
    let Some(&any) = keys.first() else { return Ok(()) };
    let rounds = keys.len().div_ceil(2);
    let chunk_len = keys.len().div_ceil(threads.get()).next_multiple_of(2);
    let chunks = keys.chunks_mut(chunk_len);
    let meeting = &Meeting::new(chunks.len(), any);
    thread::scope(|scope| {
        // A worker gets its chunk only when all of them are there: if one cannot be started, the others find
        // that there is nothing to do, instead of waiting for it at the barrier.
        let mut ready = Vec::new();
        for (index, chunk) in chunks.enumerate() {
            let (hand_out, inbox) = mpsc::channel();
            let work = move || inbox.iter().for_each(|chunk| Worker { index, chunk, meeting }.sort(rounds));
            thread::Builder::new()
                .name(format!("ladder-{index}"))
                .spawn_scoped(scope, work)
                .map_err(|error| LadderError::Threads { threads, reason: error.to_string() })?;
            ready.push((hand_out, chunk));
        }
        for (hand_out, chunk) in ready {
            hand_out.send(chunk).expect("a worker waits for its chunk");
        }
        Ok(())
    })
}

/// What the threads share.
struct Meeting<T> {
    barrier: Barrier,
    /// For even and for odd rounds: copies of the outermost keys of every chunk.
    outermost: [Vec<Outermost<T>>; 2],
    /// The last round in which any thread exchanged keys. It only grows, so it needs no resetting.
    last_exchange: AtomicUsize,
}

/// Copies of the first and the last key of a chunk. A mutex is held for the time of a copy, by the owner before
/// the barrier or by a neighbour after it, so nobody ever waits for one.
struct Outermost<T> {
    first: Mutex<T>,
    last: Mutex<T>,
}

impl<T: Copy> Meeting<T> {
    /// `any` fills the copies until the first round replaces them.
    fn new(chunks: usize, any: T) -> Self {
        let copies =
            || (0..chunks).map(|_| Outermost { first: Mutex::new(any), last: Mutex::new(any) }).collect();
        Self {
            barrier: Barrier::new(chunks),
            outermost: [copies(), copies()],
            last_exchange: AtomicUsize::new(0),
        }
    }
}

/// One thread with its chunk, which is not empty and starts at an even position.
struct Worker<'a, T> {
    index: usize,
    chunk: &'a mut [T],
    meeting: &'a Meeting<T>,
}

impl<T: Copy + Ord> Worker<'_, T> {
    /// Runs rounds of an even and an odd phase until a round exchanges nothing anywhere; `rounds` of them
    /// always suffice.
    fn sort(mut self, rounds: usize) {
        for round in 1..=rounds {
            let mut exchanged = compare_neighbours(self.chunk);
            self.publish(round);
            self.meeting.barrier.wait();
            // All have finished the round before this one. If it exchanged nothing, the keys are sorted, so no
            // thread exchanges anything in this round either, and all threads come to the same conclusion here,
            // however late they look.
            if self.meeting.last_exchange.load(Ordering::Relaxed) + 1 < round {
                return;
            }
            exchanged |= compare_neighbours(&mut self.chunk[1..]);
            exchanged |= self.compare_borders(round);
            if exchanged {
                // The barrier of the next round makes it known to all.
                self.meeting.last_exchange.fetch_max(round, Ordering::Relaxed);
            }
        }
    }

    fn publish(&self, round: usize) {
        let own = &self.meeting.outermost[round % 2][self.index];
        *own.first.lock().unwrap_or_else(PoisonError::into_inner) = self.chunk[0];
        *own.last.lock().unwrap_or_else(PoisonError::into_inner) = self.chunk[self.chunk.len() - 1];
    }

    /// Does this thread's half of the comparators across its two borders.
    fn compare_borders(&mut self, round: usize) -> bool {
        let outermost = &self.meeting.outermost[round % 2];
        let mut exchanged = false;
        if let Some(left) = self.index.checked_sub(1).map(|left| &outermost[left]) {
            let neighbour = *left.last.lock().unwrap_or_else(PoisonError::into_inner);
            let own = &mut self.chunk[0];
            exchanged |= *own < neighbour;
            (_, *own) = ordered(neighbour, *own, false);
        }
        if let Some(right) = outermost.get(self.index + 1) {
            let neighbour = *right.first.lock().unwrap_or_else(PoisonError::into_inner);
            let own = self.chunk.last_mut().expect("no chunk is empty");
            exchanged |= neighbour < *own;
            (*own, _) = ordered(*own, neighbour, false);
        }
        exchanged
    }
}

/// Does the comparators between the keys 0 and 1, 2 and 3, and so on, and says whether any exchanged its keys.
fn compare_neighbours<T: Copy + Ord>(keys: &mut [T]) -> bool {
    let mut exchanged = false;
    for pair in keys.chunks_exact_mut(2) {
        exchanged |= pair[1] < pair[0];
        compare_exchange(pair, 0, 1, false);
    }
    exchanged
}
