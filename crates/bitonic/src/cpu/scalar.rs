//! The bitonic network in flip form on one or more threads, in plain Rust.
//!
//! Depth first: a run is split at the greatest power of two below its length, both parts are sorted, the flip
//! pairs them, and half-cleaners finish the merge in each part. Every part that fits a cache is finished there.
//!
//! ```text
//!            lower part, 2^k keys         upper part, the rest
//!   flip     l0 .. l5 l6 l7               u0 u1 u2           l7-u0, l6-u1, l5-u2
//!   clean    each part by itself: first half against second half, then each half by itself
//! ```
//!
//! No branch and no address depends on a key: comparisons select keys, they do not jump, and values are exchanged by masks
//! ([`exchange_if`]).

use super::exchange::exchange_if;
use super::threads::{PARALLEL_FROM, both};
use crate::key::Bits;
use std::hint::select_unpredictable;

/// Something with a total order that is compared without branches.
pub(crate) trait Ranked: Copy + Send {
    /// Whether `self` has to stand before `other`.
    fn precedes(self, other: Self) -> bool;
}

impl<B: Bits> Ranked for B {
    #[inline(always)]
    fn precedes(self, other: Self) -> bool {
        self < other
    }
}

/// A key and where it was before the sort: no two are equal, so sorting them is stable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexed<B> {
    pub(crate) key: B,
    pub(crate) index: usize,
}

impl<B: Bits> Ranked for Indexed<B> {
    #[inline(always)]
    fn precedes(self, other: Self) -> bool {
        // Not the derived tuple order: that one branches.
        (self.key < other.key) | ((self.key == other.key) & (self.index < other.index))
    }
}

/// Consecutive elements: keys, and the values that travel with them. Keys alone have values of type `()`, which
/// take no memory and no time.
pub(crate) struct Run<'a, T, V> {
    keys: &'a mut [T],
    values: &'a mut [V],
}

impl<'a, T: Ranked, V: Copy + Send> Run<'a, T, V> {
    /// Panics if the lengths differ; callers have checked it.
    pub(crate) fn new(keys: &'a mut [T], values: &'a mut [V]) -> Self {
        assert_eq!(keys.len(), values.len());
        Self { keys, values }
    }

    /// Sorts the run, on the threads of the current rayon pool if `parallel`.
    pub(crate) fn sort(&mut self, parallel: bool) {
        let Some(middle) = middle(self.keys.len()) else { return };
        let (mut lower, mut upper) = self.split_at(middle);
        let parallel = parallel && middle >= PARALLEL_FROM;
        both(parallel, || lower.sort(parallel), || upper.sort(parallel));
        flip(&mut lower, &mut upper, parallel);
        both(parallel, || lower.clean(parallel), || upper.clean(parallel));
    }

    /// Sorts a bitonic run by half-cleaners.
    pub(crate) fn clean(&mut self, parallel: bool) {
        let Some(middle) = middle(self.keys.len()) else { return };
        let (mut lower, mut upper) = self.split_at(middle);
        let parallel = parallel && middle >= PARALLEL_FROM;
        half_clean(&mut lower, &mut upper, parallel);
        both(parallel, || lower.clean(parallel), || upper.clean(parallel));
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    fn split_at(&mut self, middle: usize) -> (Run<'_, T, V>, Run<'_, T, V>) {
        let (lower_keys, upper_keys) = self.keys.split_at_mut(middle);
        let (lower_values, upper_values) = self.values.split_at_mut(middle);
        (Run { keys: lower_keys, values: lower_values }, Run { keys: upper_keys, values: upper_values })
    }
}

/// The greatest power of two below `len`: where a run of at least two elements is split.
fn middle(len: usize) -> Option<usize> {
    (len > 1).then(|| len.next_power_of_two() / 2)
}

/// Pairs the last element of `lower` with the first of `upper`, and so on outwards. `upper` is no longer.
fn flip<T: Ranked, V: Copy + Send>(lower: &mut Run<T, V>, upper: &mut Run<T, V>, parallel: bool) {
    if parallel && upper.len() >= PARALLEL_FROM {
        let half = upper.len() / 2;
        let (mut upper_first, mut upper_last) = upper.split_at(half);
        let (mut lower_first, mut lower_last) = lower.split_at(lower.len() - half);
        return both(
            true,
            || flip(&mut lower_last, &mut upper_first, true),
            || flip(&mut lower_first, &mut upper_last, true),
        );
    }
    let keys = lower.keys.iter_mut().rev().zip(upper.keys.iter_mut());
    let values = lower.values.iter_mut().rev().zip(upper.values.iter_mut());
    keys.zip(values).for_each(|(keys, values)| compare_exchange(keys, values));
}

/// Pairs every element of `upper` with the one of `lower` at the same position. `upper` is no longer.
fn half_clean<T: Ranked, V: Copy + Send>(lower: &mut Run<T, V>, upper: &mut Run<T, V>, parallel: bool) {
    if parallel && upper.len() >= PARALLEL_FROM {
        let half = upper.len() / 2;
        let (mut upper_first, mut upper_last) = upper.split_at(half);
        let (mut lower_first, mut lower_last) = lower.split_at(half);
        return both(
            true,
            || half_clean(&mut lower_first, &mut upper_first, true),
            || half_clean(&mut lower_last, &mut upper_last, true),
        );
    }
    let keys = lower.keys.iter_mut().zip(upper.keys.iter_mut());
    let values = lower.values.iter_mut().zip(upper.values.iter_mut());
    keys.zip(values).for_each(|(keys, values)| compare_exchange(keys, values));
}

/// A comparator: the element that precedes goes to the lower place.
#[inline(always)]
fn compare_exchange<T: Ranked, V: Copy>(
    (lower_key, upper_key): (&mut T, &mut T),
    (lower_value, upper_value): (&mut V, &mut V),
) {
    let exchange = upper_key.precedes(*lower_key);
    (*lower_key, *upper_key) = select_pair(exchange, *lower_key, *upper_key);
    exchange_if(exchange, lower_value, upper_value);
}

#[inline(always)]
fn select_pair<T: Copy>(exchange: bool, lower: T, upper: T) -> (T, T) {
    (select_unpredictable(exchange, upper, lower), select_unpredictable(exchange, lower, upper))
}
