//! A sort is a plan: what will be done, in which passes, with how much memory, known before anything runs.
//!
//! Planning needs no device. The same [`passes()`] serve every engine; an engine's limits decide how the network is cut.

mod chunks;
mod passes;
mod step;

pub use chunks::Chunks;
pub use passes::{Limits, Pass, Place, passes};
pub use step::Step;

use crate::key::{KeyType, Order};
use crate::{Engine, Instructions};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// How the keys get into order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// The bitonic network in flip form, in place: what is compared does not depend on the keys.
    Network,
    /// Columnsort: sorts of tiles between rearrangements of the whole array, in a second one. What is compared and what is moved
    /// does not depend on the keys.
    Columnsort,
    /// Every key to one of many buckets, whose bounds come from a sample, and the network in every bucket.
    Buckets,
    /// Partitioning in place around pivots until a part fits a tile, and the network there.
    Partition,
    /// Counting how often each value occurs.
    Counting,
    /// The standard library's sort.
    Standard,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Network => "bitonic network in flip form",
            Self::Columnsort => "columnsort, with the network in every column",
            Self::Buckets => "buckets, with the network in every one",
            Self::Partition => "partition in place, then the network in every tile",
            Self::Counting => "counting",
            Self::Standard => "the standard library's sort",
        })
    }
}

/// What a sort of n keys will do. Made by [`Sorter::plan`](crate::Sorter::plan); printed by its `Display`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of keys.
    pub len: usize,
    /// How many rows they make, each of them sorted for itself; 1 for a sort of all keys.
    pub rows: usize,
    /// Their type.
    pub key_type: KeyType,
    /// The bytes of a value that travels with every key; 0 for keys alone.
    pub value_bytes: usize,
    /// The direction.
    pub order: Order,
    /// The engine that will run it; never [`Engine::Auto`].
    pub engine: Engine,
    /// What the engine will run on.
    pub device: Cow<'static, str>,
    /// The instruction set, if it is the CPU engine.
    pub instructions: Option<Instructions>,
    /// The work-groups, if it is the engine of a device.
    pub work_groups: Option<WorkGroups>,
    /// The chunks, if the keys are more than the device holds; then all passes are those of every chunk.
    pub chunks: Option<Chunks>,
    /// How the keys get into order.
    pub algorithm: Algorithm,
    /// The limits that cut the network into passes.
    pub limits: Limits,
    /// How many threads share the work.
    pub threads: usize,
    /// Memory needed beyond the caller's arrays, in bytes; 0 when the sort is in place. The memory of a device does not
    /// count.
    pub scratch_bytes: usize,
}

/// How a device with work-groups runs a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkGroups {
    /// Work-items in the group of a tile.
    pub tile_items: usize,
    /// Work-items in the group of a pass over memory.
    pub memory_items: usize,
    /// What a key, with what travels with it, takes in registers and local memory.
    pub element_bytes: usize,
    /// What the arrays take in the device's memory, at a time.
    pub device_bytes: u64,
    /// What is needed there beyond the arrays.
    pub work_bytes: u64,
    /// How many groups sort the array together, in the memory that they share; 1 if each is for itself. More than 8 are what a
    /// device should have: a driver that has fewer says so when the kernels are there, and then passes of the network sort.
    pub cluster: usize,
    /// How the array is laid out for a columnsort.
    pub matrix: Option<Matrix>,
    /// What a sort by buckets puts the array into.
    pub buckets: Option<Buckets>,
    /// How long the kernels are expected to take, from the measured speed of a copy; `None` if that is not known.
    pub predicted: Option<Duration>,
}

/// The array as a columnsort sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matrix {
    /// Keys in a column: a tile.
    pub column_length: usize,
    /// How many columns there are.
    pub columns: usize,
    /// How many new columns the keys of each are dealt to.
    pub new_columns: usize,
    /// How many times halves of columns are merged in the end.
    pub shifts: usize,
    /// How many such matrices there are: rows, or parts of one that is too long for one matrix.
    pub chunks: usize,
}

/// The buckets of a sort by buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buckets {
    /// How many there are.
    pub count: usize,
    /// The keys of the sample that their bounds come from.
    pub samples: usize,
    /// The keys that most of them hold at most: a tile.
    pub usual: usize,
    /// The keys that each can hold. If one would have more, the plain network sorts the array instead, slowly.
    pub capacity: usize,
}

impl Buckets {
    /// Passes over the data.
    const PASSES: usize = 2;
}

