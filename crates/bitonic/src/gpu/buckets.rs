//! Sorting by buckets: how many there are, and what tiles they are made and sorted in. What the passes do stands in
//! `kernels/buckets.c`.

use super::cluster::Cluster;
use super::layout::Layout;
use super::shape::{DeviceLimits, local_bytes};

/// How an array is sorted by buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Buckets {
    /// How many there are.
    pub(crate) count: usize,
    /// The groups that sort the sample.
    pub(crate) sample: Cluster,
    /// The tile in which elements are put in the order of their buckets.
    pub(crate) scatter: Tile,
    /// The tile that most buckets fit. The others fit two.
    pub(crate) tile: Tile,
    /// The groups that sort the array if one does not. Without them, it would be left as it was, which only tests want to see.
    pub(crate) rescue: Option<Cluster>,
}

/// The elements of a work-group: base-2 logarithms of how many there are, and of how many a work-item holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tile {
    pub(crate) log2: u32,
    pub(crate) held_log2: u32,
}

impl Tile {
    const fn new(log2: u32, held_log2: u32) -> Self {
        Self { log2, held_log2 }
    }

    pub(crate) fn len(self) -> usize {
        1 << self.log2
    }

    pub(crate) fn items(self) -> usize {
        1 << (self.log2 - self.held_log2)
    }
}

/// Elements of the sample for every bucket, at least. With so many, lengths of buckets differ by 1/sqrt(38) of the average, 16 %. A
/// bucket is the longest where an element is there so often that it is nearly two splitters and yet only one: two averages, give
/// or take a quarter, of the three and more that fit. The worst arrays are those whose elements are all as often as two averages: by
/// Poisson's distribution, one in 70 thousand of them overflows, and with elements of 8 bytes, whose tiles are fuller, one in 1200.
const SAMPLES: usize = 38;

/// Groups that scatter: two for every multiprocessor of the largest devices, of which one or two run there at a time, so that each
/// builds its search tree for many tiles.
const MOST_SCATTER_GROUPS: usize = 264;

impl Buckets {
    /// Buckets for an array of this length, if the device can have them.
    pub(crate) fn of_length(limits: DeviceLimits, layout: Layout, length: usize) -> Option<Self> {
        let element = layout.element_bytes();
        let (tile, scatter, filled) = tiles(element, length)?;
        let count = (length as f64 / (tile.len() as f64 * filled)).ceil() as usize;
        let sample = sample(limits, count)?;
        // It has no tile: these are 1024 work-items in a group, and as many groups as every device with clusters has.
        let rescue = Cluster { tile_log2: 14, held_log2: 4, log2: limits.most_cluster_log2.min(3) };
        let buckets = Self { count, sample, scatter, tile, rescue: Some(rescue) };
        buckets.is_possible(limits, layout, length).then_some(buckets)
    }

    fn is_possible(self, limits: DeviceLimits, layout: Layout, length: usize) -> bool {
        let element = layout.element_bytes();
        limits.buckets
            && self.count >= 2
            && length >= self.sample.length()
            && self.work() < 1 << 31
            && scatter_local_bytes(self.scatter.log2, self.tree_log2(), element) <= limits.local_bytes
            && [self.tile.log2, self.sample.tile_log2]
                .iter()
                .all(|&log2| local_bytes(log2, element) <= limits.local_bytes)
            && [self.scatter, self.tile].iter().all(|tile| tile.items() <= limits.group_size)
            && [Some(self.sample), self.rescue]
                .iter()
                .flatten()
                .all(|cluster| cluster.items() <= limits.group_size)
    }

    /// The most elements of a bucket.
    pub(crate) fn capacity(self) -> usize {
        2 * self.tile.len()
    }

    /// Elements of working memory: all buckets, and the splitters.
    pub(crate) fn work(self) -> usize {
        self.count * self.capacity() + self.count
    }

    /// Bytes of memory that the kernels keep account in: see `kernels/buckets.c`.
    pub(crate) fn control_bytes(self) -> usize {
        4 * (2 + 2 * self.count)
    }

    /// Whether the groups that sort buckets leave out the steps of parts of the tile that hold nothing: that makes room for other groups,
    /// and pays where there are some. Measured on an NVIDIA H200: 2^24 keys of 4 bytes take 399 instead of 429 µs, but 394 buckets, which are
    /// sorted all at once, take 4 % longer, and so do groups of 1024 work-items, of which a multiprocessor runs one at a time.
    pub(crate) fn leaves_out(self) -> bool {
        const RUN_AT_ONCE: usize = 512;
        self.count > RUN_AT_ONCE && self.tile.items() < 1024
    }

