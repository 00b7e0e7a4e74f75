//! The registry: every fact about every rung, in one table.
//!
//! To add a rung, write its file and add one row to the table at the end of this file. Under `cpu/` the file has a
//! function that sorts a slice of ordered bits in ascending order; under `gpu/rungs/` it has the host's loop around
//! kernels of `gpu/kernels/`. Every file opens with a picture of who touches what, and says what the form costs.

use crate::cpu::{one_thread, threads};
use crate::gpu::{DeviceRung, rungs};
use crate::times::DeviceTimes;
use crate::{Document, LadderError, Options, RunsOn, Sizes};
use bitonic::key::Bits;
use std::fmt;

/// What the table says about a rung.
struct Facts {
    name: &'static str,
    document: Document,
    source: Text,
    sizes: Sizes,
    runs_on: &'static [RunsOn],
    parallel: bool,
    quadratic: bool,
    description: &'static str,
    teaches: &'static str,
}

/// A file of the ladder's sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Where it is, under `crates/bitonic-ladder/src`.
    pub file: &'static str,
    /// What it says, without its tests.
    pub text: &'static str,
}

impl Rung {
    /// The rung's name, as `Display` writes it and `FromStr` reads it.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// What the rung is, in one line.
    pub const fn description(self) -> &'static str {
        self.facts().description
    }

    /// The document whose program the rung is.
    pub const fn document(self) -> Document {
        self.facts().document
    }

    /// The rung as it is written, with the picture of who touches what at its head: its kernels, if it has some, and then the
    /// function, which for kernels is the host's loop around them.
    pub fn sources(self) -> Vec<Text> {
        let Text { file, text } = self.facts().source;
        let text = text.split("\n#[cfg(test)]").next().unwrap_or(text);
        let kernels = self.on_device().map_or(&[][..], |rung| rung.sources);
        kernels.iter().map(|kernel| kernel.text()).chain([Text { file, text }]).collect()
    }

    /// What one learns from the rung.
    pub const fn teaches(self) -> &'static str {
        self.facts().teaches
    }

    /// The lengths it can sort.
    pub const fn sizes(self) -> Sizes {
        self.facts().sizes
    }

    /// What it can run on; [`Options::runs_on`] chooses. A rung that can run on several does the same on all of them.
    pub const fn runs_on(self) -> &'static [RunsOn] {
        self.facts().runs_on
    }

    /// The kernels that a rung on a device launches, by their names in its source; none for rungs on the processor.
    pub const fn kernels(self) -> &'static [&'static str] {
        match self.on_device() {
            Some(rung) => rung.kernels,
            None => &[],
        }
    }

    /// Whether it uses [`Options::threads`].
    pub const fn is_parallel(self) -> bool {
        self.facts().parallel
    }

    /// Whether its work grows with the square of the length, so that a million keys take minutes. The other
    /// rungs do n/4 · log2 n · (log2 n + 1) comparisons.
    pub const fn is_quadratic(self) -> bool {
        self.facts().quadratic
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Rung {
    type Err = LadderError;

    fn from_str(name: &str) -> Result<Self, LadderError> {
        let found = Self::ALL.iter().copied().find(|rung| rung.name() == name);
        found.ok_or_else(|| LadderError::UnknownRung { name: name.to_owned() })
    }
}

/// Makes the enum, the facts and the choice of the function from the rows of the table.
macro_rules! rungs {
    ($(
        $rung:ident {
            name: $name:literal,
            document: $document:ident,
            sort: $kind:ident($sort:path) in $file:literal,
            sizes: $sizes:ident,
            quadratic: $quadratic:literal,
            description: $description:literal,
            teaches: $teaches:literal,
        }
    )+) => {
        /// One way to write a sort.
        ///
        /// In the order in which they are meant to be read: every rung answers what the one before it left
        /// open.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rung {
            $(
                #[doc = concat!("`", $name, "`: ", $description, ".")]
                $rung,
            )+
        }

        impl Rung {
            /// Every rung, from the first to the last.
            pub const ALL: &[Self] = &[$(Self::$rung),+];

            const fn facts(self) -> &'static Facts {
                match self {
                    $(Self::$rung => &Facts {
                        name: $name,
                        document: Document::$document,
                        source: Text { file: $file, text: include_str!($file) },
                        sizes: Sizes::$sizes,
                        runs_on: rungs!(@runs_on $kind),
                        parallel: rungs!(@parallel $kind),
                        quadratic: $quadratic,
                        description: $description,
                        teaches: $teaches,
                    },)+
                }
            }

            /// The kernels and the loop of a rung on devices.
            pub(crate) const fn on_device(self) -> Option<&'static DeviceRung> {
                match self {
                    $(Self::$rung => rungs!(@device $kind, $sort),)+
                }
            }

            /// Sorts in ascending order. The rung takes the length and can run on `runs_on`.
            pub(crate) fn sort_bits<B: Bits>(
                self,
                bits: &mut [B],
                runs_on: RunsOn,
                options: &Options,
            ) -> Result<Option<DeviceTimes>, LadderError> {
                match self {
                    $(Self::$rung => rungs!(@sort $kind, $sort, self, bits, runs_on, options),)+
                }
            }
        }
    };
    (@runs_on OneThread) => { &[RunsOn::Cpu] };
    (@runs_on Threads) => { &[RunsOn::Cpu] };
    (@runs_on Device) => { &[RunsOn::OpenCl, RunsOn::Cuda] };
    (@parallel OneThread) => { false };
    (@parallel Threads) => { true };
    (@parallel Device) => { false };
    (@device OneThread, $sort:path) => { None };
    (@device Threads, $sort:path) => { None };
    (@device Device, $sort:path) => { Some(&$sort) };
    (@sort OneThread, $sort:path, $rung:expr, $bits:ident, $runs_on:ident, $options:ident) => {{
        $sort($bits);
        Ok(None)
    }};
    (@sort Threads, $sort:path, $rung:expr, $bits:ident, $runs_on:ident, $options:ident) => {
        threads::count($options.threads).and_then(|threads| $sort($bits, threads)).map(|()| None)
    };
    (@sort Device, $sort:path, $rung:expr, $bits:ident, $runs_on:ident, $options:ident) => {
        $rung.sort_on_device(&$sort, $bits, $runs_on, &$options.device).map(Some)
    };
}

