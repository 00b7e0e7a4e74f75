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
        let numbers = [Number::Index(self.job.len()), Number::Index(self.job.row_length)];
        self.launch("verify_before", &[Parameter::Counters], &numbers, "add up what is to be sorted")
    }

    fn after(&self) -> Launch {
        let numbers =
            [Number::Index(self.job.len()), Number::Index(self.job.row_length), self.mapping_on_load()];
        let words = "add up what was sorted, and look whether it is in order";
        self.launch("verify_after", &[Parameter::Counters], &numbers, words)
    }

    fn of_best(&self, best: usize) -> Launch {
        let numbers = [
            Number::Index(self.job.len()),
            Number::Index(self.job.row_length),
            Number::Index(best),
            self.mapping_on_load(),
        ];
        let words = "look whether these are the best of every row";
        self.launch("verify_best", &[Parameter::Input, Parameter::Counters], &numbers, words)
    }

    fn compare(&self) -> Launch {
        // One kernel for elements of all kinds: it sees none.
        let job = Job { element: Element::keys(KeyType::U32), row_length: 1, rows: 1, ..*self.job };
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
        let element = self.job.element;
        let spec = Spec {
            kernel,
            groups: self.groups,
            tile: None,
            cluster_log2: 0,
            constants: &[
                ("ITEMS", self.items as u32),
                ("READ", READ as u32),
                ("MOST_GROUPS", MOST_GROUPS as u32),
                ("ORDERED_VALUES", u32::from(element.indexed)),
                ("OUT_OF_ORDER", OUT_OF_ORDER),
                ("OTHER_ELEMENTS", OTHER_ELEMENTS),
            ],
            numbers,
            place: Some(Place::Memory),
            steps: 0..0,
            // All is read, and nothing written.
            copies: 0.5,
            words: words.to_owned(),
        };
        let mut launch = builder(self.job, Arrays::InPlace, 0).launch_with(spec, self.items, 0, 0);
        let arrays = if element.value_bits > 0 { 2 } else { 1 };
        launch.arguments.splice(arrays..arrays, others.iter().copied());
        launch
    }
}
