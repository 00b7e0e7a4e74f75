//! Kernels as a table: name, text, constants. The strategies have the rows; `kernels/` has the texts.
//!
//! A kernel is written once for all dialects of C. A backend's prelude says what the dialect calls things. Numbers that host and
//! kernel share are written here or in a strategy, and handed over as defines.

use super::element::{Element, Mapping};
use super::job::Job;
use crate::plan::{Launch, Parameter, Place};
use std::fmt::Write;

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Its name in the text.
    pub(crate) name: &'static str,
    /// The files behind the prelude, the element and the registers.
    pub(crate) parts: &'static [Part],
    /// Whether it reads what is to be sorted as it was: then it makes the indices where values are indices.
    pub(crate) reads_input: bool,
}

/// A file of kernel text.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its name, for the compiler's messages.
    pub name: &'static str,
    /// What it says.
    pub text: &'static str,
}

macro_rules! part {
    ($file:literal) => {
        $crate::gpu::kernel::Part { name: $file, text: include_str!(concat!("kernels/", $file)) }
    };
}

const ELEMENT: Part = part!("element.c");
const REGISTERS: Part = part!("registers.c");
pub(crate) const TILE: Part = part!("tile.c");
pub(crate) const CLUSTER: Part = part!("cluster.c");
const SAMPLED: Part = part!("sampled.c");
const COUNTED: Part = part!("counted.c");
const BEST: Part = part!("best.c");
const SEARCH: Part = part!("search.c");
const TALLY: Part = part!("tally.c");
const VERIFY: Part = part!("verify.c");
const OFFSETS: Part = part!("offsets.c");
const SEGMENTS: Part = part!("segments.c");
const SEGMENT_MERGE: Part = part!("segment_merge.c");

macro_rules! kernels {
    ($($name:literal: $parts:expr, reads_input: $reads_input:literal;)+) => {
        &[$(Kernel { name: $name, parts: &$parts, reads_input: $reads_input }),+]
    };
}

/// Every kernel, in the order of the strategies.
pub(crate) static KERNELS: &[Kernel] = kernels! {
    "tile_sort": [TILE, part!("tile_sort.c")], reads_input: true;
    "row_sort": [TILE, part!("row_sort.c")], reads_input: true;
    "row_merge_sort": [TILE, part!("row_merge_sort.c")], reads_input: true;
    "tile_merge": [TILE, part!("tile_merge.c")], reads_input: false;
    "memory_pass": [part!("memory_pass.c")], reads_input: false;
    "strided_pass": [TILE, part!("strided_pass.c")], reads_input: false;
    "cluster_sort": [TILE, CLUSTER, part!("cluster_sort.c")], reads_input: true;
    "deal": [TILE, part!("column.c"), part!("deal.c")], reads_input: true;
    "gather": [TILE, CLUSTER, part!("column.c"), part!("gather.c")], reads_input: false;
    "spread": [TILE, part!("column.c"), part!("spread.c")], reads_input: false;
    "shift_columns": [TILE, part!("column.c"), part!("shift.c")], reads_input: false;
    "survey": [TILE, COUNTED, SAMPLED, part!("survey.c")], reads_input: true;
    "weigh": [TILE, COUNTED, part!("weigh.c")], reads_input: false;
    "divide": [TILE, COUNTED, part!("divide.c")], reads_input: false;
    "count": [TILE, COUNTED, part!("count.c")], reads_input: true;
    "arrange": [TILE, COUNTED, part!("arrange.c")], reads_input: false;
    "distribute": [TILE, COUNTED, part!("distribute.c")], reads_input: true;
    "counted_sort": [TILE, COUNTED, part!("counted_sort.c")], reads_input: false;
    "settle": [TILE, COUNTED, part!("settle.c")], reads_input: false;
    "tally_clear": [TILE, TALLY, part!("tally_clear.c")], reads_input: false;
    "tally_count": [TILE, TALLY, part!("tally_count.c")], reads_input: true;
    "tally_sum": [TILE, TALLY, part!("tally_sum.c")], reads_input: false;
    "tally_fill": [TILE, TALLY, part!("tally_fill.c")], reads_input: false;
    "best_bound": [TILE, SAMPLED, OFFSETS, BEST, SEARCH, part!("best_bound.c")], reads_input: true;
    "best_filter": [TILE, OFFSETS, BEST, part!("best_filter.c")], reads_input: true;
    "select_best": [TILE, OFFSETS, BEST, SEARCH, part!("select_best.c")], reads_input: true;
    "verify_before": [OFFSETS, VERIFY, part!("verify_before.c")], reads_input: true;
    "verify_after": [OFFSETS, VERIFY, part!("verify_after.c")], reads_input: false;
    "verify_best": [OFFSETS, VERIFY, part!("verify_best.c")], reads_input: false;
    "verify_compare": [OFFSETS, VERIFY, part!("verify_compare.c")], reads_input: false;
    "segments_count": [OFFSETS, SEGMENTS, part!("segments_count.c")], reads_input: false;
    "segments_list": [OFFSETS, SEGMENTS, part!("segments_list.c")], reads_input: false;
    "segment_sort": [TILE, OFFSETS, SEGMENTS, part!("segment_sort.c")], reads_input: true;
    "segment_splits": [OFFSETS, SEGMENTS, SEGMENT_MERGE, part!("segment_splits.c")], reads_input: false;
    "copy_rows": [part!("copy_rows.c")], reads_input: false;
    "segment_tile_merge": [TILE, OFFSETS, SEGMENTS, SEGMENT_MERGE, part!("segment_tile_merge.c")], reads_input: false;
};

