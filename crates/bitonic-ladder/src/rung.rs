//! The registry: every fact about every rung, in one table.
//!
//! To add a rung, write its file and add one row to the table at the end of this file. Under `cpu/` the file has a
//! function that sorts a slice of ordered bits in ascending order; under `gpu/rungs/` it has the host's loop around a
//! kernel of `gpu/kernels/`.

use crate::cpu::{one_thread, threads};
use crate::gpu::{DeviceRung, rungs};
use crate::times::DeviceTimes;
use crate::{LadderError, Options, RunsOn, Sizes};
use bitonic::key::Bits;
use std::fmt;

/// What the table says about a rung.
struct Facts {
    name: &'static str,
    sizes: Sizes,
    runs_on: &'static [RunsOn],
    parallel: bool,
    quadratic: bool,
    description: &'static str,
    teaches: &'static str,
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
            sort: $kind:ident($sort:path),
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
        sort: OneThread(one_thread::recursive::sort),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "bitonic sort as it is defined: sort one half up, the other down, merge",
        teaches: "The idea in its shortest form. It goes depth first, so a merge that fits a cache is finished there.",
    }
    IterativeScan {
        name: "iterative_scan",
        sort: OneThread(one_thread::iterative_scan::sort),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "three loops over stages, steps and every position; half of the positions are skipped",
        teaches: "Loops alone do not beat calls: this one meets every comparator twice, with a branch each time.",
    }
    IterativeBlocks {
        name: "iterative_blocks",
        sort: OneThread(one_thread::iterative_blocks::sort),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "four loops: only the positions whose partner is above them",
        teaches: "A fourth loop meets every comparator once and has no branch: as fast as the recursive form again.",
    }
    IterativeFolded {
        name: "iterative_folded",
        sort: OneThread(one_thread::iterative_folded::sort),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "one inner loop over the n/2 comparators, position by division and multiplication",
        teaches: "Giving comparators numbers is what a GPU needs, but a division for each takes longer than comparing. \
                  (The compiler is kept from seeing powers of two; else it would make shifts of the division itself.)",
    }
    IterativeShifts {
        name: "iterative_shifts",
        sort: OneThread(one_thread::iterative_shifts::sort),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the same loop with shifts and masks instead of divisions, direction by xor, no branch",
        teaches: "Lengths are powers of two, so shifts do the work of divisions: about as fast as iterative_blocks, and \
                  the loop body is what one GPU thread does.",
    }
    NetworkPasses {
        name: "network_passes",
        sort: OneThread(one_thread::network_passes::sort),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a half-cleaner applied block by block, its direction carried along by a flag",
        teaches: "A flag that each block hands to the next ties the blocks together. On one thread it costs little; \
                  what it costs is that no block can be worked on by itself.",
    }
    NetworkNoDependency {
        name: "network_no_dependency",
        sort: OneThread(one_thread::network_no_dependency::sort),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the same with the direction computed from the block's index, all stages in one loop nest",
        teaches: "What can be computed need not be carried. Every block becomes a slice of its own, and it is this more \
                  than the saved flag that makes it faster: the compiler can use vector instructions.",
    }
    OddEven {
        name: "odd_even",
        sort: OneThread(one_thread::odd_even::sort),
        sizes: Any,
        quadratic: true,
        description: "odd-even transposition: compare neighbours, alternately from the first and from the second key",
        teaches: "The simplest network. Keys travel one place a phase, so it needs n phases: quadratic, however simple.",
    }
    ParallelSteps {
        name: "parallel_steps",
        sort: Threads(threads::parallel_steps::sort),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "every comparator of a step in parallel, a barrier between steps",
        teaches: "The comparators of a step are independent, the steps are not: a barrier after each, and each goes \
                  through all keys in memory.",
    }
    ParallelRecursive {
        name: "parallel_recursive",
        sort: Threads(threads::parallel_recursive::sort),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the recursive form; the top levels of the recursion fork, below that sequential",
        teaches: "Forking the recursion keeps each thread with its own keys and needs few barriers; what stays on one \
                  thread, the half-cleaners at the top, limits the gain.",
    }
    OddEvenThreads {
        name: "odd_even_threads",
        sort: Threads(threads::odd_even_threads::sort),
        sizes: Any,
        quadratic: true,
        description: "odd-even transposition; each thread owns a chunk, neighbours exchange their border keys",
        teaches: "Two threads that share a border race for its keys. Each keeping its half of the result, from copies \
                  made before a barrier, removes the race; then the barriers cost more than comparing short chunks.",
    }
    NaiveScan {
        name: "naive_scan",
        sort: Device(rungs::naive::SCAN),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-item for every key, which returns if its partner is below it; a launch for every step",
        teaches: "The inner loop becomes the grid and the barrier becomes the end of a launch. Half of the work-items have \
                  nothing to do, and it hardly matters: the device waits for memory.",
    }
    NaiveFolded {
        name: "naive_folded",
        sort: Device(rungs::naive::FOLDED),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-item for every comparator, position by division and multiplication",
        teaches: "The division that is slow on a processor is done while other work-items wait for their keys: work saved \
                  beside the bottleneck is not time saved.",
    }
    NaiveShifts {
        name: "naive_shifts",
        sort: Device(rungs::naive::SHIFTS),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-item for every comparator, position by shifts and masks",
        teaches: "Line for line the body of iterative_shifts. No faster than the other two: every step goes through all keys \
                  in memory, for one comparison each.",
    }
    XorGuarded {
        name: "xor_guarded",
        sort: Device(rungs::xor_guarded::RUNG),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "the body of a parallel loop as it was, guarded, in groups of 1024",
        teaches: "How little a port takes. A grid is a whole number of groups, so there are more work-items than keys: one \
                  guard skips these and those whose partner is below them.",
    }
    ComparePair {
        name: "compare_pair",
        sort: Device(rungs::compare_pair::RUNG),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-item for every pair, in groups of 512; the host waits after every launch",
        teaches: "What waiting costs: between two steps the device is idle until the host has noticed. The queue is in order, \
                  so none of the waits is needed.",
    }
    OneItemGroups {
        name: "one_item_groups",
        sort: Device(rungs::one_item_groups::RUNG),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "a work-group for every comparator, position by masks",
        teaches: "The group is what a device schedules and executes in lock step: groups of one leave all its lanes but one \
                  empty.",
    }
    LocalMemory {
        name: "local_memory",
        sort: Device(rungs::local_memory::RUNG),
        sizes: PowerOfTwo,
        quadratic: false,
        description: "three kernels, by how bucket and bitonic block compare with the group; keys staged in local memory",
        teaches: "Loads are coalesced at every distance, because comparators find their keys in local memory. But each key \
                  is still brought in for one comparison; what would pay is doing several steps there.",
    }
    OddEvenTwoKernels {
        name: "odd_even_two_kernels",
        sort: Device(rungs::odd_even_two_kernels::RUNG),
        sizes: Any,
        quadratic: true,
        description: "odd-even transposition; a kernel for even and one for odd phases, in groups of 32, waiting after each pair",
        teaches: "A device does not mend an algorithm: n launches, whatever the number of work-items, and n/2 waits.",
    }
    OddEvenOneKernel {
        name: "odd_even_one_kernel",
        sort: Device(rungs::odd_even_one_kernel::RUNG),
        sizes: Any,
        quadratic: true,
        description: "one kernel with the phase as an argument, a grid that fills the device, nothing waited for",
        teaches: "Large groups, a grid of the device's size and a queue that never runs dry: a third less time for the same n \
                  phases.",
    }
    OddEvenLocal {
        name: "odd_even_local",
        sort: Device(rungs::odd_even_local::RUNG),
        sizes: Any,
        quadratic: true,
        description: "odd_even_one_kernel with its pairs staged in local memory",
        teaches: "Local memory is for sharing and for using again. Here every key is used once, so staging it only adds a copy \
                  and two barriers.",
    }
}
