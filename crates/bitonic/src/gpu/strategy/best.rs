//! The best elements of every row. How they are found stands in `kernels/best.c`.

use super::network::Network;
use super::{builder, tile_fits};
use crate::Error;
use crate::gpu::element::Element;
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Number, Spec, Tile};
use crate::gpu::tuning::{Measured, Tuning};
use crate::plan::{Algorithm, KernelPlan, Launch, Parameter, Place, WorkMemory};
use std::sync::Arc;

/// The base-2 logarithms of tiles that what is left of a row is sorted in, and of those for samples.
const TILES_LOG2: std::ops::RangeInclusive<u32> = 8..=14;
const SAMPLES_LOG2: std::ops::RangeInclusive<u32> = 7..=10;

/// Of so many elements of a sample the least may be sorted.
const LEAST_OF: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// What reading an element of a sample costs, as comparisons of a sort.
const READ_COST: u64 = 16;

/// The base-2 logarithms of what a work-item holds in a sort: the first that makes a group of a size that the device has.
const HELD_LOG2: [u32; 5] = [3, 4, 5, 2, 1];

/// Where groups are so few that units would have little else to do, a work-item holds as little as this.
const LEAST_HELD_LOG2: u32 = 1;

/// In a tile larger than this, so little would make a group that fills a unit alone, and nothing else would work there while it waits at
/// a barrier: a work-item holds more.
const LARGE_LOG2: u32 = 10;
const LEAST_HELD_OF_LARGE_LOG2: u32 = 2;

/// So many work-items keep a unit busy.
const ITEMS_OF_UNIT: usize = 1024;

/// The work-items of a group that filters, what each reads at once, and the base-2 logarithm of what it can keep.
const FILTER_ITEMS: usize = 256;
const READ: usize = 4;
const KEPT_LOG2: u32 = 10;

/// A sub-group has so many work-items on most devices, and should have something to do for all.
const LEAST_ITEMS: usize = 32;

/// A group that filters reads so many rounds at least, or it does little else than begin and end.
const LEAST_ROUNDS: usize = 4;

/// The base-2 logarithm of a tile that is sorted so soon that filtering once more would take longer.
const SOON_LOG2: u32 = 11;

/// The least rank of a bound whose list is filtered again: the higher, the better it is known how long that list is.
const KNOWN_WELL: f64 = 36.0;

/// A row of so few tiles is not filtered.
const SHORT_ROW: usize = 2;

/// The tile that a group sorts, with as many work-items as there are units for; `None` if it does not fit the device.
fn sorted_tile(log2: u32, job: &Job, facts: &DeviceFacts) -> Option<Tile> {
    let tile = |held_log2: u32| {
        Some(Tile::new(log2, held_log2)).filter(|&tile| held_log2 < log2 && tile_fits(tile, job, facts))
    };
    let is_whole = |tile: &Tile| tile.items() >= LEAST_ITEMS;
    let fitting = || HELD_LOG2.into_iter().filter_map(tile);
    let mut found = fitting().find(is_whole).or_else(|| fitting().next())?;
    let groups_of_unit = job.rows.div_ceil(facts.units);
    let least_held_log2 = if log2 > LARGE_LOG2 { LEAST_HELD_OF_LARGE_LOG2 } else { LEAST_HELD_LOG2 };
    while !facts.is_cpu() && found.held_log2 > least_held_log2 {
        match tile(found.held_log2 - 1) {
            Some(next) if groups_of_unit * next.items() <= ITEMS_OF_UNIT => found = next,
            _ => break,
        }
    }
    Some(found)
}

/// What a group that filters rows of this length can keep.
fn kept_tile(row_length: usize, job: &Job, facts: &DeviceFacts) -> Tile {
    let items = FILTER_ITEMS.min(row_length / (READ * LEAST_ROUNDS)).max(LEAST_ITEMS).min(facts.group_size);
    let items_log2 = items.ilog2();
    let fitting = (items_log2..=KEPT_LOG2).rev().map(|log2| Tile::new(log2, log2 - items_log2));
    fitting.into_iter().find(|&tile| tile_fits(tile, job, facts)).unwrap_or(Tile::new(items_log2, 0))
}

