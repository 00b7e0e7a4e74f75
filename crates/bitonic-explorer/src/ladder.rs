//! The rungs of the ladder as a film: who touches what, moment by moment.
//!
//! The rungs themselves need threads and devices. Here is what each of their workers does on 16 keys, in the order in which it does it.
//! The tests prove that every film is a sort.

use serde::Serialize;

/// The keys of a film: enough to see a pattern, few enough to see each.
const KEYS: usize = 16;

/// The threads of rungs that use several.
const THREADS: usize = 4;

/// Work-items in a group, where the rung does not say otherwise.
const GROUP: usize = 4;

/// A film.
#[derive(Serialize)]
pub(crate) struct Film {
    rung: &'static str,
    /// Where the text of the rung is, under `crates/bitonic-ladder/src`.
    file: &'static str,
    keys: usize,
    workers: usize,
    /// How workers are called: threads, or work-items.
    called: &'static str,
    /// Work-items in a group; 0 for threads.
    group: usize,
    /// Whether groups stage keys in local memory.
    local: bool,
    moments: Vec<Moment>,
}

/// What all workers do at the same time.
#[derive(Serialize)]
struct Moment {
    step: String,
    touches: Vec<Touch>,
    /// What ends it, and everybody waits for: a barrier, the end of a launch, the host.
    end: Option<&'static str>,
}

/// What one worker does.
#[derive(Clone, Serialize)]
struct Touch {
    worker: usize,
    act: Act,
    /// The places of the keys, for a comparison first that of the smaller. Places in local memory are numbered through all groups.
    places: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    /// Compares two keys in memory.
    Compare,
    /// Compares two keys in local memory.
    CompareLocal,
    /// Brings keys from memory to local memory.
    Load,
    /// Brings keys back.
    Store,
    /// Looks where it is, and has nothing to do.
    Idle,
}

/// How a rung works.
enum Way {
    /// One thread, half by half.
    DepthFirst,
    /// One thread, step by step; or over every position, of which half are skipped.
    InOrder { every_position: bool },
    /// Threads share the comparators of a step.
    Threads,
    /// Threads share the positions of a step, of which half are skipped.
    Guarded,
    /// Threads take halves, and one of them merges; or merges fork as well.
    Forked { merges: bool },
    /// A launch for every step.
    Launches { items: Items, group: usize, waits: bool },
    /// A launch for every step, keys staged in local memory.
    Tiles { waits: bool },
    /// A launch for all steps inside a tile, keys staged in local memory, and one for every other step.
    ManySteps,
    /// Odd-even transposition on threads with chunks of their own.
    Phases { threads: usize },
    /// The same, each thread at its own pace: shown as if all had the same.
    Sweeps,
    /// Odd-even transposition, a launch for every phase, with so many work-items.
    PhaseLaunches { waits: bool, items: usize },
    /// The same with a work-item for every key, and keys staged in local memory.
    StagedPhases,
}

/// What a work-item is there for.
#[derive(Clone, Copy)]
enum Items {
    /// A key.
    Key,
    /// A key, and as many beyond the end.
    KeyAndMore,
    /// A comparator.
    Comparator,
}