rungs! {
    Recursive {
        name: "recursive",
        document: LoopsToOpenCl,
        sort: OneThread(one_thread::recursive::sort) in "cpu/one_thread/recursive.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "bitonic sort as it is defined: sort one half up, the other down, merge",
        teaches: "The idea in its shortest form. It goes depth first, so a merge that fits a cache is finished there.",
    }
    IterativeScan {
        name: "iterative_scan",
        document: LoopsToOpenCl,
        sort: OneThread(one_thread::iterative_scan::sort) in "cpu/one_thread/iterative_scan.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "three loops over stages, steps and every position; half of the positions are skipped",
        teaches: "Loops alone do not beat calls: this one meets every comparator twice, with a branch each time.",
    }
    IterativeBlocks {
        name: "iterative_blocks",
        document: LoopsToOpenCl,
        sort: OneThread(one_thread::iterative_blocks::sort) in "cpu/one_thread/iterative_blocks.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "four loops: only the positions whose partner is above them",
        teaches: "A fourth loop meets every comparator once and has no branch: as fast as the recursive form again.",
    }
    IterativeFolded {
        name: "iterative_folded",
        document: LoopsToOpenCl,
        sort: OneThread(one_thread::iterative_folded::sort) in "cpu/one_thread/iterative_folded.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "one inner loop over the n/2 comparators, position by division and multiplication",
        teaches: "Giving comparators numbers is what a GPU needs, but a division for each takes longer than comparing. \
                  (The compiler is kept from seeing powers of two; else it would make shifts of the division itself.)",
    }
    IterativeShifts {
        name: "iterative_shifts",
        document: LoopsToOpenCl,
        sort: OneThread(one_thread::iterative_shifts::sort) in "cpu/one_thread/iterative_shifts.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the same loop with shifts and masks instead of divisions, direction by xor, no branch",
        teaches: "Lengths are powers of two, so shifts do the work of divisions: about as fast as iterative_blocks, and \
                  the loop body is what one GPU thread does.",
    }
    NetworkPasses {
        name: "network_passes",
        document: Lecture,
        sort: OneThread(one_thread::network_passes::sort) in "cpu/one_thread/network_passes.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a half-cleaner applied block by block, its direction carried along by a flag",
        teaches: "A flag that each block hands to the next ties the blocks together. On one thread it costs little; \
                  what it costs is that no block can be worked on by itself.",
    }
    NetworkNoDependency {
        name: "network_no_dependency",
        document: Lecture,
        sort: OneThread(one_thread::network_no_dependency::sort) in "cpu/one_thread/network_no_dependency.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the same with the direction computed from the block's index, all stages in one loop nest",
        teaches: "What can be computed need not be carried. Every block becomes a slice of its own, and it is this more \
                  than the saved flag that makes it faster: the compiler can use vector instructions.",
    }
    OddEven {
        name: "odd_even",
        document: Research,
        sort: OneThread(one_thread::odd_even::sort) in "cpu/one_thread/odd_even.rs",
        sizes: Any,
        quadratic: true,
        description: "odd-even transposition: compare neighbours, alternately from the first and from the second key",
        teaches: "The simplest network. Keys travel one place a phase, so it needs n phases: quadratic, however simple.",
    }
    ParallelGuarded {
        name: "parallel_guarded",
        document: Lecture,
        sort: Threads(threads::parallel_guarded::sort) in "cpu/threads/parallel_guarded.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the guarded loop over all positions as a parallel loop, a barrier between steps",
        teaches: "One directive makes a loop parallel if its rounds are independent. But a guard that skips half of the \
                  positions leaves half of the threads with nothing to do whenever the distance is as long as a thread's part.",
    }
    ParallelSteps {
        name: "parallel_steps",
        document: Own,
        sort: Threads(threads::parallel_steps::sort) in "cpu/threads/parallel_steps.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "every comparator of a step in parallel, a barrier between steps",
        teaches: "Sharing out comparators instead of positions gives every thread the same work. The steps stay: a barrier after \
                  each, and each goes through all keys in memory.",
    }
    ParallelRecursive {
        name: "parallel_recursive",
        document: Research,
        sort: Threads(threads::parallel_recursive::sort) in "cpu/threads/parallel_recursive.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the recursive form; a thread for each half down to a depth, merges on one thread",
        teaches: "Amdahl's law: the two halves are sorted at the same time, but their merge is not. What stays on one thread is \
                  soon all the time there is, however many cores wait.",
    }
    ParallelMerges {
        name: "parallel_merges",
        document: Own,
        sort: Threads(threads::parallel_merges::sort) in "cpu/threads/parallel_merges.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the recursive form; the top levels of sorts and of merges fork",
        teaches: "A merge is two merges behind one step, so it forks as well as the sort does. Each thread stays with its own keys; \
                  what is left on one thread are the half-cleaners at the top.",
    }
    OddEvenThreads {
        name: "odd_even_threads",
        document: Research,
        sort: Threads(threads::odd_even_threads::sort) in "cpu/threads/odd_even_threads.rs",
        sizes: Any,
        quadratic: true,
        description: "odd-even transposition; each thread sweeps its chunk until that is in order, until nothing changes anywhere",
        teaches: "Threads that do not wait for each other are fast, and race for the keys at their borders unless these are guarded. \
                  One lock a border is enough. The work stays quadratic.",
    }
    OddEvenBarriers {
        name: "odd_even_barriers",
        document: Own,
        sort: Threads(threads::odd_even_barriers::sort) in "cpu/threads/odd_even_barriers.rs",
        sizes: Any,
        quadratic: true,
        description: "odd-even transposition in lock step; each thread owns a chunk, neighbours exchange copies of border keys",
        teaches: "Each keeping its half of the result, from copies made before a barrier, removes the race without a lock; then the \
                  barriers cost more than comparing short chunks.",
    }
    NaiveScan {
        name: "naive_scan",
        document: LoopsToOpenCl,
        sort: Device(rungs::naive::SCAN) in "gpu/rungs/naive.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-item for every key, which returns if its partner is below it; a launch for every step",
        teaches: "The inner loop becomes the grid and the barrier becomes the end of a launch. Half of the work-items have \
                  nothing to do. Where the device waits for memory anyway that costs little; with fast memory it shows.",
    }
    NaiveFolded {
        name: "naive_folded",
        document: LoopsToOpenCl,
        sort: Device(rungs::naive::FOLDED) in "gpu/rungs/naive.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-item for every comparator, position by division and multiplication",
        teaches: "The division that is slow on a processor is done while other work-items wait for their keys: work saved \
                  beside the bottleneck is not time saved.",
    }
    NaiveShifts {
        name: "naive_shifts",
        document: LoopsToOpenCl,
        sort: Device(rungs::naive::SHIFTS) in "gpu/rungs/naive.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-item for every comparator, position by shifts and masks",
        teaches: "Line for line the body of iterative_shifts. As fast as the division: every step goes through all keys in memory, \
                  for one comparison each.",
    }
    XorGuarded {
        name: "xor_guarded",
        document: Lecture,
        sort: Device(rungs::xor_guarded::RUNG) in "gpu/rungs/xor_guarded.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the body of a parallel loop as it was, guarded, in groups of 1024",
        teaches: "How little a port takes. A grid is a whole number of groups, so there are more work-items than keys: one \
                  guard skips these and those whose partner is below them.",
    }
    ComparePair {
        name: "compare_pair",
        document: Research,
        sort: Device(rungs::compare_pair::RUNG) in "gpu/rungs/compare_pair.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-item for every key, in groups of 512; the host waits after every launch",
        teaches: "What waiting costs: between two steps the device is idle until the host has noticed. The queue is in order, \
                  so none of the waits is needed.",
    }
    OneItemGroups {
        name: "one_item_groups",
        document: Library,
        sort: Device(rungs::one_item_groups::RUNG) in "gpu/rungs/one_item_groups.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-group for every comparator, position by masks",
        teaches: "The group is what a device schedules and executes in lock step: groups of one leave all its lanes but one \
                  empty.",
    }
    LocalMemory {
        name: "local_memory",
        document: LocalMemory,
        sort: Device(rungs::local_memory::RUNG) in "gpu/rungs/local_memory.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "three kernels, by how biton and bucket compare with the group; keys staged in local memory; waits for every step",
        teaches: "Loads are coalesced at every distance, because comparators find their keys in local memory. But each key \
                  is still brought in for one comparison; what would pay is doing several steps there.",
    }
    LocalMemoryQueued {
        name: "local_memory_queued",
        document: Own,
        sort: Device(rungs::local_memory::QUEUED) in "gpu/rungs/local_memory.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "local_memory without its waits",
        teaches: "The same kernels in the same order. What it is faster than local_memory is what waiting for the event of every step \
                  costs; the queue is in order and needs no waits.",
    }
    LocalManySteps {
        name: "local_many_steps",
        document: Own,
        sort: Device(rungs::local_many_steps::RUNG) in "gpu/rungs/local_many_steps.rs",
        sizes: PowerOfTwo,
        quadratic: false,
        description: "tiles sorted in one launch; then a launch for each step beyond a tile, and one for the rest of the stage",
        teaches: "Local memory pays by being used again: all steps inside a tile cost one way from and to memory. What remains are the \
                  steps between tiles, and a barrier for every step in one.",
    }
    OddEvenTwoKernels {
        name: "odd_even_two_kernels",
        document: Research,
        sort: Device(rungs::odd_even_two_kernels::RUNG) in "gpu/rungs/odd_even_two_kernels.rs",
        sizes: Any,
        quadratic: true,
        description: "V0: odd-even transposition; a kernel for even and one for odd phases, in groups of 32, waiting after each pair",
        teaches: "A device does not mend an algorithm: n launches, whatever the number of work-items, and n/2 waits.",
    }
    OddEvenOneKernel {
        name: "odd_even_one_kernel",
        document: Research,
        sort: Device(rungs::odd_even_one_kernel::RUNG) in "gpu/rungs/odd_even_one_kernel.rs",
        sizes: Any,
        quadratic: true,
        description: "V1: one kernel with the phase as an argument, a work-item for every pair, groups that fill the device, no wait",
        teaches: "Occupancy: a unit holds a limited number of groups, so groups that are too small leave it half empty. And a queue \
                  that never runs dry: launches are prepared while others run.",
    }
    OddEvenLocal {
        name: "odd_even_local",
        document: Research,
        sort: Device(rungs::odd_even_local::RUNG) in "gpu/rungs/odd_even_local.rs",
        sizes: Any,
        quadratic: true,
        description: "V2: a work-item for every key, keys staged in local memory, the one beyond the edge fetched by the edge",
        teaches: "Local memory is for sharing and for using again. Here every key is used once, so staging it only adds a copy \
                  and two barriers, and half of the work-items compare nothing.",
    }
    OddEvenStrided {
        name: "odd_even_strided",
        document: Own,
        sort: Device(rungs::odd_even_strided::RUNG) in "gpu/rungs/odd_even_strided.rs",
        sizes: Any,
        quadratic: true,
        description: "one kernel, a grid of the device's size whose work-items take pairs in turn",
        teaches: "The other way to fill a device: large groups that stay for the whole phase. Launches still take as long as a \
                  launch takes, n of them.",
    }
}