/// The tiles that have room for twice the best elements, the smallest first.
fn last_tiles<'a>(job: &'a Job, facts: &'a DeviceFacts) -> impl Iterator<Item = Tile> + 'a {
    let best = job.best.unwrap_or(job.row_length).max(1);
    // The smallest ones come last: they are for devices whose local memory or groups are too small for any other.
    let fitting = TILES_LOG2.chain(4..*TILES_LOG2.start());
    fitting.filter(move |&log2| best <= 1 << (log2 - 1)).filter_map(move |log2| sorted_tile(log2, job, facts))
}

/// Whether the best elements of a row are few enough for a device.
///
/// # Errors
///
/// [`Error::TopTooLarge`] with the most that it can find.
pub(crate) fn check_best(job: &Job, facts: &DeviceFacts) -> Result<(), Error> {
    let fits = |best: usize| last_tiles(&Job { best: Some(best), ..*job }, facts).next().is_some();
    match job.best {
        Some(k) if !fits(k) => {
            let most = (0..=k.ilog2()).rev().map(|log2| 1 << log2).find(|&best| fits(best)).unwrap_or(0);
            Err(Error::TopTooLarge { device: facts.name.clone(), k, most })
        }
        _ => Ok(()),
    }
}

/// How long rows are: keys are as many as they are, of a list only so much is known.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    least: f64,
    expected: f64,
    most: f64,
}

impl Lengths {
    fn of_keys(row_length: usize) -> Self {
        let length = row_length as f64;
        Self { least: length, expected: length, most: length }
    }

    fn most(&self) -> usize {
        self.most as usize
    }
}

/// A list of the elements of a row that come before a bound.
#[derive(Clone, Copy, Debug)]
struct List {
    /// What is sorted to find the bound.
    sample: Tile,
    /// Each of it is the least of so many elements of the row.
    least_of: u32,
    /// The rank of the bound in what is sorted.
    rank: u32,
    /// How many elements pass.
    lengths: Lengths,
}

impl List {
    /// The list of a row of so many elements.
    ///
    /// The bound is too low if as many of what is sorted as its rank are among the best elements of the row; about Poisson(l) are, l being
    /// their mean. What comes before the bound is the share of the row of which as many would be sorted before it.
    fn new(row: Lengths, best: usize, sample: Tile, least_of: u32, least_rank: f64) -> Self {
        let (sorted, each) = (sample.len() as f64, f64::from(least_of));
        let of_best = sorted * (1.0 - (1.0 - (best as f64 / row.least).min(1.0)).powf(each));
        let rank = (of_best + 4.5 * of_best.sqrt() + 4.0).ceil().max(least_rank);
        let share = 1.0 - (1.0 - (rank / sorted).min(1.0)).powf(1.0 / each);
        let deviation = 1.0 / rank.sqrt();
        let lengths = Lengths {
            least: (share * row.least * (-5.0 * deviation).exp()).max(best as f64),
            expected: share * row.expected,
            most: (share * row.most * (1.0 + 6.0 * deviation)).ceil(),
        };
        Self { sample, least_of, rank: rank as u32, lengths }
    }

    /// All lists of such a row that are worth it.
    fn all<'a>(
        row: Lengths,
        least_rank: f64,
        best: usize,
        job: &'a Job,
        facts: &'a DeviceFacts,
    ) -> impl Iterator<Item = Self> + 'a {
        let samples = SAMPLES_LOG2.filter_map(|log2| sorted_tile(log2, job, facts));
        let lists = samples.flat_map(move |sample| {
            LEAST_OF.map(|least_of| Self::new(row, best, sample, least_of, least_rank))
        });
        lists.filter(move |list| 4.0 * list.read() as f64 <= row.least && 2 * list.capacity() <= row.most())
    }

    /// What is read of a row to find the bound.
    fn read(&self) -> usize {
        self.sample.len() * self.least_of as usize
    }

    /// What finding the bound costs.
    fn cost(&self) -> u64 {
        cost(self.sample) + READ_COST * self.read() as u64
    }

    /// The places for it: enough nearly always.
    fn capacity(&self) -> usize {
        self.lengths.most()
    }

    /// What it is shorter than in most cases.
    fn usual(&self) -> usize {
        (self.lengths.expected * (1.0 + 1.5 / f64::from(self.rank).sqrt())) as usize
    }
}