/// Every rung, in the ladder's order.
const RUNGS: [(&str, &str, Way); 27] = [
    ("recursive", "cpu/one_thread/recursive.rs", Way::DepthFirst),
    ("iterative_scan", "cpu/one_thread/iterative_scan.rs", Way::InOrder { every_position: true }),
    ("iterative_blocks", "cpu/one_thread/iterative_blocks.rs", Way::InOrder { every_position: false }),
    ("iterative_folded", "cpu/one_thread/iterative_folded.rs", Way::InOrder { every_position: false }),
    ("iterative_shifts", "cpu/one_thread/iterative_shifts.rs", Way::InOrder { every_position: false }),
    ("network_passes", "cpu/one_thread/network_passes.rs", Way::InOrder { every_position: false }),
    (
        "network_no_dependency",
        "cpu/one_thread/network_no_dependency.rs",
        Way::InOrder { every_position: false },
    ),
    ("odd_even", "cpu/one_thread/odd_even.rs", Way::Phases { threads: 1 }),
    ("parallel_guarded", "cpu/threads/parallel_guarded.rs", Way::Guarded),
    ("parallel_steps", "cpu/threads/parallel_steps.rs", Way::Threads),
    ("parallel_recursive", "cpu/threads/parallel_recursive.rs", Way::Forked { merges: false }),
    ("parallel_merges", "cpu/threads/parallel_merges.rs", Way::Forked { merges: true }),
    ("odd_even_threads", "cpu/threads/odd_even_threads.rs", Way::Sweeps),
    ("odd_even_barriers", "cpu/threads/odd_even_barriers.rs", Way::Phases { threads: THREADS }),
    (
        "naive_scan",
        "gpu/kernels/naive_scan.c",
        Way::Launches { items: Items::Key, group: GROUP, waits: false },
    ),
    (
        "naive_folded",
        "gpu/kernels/naive_folded.c",
        Way::Launches { items: Items::Comparator, group: GROUP, waits: false },
    ),
    (
        "naive_shifts",
        "gpu/kernels/naive_shifts.c",
        Way::Launches { items: Items::Comparator, group: GROUP, waits: false },
    ),
    (
        "xor_guarded",
        "gpu/kernels/xor_guarded.c",
        Way::Launches { items: Items::KeyAndMore, group: 2 * KEYS, waits: false },
    ),
    (
        "compare_pair",
        "gpu/kernels/compare_pair.c",
        Way::Launches { items: Items::Key, group: GROUP, waits: true },
    ),
    (
        "one_item_groups",
        "gpu/kernels/one_item_groups.c",
        Way::Launches { items: Items::Comparator, group: 1, waits: false },
    ),
    ("local_memory", "gpu/kernels/local_small_biton.c", Way::Tiles { waits: true }),
    ("local_memory_queued", "gpu/kernels/local_small_biton.c", Way::Tiles { waits: false }),
    ("local_many_steps", "gpu/kernels/local_many_steps.c", Way::ManySteps),
    (
        "odd_even_two_kernels",
        "gpu/kernels/odd_even_two_kernels.c",
        Way::PhaseLaunches { waits: true, items: KEYS / 2 },
    ),
    (
        "odd_even_one_kernel",
        "gpu/kernels/odd_even_one_kernel.c",
        Way::PhaseLaunches { waits: false, items: KEYS / 2 },
    ),
    ("odd_even_local", "gpu/kernels/odd_even_local.c", Way::StagedPhases),
    (
        "odd_even_strided",
        "gpu/kernels/odd_even_strided.c",
        Way::PhaseLaunches { waits: false, items: KEYS / 4 },
    ),
];

/// The names of all rungs.
pub(crate) fn rungs() -> Vec<&'static str> {
    RUNGS.iter().map(|(name, ..)| *name).collect()
}

/// The files with the texts of all rungs, under `crates/bitonic-ladder/src`.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn files() -> impl Iterator<Item = &'static str> {
    RUNGS.iter().map(|(_, file, _)| *file)
}

/// The film of a rung.
pub(crate) fn film(name: &str) -> Result<Film, String> {
    let found = RUNGS.iter().find(|(rung, ..)| *rung == name);
    let (rung, file, way) = found.ok_or_else(|| format!("there is no film of a rung called `{name}`"))?;
    let film = |called, workers, group, local, moments| Film {
        rung,
        file,
        keys: KEYS,
        workers,
        called,
        group,
        local,
        moments,
    };
    Ok(match *way {
        Way::DepthFirst => film("thread", 1, 0, false, depth_first()),
        Way::InOrder { every_position } => film("thread", 1, 0, false, in_order(every_position)),
        Way::Threads => film("threads", THREADS, 0, false, shared_steps()),
        Way::Guarded => film("threads", THREADS, 0, false, guarded()),
        Way::Forked { merges } => film("threads", THREADS, 0, false, forked(merges)),
        Way::Launches { items, group, waits } => {
            let workers = match items {
                Items::Key => KEYS,
                Items::KeyAndMore => 2 * KEYS,
                Items::Comparator => KEYS / 2,
            };
            film("work-items", workers, group, false, launches(items, waits))
        }
        Way::Tiles { waits } => film("work-items", KEYS / 2, GROUP, true, tiles(waits)),
        Way::ManySteps => film("work-items", KEYS / 2, GROUP, true, many_steps()),
        Way::Sweeps => film("threads", THREADS, 0, false, sweeps()),
        Way::Phases { threads } => {
            film(if threads == 1 { "thread" } else { "threads" }, threads, 0, false, phases(threads))
        }
        Way::PhaseLaunches { waits, items } => {
            film("work-items", items, GROUP, false, phase_launches(waits, items))
        }
        Way::StagedPhases => film("work-items", KEYS, GROUP, true, staged_phases()),
    })
}

