//! The bitonic network in passes over memory: any length, any device, in place, oblivious.
//!
//! Planning reads facts and assumes none. What is best within them is in [`tuning`](crate::gpu::tuning).

use super::{Candidate, Strategy, builder, copies_of, rank};
use crate::gpu::element::Element;
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Builder, Number, Spec, Tile, local_bytes};
use crate::gpu::tuning::{Measured, NetworkShape, Tuning};
use crate::plan::{Algorithm, Launch, Pass, Place, Step, passes};

/// The network, cut in a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    pub(crate) shape: NetworkShape,
}

pub(super) fn fit(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Option<Candidate> {
    let network = Network::new(job, facts, tuning);
    let tile = 1 << network.shape.tile_log2;
    let tile_up_to = Measured::of(facts).tile_up_to[Measured::width(job.element.bytes())];
    let is_tile = job.rows > 1 && job.row_length <= tile || job.row_length <= tile_up_to.min(tile);
    let rank = if is_tile { rank::TILE } else { rank::NETWORK };
    Some(Candidate { rank, strategy: Box::new(network) })
}

impl Network {
    /// The tuned shape if there is one and the device can run it, else a good one within the limits.
    pub(crate) fn new(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Self {
        let shape = match tuned(job, facts, tuning) {
            Some(shape) => shape,
            None => shape_for(facts, job.element, job.row_length, job.rows).or_smaller(job, facts, tuning),
        };
        Self { shape }
    }

    /// Passes for all merges above the first `sorted` ones, which are done; `reads_input` if it is the first of the sort.
    pub(super) fn merges(
        &self,
        job: &Job,
        facts: &DeviceFacts,
        sorted: u32,
        reads_input: bool,
    ) -> Vec<Launch> {
        let merges = Step::merges(job.row_length);
        let passes: Vec<Pass> = if merges == 0 {
            // Rows of one element are sorted, but their values may have to be made, and their keys have to go through.
            vec![Pass { place: Place::Tile, steps: 0..0 }]
        } else {
            passes(job.row_length, self.shape.limits())
                .filter(|pass| Step::new(pass.steps.start).merge() > sorted)
                .collect()
        };
        let builder = builder(job, Arrays::InPlace, 0);
        let end = passes.len();
        let launches = passes.into_iter().enumerate().map(|(index, pass)| {
            let (first, last) = (reads_input && index == 0, index + 1 == end);
            match pass.place {
                Place::Tile if first => self.tile_sort(&builder, facts, pass, last),
                Place::Tile => self.tile_merge(&builder, facts, pass, last),
                Place::Memory => self.memory_pass(&builder, pass),
            }
        });
        launches.collect()
    }

    /// Sorts every tile, or the rows in it.
    fn tile_sort(&self, builder: &Builder<'_>, facts: &DeviceFacts, pass: Pass, last: bool) -> Launch {
        let job = builder.job;
        let NetworkShape { tile_log2, unrolled, .. } = self.shape;
        let merges = Step::merges(job.row_length);
        // Many short rows share tiles. One short row is sorted as a whole tile: what is past its end is infinite.
        let short_rows = job.rows > 1 && merges <= tile_log2;
        let ragged_rows = short_rows && !job.row_length.is_power_of_two();
        let tiles = job.row_length.div_ceil(1 << tile_log2);
        let (groups, count, merges) = if short_rows {
            ((job.rows << merges).div_ceil(1 << tile_log2), job.rows, merges)
        } else {
            (tiles * job.rows, tiles, tile_log2)
        };
        builder.launch(Spec {
            kernel: "tile_sort",
            groups,
            tile: Some(self.tile()),
            cluster_log2: 0,
            constants: &[
                ("SHORT_ROWS", short_rows.into()),
                ("RAGGED_ROWS", ragged_rows.into()),
                ("MERGES", merges),
                ("UNROLLED", unrolled.into()),
            ],
            numbers: &[
                Number::Index(job.row_length),
                Number::Index(count),
                Number::Plain(job.mapping.argument(true, last)),
            ],
            place: Some(Place::Tile),
            copies: copies_of(pass.steps.len() as u32, Measured::of(facts)),
            words: pass.words(tile_log2.min(Step::merges(job.row_length))),
            steps: pass.steps,
        })
    }

    /// Finishes a merge inside tiles.
    fn tile_merge(&self, builder: &Builder<'_>, facts: &DeviceFacts, pass: Pass, last: bool) -> Launch {
        let job = builder.job;
        let tiles = job.row_length.div_ceil(1 << self.shape.tile_log2);
        builder.launch(Spec {
            kernel: "tile_merge",
            groups: tiles * job.rows,
            tile: Some(self.tile()),
            cluster_log2: 0,
            constants: &[("SHORT_ROWS", 0), ("RAGGED_ROWS", 0), ("UNROLLED", 0)],
            numbers: &[
                Number::Index(job.row_length),
                Number::Index(tiles),
                Number::Plain(job.mapping.argument(false, last)),
            ],
            place: Some(Place::Tile),
            copies: copies_of(pass.steps.len() as u32, Measured::of(facts)),
            words: pass.words(self.shape.tile_log2),
            steps: pass.steps,
        })
    }

    /// Steps of a merge that are wider than a tile.
    fn memory_pass(&self, builder: &Builder<'_>, pass: Pass) -> Launch {
        let job = builder.job;
        let NetworkShape { tile_log2, register_steps, pass_items_log2, .. } = self.shape;
        let steps = pass.steps.len() as u32;
        let step = Step::new(pass.steps.start);
        let shift = step.span() - steps;
        let flip = step == Step::first_of_merge(step.merge());
        // Blocks of 2^span places, in each of them 2^shift with the same bits but those of the steps.
        let blocks = job.row_length.div_ceil(1 << step.span());
        let in_registers = steps <= register_steps;
        // What a group takes: one place for every work-item, or a tile of pieces.
        let group_log2 = if in_registers { pass_items_log2 } else { tile_log2 - steps };
        let count = (blocks << shift) >> group_log2;
        let items = 1 << pass_items_log2;
        let constants: &[_] = if in_registers {
            &[("FLIP", flip.into()), ("ITEMS", items as u32)]
        } else {
            &[("SHORT_ROWS", 0), ("RAGGED_ROWS", 0), ("UNROLLED", 0), ("STEPS", steps), ("FLIP", flip.into())]
        };
        let spec = Spec {
            kernel: if in_registers { "memory_pass" } else { "strided_pass" },
            groups: count * job.rows,
            tile: (!in_registers).then(|| self.tile()),
            cluster_log2: 0,
            constants,
            numbers: &[Number::Index(job.row_length), Number::Index(count), Number::Plain(shift)],
            place: Some(Place::Memory),
            copies: 1.0,
            words: pass.words(tile_log2),
            steps: pass.steps,
        };
        if in_registers { builder.launch_with(spec, items, steps, 0) } else { builder.launch(spec) }
    }

    fn tile(&self) -> Tile {
        Tile::new(self.shape.tile_log2, self.shape.held_log2)
    }
}

impl Strategy for Network {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Network
    }

    fn launches(&self, job: &Job, facts: &DeviceFacts) -> Vec<Launch> {
        self.merges(job, facts, 0, true)
    }
}

/// The tuned shape, if the device can run it. What is tuned is the sort of one array.
fn tuned(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Option<NetworkShape> {
    let tuned = tuning.shape(job.element.bytes(), job.row_length).filter(|_| job.rows == 1)?;
    tuned.shape.is_possible(facts, job.element).then_some(tuned.shape)
}

/// Fewer kernels to build: arrays below 2^8 keys share a tile of this size.
const SMALLEST_TILE_LOG2: u32 = 8;

/// Neighbouring elements that a pass through local memory takes from one place, at least: 32 bytes, what devices load at
/// once, for elements of 4 bytes.
const PIECE_LOG2: u32 = 3;

/// A good shape for so many rows of this length, within the limits of a device.
pub(crate) fn shape_for(
    facts: &DeviceFacts,
    element: Element,
    row_length: usize,
    rows: usize,
) -> NetworkShape {
    let measured = Measured::of(facts);
    let width = Measured::width(element.bytes());
    let group_log2 = facts.group_size.max(1).ilog2();
    // Many short rows share tiles; one short row has a tile to itself.
    let needed = Step::merges(row_length.saturating_mul(rows)).max(1);
    let merges = Step::merges(row_length);
    let large =
        if rows > 1 { merges == measured.large_tile_log2 } else { merges >= measured.large_array_log2 };
    let (largest, budget) = if large {
        (measured.large_tile_log2, measured.large_tile_bytes)
    } else {
        (measured.tile_log2, measured.tile_bytes)
    };
    let lone = measured.lone_held_log2[width].iter().find(|(up_to, _)| needed <= *up_to);
    let held_log2 = lone.map_or(measured.held_log2[width], |&(_, held_log2)| held_log2);
    let fits = |tile_log2: u32| local_bytes(tile_log2, element.bytes()) <= facts.local_bytes.min(budget);
    let mut tile_log2 = largest.min(needed.max(SMALLEST_TILE_LOG2)).min(held_log2 + group_log2);
    while tile_log2 > 1 && !fits(tile_log2) {
        tile_log2 -= 1;
    }
    let held_log2 = held_log2.min(tile_log2);
    let shape = NetworkShape {
        tile_log2,
        held_log2,
        fused_steps: 0,
        register_steps: 0,
        pass_items_log2: 8.min(group_log2).min(tile_log2),
        unrolled: measured.unrolled,
    };
    shape.with_tile(facts, element, tile_log2, held_log2)
}

impl NetworkShape {
    /// The same with a tile of another size, or other numbers of elements held; the steps of passes follow.
    ///
    /// One exchange in local memory doubles the steps that registers have bits for.
    pub(crate) fn with_tile(
        self,
        facts: &DeviceFacts,
        element: Element,
        tile_log2: u32,
        held_log2: u32,
    ) -> Self {
        let measured = Measured::of(facts);
        let exchanges = facts.exchanges_in_passes && measured.exchange_pays;
        let (fused_steps, register_steps) =
            if exchanges && held_log2 >= 3 && tile_log2 >= 2 * held_log2 + PIECE_LOG2 {
                (2 * held_log2, held_log2.min(4))
            } else {
                let alone = measured.pass_steps[Measured::width(element.bytes())];
                (alone, alone)
            };
        Self { tile_log2, held_log2, fused_steps, register_steps, ..self }
    }

    /// This shape; or, if it came out wrong on the device, the next one whose work-items hold fewer elements and that did not.
    fn or_smaller(self, job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Self {
        let group_log2 = facts.group_size.max(1).ilog2();
        let smaller = (1..self.held_log2).rev().map(|held_log2| {
            self.with_tile(facts, job.element, self.tile_log2.min(held_log2 + group_log2), held_log2)
        });
        let may = |shape: &Self| !tuning.is_condemned(job.element.bytes(), *shape);
        let is_possible = |shape: &Self| shape.is_possible(facts, job.element);
        if may(&self) { self } else { smaller.filter(is_possible).find(may).unwrap_or(self) }
    }

    /// Whether a device can run it, and a kernel exists for it. Asked of every shape, those from disk included.
    pub(crate) fn is_possible(self, facts: &DeviceFacts, element: Element) -> bool {
        let group_log2 = facts.group_size.max(1).ilog2();
        let most = Measured::of(facts).most_held_log2;
        (1..=most).contains(&self.held_log2)
            && self.held_log2 <= self.tile_log2
            && self.tile_log2 <= 16
            && self.tile_log2 - self.held_log2 <= group_log2
            && (1..=most).contains(&self.register_steps)
            && (self.fused_steps == self.register_steps || facts.exchanges_in_passes && self.can_exchange())
            && self.pass_items_log2 <= group_log2
            && self.pass_items_log2 <= self.tile_log2
            && local_bytes(self.tile_log2, element.bytes()) <= facts.local_bytes
    }

    /// Whether passes with more steps than registers alone allow have what they need.
    fn can_exchange(self) -> bool {
        let Self { tile_log2, held_log2, fused_steps, register_steps, .. } = self;
        fused_steps > register_steps
            && register_steps + 1 >= held_log2
            && fused_steps <= 2 * held_log2
            && 2 * held_log2 <= tile_log2
    }
}