/// What a sort of a tile takes, about.
fn cost(tile: Tile) -> u64 {
    u64::from(tile.log2 * (tile.log2 + 1)) << tile.log2
}

/// The lists of a row, each made of the one before it, and the tile that the last is sorted in.
fn lists(job: &Job, best: usize, facts: &DeviceFacts) -> (Vec<List>, Option<Tile>) {
    let mut lists: Vec<List> = Vec::new();
    let mut row = Lengths::of_keys(job.row_length);
    loop {
        let whole = last_tiles(job, facts).find(|tile| row.most() <= SHORT_ROW * tile.len());
        let ways = List::all(row, 0.0, best, job, facts).filter_map(|list| {
            let last = last_tiles(job, facts).find(|tile| list.usual() <= tile.len())?;
            let is_soon = last.log2 <= SOON_LOG2 || last.len() <= 4 * best.next_power_of_two();
            is_soon.then_some((list.cost() + cost(last), list, last))
        });
        match (whole, ways.min_by_key(|way| way.0)) {
            (Some(tile), way) if way.is_none_or(|(of_list, ..)| cost(tile) <= of_list) => {
                return (lists, Some(tile));
            }
            (_, Some((_, list, last))) => {
                lists.push(list);
                return (lists, Some(last));
            }
            // The row is so long that the list of it is filtered again.
            (_, None) => match List::all(row, KNOWN_WELL, best, job, facts)
                .min_by_key(|list| list.capacity() as u64 + list.cost())
            {
                Some(list) => {
                    row = list.lengths;
                    lists.push(list);
                }
                None => return (lists, last_tiles(job, facts).max_by_key(|tile| tile.log2)),
            },
        }
    }
}

/// The kernels; their fallback is one group for every row, which needs no memory.
pub(super) fn kernel_plan(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Arc<KernelPlan> {
    let best = job.best.unwrap_or(0);
    if best == 0 || job.rows == 0 {
        return Arc::new(KernelPlan { algorithm: Algorithm::Selection, ..KernelPlan::nothing() });
    }
    let plan = |lists: &[List], last: Tile, fallback| {
        let launches = Launches { job, best, lists, last, facts };
        let elements = elements(&launches.places());
        Arc::new(KernelPlan {
            algorithm: Algorithm::Selection,
            launches: launches.all(),
            element_bytes: job.element.bytes(),
            work: WorkMemory {
                keys: (elements * job.element.key_bytes()).next_multiple_of(16),
                values: (elements * job.element.value_bytes()).next_multiple_of(16),
                counters: lists.len() * job.rows * size_of::<u32>(),
            },
            measured_on: Measured::of(facts).device,
            limits: Network::new(job, facts, tuning).shape.limits(),
            network_passes: None,
            fallback,
        })
    };
    let Some(alone) = last_tiles(job, facts)
        .find(|tile| 4 * best <= tile.len())
        .or_else(|| last_tiles(job, facts).max_by_key(|tile| tile.log2))
    else {
        unreachable!("check_best was not asked about {job:?}")
    };
    match lists(job, best, facts) {
        (lists, Some(last)) if !lists.is_empty() && !job.in_place => {
            plan(&lists, last, Some(plan(&[], alone, None)))
        }
        (_, Some(last)) if job.row_length <= last.len() => plan(&[], last, None),
        _ => plan(&[], alone, None),
    }
}

/// Where a list is in the working memory.
#[derive(Clone, Copy)]
struct Places {
    /// The bounds that it is made by, one for every row.
    bounds: usize,
    /// The elements of the first row.
    list: usize,
    capacity: usize,
    end: usize,
}

/// The elements that all lists have room for, with their bounds.
fn elements(places: &[Places]) -> usize {
    places.last().map_or(0, |place| place.end)
}

/// Makes the launches.
struct Launches<'a> {
    job: &'a Job,
    best: usize,
    lists: &'a [List],
    last: Tile,
    facts: &'a DeviceFacts,
}