/// A comparator: the place of its first key, that of its second, and whether the larger key comes first.
#[derive(Clone, Copy)]
struct Pair {
    low: usize,
    high: usize,
    descending: bool,
}

impl Pair {
    fn places(self) -> Vec<usize> {
        if self.descending { vec![self.high, self.low] } else { vec![self.low, self.high] }
    }

    fn by(self, worker: usize) -> Touch {
        Touch { worker, act: Act::Compare, places: self.places() }
    }
}

/// The steps of bitonic sort: what they are called, block and distance.
fn steps() -> Vec<(String, usize, usize)> {
    let mut steps = Vec::new();
    let mut block = 2;
    while block <= KEYS {
        let mut distance = block / 2;
        while distance > 0 {
            steps.push((format!("blocks of {block}, distance {distance}"), block, distance));
            distance /= 2;
        }
        block *= 2;
    }
    steps
}

/// The comparators of a step, by their first key.
fn pairs(block: usize, distance: usize) -> Vec<Pair> {
    let first = (0..KEYS).filter(|place| place & distance == 0);
    first.map(|low| Pair { low, high: low | distance, descending: low & block != 0 }).collect()
}

fn alone(step: String, touch: Touch) -> Moment {
    Moment { step, touches: vec![touch], end: None }
}

fn idle(worker: usize, places: Vec<usize>) -> Touch {
    Touch { worker, act: Act::Idle, places }
}

fn in_order(every_position: bool) -> Vec<Moment> {
    let mut moments = Vec::new();
    for (step, block, distance) in steps() {
        for place in 0..KEYS {
            let pair = pairs(block, distance).into_iter().find(|pair| pair.low == place);
            match pair {
                Some(pair) => moments.push(alone(step.clone(), pair.by(0))),
                None if every_position => moments.push(alone(step.clone(), idle(0, vec![place]))),
                None => {}
            }
        }
    }
    moments
}

fn depth_first() -> Vec<Moment> {
    let mut found = Vec::new();
    sort_half_by_half(0, KEYS, false, &mut found);
    found.into_iter().map(|(step, pair)| alone(step, pair.by(0))).collect()
}

fn sort_half_by_half(start: usize, length: usize, descending: bool, found: &mut Vec<(String, Pair)>) {
    if length < 2 {
        return;
    }
    sort_half_by_half(start, length / 2, false, found);
    sort_half_by_half(start + length / 2, length / 2, true, found);
    merge_half_by_half(start, length, descending, found);
}

fn merge_half_by_half(start: usize, length: usize, descending: bool, found: &mut Vec<(String, Pair)>) {
    if length < 2 {
        return;
    }
    found.extend(half_cleaner(start, length, descending));
    merge_half_by_half(start, length / 2, descending, found);
    merge_half_by_half(start + length / 2, length / 2, descending, found);
}

fn half_cleaner(start: usize, length: usize, descending: bool) -> impl Iterator<Item = (String, Pair)> {
    let half = length / 2;
    let step = format!("half-cleaner of keys {start} to {}", start + length - 1);
    (start..start + half).map(move |low| (step.clone(), Pair { low, high: low + half, descending }))
}

fn shared_steps() -> Vec<Moment> {
    let mut moments = Vec::new();
    for (step, block, distance) in steps() {
        let pairs = pairs(block, distance);
        let each = pairs.len() / THREADS;
        for turn in 0..each {
            let touches = (0..THREADS).map(|thread| pairs[thread * each + turn].by(thread)).collect();
            let end = (turn + 1 == each).then_some("barrier");
            moments.push(Moment { step: step.clone(), touches, end });
        }
    }
    moments
}

/// Each thread looks at every position of its quarter, all at the same pace.
fn guarded() -> Vec<Moment> {
    let part = KEYS / THREADS;
    let mut moments = Vec::new();
    for (step, block, distance) in steps() {
        let pairs = pairs(block, distance);
        for turn in 0..part {
            let touch = |thread: usize| match pairs.iter().find(|pair| pair.low == thread * part + turn) {
                Some(pair) => pair.by(thread),
                None => idle(thread, Vec::new()),
            };
            let end = (turn + 1 == part).then_some("barrier");
            moments.push(Moment { step: step.clone(), touches: (0..THREADS).map(touch).collect(), end });
        }
    }
    moments
}