    /// How many groups scatter an array.
    pub(crate) fn scatter_groups(self, length: usize) -> usize {
        length.div_ceil(self.scatter.len()).min(MOST_SCATTER_GROUPS)
    }

    /// The base-2 logarithm of the nodes of the search tree.
    pub(crate) fn tree_log2(self) -> u32 {
        self.count.next_power_of_two().ilog2().max(1)
    }
}

/// The local memory of a group that scatters: as `kernels/scatter.c` has it.
pub(crate) fn scatter_local_bytes(tile_log2: u32, tree_log2: u32, element_bytes: usize) -> usize {
    let (tree, tile) = (1_usize << tree_log2, 1_usize << tile_log2);
    let words = ((2 * tree + 1 + tree.div_ceil(32)) * 4 + tile * 2).div_ceil(element_bytes);
    (tree + tile + words) * element_bytes
}

/// The tile in which a bucket is sorted, the one in which elements are scattered, and the share of the first that the average
/// bucket fills. Measured on an NVIDIA H200.
///
/// The smaller a tile for buckets, the sooner a group is done; the larger, the fewer buckets there are, and the longer are
/// the pieces that are written of each. These are longer with a larger tile to scatter, too, but all multiprocessors have to have
/// one. Fuller tiles make fewer groups, but more buckets that need two.
fn tiles(element_bytes: usize, length: usize) -> Option<(Tile, Tile, f64)> {
    /// The longest array, and what is best up to there.
    type Row = (usize, Tile, Tile, f64);
    const WORDS: [Row; 4] = [
        (1 << 22, Tile::new(13, 5), Tile::new(13, 4), 0.6),
        (6 << 20, Tile::new(13, 5), Tile::new(14, 4), 0.6),
        (1 << 24, Tile::new(14, 5), Tile::new(14, 4), 0.6),
        (usize::MAX, Tile::new(15, 5), Tile::new(14, 4), 0.6),
    ];
    const DOUBLE_WORDS: [Row; 4] = [
        (1 << 20, Tile::new(12, 4), Tile::new(12, 3), 0.65),
        (1 << 22, Tile::new(12, 4), Tile::new(13, 3), 0.65),
        (1 << 23, Tile::new(13, 4), Tile::new(13, 3), 0.6),
        (usize::MAX, Tile::new(14, 4), Tile::new(13, 3), 0.6),
    ];
    let table: &[Row] = match element_bytes {
        4 => &WORDS,
        8 => &DOUBLE_WORDS,
        _ => return None,
    };
    let best = table.iter().find(|(longest, ..)| length <= *longest);
    best.map(|&(_, tile, scatter, filled)| (tile, scatter, filled))
}

