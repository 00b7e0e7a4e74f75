//! Where keys sit while a pass is made: which bits of their places are numbers of registers, and how they got there.
//!
//! A step compares places that differ in one bit, or, if it is a flip, in that bit and all below. It needs no communication while the
//! bit is one of those that number the registers of a work-item. A run is a stretch of steps for which this holds; before each run
//! keys are moved, and the smaller the circle that exchanges them, the sooner it is done:
//!
//! ```text
//!   bit 5          ███                                    registers: no move at all
//!       4            ███                                  lanes: among the work-items of a sub-group
//!       3              ███                                local memory: among those of a group
//!       2 ██   ███         ███                            memory: at the beginning of a pass
//!       1   █    ██           ██
//! ```
//!
//! The shifts are those of the kernels: `tile.c`, `cluster.c`, `memory_pass.c` and `strided_pass.c` of the library for devices,
//! `columns.rs` and `merge.rs` for processors. The tests hold that every step finds its bit in registers.

use crate::machine::ROWS_LOG2;
use bitonic::plan::Step;
use serde::Serialize;
use std::ops::Range;

/// How keys got to where a run compares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Brought {
    /// They are there already.
    Registers,
    /// Between the work-items of a sub-group, or the lanes of a register.
    Lanes,
    /// Through local memory, or the first-level cache.
    Local,
    /// From memory.
    Memory,
}

/// Steps that are done without moving keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Run {
    /// Its first step, counted from 0, and the one after its last.
    pub(crate) steps: [u32; 2],
    /// The lowest bit of a place that numbers registers, and the one above the highest.
    pub(crate) bits: [u32; 2],
    pub(crate) brought: Brought,
}

/// Appends runs, each where the one before has ended.
struct Writer {
    runs: Vec<Run>,
    next: u32,
}

impl Writer {
    fn new(first: u32) -> Self {
        Self { runs: Vec::new(), next: first }
    }

    fn add(&mut self, brought: Brought, count: u32, bits: Range<u32>) {
        if count > 0 {
            let steps = [self.next, self.next + count];
            self.runs.push(Run { steps, bits: [bits.start, bits.end], brought });
            self.next += count;
        }
    }
}

/// A tile in the registers of a work-group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) log2: u32,
    /// The base-2 logarithm of the keys that a work-item holds; at least 1.
    pub(crate) held_log2: u32,
    pub(crate) lanes_log2: u32,
}

impl Tile {
    /// How keys get from one arrangement to another: work-items whose numbers differ below this bit exchange them.
    fn exchange(self, bit: u32) -> Brought {
        if bit <= self.lanes_log2 { Brought::Lanes } else { Brought::Local }
    }

    /// Half-cleaners on the low `count` bits, from an arrangement that begins at bit `from`.
    fn clean(self, writer: &mut Writer, count: u32, mut from: u32) {
        let held = self.held_log2;
        for round in (0..count.div_ceil(held)).rev() {
            let shift = round * held;
            let end = count.min(shift + held);
            writer.add(self.exchange(from), end - shift, shift..end);
            from = shift;
        }
    }

    fn sort_into(self, writer: &mut Writer, merges: u32) {
        let held = self.held_log2;
        let alone = held.min(merges);
        writer.add(Brought::Memory, alone * (alone + 1) / 2, 0..held);
        for merge in held + 1..=merges.min(self.log2) {
            let shift = merge - held;
            writer.add(self.exchange(shift), held, shift..merge);
            self.clean(writer, shift, shift);
        }
    }

    /// The sort of every tile, of an array that takes so many merges.
    pub(crate) fn sort(self, merges: u32) -> Vec<Run> {
        let mut writer = Writer::new(0);
        self.sort_into(&mut writer, merges);
        writer.runs
    }

    /// The sort of 2^log2 tiles by groups that share their local memory.
    pub(crate) fn cluster(self, merges: u32) -> Vec<Run> {
        let mut writer = Writer::new(0);
        self.sort_into(&mut writer, merges);
        for merge in self.log2 + 1..=merges {
            writer.add(Brought::Local, merge - self.log2, self.log2..merge);
            let shift = self.log2 - self.held_log2;
            writer.add(Brought::Local, self.held_log2, shift..self.log2);
            self.clean(&mut writer, shift, shift);
        }
        writer.runs
    }

    /// The end of a merge, inside tiles.
    pub(crate) fn merge(self, first: u32) -> Vec<Run> {
        let mut writer = Writer::new(first);
        let shift = self.log2 - self.held_log2;
        writer.add(Brought::Memory, self.held_log2, shift..self.log2);
        self.clean(&mut writer, shift, shift);
        writer.runs
    }
}

/// A pass over memory: `in_registers` steps, and the others after one exchange in local memory.
pub(crate) fn over_memory(steps: Range<u32>, in_registers: u32) -> Vec<Run> {
    let mut writer = Writer::new(steps.start);
    let span = Step::new(steps.start).span();
    let count = steps.end - steps.start;
    let first = count.min(in_registers);
    writer.add(Brought::Memory, first, span - first..span);
    writer.add(Brought::Local, count - first, span - count..span - first);
    writer.runs
}