/// Two levels fork: four threads sort a quarter each. Then halves are merged by a thread each, and all keys by one; or, if `merges`
/// fork, only the first steps of a merge are left to so few.
fn forked(merges: bool) -> Vec<Moment> {
    let part = KEYS / THREADS;
    let sorted = |thread: usize| {
        let mut found = Vec::new();
        sort_half_by_half(thread * part, part, thread % 2 == 1, &mut found);
        found
    };
    let mut moments = side_by_side((0..THREADS).map(|thread| (thread, sorted(thread))).collect());
    for length in [KEYS / 2, KEYS] {
        let descending = |start: usize| start & length != 0 && length < KEYS;
        let merged = |start: usize, of: usize| {
            let mut found = Vec::new();
            merge_half_by_half(start, of, descending(start), &mut found);
            (start / part, found)
        };
        if !merges {
            let whole = (0..KEYS / length).map(|index| merged(index * length, length));
            moments.extend(side_by_side(whole.collect()));
            continue;
        }
        let mut cleaned = length;
        while cleaned >= 2 * part {
            let cleaners = (0..KEYS / cleaned).map(|index| {
                let start = index * cleaned;
                (start / part, half_cleaner(start, cleaned, descending(start)).collect())
            });
            moments.extend(side_by_side(cleaners.collect()));
            cleaned /= 2;
        }
        moments.extend(side_by_side((0..THREADS).map(|thread| merged(thread * part, part)).collect()));
    }
    moments
}

/// Threads with work of their own, which wait for the longest.
fn side_by_side(work: Vec<(usize, Vec<(String, Pair)>)>) -> Vec<Moment> {
    let longest = work.iter().map(|(_, pairs)| pairs.len()).max().unwrap_or(0);
    let moment = |turn: usize| {
        let busy = work.iter().filter_map(|(thread, pairs)| Some((*thread, pairs.get(turn)?)));
        let touches = busy.clone().map(|(thread, (_, pair))| pair.by(thread));
        let waiting = (0..THREADS)
            .filter(|thread| !work.iter().any(|(busy, pairs)| busy == thread && turn < pairs.len()));
        let step = match work.len() {
            THREADS => "a quarter for each thread".to_owned(),
            _ => busy.clone().next().map(|(_, (step, _))| step.clone()).unwrap_or_default(),
        };
        Moment {
            step,
            touches: touches.chain(waiting.map(|thread| idle(thread, Vec::new()))).collect(),
            end: (turn + 1 == longest).then_some("join"),
        }
    };
    (0..longest).map(moment).collect()
}

fn launches(items: Items, waits: bool) -> Vec<Moment> {
    let moment = |(step, block, distance): (String, usize, usize)| {
        let pairs = pairs(block, distance);
        let touches = match items {
            Items::Comparator => pairs.iter().enumerate().map(|(item, pair)| pair.by(item)).collect(),
            Items::Key | Items::KeyAndMore => {
                let beyond = if matches!(items, Items::Key) { 0 } else { KEYS };
                let touch = |item: usize| match pairs.iter().find(|pair| pair.low == item) {
                    Some(pair) => pair.by(item),
                    None => idle(item, Vec::new()),
                };
                (0..KEYS + beyond).map(touch).collect()
            }
        };
        Moment { step, touches, end: Some(if waits { "the host waits" } else { "end of launch" }) }
    };
    steps().into_iter().map(moment).collect()
}

/// Load, compare in local memory, store: for every step.
fn tiles(waits: bool) -> Vec<Moment> {
    let end = Some(if waits { "the host waits" } else { "end of launch" });
    let tile = 2 * GROUP;
    let mut moments = Vec::new();
    for (step, block, distance) in steps() {
        // A distance inside the tile leaves the tile in one piece; beyond it, a group takes two runs a distance apart.
        let place_of = |group: usize, local: usize| {
            if distance < tile {
                return group * tile + local;
            }
            let comparator = group * GROUP;
            let lower = 2 * comparator - (comparator & (distance - 1));
            if local < GROUP { lower + local } else { lower + distance + local - GROUP }
        };
        let items = || (0..KEYS / 2).map(|worker| (worker, worker / GROUP, worker % GROUP));
        let copy = |act: Act| {
            let touch = |(worker, group, item)| Touch {
                worker,
                act,
                places: vec![place_of(group, item), place_of(group, item + GROUP)],
            };
            items().map(touch).collect::<Vec<_>>()
        };
        let compare = items().map(|(worker, group, item)| {
            let inside = distance.min(GROUP);
            let low = 2 * item - (item & (inside - 1));
            let pair = Pair { low, high: low + inside, descending: place_of(group, low) & block != 0 };
            let places = pair.places().into_iter().map(|local| group * tile + local).collect();
            Touch { worker, act: Act::CompareLocal, places }
        });
        let compare = compare.collect();
        moments.push(Moment { step: step.clone(), touches: copy(Act::Load), end: Some("barrier") });
        moments.push(Moment { step: step.clone(), touches: compare, end: Some("barrier") });
        moments.push(Moment { step, touches: copy(Act::Store), end });
    }
    moments
}

