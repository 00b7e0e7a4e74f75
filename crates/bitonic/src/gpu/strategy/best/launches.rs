//! The launches that make the lists of a way and take the best elements from the last, and the memory in which lists lie.

use super::tiles::{ITEMS_OF_UNIT, LEAST_ROUNDS, READ, kept_tile};
use super::way::{Cells, LEAST_OF, Last, List};
use crate::gpu::element::Element;
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Number, Spec};
use crate::gpu::strategy::builder;
use crate::gpu::tuning::Measured;
use crate::plan::{Algorithm, KernelPlan, Launch, Limits, Parameter, Place, WorkMemory};
use std::sync::Arc;

/// Where a list is in the working memory.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// The bounds that it is made by, one for every row.
    pub(super) bounds: usize,
    /// The elements of the first row.
    pub(super) list: usize,
    pub(super) capacity: usize,
    pub(super) end: usize,
}

/// The elements that all lists have room for, with their bounds.
pub(super) fn elements(places: &[Places]) -> usize {
    places.last().map_or(0, |place| place.end)
}

/// Makes the launches.
pub(super) struct Launches<'a> {
    pub(super) job: &'a Job,
    pub(super) best: usize,
    pub(super) lists: &'a [List],
    /// Where rows are segments of different lengths that are filtered.
    pub(super) cells: Option<Cells>,
    pub(super) last: Last,
    pub(super) facts: &'a DeviceFacts,
}

impl Launches<'_> {
    pub(super) fn plan(&self, limits: Limits, fallback: Option<Arc<KernelPlan>>) -> KernelPlan {
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
    pub(super) fn listed(&self) -> usize {
        self.cells.map_or(self.job.rows, |cells| cells.count)
    }

    /// Where the lists are.
    pub(super) fn places(&self) -> Vec<Places> {
        let listed = self.listed();
        let mut start = 0;
        let place = |list: &List| {
            let (bounds, capacity) = (start, list.capacity());
            start = bounds + listed + listed * capacity;
            Places { bounds, list: bounds + listed, capacity, end: start }
        };
        self.lists.iter().map(place).collect()
    }

    pub(super) fn all(&self) -> Vec<Launch> {
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
    pub(super) fn job_of(&self, number: usize) -> Job {
        let element = Element { indexed: number == 0 && self.job.element.indexed, ..self.job.element };
        Job { element, ..*self.job }
    }

    /// A launch that reads the keys, or a list, and writes to the working memory.
    pub(super) fn launch(&self, number: usize, spec: Spec<'_>, places: &[Places]) -> Launch {
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
    pub(super) fn source(&self, number: usize, places: &[Places]) -> Vec<Number> {
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
    pub(super) fn with_table(&self, mut launch: Launch) -> Launch {
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

    pub(super) fn bound(&self, number: usize, list: &List, places: &[Places]) -> Launch {
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

    pub(super) fn filter(&self, number: usize, list: &List, places: &[Places]) -> Launch {
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

    pub(super) fn select(&self, places: &[Places]) -> Launch {
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
    pub(super) fn constants_and<const N: usize>(
        &self,
        others: [(&'static str, u32); N],
    ) -> Vec<(&'static str, u32)> {
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
