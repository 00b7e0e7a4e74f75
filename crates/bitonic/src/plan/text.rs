//! A plan in words: what `bitonic explain` prints.

use super::{Algorithm, KernelPlan, Launch, Pass, Place, Plan, PlanSummary, Step};
use crate::key::Order;
use crate::request::{Segments, What};
use std::fmt;
use std::ops::Range;

impl fmt::Display for PlanSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, passes, threads, chunks, host_bytes } = self;
        write!(f, "{algorithm}, {passes} pass{}, ", if *passes == 1 { "" } else { "es" })?;
        if let Some(chunks) = chunks {
            write!(f, "{chunks}, ")?;
        }
        if let Some(threads) = threads {
            write!(f, "{threads} thread{}, ", if *threads == 1 { "" } else { "s" })?;
        }
        match host_bytes {
            0 => f.write_str("in place"),
            bytes => write!(f, "{bytes} bytes of working memory"),
        }
    }
}

/// The plan as a table for people: what, then a row for every pass (long runs of like passes in the middle are
/// shown by their number).
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_request(f)?;
        writeln!(f, "algorithm  {}", self.algorithm)?;
        match &self.kernels {
            None => writeln!(f, "threads    {}", self.threads)?,
            Some(kernels) => self.write_device(f, kernels)?,
        }
        if let Some(chunks) = self.chunks {
            writeln!(f, "chunks     {chunks}")?;
        }
        match self.memory.host {
            0 => writeln!(f, "memory     in place")?,
            bytes => writeln!(f, "memory     {bytes} bytes beyond the arrays")?,
        }
        writeln!(
            f,
            "passes     {}{}, each reading and writing {} bytes in all",
            self.pass_count(),
            match (self.chunks, self.request.segments) {
                (None, _) => "",
                (Some(_), Segments::Offsets { .. }) => " over the longest chunk",
                (Some(_), _) => " over every chunk",
            },
            self.bytes_of_pass()
        )?;
        self.write_algorithm(f)?;
        if self.pass_count() == 0 {
            return Ok(());
        }
        match &self.kernels {
            Some(kernels) => {
                let rows = kernels.launches.iter().map(Row::of_launch);
                write_table(f, &rows.collect::<Vec<_>>())
            }
            None => {
                let rows = self.passes().map(|pass| Row::of_pass(&pass, self));
                write_table(f, &rows.collect::<Vec<_>>())
            }
        }
    }
}

impl Plan {
    fn write_request(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request = &self.request;
        match request.what {
            What::Argsort => write!(f, "the order of {} {} keys", request.len(), request.key)?,
            What::Keys => write!(f, "{} {} keys", request.len(), request.key)?,
            What::Top(k) => write!(f, "the first {k} of {} {} keys", request.len(), request.key)?,
            What::Pairs(value) => {
                write!(f, "{} {} keys with values of {} bytes", request.len(), request.key, value.bytes)?;
            }
        }
        match request.segments {
            Segments::One { .. } => (),
            Segments::Rows { rows, row_length } => write!(f, " in {rows} rows of {row_length}")?,
            Segments::Offsets { segments, longest, .. } => {
                write!(f, " in {segments} segments of at most {longest}")?;
            }
        }
        let order = match request.order {
            Order::Ascending => "ascending",
            Order::Descending => "descending",
        };
        write!(f, ", {order}")?;
        if request.nan_last && request.key.nans() > 0 {
            write!(f, ", NaN last")?;
        }
        if request.stable && matches!(request.what, What::Pairs(_)) {
            write!(f, ", stable")?;
        }
        write!(f, ", on {}: {}", self.engine, self.device)?;
        match self.instructions {
            Some(instructions) => writeln!(f, ", {instructions} kernels"),
            None => writeln!(f),
        }
    }