impl Matrix {
    /// Passes over the data.
    fn passes(&self) -> usize {
        3 + self.shifts
    }
}

impl WorkGroups {
    /// What starting a kernel costs, about: measured on an NVIDIA H200 through OpenCL.
    const LAUNCH: Duration = Duration::from_micros(5);

    /// Steps of a tile in the time in which a copy moves the tile, about: sorting 2^13 keys takes 91 steps and, on the same
    /// device, 4 copies.
    const STEPS_PER_COPY: f64 = 22.0;

    /// The time of passes that move this many bytes each: memory decides, except in the sort of the tiles.
    pub(crate) fn predict(
        passes: impl Iterator<Item = Pass>,
        pass_bytes: f64,
        copy_bytes_per_second: f64,
    ) -> Duration {
        let copy = pass_bytes / copy_bytes_per_second;
        passes
            .map(|pass| {
                let weight = match pass.place {
                    Place::Tile => (pass.steps.len() as f64 / Self::STEPS_PER_COPY).max(1.0),
                    Place::Memory => 1.0,
                };
                Self::LAUNCH + Duration::from_secs_f64(weight * copy)
            })
            .sum()
    }
}

impl Plan {
    /// The length of a row: of all keys, if they are one row.
    pub fn row_length(&self) -> usize {
        self.len.checked_div(self.rows).unwrap_or(0)
    }

    /// The length that is sorted at a time: of a row, or of the chunks that a row is cut into.
    pub fn sorted_length(&self) -> usize {
        self.row_length().div_ceil(self.row_pieces())
    }

    fn row_pieces(&self) -> usize {
        self.chunks.map_or(1, |chunks| chunks.row_pieces)
    }

    /// The passes of the network over the data, in order; none for other algorithms, but for the merges of what a columnsort
    /// has sorted in parts.
    pub fn passes(&self) -> impl Iterator<Item = Pass> {
        let sorted = match (self.algorithm, self.matrix()) {
            (Algorithm::Network, _) => 0,
            (Algorithm::Columnsort, Some(Matrix { column_length, columns, .. })) => {
                Step::merges(column_length * columns)
            }
            _ => Step::merges(self.sorted_length()),
        };
        passes(self.sorted_length(), self.limits)
            .filter(move |pass| Step::new(pass.steps.start).merge() > sorted)
    }

    fn matrix(&self) -> Option<&Matrix> {
        self.work_groups.as_ref()?.matrix.as_ref()
    }

    fn buckets(&self) -> Option<&Buckets> {
        self.work_groups.as_ref()?.buckets.as_ref()
    }

    /// How many times the data is gone through; for a partition, where it depends on the keys, as many as even parts need.
    pub fn pass_count(&self) -> usize {
        match self.algorithm {
            _ if self.sorted_length() < 2 => 0,
            Algorithm::Network => self.passes().count(),
            Algorithm::Columnsort => self.matrix().map_or(0, Matrix::passes) + self.passes().count(),
            Algorithm::Buckets => Buckets::PASSES,
            Algorithm::Partition => {
                1 + Step::merges(self.row_length()).saturating_sub(self.limits.tile_log2) as usize
            }
            Algorithm::Counting => 2,
            // The standard library's quicksort halves parts down to about 32 keys.
            Algorithm::Standard => 1 + Step::merges(self.row_length()).saturating_sub(5) as usize,
        }
    }

    /// The number of comparators, each of which looks at two keys.
    pub fn comparators(&self) -> u128 {
        let of_all_steps = |length| -> u128 {
            (0..Step::count(length)).map(|number| comparators_of(Step::new(number), length)).sum()
        };
        let (length, pieces) = (self.row_length(), self.row_pieces());
        let longer = length % pieces;
        let of_row = of_all_steps(length / pieces) * (pieces - longer) as u128
            + of_all_steps(length.div_ceil(pieces)) * longer as u128;
        of_row * self.rows as u128
    }

    /// The plan in one line, for reports.
    pub fn summary(&self) -> PlanSummary {
        PlanSummary {
            algorithm: self.algorithm,
            passes: self.pass_count(),
            threads: self.work_groups.is_none().then_some(self.threads),
            chunks: self.chunks,
            scratch_bytes: self.scratch_bytes,
        }
    }

    /// What a pass reads and writes if none of it is in a cache.
    fn bytes_of_pass(&self) -> u128 {
        match &self.work_groups {
            Some(groups) => 2 * u128::from(groups.device_bytes),
            None => 2 * self.len as u128 * (self.key_type.bytes() + self.value_bytes) as u128,
        }
    }
}