/// The groups that sort the sample for so many buckets. In a cluster of sixteen, a sample of 2^16 takes less time than one of
/// 2^15 does in a cluster of eight.
fn sample(limits: DeviceLimits, count: usize) -> Option<Cluster> {
    const SAMPLED_BY: [Cluster; 5] = [
        Cluster { tile_log2: 12, held_log2: 4, log2: 0 },
        Cluster { tile_log2: 10, held_log2: 4, log2: 3 },
        Cluster { tile_log2: 10, held_log2: 4, log2: 4 },
        Cluster { tile_log2: 11, held_log2: 4, log2: 4 },
        Cluster { tile_log2: 12, held_log2: 4, log2: 4 },
    ];
    let possible = SAMPLED_BY.iter().filter(|cluster| cluster.log2 <= limits.most_cluster_log2);
    possible.copied().find(|cluster| cluster.length() >= SAMPLES * count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::backend::Backend;
    use crate::gpu::cuda;
    use crate::gpu::opencl::testing;
    use crate::gpu::shape::{Shape, Way};
    use crate::gpu::testing::{cuda_device, sort_in_shape};
    use crate::key::{Key, as_bytes};
    use crate::{Engine, Order, Sorter};
    use bitonic_testkit::{Oclgrind, Pattern};

    /// So few keys, buckets and work-items that a processor that plays the device, or a simulator, is done soon.
    fn small(count: usize, rescue: bool) -> Buckets {
        let group = Cluster { tile_log2: 9, held_log2: 2, log2: 0 };
        let tile = Tile::new(7, 2);
        Buckets { count, sample: group, scatter: tile, tile, rescue: rescue.then_some(group) }
    }

    /// Sorts keys on a device by these buckets; with values, which are the places of the keys, if there are to be any.
    fn sort<K: Key>(
        device: &impl Backend,
        keys: &[K],
        layout: Layout,
        order: Order,
        buckets: Buckets,
    ) -> (Vec<K>, Vec<u32>) {
        let network = Shape::network(device.limits(), layout, keys.len(), 1);
        sort_in_shape(device, keys, layout, order, Shape { way: Way::Buckets(buckets), ..network })
    }

    fn sorted<K: Key>(keys: &[K], order: Order) -> Vec<K> {
        let mut sorted = keys.to_vec();
        Sorter::new().engine(Engine::Cpu).order(order).sort(&mut sorted).expect("the CPU sorts");
        sorted
    }

    /// Every pattern of keys, alone and with values, with no other way to sort them.
    fn check<K: Key>(
        device: &impl Backend,
        generate: impl Fn(Pattern) -> Vec<K>,
        count: usize,
        order: Order,
    ) {
        for (number, &pattern) in Pattern::ALL.iter().enumerate() {
            let keys = generate(pattern);
            let len = keys.len();
            let expected = sorted(&keys, order);
            let (result, _) = sort(device, &keys, Layout::keys::<K>(), order, small(count, false));
            assert!(as_bytes(&result) == as_bytes(&expected), "{len} {} keys, {pattern:?}", K::TYPE);
            let layout = if number % 2 == 0 {
                Layout::pairs::<K>(4).expect("values of 4 bytes travel with keys")
            } else {
                Layout::indexed::<K>(len)
            };
            let (result, places) = sort(device, &keys, layout, order, small(count, false));
            assert!(as_bytes(&result) == as_bytes(&expected), "{len} {} pairs, {pattern:?}", K::TYPE);
            let stable = Sorter::new().engine(Engine::Cpu).order(order).argsort(&keys);
            let stable: Vec<u32> = stable.expect("the CPU sorts").iter().map(|&place| place as u32).collect();
            assert!(places == stable, "values of {len} {} keys, {pattern:?}", K::TYPE);
        }
    }

    #[test]
    fn parts_of_tiles_are_left_out_where_groups_wait_for_each_other() {
        let leaves_out = |layout, length| {
            let buckets = Buckets::of_length(DeviceLimits::FULL_GPU, layout, length);
            buckets.expect("the device has memory for them").leaves_out()
        };
        assert!(leaves_out(Layout::keys::<u32>(), 1 << 22) && leaves_out(Layout::keys::<u64>(), 1 << 22));
        assert!(!leaves_out(Layout::keys::<u64>(), 1 << 20), "all are sorted at once");
        assert!(!leaves_out(Layout::keys::<u32>(), 1 << 25), "a group has a multiprocessor for itself");
    }

    #[test]
    fn every_pattern_is_sorted_by_buckets() {
        let device = testing::device();
        check(&device, |pattern| pattern.generate::<u32>(1501, 5), 20, Order::Ascending);
        check(&device, |pattern| pattern.generate::<i8>(1024, 5), 16, Order::Ascending);
        check(&device, |pattern| pattern.generate::<f64>(1499, 5), 20, Order::Descending);
    }

    #[test]
    fn a_bucket_that_is_too_long_leaves_the_array_to_the_other_way() {
        let device = testing::device();
        let keys: Vec<i64> = Pattern::Random.generate(5000, 3);
        let (layout, order) = (Layout::keys::<i64>(), Order::Descending);
        let (untouched, _) = sort(&device, &keys, layout, order, small(4, false));
        assert!(untouched == keys, "1250 keys do not fit 256 places");
        let (result, _) = sort(&device, &keys, layout, order, small(4, true));
        assert!(result == sorted(&keys, order));
        let layout = Layout::indexed::<i64>(5000);
        let (result, places) = sort(&device, &keys, layout, order, small(4, true));
        assert!(result == sorted(&keys, order));
        assert!(places.iter().zip(&result).all(|(&place, key)| keys[place as usize] == *key));
    }

    #[test]
    fn every_pattern_is_sorted_by_buckets_on_cuda() {
        let Some(device) = cuda_device("every_pattern_is_sorted_by_buckets_on_cuda") else { return };
        for &pattern in Pattern::ALL {
            for length in [3_000_017, 9_000_001, 20_000_003] {
                let keys: Vec<f32> = pattern.generate(length, 5);
                let layout = Layout::keys::<f32>();
                check_on_cuda(&device, &keys, layout, Order::Descending, &format!("{pattern:?}"));
            }
            let keys: Vec<i64> = pattern.generate(700_001, 5);
            check_on_cuda(&device, &keys, Layout::keys::<i64>(), Order::Ascending, &format!("{pattern:?}"));
            let keys: Vec<u32> = pattern.generate(1 << 20, 5);
            let layout = Layout::pairs::<u32>(4).expect("values of 4 bytes travel with keys");
            check_on_cuda(&device, &keys, layout, Order::Ascending, &format!("{pattern:?}"));
            let layout = Layout::indexed::<u32>(1 << 20);
            check_on_cuda(&device, &keys, layout, Order::Descending, &format!("{pattern:?}"));
        }
    }

    #[test]
    fn a_bucket_that_is_too_long_is_no_harm_on_cuda() {
        let Some(device) = cuda_device("a_bucket_that_is_too_long_is_no_harm_on_cuda") else { return };
        let keys: Vec<u32> = Pattern::Random.generate(3_000_017, 3);
        let layout = Layout::indexed::<u32>(keys.len());
        let buckets =
            Buckets::of_length(device.limits(), layout, keys.len()).expect("it has memory for them");
        let order = Order::Descending;
        let (untouched, _) =
            sort(&device, &keys, layout, order, Buckets { count: 9, rescue: None, ..buckets });
        assert!(untouched == keys, "a third of a million keys do not fit a tile");
        let (result, places) = sort(&device, &keys, layout, order, Buckets { count: 9, ..buckets });
        assert!(result == sorted(&keys, order));
        assert!(places.iter().zip(&result).all(|(&place, key)| keys[place as usize] == *key));
    }

    /// Sorts with the buckets that the device has for so many, and no rescue.
    fn check_on_cuda<K: Key>(device: &cuda::Device, keys: &[K], layout: Layout, order: Order, what: &str) {
        let buckets = Buckets::of_length(device.limits(), layout, keys.len());
        let buckets = Buckets { rescue: None, ..buckets.expect("the device has memory for them") };
        let (result, places) = sort(device, keys, layout, order, buckets);
        let same = as_bytes(&result) == as_bytes(&sorted(keys, order));
        assert!(same, "{} {} keys, {layout:?}, {what}", keys.len(), K::TYPE);
        if layout.value_bits > 0 {
            let stable = Sorter::new().engine(Engine::Cpu).order(order).argsort(keys);
            let stable = stable.expect("the CPU sorts");
            assert!(
                places.iter().zip(stable).all(|(&place, stable)| place as usize == stable),
                "{layout:?}, {what}"
            );
        }
    }

    /// All patterns of one length, whose working memory stays the same: see [`Oclgrind::report_of`].
    fn under_oclgrind(len: usize, count: usize) {
        let device = testing::device();
        for pattern in [Pattern::Random, Pattern::FewUnique, Pattern::Special] {
            let keys: Vec<f32> = pattern.generate(len, 5);
            let order = Order::Descending;
            let (result, _) = sort(&device, &keys, Layout::keys::<f32>(), order, small(count, true));
            assert!(as_bytes(&result) == as_bytes(&sorted(&keys, order)), "{pattern:?}");
        }
    }

    #[test]
    #[ignore = "run by buckets_are_clean, in a process with Oclgrind"]
    fn sort_by_buckets() {
        under_oclgrind(450, 6);
    }

    #[test]
    #[ignore = "run by buckets_are_clean, in a process with Oclgrind"]
    fn sort_by_long_buckets() {
        under_oclgrind(350, 2);
    }

    #[test]
    #[ignore = "run by buckets_are_clean, in a process with Oclgrind"]
    fn sort_pairs_by_buckets() {
        let device = testing::device();
        let keys: Vec<u32> = Pattern::Random.generate(450, 5);
        let layout = Layout::pairs::<u32>(4).expect("values of 4 bytes travel with keys");
        let (result, places) = sort(&device, &keys, layout, Order::Ascending, small(6, false));
        assert!(result == sorted(&keys, Order::Ascending));
        assert!(places.iter().zip(&result).all(|(&place, key)| keys[place as usize] == *key));
    }

    #[test]
    #[ignore = "run by buckets_are_clean, in a process with Oclgrind"]
    fn fail_by_buckets() {
        let device = testing::device();
        let keys: Vec<u64> = Pattern::Random.generate(2500, 5);
        let (result, _) = sort(&device, &keys, Layout::keys::<u64>(), Order::Ascending, small(3, true));
        assert!(result == sorted(&keys, Order::Ascending));
    }

    #[test]
    fn buckets_are_clean() {
        for test in ["sort_by_buckets", "sort_by_long_buckets", "sort_pairs_by_buckets", "fail_by_buckets"] {
            let report = Oclgrind::find().report_of(&format!("gpu::buckets::tests::{test}"));
            assert!(report.is_empty(), "{report}");
        }
    }
}