/// Load, compare in local memory for all steps inside a tile, store; and a launch in memory for every step beyond it.
fn many_steps() -> Vec<Moment> {
    let tile = 2 * GROUP;
    let items = || (0..KEYS / 2).map(|worker| (worker, worker / GROUP * tile, worker % GROUP));
    let copy = |act: Act| -> Vec<Touch> {
        items()
            .map(|(worker, start, item)| Touch {
                worker,
                act,
                places: vec![start + item, start + item + GROUP],
            })
            .collect()
    };
    let mut moments: Vec<Moment> = Vec::new();
    let steps = steps();
    for (index, (step, block, distance)) in steps.iter().enumerate() {
        let (step, pairs) = (step.clone(), pairs(*block, *distance));
        let is_inside = |index: usize| steps.get(index).is_some_and(|(_, _, distance)| *distance < tile);
        if !is_inside(index) {
            let touches = pairs.iter().enumerate().map(|(item, pair)| pair.by(item)).collect();
            moments.push(Moment { step, touches, end: Some("end of launch") });
            continue;
        }
        if index == 0 || !is_inside(index - 1) {
            moments.push(Moment { step: step.clone(), touches: copy(Act::Load), end: Some("barrier") });
        }
        let compare =
            |(worker, pair): (usize, &Pair)| Touch { worker, act: Act::CompareLocal, places: pair.places() };
        let touches = pairs.iter().enumerate().map(compare).collect();
        moments.push(Moment { step: step.clone(), touches, end: Some("barrier") });
        if !is_inside(index + 1) {
            moments.push(Moment { step, touches: copy(Act::Store), end: Some("end of launch") });
        }
    }
    moments
}

/// The pairs of neighbours of a phase.
fn neighbours(phase: usize) -> Vec<Pair> {
    (phase % 2..KEYS - 1).step_by(2).map(|low| Pair { low, high: low + 1, descending: false }).collect()
}

fn phase_name(phase: usize) -> String {
    format!("phase {} of {KEYS}, {}", phase + 1, if phase.is_multiple_of(2) { "even" } else { "odd" })
}

fn phases(threads: usize) -> Vec<Moment> {
    let mut moments = Vec::new();
    let chunk = KEYS / threads;
    for phase in 0..KEYS {
        let pairs = neighbours(phase);
        let of = |thread: usize| pairs.iter().filter(move |pair| pair.low / chunk == thread);
        let turns = (0..threads).map(|thread| of(thread).count()).max().unwrap_or(0);
        for turn in 0..turns {
            let touch = |thread: usize| match of(thread).nth(turn) {
                Some(pair) => pair.by(thread),
                None => idle(thread, Vec::new()),
            };
            let end = (threads > 1 && turn + 1 == turns && phase % 2 == 0).then_some("barrier");
            moments.push(Moment { step: phase_name(phase), touches: (0..threads).map(touch).collect(), end });
        }
    }
    moments
}

/// As many sweeps as any 16 keys need at this pace, which the tests prove; a thread ends sooner if one of its sweeps exchanges nothing. They
/// are more than half of the keys, because a border is compared after the neighbour's first pairs.
fn sweeps() -> Vec<Moment> {
    let chunk = KEYS / THREADS;
    let sweeps = 11;
    let mut moments = Vec::new();
    for sweep in 0..sweeps {
        // Odd pairs from the left, each followed by the even pair below it; the last odd pair is the one across the border.
        let lows: Vec<usize> = (1..chunk).step_by(2).flat_map(|odd| [odd, odd - 1]).collect();
        for (turn, low) in lows.iter().enumerate() {
            let touch = |thread: usize| {
                let low = thread * chunk + low;
                match low + 1 < KEYS {
                    true => Pair { low, high: low + 1, descending: false }.by(thread),
                    false => idle(thread, Vec::new()),
                }
            };
            let last = sweep + 1 == sweeps && turn + 1 == lows.len();
            let step = format!("sweep {} of at most {sweeps}", sweep + 1);
            moments.push(Moment {
                step,
                touches: (0..THREADS).map(touch).collect(),
                end: last.then_some("join"),
            });
        }
    }
    moments
}