/// How many comparators a step has on n keys: of every block of 2^span keys, each index in the upper half that exists
/// has its partner below.
fn comparators_of(step: Step, n: usize) -> u128 {
    let half = 1_u128 << (step.span() - 1);
    let n = n as u128;
    n / (2 * half) * half + (n % (2 * half)).saturating_sub(half)
}

/// A [`Plan`] in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanSummary {
    /// How the keys get into order.
    pub algorithm: Algorithm,
    /// The number of passes over the data.
    pub passes: usize,
    /// How many threads share the work, if it is the CPU's.
    pub threads: Option<usize>,
    /// The chunks, if the keys are more than the device holds.
    pub chunks: Option<Chunks>,
    /// Memory needed beyond the caller's arrays, in bytes.
    pub scratch_bytes: usize,
}

impl fmt::Display for PlanSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, passes, threads, chunks, scratch_bytes } = self;
        write!(f, "{algorithm}, {passes} pass{}, ", if *passes == 1 { "" } else { "es" })?;
        if let Some(chunks) = chunks {
            write!(f, "{chunks}, ")?;
        }
        if let Some(threads) = threads {
            write!(f, "{threads} thread{}, ", if *threads == 1 { "" } else { "s" })?;
        }
        match scratch_bytes {
            0 => f.write_str("in place"),
            bytes => write!(f, "{bytes} bytes of working memory"),
        }
    }
}

/// The plan as a table for people: what, then a row for every pass (long runs of like passes in the middle are
/// shown by their number).
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order {
            Order::Ascending => "ascending",
            Order::Descending => "descending",
        };
        write!(f, "{} {} keys", self.len, self.key_type)?;
        if self.value_bytes > 0 {
            write!(f, " with values of {} bytes", self.value_bytes)?;
        }
        if self.rows != 1 {
            write!(f, " in {} rows of {}", self.rows, self.row_length())?;
        }
        write!(f, ", {order}, on {}: {}", self.engine, self.device)?;
        match self.instructions {
            Some(instructions) => writeln!(f, ", {instructions} kernels")?,
            None => writeln!(f)?,
        }
        writeln!(f, "algorithm  {}", self.algorithm)?;
        match &self.work_groups {
            None => writeln!(f, "threads    {}", self.threads)?,
            Some(groups) => groups.write(f)?,
        }
        if let Some(chunks) = self.chunks {
            writeln!(f, "chunks     {chunks}")?;
        }
        match self.scratch_bytes {
            0 => writeln!(f, "memory     in place")?,
            bytes => writeln!(f, "memory     {bytes} bytes beyond the arrays")?,
        }
        writeln!(
            f,
            "passes     {}{}, each reading and writing {} bytes in all",
            self.pass_count(),
            if self.chunks.is_some() { " over every chunk" } else { "" },
            self.bytes_of_pass()
        )?;
        match self.algorithm {
            Algorithm::Network => {
                let (merges, steps) = (Step::merges(self.sorted_length()), Step::count(self.sorted_length()));
                writeln!(f, "network    {merges} merges, {steps} steps, {} comparators", self.comparators())?;
            }
            Algorithm::Partition => {
                let tile = 1_usize << self.limits.tile_log2;
                writeln!(
                    f,
                    "network    in every part of up to {tile} keys; larger parts are split at a sampled median"
                )?;
            }
            Algorithm::Columnsort | Algorithm::Buckets => self.write_why(f)?,
            Algorithm::Counting | Algorithm::Standard => {}
        }
        let passes: Vec<Pass> = self.passes().collect();
        let listed = !passes.is_empty() || self.matrix().is_some() || self.buckets().is_some();
        if self.pass_count() == 0 || !listed {
            return Ok(());
        }
        writeln!(f, "\n{:>6}  {:>9}  {:<6}  what", "pass", "steps", "place")?;
        if let Some(matrix) = self.matrix() {
            matrix.write(f)?;
        }
        if let Some(buckets) = self.buckets() {
            buckets.write(f)?;
        }
        const SHOWN_AT_EACH_END: usize = 12;
        for (index, pass) in passes.iter().enumerate() {
            if index == SHOWN_AT_EACH_END && passes.len() > 2 * SHOWN_AT_EACH_END {
                writeln!(
                    f,
                    "{:>6}  {} more passes of the same kinds",
                    "..",
                    passes.len() - 2 * SHOWN_AT_EACH_END
                )?;
            }
            if index < SHOWN_AT_EACH_END || index + SHOWN_AT_EACH_END >= passes.len() {
                self.write_pass(f, index, pass)?;
            }
        }
        Ok(())
    }
}

