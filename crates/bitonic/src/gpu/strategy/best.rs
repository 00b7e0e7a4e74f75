//! The best elements of every row. How they are found stands in `kernels/best.c`.

use super::network::Network;
use super::{builder, tile_fits};
use crate::Error;
use crate::gpu::element::Element;
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::{Job, Ragged};
use crate::gpu::kernel::{Arrays, Number, Spec, Tile};
use crate::gpu::tuning::{Measured, Tuning};
use crate::plan::{Algorithm, KernelPlan, Launch, Limits, Parameter, Place, WorkMemory};
use std::sync::Arc;

/// The base-2 logarithms of tiles that what is left of a row is sorted in, and of what a group holds of a sample.
const TILES_LOG2: std::ops::RangeInclusive<u32> = 8..=14;
const SAMPLES_LOG2: std::ops::RangeInclusive<u32> = 7..=13;

/// Of so many elements of a sample the least may be held.
const LEAST_OF: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// What reading an element costs, and searching among it and others, as comparisons of a sort.
const READ_COST: u64 = 16;
const SEARCH_COST: u64 = 8;

/// What a launch costs a unit that has nothing else to do, and waiting for memory once.
const LAUNCH_COST: u64 = 200_000;
const WAIT_COST: u64 = 30_000;

/// What a step of a sort costs it.
const STEP_COST: u64 = 5_000;

/// The base-2 logarithm of what a work-item holds of a sample, at most.
const HELD_OF_SAMPLE_LOG2: u32 = 4;

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

/// The most keys that a work-item holds of a row whose bound is searched for, or elements of a list, and the base-2 logarithms of what it holds
/// in the sort behind that: see `kernels/select_best.c`.
const SEARCHED: usize = 32;
const SEARCHED_OF_LIST: usize = 16;
const HELD_OF_SEARCHED_LOG2: [u32; 3] = [2, 1, 3];

/// A row of so few tiles is not filtered.
const SHORT_ROW: usize = 2;

/// The base-2 logarithm of the shortest cells that the arrays of segments are cut into: see `kernels/best.c`. Every group looks for the owner
/// of its cell, which takes as long as reading some thousand elements.
const LEAST_CELL_LOG2: u32 = 14;

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

/// What a group holds of a sample: much in few work-items, because they meet in every round of a search.
fn sample_tile(log2: u32, facts: &DeviceFacts) -> Option<Tile> {
    let tiles = || {
        let held = LEAST_HELD_LOG2..=HELD_OF_SAMPLE_LOG2;
        held.map(|held_log2| Tile::new(log2, held_log2)).filter(|tile| tile.items() <= facts.group_size)
    };
    // Groups may be smaller on some devices.
    tiles().rev().find(|tile| tile.items() >= LEAST_ITEMS).or_else(|| tiles().next())
}

/// How a group takes the best elements of what is left of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    /// What is sorted.
    tile: Tile,
    /// The elements that a work-item holds where a bound is searched for, before anything is sorted; or 0.
    searched: usize,
}

impl Last {
    /// All is sorted, a tile after the other.
    fn sorted(tile: Tile) -> Self {
        Self { tile, searched: 0 }
    }

    /// A group holds so many elements, up to `most` for a work-item, and sorts no more than a tile with room for `least`; `None` where they
    /// are too many, or would all be sorted anyway. Processors have not so many registers, and their compilers take seconds for it.
    fn searched(length: usize, least: usize, most: usize, job: &Job, facts: &DeviceFacts) -> Option<Self> {
        if facts.is_cpu() {
            return None;
        }
        let log2 = least.next_power_of_two().ilog2().max(LEAST_ITEMS.ilog2() + 1);
        let holds = |tile: &Tile| tile.items() >= LEAST_ITEMS && length <= most * tile.items();
        let tile = (log2..log2 + 3)
            .filter(|&log2| length > 1 << log2)
            .flat_map(|log2| HELD_OF_SEARCHED_LOG2.map(|held_log2| Tile::new(log2, held_log2)))
            .find(|tile| holds(tile) && tile_fits(*tile, job, facts))?;
        // As many as are needed, because registers that hold nothing are looked at as well.
        Some(Self { tile, searched: length.div_ceil(tile.items()).next_power_of_two() })
    }

    /// For rows that are held as a whole.
    fn of_short_rows(job: &Job, best: usize, facts: &DeviceFacts) -> Option<Self> {
        // Of keys of 128 bits the search sees half: where it finds no bound, there must be room for a round of others beside the best.
        let least = if job.element.key_bytes() > size_of::<u64>() { 2 * best } else { best };
        Self::searched(job.row_length, least, SEARCHED, job, facts)
    }