/// The row of a name.
pub(crate) fn kernel(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

impl Kernel {
    /// The whole text in the dialect of a prelude. Line numbers in a compiler's log are those of the part that it names.
    pub(crate) fn text(&self, prelude: Part) -> String {
        let mut text = String::new();
        for part in [&prelude, &ELEMENT, &REGISTERS].into_iter().chain(self.parts) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "#line 1 \"{}\"\n{}", part.name, part.text);
        }
        text
    }
}

/// Constants as options for a compiler.
pub(crate) fn options(constants: &[(&'static str, u32)]) -> String {
    let mut options = String::new();
    for (name, value) in constants {
        let space = if options.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = write!(options, "{space}-D{name}={value}");
    }
    options
}

/// One unused element after every 2^PAD_LOG2 keeps the work-items of a sub-group in different banks of local memory.
pub(crate) const PAD_LOG2: u32 = 5;

/// How many elements of local memory so many elements take.
pub(crate) fn padded(elements: usize) -> usize {
    elements + (elements >> PAD_LOG2)
}

/// How many a tile takes.
pub(crate) fn local_elements(tile_log2: u32) -> usize {
    padded(1 << tile_log2)
}

/// What a tile takes of local memory.
pub(crate) fn local_bytes(tile_log2: u32, element_bytes: usize) -> usize {
    local_elements(tile_log2) * element_bytes
}

/// The elements of a work-group: base-2 logarithms of how many there are, and of how many a work-item holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tile {
    pub(crate) log2: u32,
    pub(crate) held_log2: u32,
}

impl Tile {
    pub(crate) const fn new(log2: u32, held_log2: u32) -> Self {
        Self { log2, held_log2 }
    }

    pub(crate) const fn len(self) -> usize {
        1 << self.log2
    }

    /// Work-items in the group.
    pub(crate) const fn items(self) -> usize {
        1 << (self.log2 - self.held_log2)
    }

    pub(crate) fn local_bytes(self, element: Element) -> usize {
        local_bytes(self.log2, element.bytes())
    }
}

/// What a strategy says of one launch; [`Builder::launch`] adds what is the same for all.
pub(crate) struct Spec<'a> {
    pub(crate) kernel: &'static str,
    pub(crate) groups: usize,
    /// The tile of a group; `None` for kernels without local memory.
    pub(crate) tile: Option<Tile>,
    /// The base-2 logarithm of the groups that run together.
    pub(crate) cluster_log2: u32,
    /// Constants that only this kernel has.
    pub(crate) constants: &'a [(&'static str, u32)],
    /// What it is given behind the arrays.
    pub(crate) numbers: &'a [Number],
    pub(crate) place: Option<Place>,
    pub(crate) steps: std::ops::Range<u32>,
    pub(crate) copies: f64,
    pub(crate) words: String,
}