/// A tile of the CPU engine: 2^rows_log2 rows of registers, each with 2^lanes_log2 lanes. Sorted, a column is a stretch of neighbours, so the
/// low bits of a place number the row and the high ones the lane; while keys lie in memory it is the other way round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) lanes_log2: u32,
    pub(crate) rows_log2: u32,
}

/// Sixteen rows go through the registers at a time.
const REGISTER_ROWS_LOG2: u32 = 4;

impl Columns {
    /// Keys of so many bytes in vectors of so many. A key of 128 bits takes lanes of two vectors, which have a row together: there are half
    /// as many rows, since a tile has no more bytes.
    pub(crate) fn of(key_bytes: u32, vector_bytes: u32) -> Self {
        let is_wide = key_bytes == 16;
        let row_bytes = vector_bytes << u32::from(is_wide);
        Self { lanes_log2: (row_bytes / key_bytes).max(1).ilog2(), rows_log2: ROWS_LOG2 - u32::from(is_wide) }
    }

    /// The base-2 logarithm of a tile's keys.
    pub(crate) fn tile_log2(self) -> u32 {
        self.rows_log2 + self.lanes_log2
    }

    /// Half-cleaners on rows, four steps a pass, what is over first.
    fn clean_rows(self, writer: &mut Writer, rows: Range<u32>, first: Brought) {
        let (mut top, mut brought) = (rows.end, first);
        while top > rows.start {
            let count = match (top - rows.start) % REGISTER_ROWS_LOG2 {
                0 => REGISTER_ROWS_LOG2,
                over => over,
            };
            writer.add(brought, count, top - count..top);
            (top, brought) = (top - count, Brought::Local);
        }
    }

    /// The sort of every tile, of an array that takes so many merges.
    pub(crate) fn sort(self, merges: u32) -> Vec<Run> {
        let mut writer = Writer::new(0);
        let merges = merges.min(self.tile_log2());
        let rows = merges.saturating_sub(self.lanes_log2);
        let alone = rows.min(REGISTER_ROWS_LOG2);
        // Few rows stay in registers from the beginning to the end.
        let kept = if rows <= REGISTER_ROWS_LOG2 { Brought::Registers } else { Brought::Local };
        writer.add(Brought::Memory, alone * (alone + 1) / 2, 0..alone);
        for merge in REGISTER_ROWS_LOG2 + 1..=rows {
            let wide = (merge - REGISTER_ROWS_LOG2).min(REGISTER_ROWS_LOG2);
            writer.add(Brought::Local, wide, merge - wide..merge);
            self.clean_rows(&mut writer, 0..merge - wide, Brought::Local);
        }
        for merge in rows + 1..=merges {
            between_lanes(&mut writer, rows..merge);
            self.clean_rows(&mut writer, 0..rows, kept);
        }
        writer.runs
    }

    /// The end of a merge, inside tiles.
    pub(crate) fn merge(self, first: u32) -> Vec<Run> {
        let mut writer = Writer::new(first);
        let rows = self.lanes_log2..self.tile_log2();
        self.clean_rows(&mut writer, rows, Brought::Memory);
        between_lanes(&mut writer, 0..self.lanes_log2);
        writer.runs
    }
}

/// Steps between lanes: a shuffle for each.
fn between_lanes(writer: &mut Writer, bits: Range<u32>) {
    for bit in bits.rev() {
        writer.add(Brought::Lanes, 1, bit..bit + 1);
    }
}

/// A tile in a cache, step by step: what the CPU engine does with keys that its vectors do not have.
pub(crate) fn step_by_step(steps: Range<u32>) -> Vec<Run> {
    let mut writer = Writer::new(steps.start);
    for step in steps.clone() {
        let brought = if step == steps.start { Brought::Memory } else { Brought::Local };
        let span = Step::new(step).span();
        writer.add(brought, 1, span - 1..span);
    }
    writer.runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_goes_through_registers_lanes_and_local_memory() {
        // 16 keys, 4 a work-item, sub-groups of 2: merges 1 and 2 in registers, then exchanges.
        let tile = Tile { log2: 4, held_log2: 2, lanes_log2: 1 };
        let runs = tile.sort(9).into_iter().map(|Run { steps, bits, brought }| (steps, bits, brought));
        assert_eq!(
            runs.collect::<Vec<_>>(),
            [
                ([0, 3], [0, 2], Brought::Memory),
                ([3, 5], [1, 3], Brought::Lanes),
                ([5, 6], [0, 1], Brought::Lanes),
                ([6, 8], [2, 4], Brought::Local),
                ([8, 10], [0, 2], Brought::Local),
            ]
        );
    }

    #[test]
    fn few_rows_of_a_processor_stay_in_registers() {
        let runs = Columns { lanes_log2: 3, rows_log2: 8 }.sort(6);
        assert!(runs.iter().all(|run| run.brought != Brought::Local));
        assert!(runs.iter().any(|run| run.brought == Brought::Lanes && run.bits == [5, 6]));
        let runs = Columns { lanes_log2: 3, rows_log2: 8 }.sort(20);
        assert_eq!(runs.last().unwrap().steps[1], 11 * 12 / 2, "a tile has 2^11 keys");
        assert!(runs.iter().any(|run| run.brought == Brought::Local));
    }
}