    /// For a list. Where it is spoilt, there must be room for a round of others beside the best.
    fn of_list(list: &List, job: &Job, best: usize, facts: &DeviceFacts) -> Option<Self> {
        let has_narrow_indices = job.element.value_bytes() == size_of::<u32>();
        let length = list.usual(3.0).min(list.capacity());
        let searched =
            has_narrow_indices.then(|| Self::searched(length, 2 * best, SEARCHED_OF_LIST, job, facts));
        searched.flatten().or_else(|| {
            let tile = last_tiles(job, facts).find(|tile| list.usual(1.5) <= tile.len())?;
            let is_soon = tile.log2 <= SOON_LOG2 || tile.len() <= 4 * best.next_power_of_two();
            is_soon.then_some(Self::sorted(tile))
        })
    }

    /// What it costs for so many elements, with so many groups on a unit.
    fn cost(&self, length: usize, groups_of_unit: u64) -> u64 {
        let each = if self.searched > 0 { READ_COST + SEARCH_COST } else { 0 };
        let steps = u64::from(self.tile.log2 * (self.tile.log2 + 1) / 2);
        steps * STEP_COST / groups_of_unit + cost(self.tile) + each * length as u64
    }
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
    /// What a group holds to find the bound.
    sample: Tile,
    /// Each of it is the least of so many elements of the row.
    least_of: u32,
    /// The least rank of the bound in what is held.
    rank: u32,
    /// How many elements pass.
    lengths: Lengths,
}

impl List {
    /// The list of a row of so many elements.
    ///
    /// The bound is too low if as many of what is held as its rank are among the best elements of the row; about Poisson(l) are, l being
    /// their mean. What comes before the bound is the share of the row of which as many would be held.
    fn new(row: Lengths, best: usize, sample: Tile, least_of: u32, least_rank: f64) -> Self {
        let (held, each) = (sample.len() as f64, f64::from(least_of));
        let of_best = held * (1.0 - (1.0 - (best as f64 / row.least).min(1.0)).powf(each));
        let rank = (of_best + 4.5 * of_best.sqrt() + 4.0).ceil().max(least_rank);
        // As in `kernels/best_bound.c`.
        let most = rank + (rank / 4.0).floor() + 2.0;
        let share = |rank: f64| 1.0 - (1.0 - (rank / held).min(1.0)).powf(1.0 / each);
        let deviation = 1.0 / rank.sqrt();
        let lengths = Lengths {
            least: (share(rank) * row.least * (-5.0 * deviation).exp()).max(best as f64),
            expected: share(0.5 * (rank + most)) * row.expected,
            most: (share(most) * row.most * (1.0 + 6.0 * deviation)).ceil(),
        };
        Self { sample, least_of, rank: rank as u32, lengths }
    }

    /// All lists of such a row that are worth it.
    fn all<'a>(
        row: Lengths,
        least_rank: f64,
        best: usize,
        facts: &'a DeviceFacts,
    ) -> impl Iterator<Item = Self> + 'a {
        let samples = SAMPLES_LOG2.filter_map(|log2| sample_tile(log2, facts));
        let lists = samples.flat_map(move |sample| {
            LEAST_OF.map(|least_of| Self::new(row, best, sample, least_of, least_rank))
        });
        lists.filter(move |list| {
            let is_far_from_all = 2 * list.rank as usize <= list.sample.len();
            is_far_from_all && 4.0 * list.read() as f64 <= row.least && 2 * list.capacity() <= row.most()
        })
    }

    /// What is read of a row to find the bound.
    fn read(&self) -> usize {
        self.sample.len() * self.least_of as usize
    }

    /// What finding the bound costs, with so many groups on a unit: while one waits for memory, others work.
    fn cost(&self, groups_of_unit: u64) -> u64 {
        let waits = u64::from(self.least_of) * WAIT_COST / groups_of_unit;
        waits + READ_COST * self.read() as u64 + SEARCH_COST * self.sample.len() as u64
    }

    /// The places for it: enough nearly always.
    fn capacity(&self) -> usize {
        self.lengths.most()
    }

    /// What it is shorter than in most cases: it may be longer than expected by so many deviations.
    fn usual(&self, deviations: f64) -> usize {
        (self.lengths.expected * (1.0 + deviations / f64::from(self.rank).sqrt())) as usize
    }
}

/// What a sort of a tile takes, about.
fn cost(tile: Tile) -> u64 {
    u64::from(tile.log2 * (tile.log2 + 1)) << tile.log2
}