    fn write_device(&self, f: &mut fmt::Formatter<'_>, kernels: &KernelPlan) -> fmt::Result {
        let items = |place| {
            let launches = kernels.launches.iter().filter(move |launch| launch.place == Some(place));
            launches.map(|launch| launch.group_size).next()
        };
        let groups: Vec<String> = [(Place::Tile, "a tile"), (Place::Memory, "a pass over memory")]
            .into_iter()
            .filter_map(|(place, name)| items(place).map(|items| format!("{items} work-items for {name}")))
            .collect();
        if !groups.is_empty() {
            write!(f, "groups     {}", groups.join(", "))?;
            match kernels.cluster() {
                1 => writeln!(f)?,
                cluster => writeln!(f, ", {cluster} groups sort together in local memory that they share")?,
            }
        }
        write!(
            f,
            "elements   {} bytes each in registers, {} bytes on the device at a time",
            kernels.element_bytes, self.memory.device
        )?;
        match self.memory.work {
            0 => writeln!(f)?,
            bytes => writeln!(f, ", and {bytes} bytes there to work in")?,
        }
        if kernels.measured_on != self.device {
            writeln!(f, "shaped     by what was measured on {}", kernels.measured_on)?;
        }
        match self.predicted {
            Some(predicted) => {
                writeln!(f, "predicted  {predicted:.2?} for the kernels, without transfers")
            }
            None => Ok(()),
        }
    }

    fn write_algorithm(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kernels) = &self.kernels {
            if let Some(network) = kernels.network_passes {
                writeln!(
                    f,
                    "why        {} passes; the network in place, which oblivious sorts use, takes {network}",
                    kernels.passes()
                )?;
            }
            if let Some(fallback) = &kernels.fallback {
                let bytes = fallback.work.bytes();
                let memory = if bytes == 0 { "in place".to_owned() } else { format!("with {bytes} bytes") };
                writeln!(
                    f,
                    "otherwise  {}, {} passes, {memory}: if the device refuses memory or groups that share theirs",
                    fallback.algorithm,
                    fallback.passes()
                )?;
            }
        }
        match self.algorithm {
            Algorithm::Network => {
                let (merges, steps) = (Step::merges(self.sorted_length()), Step::count(self.sorted_length()));
                writeln!(f, "network    {merges} merges, {steps} steps, {} comparators", self.comparators())
            }
            Algorithm::Partition => {
                let tile = 1_usize << self.limits.tile_log2;
                writeln!(
                    f,
                    "network    in every part of up to {tile} keys; larger parts are split at a sampled median"
                )
            }
            Algorithm::Columnsort
            | Algorithm::Buckets
            | Algorithm::Counting
            | Algorithm::Standard
            | Algorithm::Selection
            | Algorithm::MergedRows
            | Algorithm::Segments => Ok(()),
        }
    }
}

/// A row of the table of passes.
struct Row {
    steps: String,
    place: &'static str,
    words: String,
}

impl Row {
    fn of_launch(launch: &Launch) -> Self {
        let place = match launch.place {
            Some(Place::Tile) => "tile",
            Some(Place::Memory) => "memory",
            None => "",
        };
        Self { steps: steps_text(&launch.steps), place, words: launch.words.clone() }
    }

    fn of_pass(pass: &Pass, plan: &Plan) -> Self {
        let tile_log2 = plan.limits.tile_log2.min(Step::merges(plan.sorted_length()));
        let place = match pass.place {
            Place::Tile => "tile",
            Place::Memory => "memory",
        };
        Self { steps: steps_text(&pass.steps), place, words: pass.words(tile_log2) }
    }
}

fn steps_text(steps: &Range<u32>) -> String {
    match steps.len() {
        0 => String::new(),
        1 => format!("{}", steps.start + 1),
        _ => format!("{}-{}", steps.start + 1, steps.end),
    }
}

fn write_table(f: &mut fmt::Formatter<'_>, rows: &[Row]) -> fmt::Result {
    const SHOWN_AT_EACH_END: usize = 12;

    if rows.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{:>6}  {:>9}  {:<6}  what", "pass", "steps", "place")?;
    for (index, Row { steps, place, words }) in rows.iter().enumerate() {
        if index == SHOWN_AT_EACH_END && rows.len() > 2 * SHOWN_AT_EACH_END {
            let more = rows.len() - 2 * SHOWN_AT_EACH_END;
            writeln!(f, "{:>6}  {more} more passes of the same kinds", "..")?;
        }
        if index < SHOWN_AT_EACH_END || index + SHOWN_AT_EACH_END >= rows.len() {
            writeln!(f, "{:>6}  {steps:>9}  {place:<6}  {words}", index + 1)?;
        }
    }
    Ok(())
}
