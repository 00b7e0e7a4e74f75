//! The steps of the bitonic network in flip form, numbered.
//!
//! ```text
//! merge      1   2      3          4
//! number     0   1 2    3 4 5      6 7 8 9
//! pairs i    ^1  ^3 ^1  ^7 ^2 ^1   ^15 ^4 ^2 ^1      (^ is xor)
//! ```
//!
//! Merge `k` turns sorted blocks of 2^(k-1) keys into sorted blocks of 2^k. Its first step, the flip, pairs `i` with
//! `i xor (2^k - 1)`: the last key of the lower block with the first of the upper one, and so on outwards. The
//! others pair `i` with `i xor 2^j`, for j = k-2 down to 0. Every comparator puts the smaller key at the
//! lower index, so a key at or past n, taken as infinite, never moves: any n works without padding.

/// One step of the network: n/2 independent comparators, or fewer where n is no power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    number: u32,
}

impl Step {
    /// The step with this number, counted from 0.
    pub const fn new(number: u32) -> Self {
        Self { number }
    }

    /// The first step of merge `k`, the flip. Merges count from 1.
    pub const fn first_of_merge(k: u32) -> Self {
        Self { number: k * (k - 1) / 2 }
    }

    /// How many merges n keys need: the least m with 2^m >= n.
    pub const fn merges(n: usize) -> u32 {
        if n < 2 { 0 } else { (n - 1).ilog2() + 1 }
    }

    /// How many steps n keys need: m(m+1)/2 for m merges.
    pub const fn count(n: usize) -> u32 {
        let m = Self::merges(n);
        m * (m + 1) / 2
    }

    /// The step's number, counted from 0.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The merge it belongs to, counted from 1.
    pub const fn merge(self) -> u32 {
        // The k for which k(k-1)/2 <= number < k(k+1)/2.
        ((8 * self.number + 1).isqrt() - 1) / 2 + 1
    }

    /// What the index is xor-ed with to find the partner.
    pub const fn partner_mask(self) -> usize {
        let merge = self.merge();
        let position = self.number - Self::first_of_merge(merge).number;
        if position == 0 { usize::MAX >> (usize::BITS - merge) } else { 1 << (merge - 1 - position) }
    }

    /// The number of low index bits in which partners can differ: both lie in one aligned block of 2^span keys.
    pub const fn span(self) -> u32 {
        self.partner_mask().ilog2() + 1
    }

    /// The step's comparators on n keys, as pairs (lower index, higher index).
    pub fn comparators(self, n: usize) -> impl Iterator<Item = (usize, usize)> {
        let mask = self.partner_mask();
        (0..n).filter_map(move |low| {
            let high = low ^ mask;
            (low < high && high < n).then_some((low, high))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic_network::Kind;

    #[test]
    fn numbers_follow_the_table() {
        let masks: Vec<usize> = (0..10).map(|number| Step::new(number).partner_mask()).collect();
        assert_eq!(masks, [1, 3, 1, 7, 2, 1, 15, 4, 2, 1]);
        let merges: Vec<u32> = (0..10).map(|number| Step::new(number).merge()).collect();
        assert_eq!(merges, [1, 2, 2, 3, 3, 3, 4, 4, 4, 4]);
    }

    #[test]
    fn merge_is_exact_for_every_step_a_machine_can_have() {
        for k in 1..=64 {
            let first = Step::first_of_merge(k);
            assert_eq!(first.merge(), k);
            assert_eq!(Step::new(first.number() + k - 1).merge(), k);
        }
    }

    #[test]
    fn the_steps_are_the_network() {
        for n in 0..=70 {
            let network = Kind::Bitonic.generate(n).unwrap();
            let stages: Vec<Vec<(usize, usize)>> = network
                .stages()
                .iter()
                .map(|stage| {
                    let mut pairs: Vec<_> = stage.comparators().iter().map(|c| (c.min(), c.max())).collect();
                    pairs.sort_unstable();
                    pairs
                })
                .collect();
            let steps: Vec<Vec<(usize, usize)>> =
                (0..Step::count(n)).map(|number| Step::new(number).comparators(n).collect()).collect();
            assert_eq!(steps, stages, "n = {n}");
        }
    }
}