/// The lists of a row, each made of the one before it, and how the last is taken.
struct Way {
    cost: u64,
    lists: Vec<List>,
    last: Last,
}

/// The best way for such a row, or for a list; `None` if there is none that is worth it.
fn way(row: Lengths, job: &Job, best: usize, facts: &DeviceFacts) -> Option<Way> {
    let groups_of_unit = job.rows.div_ceil(facts.units) as u64;
    // A row has a part of them to bear.
    let launches = 2 * LAUNCH_COST / groups_of_unit;
    let whole = last_tiles(job, facts).find(|tile| row.most() <= SHORT_ROW * tile.len()).map(|tile| {
        let last = Last::sorted(tile);
        Way { cost: last.cost(row.most(), groups_of_unit), lists: Vec::new(), last }
    });
    let once = List::all(row, 0.0, best, facts).filter_map(|list| {
        let last = Last::of_list(&list, job, best, facts)?;
        let cost = launches + list.cost(groups_of_unit) + last.cost(list.usual(0.0), groups_of_unit);
        Some(Way { cost, lists: vec![list], last })
    });
    // A row may be so long that the list of it is filtered again.
    let list = List::all(row, KNOWN_WELL, best, facts)
        .min_by_key(|list| list.capacity() as u64 + list.cost(groups_of_unit));
    let again = list.and_then(|list| {
        let mut way = way(list.lengths, job, best, facts).filter(|way| !way.lists.is_empty())?;
        way.cost += launches + list.cost(groups_of_unit);
        way.lists.insert(0, list);
        Some(way)
    });
    whole.into_iter().chain(once).chain(again).min_by_key(|way| way.cost)
}

/// The cells of arrays whose rows are segments of different lengths.
#[derive(Clone, Copy, Debug)]
struct Cells {
    /// The elements of a cell.
    length: usize,
    /// How many there are.
    count: usize,
    /// The list of a segment of one cell. That of a longer one has as much room for each.
    list: List,
}

impl Cells {
    /// The cells of a job, and how lists are taken; `None` if no segment is so long that filtering it pays.
    fn new(job: &Job, ragged: Ragged, best: usize, facts: &DeviceFacts) -> Option<(Self, Last)> {
        let lengths = (LEAST_CELL_LOG2..usize::BITS).map(|log2| 1 << log2);
        lengths
            .take_while(|&length| length <= job.row_length)
            .find_map(|length| Self::of_length(length, job, ragged, best, facts))
    }

    /// Cells of this length, if segments so long are filtered once.
    fn of_length(
        length: usize,
        job: &Job,
        ragged: Ragged,
        best: usize,
        facts: &DeviceFacts,
    ) -> Option<(Self, Last)> {
        let count = ragged.len / length;
        let job_of_cells = Job { row_length: length, rows: count, ragged: None, ..*job };
        let way = way(Lengths::of_keys(length), &job_of_cells, best, facts)?;
        let &[List { sample, least_of, .. }] = &way.lists[..] else { return None };
        // A segment of one cell may have nearly two.
        let lengths = Lengths { most: 2.0 * length as f64, ..Lengths::of_keys(length) };
        let list = List::new(lengths, best, sample, least_of, 0.0);
        Some((Self { length, count, list }, way.last))
    }
}