impl Launches<'_> {
    /// Where the lists are.
    fn places(&self) -> Vec<Places> {
        let rows = self.job.rows;
        let mut start = 0;
        let place = |list: &List| {
            let (bounds, capacity) = (start, list.capacity());
            start = bounds + rows + rows * capacity;
            Places { bounds, list: bounds + rows, capacity, end: start }
        };
        self.lists.iter().map(place).collect()
    }

    fn all(&self) -> Vec<Launch> {
        let mut launches = Vec::new();
        let places = self.places();
        for (number, list) in self.lists.iter().enumerate() {
            launches.push(self.bound(number, list, &places));
            launches.push(self.filter(number, list, &places));
        }
        launches.push(self.select(&places));
        launches
    }

    /// The job of a launch: lists are of elements, whose indices are there.
    fn job_of(&self, number: usize) -> Job {
        let element = Element { indexed: number == 0 && self.job.element.indexed, ..self.job.element };
        Job { element, ..*self.job }
    }

    /// A launch that reads the keys, or a list, and writes to the working memory.
    fn launch(&self, number: usize, spec: Spec<'_>, places: &[Places]) -> Launch {
        let job = self.job_of(number);
        let mut launch = builder(&job, Arrays::WithCounters, elements(places)).launch(spec);
        if number == 0 {
            launch.arguments[0] = Parameter::Input;
        } else {
            launch.arguments[0] = Parameter::WorkKeys;
            launch.arguments[1] = Parameter::WorkValues;
        }
        launch
    }

    /// What is read: how far rows are apart, where they begin, where their lengths are.
    fn source(&self, number: usize, places: &[Places]) -> (usize, usize, u32) {
        match number.checked_sub(1) {
            None => (self.job.row_length, 0, 0),
            Some(before) => (places[before].capacity, places[before].list, (before * self.job.rows) as u32),
        }
    }

    fn bound(&self, number: usize, list: &List, places: &[Places]) -> Launch {
        let (stride, from, lengths) = self.source(number, places);
        let [first, second, third] = self.constants();
        let spec = Spec {
            kernel: "best_bound",
            groups: self.job.rows,
            tile: Some(list.sample),
            cluster_log2: 0,
            constants: &[first, second, third, ("LEAST_OF", list.least_of)],
            numbers: &[
                Number::Index(stride),
                Number::Index(from),
                Number::Index(places[number].bounds),
                Number::Plain(lengths),
                Number::Plain((number * self.job.rows) as u32),
                Number::Plain(self.best as u32),
                Number::Plain(list.rank),
                Number::Plain(self.job.mapping.argument(number == 0, false)),
            ],
            place: None,
            steps: 0..0,
            copies: 0.0,
            words: format!("find a bound in a sample of {} of every row", list.read()),
        };
        self.launch(number, spec, places)
    }

    fn filter(&self, number: usize, list: &List, places: &[Places]) -> Launch {
        let (stride, from, lengths) = self.source(number, places);
        let kept = kept_tile(stride, self.job, self.facts);
        let items = kept.items();
        let round = READ * items;
        // As many as keep the device busy, and no more than have something to do; but so many that each has room for what it keeps.
        let busy = 2 * self.facts.units * ITEMS_OF_UNIT / items;
        let most = stride.div_ceil(round);
        let parts = (busy / self.job.rows)
            .max(1)
            .min(most.div_ceil(LEAST_ROUNDS))
            .max(3 * list.usual() / kept.len())
            .clamp(1, most);
        let spec = Spec {
            kernel: "best_filter",
            groups: self.job.rows * parts,
            tile: Some(kept),
            cluster_log2: 0,
            constants: &self.constants(),
            numbers: &[
                Number::Index(stride),
                Number::Index(from),
                Number::Index(places[number].bounds),
                Number::Index(places[number].list),
                Number::Index(places[number].capacity),
                Number::Index(parts),
                Number::Plain(lengths),
                Number::Plain((number * self.job.rows) as u32),
                Number::Plain(self.best as u32),
                Number::Plain(self.job.mapping.argument(number == 0, false)),
            ],
            place: (number == 0).then_some(Place::Memory),
            steps: 0..0,
            // All keys are read, and few written.
            copies: if number == 0 { 0.5 } else { 0.0 },
            words: format!(
                "list what comes before the bound, about {:.0} of every row",
                list.lengths.expected
            ),
        };
        self.launch(number, spec, places)
    }

    fn select(&self, places: &[Places]) -> Launch {
        let filtered = places.last();
        let lists = filtered.map_or(Vec::new(), |places| {
            let lengths = (self.lists.len() - 1) * self.job.rows;
            vec![Number::Index(places.list), Number::Index(places.capacity), Number::Plain(lengths as u32)]
        });
        let numbers = [
            lists,
            vec![
                Number::Index(self.job.row_length),
                Number::Plain(self.best as u32),
                Number::Plain(self.job.mapping.argument(true, true)),
            ],
        ]
        .concat();
        let constants: Vec<_> =
            self.constants().into_iter().chain([("FILTERED", u32::from(filtered.is_some()))]).collect();
        let spec = Spec {
            kernel: "select_best",
            groups: self.job.rows,
            tile: Some(self.last),
            cluster_log2: 0,
            constants: &constants,
            numbers: &numbers,
            place: filtered.is_none().then_some(Place::Memory),
            steps: 0..0,
            copies: if filtered.is_none() { 0.5 } else { 0.0 },
            words: format!("keep the first {} of every row", self.best),
        };
        let mut launch = self.launch(0, spec, places);
        let read = [Parameter::Input, Parameter::Values, Parameter::Keys, Parameter::Values];
        let lists = [Parameter::WorkKeys, Parameter::WorkValues, Parameter::Counters];
        let arrays = read.into_iter().chain(lists.into_iter().filter(|_| filtered.is_some()));
        launch.arguments.splice(0..5, arrays);
        launch
    }

    fn constants(&self) -> [(&'static str, u32); 3] {
        // Written out also on processors: as a loop within the loop of the rounds they were wrong before every function was inlined there.
        [("SHORT_ROWS", 0), ("RAGGED_ROWS", 0), ("UNROLLED", 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::request::{Request, Segments};
    use proptest::prelude::*;

    fn job<K: Key>(rows: usize, row_length: usize, k: usize) -> Job {
        Job::of(&Request::top::<K>(Segments::Rows { rows, row_length }, k))
    }

    fn names(plan: &KernelPlan) -> Vec<&'static str> {
        plan.launches.iter().map(|launch| launch.kernel).collect()
    }

    fn planned(job: &Job, facts: &DeviceFacts) -> Arc<KernelPlan> {
        kernel_plan(job, facts, &Tuning::default())
    }

    #[test]
    fn short_rows_are_kept_whole_and_long_ones_filtered_as_often_as_they_need_it() {
        let facts = DeviceFacts::nvidia_h200();
        assert_eq!(names(&planned(&job::<f32>(1000, 100, 5), &facts)), ["select_best"]);
        let once = ["best_bound", "best_filter", "select_best"];
        assert_eq!(names(&planned(&job::<f32>(64, 128_256, 50), &facts)), once);
        let twice = ["best_bound", "best_filter", "best_bound", "best_filter", "select_best"];
        assert_eq!(names(&planned(&job::<f32>(1, 1 << 26, 1000), &facts)), twice);
    }

    #[test]
    fn without_memory_one_group_takes_a_row() {
        let facts = DeviceFacts::nvidia_h200();
        let long = job::<u64>(3, 1 << 20, 100);
        let plan = planned(&long, &facts);
        let fallback = plan.fallback.as_ref().expect("there is one that needs less");
        assert!(plan.work.bytes() > 0 && fallback.work.bytes() == 0);
        assert_eq!(names(fallback), ["select_best"]);
        assert_eq!(names(&planned(&Job { in_place: true, ..long }, &facts)), ["select_best"]);
    }

    #[test]
    fn more_than_half_of_the_largest_tile_is_refused_with_the_most_there_is() {
        let facts = DeviceFacts::nvidia_h200();
        assert_eq!(check_best(&job::<f32>(1, 1 << 20, 8192), &facts), Ok(()));
        let refused = check_best(&job::<f32>(1, 1 << 20, 8193), &facts);
        assert_eq!(refused, Err(Error::TopTooLarge { device: facts.name.clone(), k: 8193, most: 8192 }));
        // Of a shorter row no more than all are asked for.
        assert_eq!(check_best(&job::<f32>(1, 100, 1 << 20), &facts), Ok(()));
    }

    /// A bound that is far too low, and one that nearly all pass: the lists are wrong, and the result is right.
    #[test]
    #[cfg(feature = "opencl")]
    fn a_wrong_guess_costs_nothing_but_time() {
        use crate::gpu::driver::Driver;
        use crate::gpu::execute::{Buffers, sort_buffers};
        use crate::key::as_bytes;

        let device = crate::gpu::opencl::testing::device();
        let (rows, row_length, k) = (2, 9000, 20);
        let job = job::<u32>(rows, row_length, k);
        let keys: Vec<u32> =
            (0..rows * row_length).map(|place| (place as u32).wrapping_mul(2_654_435_761)).collect();
        let sorter = crate::Sorter::new().engine(crate::Engine::Cpu).order(crate::Order::Ascending);
        let expected = sorter.top_k_rows(&keys, row_length, k).expect("the CPU finds them");
        let planned = planned(&job, device.facts());
        let (key_bytes, value_bytes) = job.array_bytes();
        let [input, best, indices] = [size_of_val(&keys[..]), key_bytes, value_bytes]
            .map(|bytes| device.allocate(bytes).expect("there is memory for it"));
        device.upload(as_bytes(&keys), &input).expect("keys go up");
        for rank in [0, 100] {
            let mut plan = KernelPlan::clone(&planned);
            let mut guesses = 0;
            for launch in plan.launches.iter_mut().filter(|launch| launch.kernel == "best_bound") {
                // Behind it is the mapping.
                let place = launch.arguments.len() - 2;
                launch.arguments[place] = Parameter::Number(rank);
                guesses += 1;
            }
            assert!(guesses > 0, "{plan:?}");
            sort_buffers(
                &device,
                &job,
                &Arc::new(plan),
                Buffers { input: Some(&input), ..Buffers::new(&best, Some(&indices)) },
            )
            .expect("the kernels run");
            let mut found = [vec![0; key_bytes], vec![0; value_bytes]];
            device.download(&best, &mut found[0][..]).expect("keys come down");
            device.download(&indices, &mut found[1][..]).expect("indices come down");
            assert_eq!(found[0], as_bytes(&expected.keys), "rank {rank}");
            let indices: Vec<u32> = expected.indices.iter().map(|&index| index as u32).collect();
            assert_eq!(found[1], as_bytes(&indices), "rank {rank}");
        }
    }

    proptest! {
        /// Every rank is in its sample, a list is shorter than what it is made of, and tiles have room for the best twice.
        #[test]
        fn lists_get_shorter_and_have_room(
            rows in 1_usize..100_000, row_length in 1_usize..1 << 30, k in 1_usize..8192, is_small in any::<bool>()
        ) {
            let facts = if is_small { DeviceFacts::plain_gpu() } else { DeviceFacts::nvidia_h200() };
            let job = job::<f32>(rows, row_length, k);
            prop_assume!(check_best(&job, &facts).is_ok());
            let best = k.min(row_length);
            let (lists, last) = lists(&job, best, &facts);
            let last = last.expect("it was checked");
            prop_assert!(2 * best <= last.len() && tile_fits(last, &job, &facts));
            let mut row = row_length;
            for list in &lists {
                prop_assert!((list.rank as usize) < list.sample.len() && tile_fits(list.sample, &job, &facts));
                prop_assert!(list.capacity() >= best && 2 * list.capacity() <= row);
                row = list.capacity();
            }
            for launch in &planned(&job, &facts).launches {
                prop_assert!(launch.group_size <= facts.group_size && launch.local_bytes <= facts.local_bytes);
            }
        }
    }
}