/// A number that a kernel is given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    /// A number of elements or a place among them, as wide as the kernel's index.
    Index(usize),
    /// A number of 32 bits.
    Plain(u32),
}

/// Which arrays the kernels of a strategy are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrays {
    /// Those of the caller.
    InPlace,
    /// And others to work in.
    WithWork,
    /// And counters.
    WithCounters,
    /// Those of the caller, and counters.
    AndCounters,
}

/// Makes launches of one job.
pub(crate) struct Builder<'a> {
    pub(crate) job: &'a Job,
    /// Whether places in the arrays need more than 32 bits.
    pub(crate) wide_index: bool,
    pub(crate) arrays: Arrays,
}

impl Builder<'_> {
    /// A launch whose work-items hold the elements of its tile.
    pub(crate) fn launch(&self, spec: Spec<'_>) -> Launch {
        let tile = spec.tile.unwrap_or(Tile::new(0, 0));
        let local_bytes = spec.tile.map_or(0, |tile| tile.local_bytes(self.job.element));
        self.launch_with(spec, tile.items(), tile.held_log2, local_bytes)
    }

    /// A launch with so many work-items in a group, each holding 2^held_log2 elements.
    pub(crate) fn launch_with(
        &self,
        spec: Spec<'_>,
        group_size: usize,
        held_log2: u32,
        local_bytes: usize,
    ) -> Launch {
        let Spec { kernel: name, groups, tile, cluster_log2, place, steps, copies, words, .. } = spec;
        let Element { key_bits, value_bits, indexed } = self.job.element;
        let reads_input = kernel(name).is_some_and(|kernel| kernel.reads_input);
        let mut constants = vec![
            ("KEY_BITS", key_bits),
            ("VALUE_BITS", value_bits),
            ("INDEX_BITS", if self.wide_index { 64 } else { 32 }),
            ("INDEXED", u32::from(indexed && reads_input)),
            ("HELD_LOG2", held_log2),
        ];
        constants.extend(Mapping::CONSTANTS);
        if let Some(tile) = tile {
            let local = local_bytes / self.job.element.bytes();
            constants.extend([
                ("TILE_LOG2", tile.log2),
                ("PAD_LOG2", PAD_LOG2),
                ("LOCAL_ELEMENTS", local as u32),
                ("CLUSTER_LOG2", cluster_log2),
            ]);
        }
        constants.extend(spec.constants);
        Launch {
            kernel: name,
            constants,
            groups,
            group_size,
            held_bytes: self.job.element.bytes() << held_log2,
            local_bytes,
            cluster: 1 << cluster_log2,
            overlaps: false,
            arguments: self.arguments(spec.numbers),
            place,
            steps,
            copies,
            words,
        }
    }

    fn arguments(&self, numbers: &[Number]) -> Vec<Parameter> {
        let has_values = self.job.element.value_bits > 0;
        let mut arguments = vec![Parameter::Keys];
        arguments.extend(has_values.then_some(Parameter::Values));
        if matches!(self.arrays, Arrays::WithWork | Arrays::WithCounters) {
            arguments.push(Parameter::WorkKeys);
            arguments.extend(has_values.then_some(Parameter::WorkValues));
        }
        if matches!(self.arrays, Arrays::WithCounters | Arrays::AndCounters) {
            arguments.push(Parameter::Counters);
        }
        arguments.extend(numbers.iter().map(|&number| match number {
            Number::Index(index) if self.wide_index => Parameter::Index64(index as u64),
            Number::Index(index) => Parameter::Index32(index as u32),
            Number::Plain(number) => Parameter::Number(number),
        }));
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_that_of_one_kernel_and_stands_in_its_text() {
        for row in KERNELS {
            assert_eq!(KERNELS.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
            let text = row.text(Part { name: "prelude", text: "" });
            assert!(text.contains(&format!("{}(", row.name)), "{}", row.name);
        }
    }

    #[test]
    fn constants_become_options() {
        assert_eq!(options(&[("A", 1), ("B", 20)]), "-DA=1 -DB=20");
        assert_eq!(options(&[]), "");
    }
}
