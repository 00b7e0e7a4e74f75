//! Clusters: work-groups that share their local memory and sort an array together. See `kernels/cluster.c`.

use super::layout::Layout;
use super::shape::{DeviceLimits, local_bytes};

/// The work-groups that sort an array, a tile each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cluster {
    /// The base-2 logarithm of the elements in the tile of a group.
    pub(crate) tile_log2: u32,
    /// The base-2 logarithm of the elements that a work-item holds; at least `log2`.
    pub(crate) held_log2: u32,
    /// The base-2 logarithm of the groups.
    pub(crate) log2: u32,
}

impl Cluster {
    const fn new(tile_log2: u32, held_log2: u32, log2: u32) -> Self {
        Self { tile_log2, held_log2, log2 }
    }

    /// The smallest cluster for an array of this length, if the device has one.
    pub(crate) fn of_length(limits: DeviceLimits, layout: Layout, length: usize) -> Option<Self> {
        let table = table(layout.element_bytes());
        table
            .iter()
            .copied()
            .find(|cluster| cluster.length() >= length && cluster.is_possible(limits, layout))
    }

    /// The most elements that it sorts.
    pub(crate) fn length(self) -> usize {
        1 << (self.tile_log2 + self.log2)
    }

    /// Work-items in each of its groups.
    pub(crate) fn items(self) -> usize {
        1 << (self.tile_log2 - self.held_log2)
    }

    fn is_possible(self, limits: DeviceLimits, layout: Layout) -> bool {
        self.log2 <= limits.most_cluster_log2
            && local_bytes(self.tile_log2, layout.element_bytes()) <= limits.local_bytes
            && self.items() <= limits.group_size
    }
}

/// The clusters for elements of a width, from small to large. The steps between the tiles take as long as those inside, so that
/// tiles are as small as 8 or 16 of them allow. Those for 4 and 8 bytes were measured best on an NVIDIA H200; wider
/// elements have those for 8 but the largest, which were not measured.
fn table(element_bytes: usize) -> &'static [Cluster] {
    const WORDS: [Cluster; 4] =
        [Cluster::new(11, 4, 2), Cluster::new(11, 4, 3), Cluster::new(12, 5, 3), Cluster::new(12, 4, 4)];
    const DOUBLE_WORDS: [Cluster; 4] =
        [Cluster::new(10, 3, 2), Cluster::new(10, 3, 3), Cluster::new(11, 3, 3), Cluster::new(12, 4, 4)];
    match element_bytes {
        4 => &WORDS,
        8 => &DOUBLE_WORDS,
        _ => &DOUBLE_WORDS[..3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_cluster_that_the_device_has_is_taken() {
        let limits = DeviceLimits::FULL_GPU;
        let log2 = |limits, length| {
            Cluster::of_length(limits, Layout::keys::<u32>(), length).map(|cluster| cluster.log2)
        };
        assert_eq!(log2(limits, 1 << 13), Some(2));
        assert_eq!(log2(limits, (1 << 13) + 1), Some(3));
        assert_eq!(log2(limits, 1 << 16), Some(4));
        assert_eq!(log2(limits, (1 << 16) + 1), None);
        assert_eq!(log2(DeviceLimits { most_cluster_log2: 3, ..limits }, 1 << 16), None);
        assert_eq!(log2(DeviceLimits { most_cluster_log2: 0, ..limits }, 1 << 13), None);
    }

    #[test]
    fn work_items_hold_an_element_of_every_tile_at_least() {
        for element_bytes in [4, 8, 16, 24] {
            let table = table(element_bytes);
            assert!(table.iter().all(|cluster| cluster.log2 <= cluster.held_log2));
            assert!(table.windows(2).all(|pair| pair[0].length() < pair[1].length()));
        }
    }
}