impl WorkGroups {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tile_items, memory_items, element_bytes, device_bytes, work_bytes, cluster, .. } = self;
        write!(f, "groups     {tile_items} work-items for a tile")?;
        match cluster {
            1 => writeln!(f, ", {memory_items} for a pass over memory")?,
            _ => writeln!(f, ", {cluster} groups sort together in local memory that they share")?,
        }
        write!(
            f,
            "elements   {element_bytes} bytes each in registers, {device_bytes} bytes on the device at a time"
        )?;
        match work_bytes {
            0 => writeln!(f)?,
            _ => writeln!(f, ", and a second array of {work_bytes} bytes there")?,
        }
        match self.predicted {
            Some(predicted) => {
                writeln!(f, "predicted  {predicted:.2?} for the kernels, without transfers")
            }
            None => Ok(()),
        }
    }
}

impl Matrix {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column_length, columns, new_columns, shifts, chunks } = self;
        let where_to = if *chunks > 1 { format!("in each of {chunks} parts, ") } else { String::new() };
        let what = [
            format!(
                "{where_to}sort {columns} columns of {column_length} keys; deal each to {new_columns} new ones"
            ),
            "merge every new column; cut it into a piece for each column".to_owned(),
            "merge every column".to_owned(),
        ];
        let halves = std::iter::repeat_n("merge halves of neighbouring columns".to_owned(), *shifts);
        for (index, what) in what.into_iter().chain(halves).enumerate() {
            writeln!(f, "{:>6}  {:>9}  {:<6}  {what}", index + 1, "", "tile")?;
        }
        Ok(())
    }
}

impl Buckets {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, samples, usual, capacity } = self;
        let what = [
            (
                "memory",
                format!(
                    "every key to one of {count} buckets, whose bounds come from a sample of {samples} keys"
                ),
            ),
            (
                "tile",
                format!("sort every bucket, in a tile of {usual} keys; those of up to {capacity} in two"),
            ),
        ];
        for (index, (place, what)) in what.into_iter().enumerate() {
            writeln!(f, "{:>6}  {:>9}  {place:<6}  {what}", index + 1, "")?;
        }
        Ok(())
    }
}

impl Plan {
    /// Why it is a columnsort or a sort by buckets, and not the network alone.
    fn write_why(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_place = passes(self.sorted_length(), self.limits).count();
        writeln!(
            f,
            "why        {} passes; the network in place, which oblivious sorts use, takes {in_place}",
            self.pass_count()
        )
    }

    fn write_pass(&self, f: &mut fmt::Formatter<'_>, index: usize, pass: &Pass) -> fmt::Result {
        let steps = match pass.steps.len() {
            1 => format!("{}", pass.steps.start + 1),
            _ => format!("{}-{}", pass.steps.start + 1, pass.steps.end),
        };
        let first = Step::new(pass.steps.start);
        let tile = self.limits.tile_log2.min(Step::merges(self.sorted_length()));
        let cluster = self.work_groups.map_or(1, |groups| groups.cluster);
        let (place, what) = match pass.place {
            Place::Tile if cluster > 1 => ("tile", format!("sort all keys in the tiles of {cluster} groups")),
            Place::Tile if pass.steps.start == 0 => ("tile", format!("sort every tile of 2^{tile} keys")),
            Place::Tile => ("tile", format!("finish merge {} inside tiles of 2^{tile} keys", first.merge())),
            Place::Memory => {
                let masks: Vec<String> =
                    pass.steps.clone().map(|step| Step::new(step).partner_mask().to_string()).collect();
                let partners = masks.join(", then ");
                ("memory", format!("merge {}: compare i with i xor {partners}", first.merge()))
            }
        };
        let number = self.matrix().map_or(0, Matrix::passes) + index + 1;
        writeln!(f, "{number:>6}  {steps:>9}  {place:<6}  {what}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparators_are_counted_as_the_steps_make_them() {
        for n in 0..200 {
            for number in 0..Step::count(n) {
                let step = Step::new(number);
                assert_eq!(comparators_of(step, n), step.comparators(n).count() as u128, "n = {n}, {step:?}");
            }
        }
    }
}