/// The kernels; their fallback is one group for every row, which needs no memory.
pub(super) fn kernel_plan(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Arc<KernelPlan> {
    let best = job.best.unwrap_or(0);
    if best == 0 || job.rows == 0 || job.len() == 0 {
        return Arc::new(KernelPlan { algorithm: Algorithm::Selection, ..KernelPlan::nothing() });
    }
    let plan = |lists: &[List], cells, last: Last, fallback| {
        let launches = Launches { job, best, lists, cells, last, facts };
        Arc::new(launches.plan(Network::new(job, facts, tuning).shape.limits(), fallback))
    };
    let Some(alone) = last_tiles(job, facts)
        .find(|tile| 4 * best <= tile.len())
        .or_else(|| last_tiles(job, facts).max_by_key(|tile| tile.log2))
    else {
        unreachable!("check_best was not asked about {job:?}")
    };
    let alone = Last::sorted(alone);
    if let Some(last) = Last::of_short_rows(job, best, facts) {
        return plan(&[], None, last, None);
    }
    if let Some(ragged) = job.ragged {
        let of_segments = |fallback| match Cells::new(job, ragged, best, facts) {
            Some((cells, last)) if !job.in_place => plan(&[cells.list], Some(cells), last, Some(fallback)),
            _ => fallback,
        };
        return of_segments(plan(&[], None, alone, None));
    }
    match way(Lengths::of_keys(job.row_length), job, best, facts) {
        Some(Way { lists, last, .. }) if !lists.is_empty() && !job.in_place => {
            plan(&lists, None, last, Some(plan(&[], None, alone, None)))
        }
        Some(Way { last, .. }) if job.row_length <= last.tile.len() => plan(&[], None, last, None),
        _ => plan(&[], None, alone, None),
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
    /// Where rows are segments of different lengths that are filtered.
    cells: Option<Cells>,
    last: Last,
    facts: &'a DeviceFacts,
}

impl Launches<'_> {
    fn plan(&self, limits: Limits, fallback: Option<Arc<KernelPlan>>) -> KernelPlan {
        let (job, elements) = (self.job, elements(&self.places()));
        KernelPlan {
            algorithm: Algorithm::Selection,
            launches: self.all(),
            element_bytes: job.element.bytes(),
            work: WorkMemory {
                keys: (elements * job.element.key_bytes()).next_multiple_of(16),
                values: (elements * job.element.value_bytes()).next_multiple_of(16),
                counters: self.lists.len() * self.listed() * size_of::<u32>(),
            },
            measured_on: Measured::of(self.facts).device,
            limits,
            network_passes: None,
            fallback,
        }
    }

    /// How many lists there are room for: one for every row, or every cell.
    fn listed(&self) -> usize {
        self.cells.map_or(self.job.rows, |cells| cells.count)
    }

    /// Where the lists are.
    fn places(&self) -> Vec<Places> {
        let listed = self.listed();
        let mut start = 0;
        let place = |list: &List| {
            let (bounds, capacity) = (start, list.capacity());
            start = bounds + listed + listed * capacity;
            Places { bounds, list: bounds + listed, capacity, end: start }
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
        // Segments may have more places for their best than elements.
        let most = elements(places).max(self.job.rows.saturating_mul(self.best));
        let mut launch = builder(&job, Arrays::WithCounters, most).launch(spec);
        if number == 0 {
            launch.arguments[0] = Parameter::Input;
        } else {
            launch.arguments[0] = Parameter::WorkKeys;
            launch.arguments[1] = Parameter::WorkValues;
        }
        launch
    }

    /// What is read: how far rows are apart, where they begin, and where their lengths are; or what is known of segments.
    fn source(&self, number: usize, places: &[Places]) -> Vec<Number> {
        let before = number.checked_sub(1).map(|before| (places[before], before * self.job.rows));
        match (self.job.ragged, before) {
            (Some(ragged), _) => vec![
                Number::Plain(self.job.rows as u32),
                Number::Index(ragged.len),
                Number::Index(self.job.row_length),
                Number::Index(self.cells.map_or(0, |cells| cells.length)),
            ],
            (None, None) => vec![Number::Index(self.job.row_length), Number::Index(0), Number::Plain(0)],
            (None, Some((list, lengths))) => {
                vec![Number::Index(list.capacity), Number::Index(list.list), Number::Plain(lengths as u32)]
            }
        }
    }

    /// Tells a kernel where the segments are: it has the table behind all arrays.
    fn with_table(&self, mut launch: Launch) -> Launch {
        if self.job.ragged.is_some() {
            let is_number = |argument: &Parameter| {
                matches!(argument, Parameter::Index32(_) | Parameter::Index64(_) | Parameter::Number(_))
            };
            let behind_lists =
                launch.arguments.iter().rposition(|argument| !is_number(argument)).map_or(0, |last| last + 1);
            launch.arguments.insert(behind_lists, Parameter::Offsets);
        }
        launch
    }

    fn bound(&self, number: usize, list: &List, places: &[Places]) -> Launch {
        let numbers = [
            Number::Index(places[number].bounds),
            Number::Plain((number * self.listed()) as u32),
            Number::Plain(self.best as u32),
            Number::Plain(list.rank),
            Number::Plain(self.job.mapping.argument(number == 0, false)),
        ];
        let spec = Spec {
            kernel: "best_bound",
            groups: self.listed(),
            tile: Some(list.sample),
            cluster_log2: 0,
            constants: &self.constants_and([
                ("SEARCHED", 1 << list.sample.held_log2),
                ("LEVEL_BITS", u64::BITS),
                ("LEAST_OF", list.least_of),
                ("MOST_LEAST_OF", LEAST_OF[LEAST_OF.len() - 1]),
            ]),
            numbers: &self.source(number, places).into_iter().chain(numbers).collect::<Vec<_>>(),
            place: None,
            steps: 0..0,
            copies: 0.0,
            words: format!("find a bound in a sample of {} of every row", list.read()),
        };
        let mut launch = self.launch(number, spec, places);
        // Nothing is sorted.
        launch.local_bytes = 0;
        self.with_table(launch)
    }

    fn filter(&self, number: usize, list: &List, places: &[Places]) -> Launch {
        let stride = match number.checked_sub(1) {
            None => self.cells.map_or(self.job.row_length, |cells| cells.length),
            Some(before) => places[before].capacity,
        };
        let kept = kept_tile(stride, self.job, self.facts);
        let items = kept.items();
        let round = READ * items;
        // As many as keep the device busy, and no more than have something to do; but so many that each has room for what it keeps.
        let busy = 2 * self.facts.units * ITEMS_OF_UNIT / items;
        let most = stride.div_ceil(round);
        let parts = (busy / self.listed())
            .max(1)
            .min(most.div_ceil(LEAST_ROUNDS))
            .max(3 * list.usual(1.5) / kept.len())
            .clamp(1, most);
        let numbers = [
            Number::Index(places[number].bounds),
            Number::Index(places[number].list),
            Number::Index(places[number].capacity),
            Number::Index(parts),
            Number::Plain((number * self.listed()) as u32),
            Number::Plain(self.best as u32),
            Number::Plain(self.job.mapping.argument(number == 0, false)),
        ];
        let spec = Spec {
            kernel: "best_filter",
            groups: self.listed() * parts,
            tile: Some(kept),
            cluster_log2: 0,
            constants: &self.constants_and([]),
            numbers: &self.source(number, places).into_iter().chain(numbers).collect::<Vec<_>>(),
            place: (number == 0).then_some(Place::Memory),
            steps: 0..0,
            // All keys are read, and few written.
            copies: if number == 0 { 0.5 } else { 0.0 },
            words: format!(
                "list what comes before the bound, about {:.0} of every row",
                list.lengths.expected
            ),
        };
        self.with_table(self.launch(number, spec, places))
    }

    fn select(&self, places: &[Places]) -> Launch {
        let filtered = places.last();
        let lists = filtered.map_or(Vec::new(), |places| {
            let lengths = (self.lists.len() - 1) * self.listed();
            vec![Number::Index(places.list), Number::Index(places.capacity), Number::Plain(lengths as u32)]
        });
        let numbers = [Number::Plain(self.best as u32), Number::Plain(self.job.mapping.argument(true, true))];
        let numbers = [lists, self.source(0, places), numbers.to_vec()].concat();
        let spec = Spec {
            kernel: "select_best",
            groups: self.job.rows,
            tile: Some(self.last.tile),
            cluster_log2: 0,
            constants: &self.constants_and([
                ("FILTERED", u32::from(filtered.is_some())),
                ("SEARCHED", self.last.searched as u32),
                ("LEVEL_BITS", if self.job.element.key_bytes() < size_of::<u64>() { 32 } else { 64 }),
            ]),
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
        let has_columns = filtered.is_some();
        let each = self.job.element.key_bytes() + if has_columns { size_of::<u32>() } else { 0 };
        launch.held_bytes += self.last.searched * each;
        self.with_table(launch)
    }

    /// What all kernels are built with, and what only one is.
    fn constants_and<const N: usize>(&self, others: [(&'static str, u32); N]) -> Vec<(&'static str, u32)> {
        let ragged = self.job.ragged;
        let mut constants = vec![
            ("SHORT_ROWS", 0),
            ("RAGGED_ROWS", 0),
            // Also on processors: as a loop within the loop of the rounds they were wrong before every function was inlined there.
            ("UNROLLED", 1),
            ("SEGMENTED", u32::from(ragged.is_some())),
        ];
        constants.extend(ragged.map(|ragged| ("OFFSET_BITS", ragged.offset_bits)));
        constants.extend(others);
        constants
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
    fn rows_that_a_group_can_hold_are_searched() {
        let facts = DeviceFacts::nvidia_h200();
        let searched = |row_length, k, facts: &DeviceFacts| {
            let plan = planned(&job::<f32>(1000, row_length, k), facts);
            let last = plan.launches.last().expect("there is one").clone();
            let constant =
                |name| last.constants.iter().find(|constant| constant.0 == name).map(|constant| constant.1);
            (constant("SEARCHED"), constant("TILE_LOG2"), last.group_size)
        };
        assert_eq!(searched(1024, 64, &facts), (Some(32), Some(6), 32));
        assert_eq!(searched(700, 10, &facts), (Some(32), Some(6), 32));
        assert_eq!(searched(2048, 64, &facts), (Some(32), Some(7), 64));
        assert_eq!(searched(2049, 64, &facts), (Some(32), Some(8), 128));
        assert_eq!(searched(100, 20, &facts), (Some(4), Some(6), 32));
        // Nothing is left out there, and this one is too long.
        assert_eq!(searched(64, 60, &facts).0, Some(0));
        assert!(planned(&job::<f32>(1000, 30_000, 64), &facts).launches.len() > 1);
        assert_eq!(searched(1024, 64, &DeviceFacts::pocl()).0, Some(0));
    }

    /// Rows of all kinds of keys whose bounds are searched for, in rows that are held and in those whose list is: with keys in any order, few
    /// values and one, keys as low and as high as there are, and wide keys whose upper halves are the same, where the search of held rows
    /// finds no bound.
    #[cfg(feature = "opencl")]
    fn search_rows<K: Key>(keys: &dyn Fn(u32, u32) -> K) {
        search_rows_of(120, false, keys);
        search_rows_of(600, true, keys);
    }

    #[cfg(feature = "opencl")]
    fn search_rows_of<K: Key>(row_length: usize, is_filtered: bool, keys: &dyn Fn(u32, u32) -> K) {
        use crate::gpu::driver::Driver;
        use crate::gpu::execute::{Buffers, sort_buffers};
        use crate::key::as_bytes;

        let device = crate::gpu::opencl::testing::device();
        let (rows, k) = (5, 9);
        let job = job::<K>(rows, row_length, k);
        let list = List::new(Lengths::of_keys(row_length), k, Tile::new(6, 2), 1, 0.0);
        let searched = if is_filtered { 32 } else { 8 };
        let last = Last { tile: Tile::new(5, 1), searched };
        assert!(last.tile.items() * searched >= if is_filtered { list.capacity() } else { row_length });
        assert!(if is_filtered { list.usual(0.0) } else { row_length } > last.tile.len());
        let launches = Launches {
            job: &job,
            best: k,
            lists: if is_filtered { &[list] } else { &[] },
            cells: None,
            last,
            facts: device.facts(),
        };
        let limits = Network::new(&job, device.facts(), &Tuning::default()).shape.limits();
        let plan = launches.plan(limits, None);
        let keys: Vec<K> =
            (0..rows * row_length).map(|place| keys((place / row_length) as u32, place as u32)).collect();
        let sorter = crate::Sorter::new().engine(crate::Engine::Cpu).order(crate::Order::Ascending);
        let expected = sorter.top_k_rows(&keys, row_length, k).expect("the CPU finds them");
        let (key_bytes, value_bytes) = job.array_bytes();
        let [input, best, indices] = [size_of_val(&keys[..]), key_bytes, value_bytes]
            .map(|bytes| device.allocate(bytes).expect("there is memory for it"));
        device.upload(as_bytes(&keys), &input).expect("keys go up");
        let buffers = Buffers { input: Some(&input), ..Buffers::new(&best, Some(&indices)) };
        sort_buffers(&device, &job, &Arc::new(plan), buffers).expect("the kernels run");
        let mut found = [vec![0; key_bytes], vec![0; value_bytes]];
        device.download(&best, &mut found[0][..]).expect("keys come down");
        device.download(&indices, &mut found[1][..]).expect("indices come down");
        assert_eq!(found[0], as_bytes(&expected.keys), "{}", K::TYPE);
        let indices: Vec<u32> = expected.indices.iter().map(|&index| index as u32).collect();
        assert_eq!(found[1], as_bytes(&indices), "{}", K::TYPE);
    }

    /// A number of one of five kinds of rows, of 32 bits.
    #[cfg(feature = "opencl")]
    fn of_row(row: u32, place: u32) -> u32 {
        let random = place.wrapping_mul(2_654_435_761);
        match row % 5 {
            0 => random,
            1 => random >> 30,
            2 => u32::MAX,
            3 => random | 0xffff_0000 | (0xffff * (place & 1)),
            _ => place,
        }
    }

    #[test]
    #[ignore = "run by searches_for_a_bound_are_right_and_clean, in a process with Oclgrind"]
    #[cfg(feature = "opencl")]
    fn search_rows_of_all_kinds() {
        search_rows::<u32>(&of_row);
        search_rows::<u8>(&|row, place| of_row(row, place) as u8);
        search_rows::<f64>(&|row, place| {
            f64::from_bits(u64::from(of_row(row, place)) << 32 | u64::from(place % 3))
        });
        search_rows::<u128>(&|row, place| {
            u128::from(of_row(row, place)) << 90 | u128::from(place.reverse_bits())
        });
    }

    #[test]
    #[cfg(feature = "opencl")]
    fn searches_for_a_bound_are_right_and_clean() {
        let oclgrind = bitonic_testkit::Oclgrind::find();
        let report = oclgrind.report_of("gpu::strategy::best::tests::search_rows_of_all_kinds");
        assert!(report.is_empty(), "{report}");
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

    fn job_of_segments<K: Key>(segments: usize, longest: usize, len: usize, k: usize) -> Job {
        Job::of(&Request::top::<K>(Segments::Offsets { segments, longest, len }, k))
    }

    #[test]
    fn segments_are_filtered_where_one_is_long_enough_and_there_is_memory() {
        let facts = DeviceFacts::nvidia_h200();
        let short = planned(&job_of_segments::<f32>(1000, 10_000, 1 << 20, 50), &facts);
        assert_eq!((names(&short), short.work.bytes()), (vec!["select_best"], 0));
        let long = job_of_segments::<f32>(1000, 100_000, 1 << 20, 50);
        let plan = planned(&long, &facts);
        assert_eq!(names(&plan), ["best_bound", "best_filter", "select_best"]);
        let groups: Vec<usize> = plan.launches.iter().map(|launch| launch.groups).collect();
        assert!(groups[0] == 64 && groups[1].is_multiple_of(64) && groups[2] == 1000, "{groups:?}");
        assert!(plan.work.bytes() < long.len() * 8 / 4, "{:?}", plan.work);
        assert_eq!(names(plan.fallback.as_ref().expect("there is one that needs less")), ["select_best"]);
        assert_eq!(names(&planned(&Job { in_place: true, ..long }, &facts)), ["select_best"]);
        // Longer cells for more best keys, which have longer lists.
        let many = planned(&job_of_segments::<f32>(10, 1 << 24, 1 << 24, 8000), &facts);
        assert!(many.launches[0].groups < (1 << 24) >> LEAST_CELL_LOG2, "{many:?}");
        assert!(planned(&job_of_segments::<f32>(10, 0, 0, 5), &facts).launches.is_empty());
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

    /// Segments of several cells, of one and of none; or such that overlap, as none should, and may do no harm then.
    #[cfg(feature = "opencl")]
    fn best_of_segments(wide_index: bool, overlap: bool, rank: Option<u32>, searched: usize) {
        use crate::gpu::driver::Driver;
        use crate::gpu::execute::{Buffers, sort_buffers};
        use crate::key::as_bytes;

        let device = crate::gpu::opencl::testing::device();
        let (lengths, k) = ([3_usize, 0, 700, 1, 2, 511, 512, 9, 1800, 0, 17, 1023], 5);
        let mut offsets = vec![0_u64];
        offsets.extend(lengths.iter().scan(0, |end, &length| {
            *end += length as u64;
            Some(*end)
        }));
        let len = *offsets.last().expect("there is one") as usize;
        let keys: Vec<u32> = (0..len as u32).map(|place| place.wrapping_mul(2_654_435_761) >> 20).collect();
        if overlap {
            offsets = (0..offsets.len() as u64).map(|place| (place % 2) * len as u64).collect();
        }
        let job = job_of_segments::<u32>(lengths.len(), len, len, k).with_offsets_of::<u64>();
        let job = Job { wide_index, ..job };
        // Cells so small that segments have several, and a sample that is as small.
        let list = List::new(Lengths { most: 1024.0, ..Lengths::of_keys(512) }, k, Tile::new(6, 2), 1, 0.0);
        let cells = Cells { length: 512, count: len / 512, list };
        let launches = Launches {
            job: &job,
            best: k,
            lists: &[list],
            cells: Some(cells),
            last: Last { tile: Tile::new(6, 2), searched },
            facts: device.facts(),
        };
        let mut plan =
            launches.plan(Network::new(&job, device.facts(), &Tuning::default()).shape.limits(), None);
        if let Some(rank) = rank {
            let bound = &mut plan.launches[0].arguments;
            let place = bound.len() - 2;
            bound[place] = Parameter::Number(rank);
        }
        let (key_bytes, value_bytes) = job.array_bytes();
        let [input, best, indices, table] =
            [size_of_val(&keys[..]), key_bytes, value_bytes, job.offset_bytes()]
                .map(|bytes| device.allocate(bytes).expect("there is memory for it"));
        device.upload(as_bytes(&keys), &input).expect("keys go up");
        device.upload(as_bytes(&offsets), &table).expect("offsets go up");
        // What a segment that has fewer keys leaves as it is.
        device.upload(&vec![7; key_bytes], &best).expect("places go up");
        device.upload(&vec![7; value_bytes], &indices).expect("places go up");
        let buffers =
            Buffers { input: Some(&input), offsets: Some(&table), ..Buffers::new(&best, Some(&indices)) };
        sort_buffers(&device, &job, &Arc::new(plan), buffers).expect("the kernels run");
        let mut found = [vec![0_u32; k * lengths.len()], vec![0_u32; k * lengths.len()]];
        device.download(&best, bytemuck::cast_slice_mut(&mut found[0])).expect("keys come down");
        device.download(&indices, bytemuck::cast_slice_mut(&mut found[1])).expect("indices come down");
        let untouched = u32::from_ne_bytes([7; 4]);
        for (segment, ends) in offsets.windows(2).enumerate().filter(|_| !overlap) {
            let keys = &keys[ends[0] as usize..ends[1] as usize];
            let mut order: Vec<u32> = (0..keys.len() as u32).collect();
            order.sort_by_key(|&index| keys[index as usize]);
            let wanted = |place: usize, of: &dyn Fn(u32) -> u32| {
                order.get(place).map_or(untouched, |&index| of(index))
            };
            for place in 0..k {
                let at = segment * k + place;
                let key = wanted(place, &|index| keys[index as usize]);
                assert_eq!(found[0][at], key, "place {place} of segment {segment}");
                assert_eq!(found[1][at], wanted(place, &|index| index), "place {place} of segment {segment}");
            }
        }
    }

    #[test]
    #[cfg(feature = "opencl")]
    fn the_best_of_segments_in_places_of_any_width_whatever_the_bound() {
        best_of_segments(false, false, None, 0);
        best_of_segments(true, false, None, 0);
        best_of_segments(false, false, Some(0), 0);
    }

    #[test]
    #[ignore = "run by searches_in_segments_are_clean, in a process with Oclgrind"]
    #[cfg(feature = "opencl")]
    fn find_best_of_small_segments() {
        best_of_segments(false, false, None, 0);
        best_of_segments(false, false, None, 8);
        best_of_segments(true, false, Some(0), 8);
    }

    #[test]
    #[ignore = "run by searches_in_segments_are_clean, in a process with Oclgrind"]
    #[cfg(feature = "opencl")]
    fn find_best_of_segments_that_overlap() {
        best_of_segments(false, true, None, 8);
    }

    #[test]
    #[cfg(feature = "opencl")]
    fn searches_in_segments_are_clean() {
        let report = |test| {
            bitonic_testkit::Oclgrind::find().report_of(&format!("gpu::strategy::best::tests::{test}"))
        };
        let clean = report("find_best_of_small_segments");
        assert!(clean.is_empty(), "{clean}");
        // What is found may be anything then, but nothing outside of the arrays is touched.
        let overlapping = report("find_best_of_segments_that_overlap");
        assert!(!overlapping.contains("Invalid"), "{overlapping}");
    }

    proptest! {
        /// Whatever the segments are, no cell has two owners, and all cells are among those that there is memory for.
        #[test]
        fn every_cell_has_one_owner(lengths in prop::collection::vec(0_usize..50, 1..60), cell in 1_usize..9) {
            let len: usize = lengths.iter().sum();
            let mut owners = vec![None; len / cell];
            let mut begin = 0;
            for (segment, &length) in lengths.iter().enumerate() {
                // As `owner_of` in kernels/best.c.
                for owner in &mut owners[begin / cell..][..length / cell] {
                    prop_assert_eq!(*owner, None);
                    *owner = Some(segment);
                }
                begin += length;
            }
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
            let Some(Way { lists, last, .. }) = way(Lengths::of_keys(row_length), &job, best, &facts) else {
                return Ok(());
            };
            prop_assert!(2 * best <= last.tile.len() && tile_fits(last.tile, &job, &facts));
            let mut row = row_length;
            for list in &lists {
                prop_assert!((list.rank as usize) < list.sample.len() && list.sample.items() <= facts.group_size);
                prop_assert!(list.capacity() >= best && 2 * list.capacity() <= row);
                row = list.capacity();
            }
            for launch in &planned(&job, &facts).launches {
                prop_assert!(launch.group_size <= facts.group_size && launch.local_bytes <= facts.local_bytes);
            }
        }
    }
}