fn phase_launches(waits: bool, items: usize) -> Vec<Moment> {
    let mut moments = Vec::new();
    for phase in 0..KEYS {
        let pairs = neighbours(phase);
        let turns = pairs.len().div_ceil(items);
        for turn in 0..turns {
            let touch = |worker: usize| match pairs.get(turn * items + worker) {
                Some(pair) => pair.by(worker),
                None => idle(worker, Vec::new()),
            };
            let end = if waits && phase % 2 == 1 { "the host waits" } else { "end of launch" };
            let end = (turn + 1 == turns).then_some(end);
            moments.push(Moment { step: phase_name(phase), touches: (0..items).map(touch).collect(), end });
        }
    }
    moments
}

/// A key for every work-item; the one at the edge of a group has the key beyond it, too, where that ends its pair. A key has its own
/// place in local memory as well, because a group holds no other.
fn staged_phases() -> Vec<Moment> {
    let mut moments = Vec::new();
    for phase in 0..KEYS {
        let pairs = neighbours(phase);
        let owner = |place: usize| {
            let pair = pairs.iter().find(|pair| pair.low == place || pair.high == place)?;
            let is_edge = pair.low % GROUP == GROUP - 1;
            Some(if is_edge { pair.low } else { place })
        };
        let copies = |act: Act| -> Vec<Touch> {
            let touch = |worker: usize| {
                let places: Vec<usize> = (0..KEYS).filter(|&place| owner(place) == Some(worker)).collect();
                match places.is_empty() {
                    true => idle(worker, places),
                    false => Touch { worker, act, places },
                }
            };
            (0..KEYS).map(touch).collect()
        };
        let compare = |worker: usize| match pairs.iter().find(|pair| pair.low == worker) {
            Some(pair) => Touch { worker, act: Act::CompareLocal, places: pair.places() },
            None => idle(worker, Vec::new()),
        };
        let step = phase_name(phase);
        moments.push(Moment { step: step.clone(), touches: copies(Act::Load), end: Some("barrier") });
        let touches = (0..KEYS).map(compare).collect();
        moments.push(Moment { step: step.clone(), touches, end: Some("barrier") });
        moments.push(Moment { step, touches: copies(Act::Store), end: Some("end of launch") });
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic_network::{Comparator, Network};
    use std::path::Path;

    /// The comparators of a film, as far as they say where in memory their keys are.
    fn comparators(film: &Film) -> Vec<Comparator> {
        let mut place_of_local: Vec<usize> = (0..KEYS).collect();
        let mut found = Vec::new();
        for moment in &film.moments {
            for touch in &moment.touches {
                let tile = touch.worker / GROUP * 2 * GROUP;
                // With a work-item for every key, each key has its own place in local memory.
                let in_place = film.workers == KEYS;
                match touch.act {
                    Act::Load => {
                        for (at, &place) in touch.places.iter().enumerate() {
                            let local =
                                if in_place { place } else { tile + touch.worker % GROUP + at * GROUP };
                            if local < KEYS {
                                place_of_local[local] = place;
                            }
                        }
                    }
                    Act::CompareLocal => {
                        let [min, max] = [0, 1].map(|end| place_of_local[touch.places[end]]);
                        found.push(Comparator::new(min, max));
                    }
                    Act::Compare => {
                        found.push(Comparator::new(touch.places[0], touch.places[1]));
                    }
                    Act::Store | Act::Idle => {}
                }
            }
        }
        found
    }

    #[test]
    fn every_film_is_a_sort() {
        for name in rungs() {
            let film = film(name).unwrap();
            let network = Network::sequential(KEYS, comparators(&film)).unwrap();
            assert!(network.prove().is_ok(), "{name}");
        }
    }

    #[test]
    fn no_two_workers_touch_the_same_key_at_the_same_time() {
        for name in rungs() {
            for moment in film(name).unwrap().moments {
                let mut touched: Vec<usize> =
                    moment.touches.iter().flat_map(|touch| touch.places.clone()).collect();
                touched.sort_unstable();
                assert!(touched.windows(2).all(|pair| pair[0] != pair[1]), "{name}: {}", moment.step);
            }
        }
    }

    #[test]
    fn every_rung_has_its_text() {
        let ladder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bitonic-ladder/src");
        for name in rungs() {
            assert!(ladder.join(film(name).unwrap().file).is_file(), "{name}");
        }
        assert!(film("no such").is_err());
    }
}
