//! The kernels that check a sort on the device. How they do that stands in `kernels/verify.c`.

use super::builder;
use crate::gpu::element::Element;
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Number, Spec};
use crate::key::KeyType;
use crate::plan::{KernelPlan, Launch, Parameter, Place};
use std::sync::Arc;

/// The bits of the verdict. A sort that was right sets none.
const OUT_OF_ORDER: u32 = 1;
pub(crate) const OTHER_ELEMENTS: u32 = 2;

/// The work-items of a group, and how many groups keep a unit busy: both as many as units have room for on most devices.
const ITEMS: usize = 256;
const GROUPS_OF_UNIT: usize = 8;

/// What a work-item reads at once.
const READ: usize = 4;

/// The most groups: there is room for the sums of so many.
const MOST_GROUPS: usize = 1024;

/// The bytes that the verdict and all sums take: three of every group before the sort, and three after it.
pub(crate) const WORDS_BYTES: usize = (1 + 6 * MOST_GROUPS) * size_of::<u64>();

/// The kernels before a sort and those after it; none where there is nothing to sort. The verdict and the sums are the counters, and
/// the kernels need no other memory.
pub(crate) fn check_plans(job: &Job, facts: &DeviceFacts) -> [Arc<KernelPlan>; 2] {
    let checks = Checks::new(job, facts);
    let [before, after] = match job.best {
        _ if job.len() == 0 => [vec![], vec![]],
        Some(0) => [vec![], vec![]],
        // The input is still there afterwards.
        Some(best) => [vec![], vec![checks.of_best(best), checks.compare()]],
        None => [vec![checks.before()], vec![checks.after(), checks.compare()]],
    };
    [before, after].map(|launches| {
        Arc::new(KernelPlan { launches, element_bytes: job.element.bytes(), ..KernelPlan::nothing() })
    })
}

/// Makes the launches.
struct Checks<'a> {
    job: &'a Job,
    items: usize,
    groups: usize,
}

impl<'a> Checks<'a> {
    fn new(job: &'a Job, facts: &DeviceFacts) -> Self {
        let items = 1 << facts.group_size.clamp(1, ITEMS).ilog2();
        let busy = (GROUPS_OF_UNIT * facts.units).clamp(1, MOST_GROUPS);
        Self { job, items, groups: job.len().div_ceil(READ * items).clamp(1, busy) }
    }

    fn before(&self) -> Launch {
        self.launch("verify_before", &self.arrays(&[]), &self.rows_and(&[]), "add up what is to be sorted")
    }

    fn after(&self) -> Launch {
        let numbers = self.rows_and(&[self.mapping_on_load()]);
        let words = "add up what was sorted, and look whether it is in order";
        self.launch("verify_after", &self.arrays(&[]), &numbers, words)
    }

    fn of_best(&self, best: usize) -> Launch {
        let numbers = self.rows_and(&[Number::Index(best), self.mapping_on_load()]);
        let words = "look whether these are the best of every row";
        self.launch("verify_best", &self.arrays(&[Parameter::Input]), &numbers, words)
    }

    /// What kernels are given behind the arrays of the caller: more of these, the words, and the table of segments.
    fn arrays(&self, more: &[Parameter]) -> Vec<Parameter> {
        let table = self.job.ragged.map(|_| Parameter::Offsets);
        more.iter().copied().chain([Parameter::Counters]).chain(table).collect()
    }

    /// What kernels are told of rows, and more numbers.
    fn rows_and(&self, more: &[Number]) -> Vec<Number> {
        let mut numbers = vec![Number::Index(self.job.len())];
        numbers.extend(self.job.ragged.map(|_| Number::Plain(self.job.rows as u32)));
        numbers.push(Number::Index(self.job.row_length));
        numbers.extend(more);
        numbers
    }

    fn compare(&self) -> Launch {
        // One kernel for elements of all kinds: it sees none.
        let element = Element::keys(KeyType::U32);
        let job = Job { element, row_length: 1, rows: 1, ragged: None, best: None, ..*self.job };
        let checks = Checks { job: &job, groups: 1, ..*self };
        let numbers = [Number::Plain(self.groups as u32)];
        let words = "compare the sums, and give the verdict";
        let mut launch = checks.launch("verify_compare", &[Parameter::Counters], &numbers, words);
        launch.arguments.remove(0);
        Launch { place: None, copies: 0.0, ..launch }
    }

    fn mapping_on_load(&self) -> Number {
        Number::Plain(self.job.mapping.argument(true, false))
    }

    /// A launch that is given other arrays behind those of the caller.
    fn launch(&self, kernel: &'static str, others: &[Parameter], numbers: &[Number], words: &str) -> Launch {
        let (element, ragged) = (self.job.element, self.job.ragged);
        let mut constants = vec![
            ("ITEMS", self.items as u32),
            ("READ", READ as u32),
            ("MOST_GROUPS", MOST_GROUPS as u32),
            ("ORDERED_VALUES", u32::from(element.indexed)),
            ("OUT_OF_ORDER", OUT_OF_ORDER),
            ("OTHER_ELEMENTS", OTHER_ELEMENTS),
            ("SEGMENTED", u32::from(ragged.is_some())),
        ];
        constants.extend(ragged.map(|ragged| ("OFFSET_BITS", ragged.offset_bits)));
        let spec = Spec {
            kernel,
            groups: self.groups,
            tile: None,
            cluster_log2: 0,
            constants: &constants,
            numbers,
            place: Some(Place::Memory),
            steps: 0..0,
            // All is read, and nothing written.
            copies: 0.5,
            words: words.to_owned(),
        };
        // Places of no segment are numbered behind the segments; their best may have more places than there are elements.
        let most = self.job.rows.saturating_mul(self.job.best.unwrap_or(1)).saturating_add(self.job.len());
        let most = if ragged.is_some() { most } else { 0 };
        let mut launch = builder(self.job, Arrays::InPlace, most).launch_with(spec, self.items, 0, 0);
        let arrays = if element.value_bits > 0 { 2 } else { 1 };
        launch.arguments.splice(arrays..arrays, others.iter().copied());
        launch
    }
}
