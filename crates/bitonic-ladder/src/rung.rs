//! The registry: every fact about every rung, in one table.
//!
//! To add a rung, write its file under `cpu/` with a function that sorts a slice of ordered bits in ascending
//! order, and add one row to the table at the end of this file.

use crate::LadderError;
use crate::cpu::{one_thread, threads};
use bitonic::key::with_ordered_bits;
use bitonic::{Key, Order};
use std::fmt;
use std::num::NonZero;

/// How a rung is to sort. The default is ascending, with all cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// The direction.
    pub order: Order,
    /// How many threads a parallel rung uses; `None` is one for every core. Rungs that are not
    /// [parallel](Rung::is_parallel) ignore it.
    pub threads: Option<NonZero<usize>>,
}

/// The lengths that a rung can sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sizes {
    /// Every length.
    Any,
    /// Powers of two, and the empty slice.
    PowerOfTwo,
}

impl Sizes {
    /// Whether a slice of this length can be sorted.
    pub const fn contain(self, len: usize) -> bool {
        match self {
            Self::Any => true,
            Self::PowerOfTwo => len == 0 || len.is_power_of_two(),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Any => "any",
            Self::PowerOfTwo => "powers of two",
        })
    }
}

/// What the table says about a rung.
struct Facts {
    name: &'static str,
    sizes: Sizes,
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

    /// Whether it uses [`Options::threads`].
    pub const fn is_parallel(self) -> bool {
        self.facts().parallel
    }

    /// Whether its work grows with the square of the length, so that a million keys take minutes. The other
    /// rungs do n/4 · log2 n · (log2 n + 1) comparisons.
    pub const fn is_quadratic(self) -> bool {
        self.facts().quadratic
    }

    /// Sorts keys in place.
    ///
    /// - Order: total; floats by IEEE 754 total order, as [`bitonic::sort`] has it.
    /// - Result: a permutation of the input, bit for bit.
    /// - Memory: in place.
    /// - Errors: [`LadderError::NotAPowerOfTwo`] if the length is none of [`Rung::sizes`], and
    ///   [`LadderError::Threads`] if the threads cannot be started, or are more than 4096. The keys are as they
    ///   were then.
    ///
    /// ```
    /// use bitonic::Order;
    /// use bitonic_ladder::{Options, Rung};
    ///
    /// let mut keys = [2.5_f32, -1.0, f32::INFINITY, 0.0];
    /// Rung::IterativeShifts.sort(&mut keys, Options { order: Order::Descending, ..Options::default() })?;
    /// assert_eq!(keys, [f32::INFINITY, 2.5, 0.0, -1.0]);
    /// # Ok::<(), bitonic_ladder::LadderError>(())
    /// ```
    pub fn sort<K: Key>(self, keys: &mut [K], options: Options) -> Result<(), LadderError> {
        if !self.sizes().contain(keys.len()) {
            return Err(LadderError::NotAPowerOfTwo { rung: self, len: keys.len() });
        }
        with_ordered_bits(keys, options.order, |bits| self.sort_bits(bits, options.threads))
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
                        parallel: rungs!(@parallel $kind),
                        quadratic: $quadratic,
                        description: $description,
                        teaches: $teaches,
                    },)+
                }
            }

            /// Sorts in ascending order. The length is one that the rung takes.
            fn sort_bits<B: bitonic::key::Bits>(
                self,
                bits: &mut [B],
                threads: Option<NonZero<usize>>,
            ) -> Result<(), LadderError> {
                match self {
                    $(Self::$rung => rungs!(@sort $kind, $sort, bits, threads),)+
                }
            }
        }
    };
    (@parallel OneThread) => { false };
    (@parallel Threads) => { true };
    (@sort OneThread, $sort:path, $bits:ident, $threads:ident) => {{
        $sort($bits);
        Ok(())
    }};
    (@sort Threads, $sort:path, $bits:ident, $threads:ident) => {
        threads::count($threads).and_then(|threads| $sort($bits, threads))
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
}
