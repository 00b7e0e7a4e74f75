//! Network x limits -> passes: which consecutive steps are done together, and where the data then sits.

use super::{Place, Step};
use std::ops::Range;

/// A run of consecutive steps of the network that is done in one go over the data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pass {
    /// Where the data sits.
    pub place: Place,
    /// The numbers of its steps; see [`Step::new`].
    pub steps: Range<u32>,
}

impl Pass {
    /// What the pass does, in words, where a tile has 2^tile_log2 keys.
    pub fn words(&self, tile_log2: u32) -> String {
        let merge = Step::new(self.steps.start).merge();
        match self.place {
            Place::Tile if self.steps.start == 0 => format!("sort every tile of 2^{tile_log2} keys"),
            Place::Tile => format!("finish merge {merge} inside tiles of 2^{tile_log2} keys"),
            Place::Memory => {
                let masks = self.steps.clone().map(|step| Step::new(step).partner_mask().to_string());
                let partners = masks.collect::<Vec<_>>().join(", then ");
                format!("merge {merge}: compare i with i xor {partners}")
            }
        }
    }
}

/// What a device can do in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The base-2 logarithm of the keys in a tile.
    pub tile_log2: u32,
    /// How many steps a pass over memory can do; at least 1.
    pub fused_steps: u32,
}

/// The passes of the pure network for n keys, in order: one that sorts every tile, then for each further merge
/// its wide steps over memory, in as few passes as the limits allow and about equally many in each, and one that finishes
/// the merge inside the tiles.
///
/// Concatenated, the passes are the network: every step once, in order.
pub fn passes(n: usize, limits: Limits) -> impl Iterator<Item = Pass> {
    let merges = Step::merges(n);
    let tile = limits.tile_log2.min(merges);
    let fused = limits.fused_steps.max(1);
    let sort_tiles = Pass { place: Place::Tile, steps: 0..Step::first_of_merge(tile + 1).number() };
    let later_merges = (tile + 1..=merges).flat_map(move |merge| {
        let first = Step::first_of_merge(merge).number();
        let end = first + merge;
        // The last `tile` steps of a merge span at most a tile.
        let wide = first..end - tile;
        let count = wide.end - wide.start;
        let needed = count.div_ceil(fused);
        let border = move |index: u32| wide.start + count * index / needed;
        let over_memory = (0..needed)
            .map(move |index| Pass { place: Place::Memory, steps: border(index)..border(index + 1) });
        over_memory.chain([Pass { place: Place::Tile, steps: end - tile..end }])
    });
    std::iter::once(sort_tiles).chain(later_merges).filter(|pass| !pass.steps.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn passes_concatenated_are_the_network_and_fit_their_place(
            n in prop_oneof![0_usize..5000, any::<u32>().prop_map(|n| n as usize)],
            tile_log2 in 0_u32..15,
            fused_steps in 1_u32..10,
        ) {
            let limits = Limits { tile_log2, fused_steps };
            let mut next = 0;
            for pass in passes(n, limits) {
                prop_assert_eq!(pass.steps.start, next);
                prop_assert!(!pass.steps.is_empty());
                next = pass.steps.end;
                let widest = pass.steps.clone().map(|step| Step::new(step).span()).max().unwrap();
                match pass.place {
                    Place::Tile => prop_assert!(widest <= tile_log2),
                    Place::Memory => {
                        prop_assert!(pass.steps.len() <= fused_steps as usize);
                        let merges: Vec<u32> = pass.steps.clone().map(|step| Step::new(step).merge()).collect();
                        prop_assert!(merges.windows(2).all(|pair| pair[0] == pair[1]));
                    }
                }
            }
            prop_assert_eq!(next, Step::count(n));
        }
    }
}
