//! What the processor counted, for each key.

use super::cell::mean;
use super::{Figure, Group};
use crate::figures::significant;
use crate::record::{InstructionCount, Record};
use serde::Serialize;

/// What the processor counted for an implementation, for each key, at the largest size with counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counted {
    /// Who sorted.
    pub implementation: String,
    /// How many keys, where perf events were read.
    pub size: Option<usize>,
    /// Cycles for each key.
    pub cycles: Option<Figure>,
    /// Instructions for each key.
    pub instructions: Option<Figure>,
    /// Branches for each key.
    pub branches: Option<Figure>,
    /// Mispredicted branches for each key.
    pub branch_misses: Option<Figure>,
    /// Accesses to the last cache for each key.
    pub cache_references: Option<Figure>,
    /// Accesses that went to memory for each key.
    pub cache_misses: Option<Figure>,
    /// How many keys, where callgrind counted.
    pub callgrind_size: Option<usize>,
    /// Instructions for each key by callgrind.
    pub callgrind: Option<Figure>,
}

/// A column of the records.
type Column = fn(&Record) -> Option<u64>;

/// The counts of every implementation that has any.
pub(super) fn counted(
    group: &Group,
    records: &[&Record],
    instructions: &[&InstructionCount],
) -> Vec<Counted> {
    let of_implementation = |implementation: &String| {
        let own: Vec<&Record> =
            records.iter().copied().filter(|record| record.implementation == *implementation).collect();
        let size = own.iter().filter(|record| record.instructions.is_some()).map(|record| record.size).max();
        let at_size: Vec<&Record> = own.iter().copied().filter(|record| Some(record.size) == size).collect();
        let figure = |what: &str, column: Column| {
            let size = size?;
            let each = mean(&at_size, |record| column(record).map(|count| count as f64))? / size as f64;
            let of = format!("{what} {implementation} {} {} {size}", group.key_type, group.distribution);
            Some(Figure::new(each, significant(each), of))
        };
        let callgrind = instructions
            .iter()
            .filter(|count| count.implementation == *implementation)
            .find_map(|count| Some((count.size, count.instructions?)));
        let by_callgrind = callgrind.map(|(size, count)| {
            let each = count as f64 / size as f64;
            let of = format!("callgrind {implementation} {} {} {size}", group.key_type, group.distribution);
            Figure::new(each, significant(each), of)
        });
        let counted = Counted {
            implementation: implementation.clone(),
            size,
            cycles: figure("cycles", |record| record.cycles),
            instructions: figure("instructions", |record| record.instructions),
            branches: figure("branches", |record| record.branches),
            branch_misses: figure("branch_misses", |record| record.branch_misses),
            cache_references: figure("cache_references", |record| record.cache_references),
            cache_misses: figure("cache_misses", |record| record.cache_misses),
            callgrind_size: callgrind.map(|(size, _)| size),
            callgrind: by_callgrind,
        };
        (counted.size.is_some() || counted.callgrind.is_some()).then_some(counted)
    };
    group.implementations.iter().filter_map(of_implementation).collect()
}
