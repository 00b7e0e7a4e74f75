//! What limits an implementation on a device.

use super::{Cell, Figure, Group, Sentence};
use crate::figures::{gigabytes_per_second, percent, time_of_seconds};
use crate::record::{COPY_SPEED, LAUNCH_SECONDS, Machine};
use serde::Serialize;

/// What a device did for an implementation at the largest size that was measured, and what kept it from being faster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// Who sorted.
    pub implementation: String,
    /// How many keys.
    pub size: usize,
    /// Mean time to the device.
    pub upload: Figure,
    /// Mean time from the first kernel's start to the last one's end.
    pub kernels: Figure,
    /// Mean time from the device.
    pub download: Figure,
    /// Launches of kernels.
    pub launches: Figure,
    /// What they read and wrote.
    pub bytes: Figure,
    /// How much of that in a second.
    pub speed: Figure,
    /// That as a share of the speed of a plain copy.
    pub share_of_copy: Option<Figure>,
    /// The share of the kernels' time that launches alone would take.
    pub share_of_launches: Option<Figure>,
    /// The share of the kernels' time in which no kernel ran.
    pub share_of_gaps: Option<Figure>,
    /// What limits it, where the measurements say so.
    pub limit: Option<Limit>,
    /// That in words and numbers.
    pub verdict: Sentence,
}

/// What limits a sort on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// No kernel runs for at least half of the time: the device waits for the host between them.
    HostGaps,
    /// Launches alone would take at least half of the time.
    Launches,
    /// Memory is used at half of a copy's speed at least.
    Memory,
}

impl Limit {
    /// The limit in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostGaps => "bound by gaps between kernels",
            Self::Launches => "launch bound",
            Self::Memory => "memory bound",
        }
    }
}

/// From this share on something is what limits.
const MOST_OF_IT: f64 = 0.5;

/// The limits of every implementation that was measured on a device.
pub(super) fn limits(group: &Group, machine: &Machine) -> Vec<Limits> {
    let largest = |implementation: &String| {
        let of = |cell: &&Cell| cell.implementation == *implementation && cell.device.is_some();
        group.cells.iter().filter(of).max_by_key(|cell| cell.size)
    };
    group
        .implementations
        .iter()
        .filter_map(largest)
        .filter_map(|cell| of_cell(group, cell, machine))
        .collect()
}

fn of_cell(group: &Group, cell: &Cell, machine: &Machine) -> Option<Limits> {
    let means = cell.device?;
    let runs_on = cell.implementation.split(':').next()?;
    let of = |what: &str| {
        format!("{what} {} {} {} {}", cell.implementation, group.key_type, group.distribution, cell.size)
    };
    let seconds = means.kernel_seconds.max(1e-9);
    let speed = means.kernel_bytes / seconds;
    let share = machine.number(runs_on, COPY_SPEED).map(|copy| speed / copy);
    let launching = machine.number(runs_on, LAUNCH_SECONDS).map(|launch| means.launches * launch / seconds);
    let gaps = means.busy_seconds.map(|busy| (1.0 - busy / seconds).max(0.0));
    let limit = decide(gaps, launching, share);
    let time = |value: f64, what: &str| Figure::new(value, time_of_seconds(value), of(what));
    let share = share.map(|share| Figure::new(share, percent(share), of("share_of_copy")));
    let launching = launching.map(|share| Figure::new(share, percent(share), of("share_of_launches")));
    let bytes =
        Figure::new(means.kernel_bytes, crate::figures::bytes(means.kernel_bytes as u64), of("kernel_bytes"));
    let limits = Limits {
        implementation: cell.implementation.clone(),
        size: cell.size,
        upload: time(means.upload_seconds, "upload"),
        kernels: time(means.kernel_seconds, "kernels"),
        download: time(means.download_seconds, "download"),
        launches: Figure::new(means.launches, format!("{:.0}", means.launches), of("launches")),
        bytes,
        speed: Figure::new(speed, gigabytes_per_second(speed), of("speed")),
        share_of_copy: share,
        share_of_launches: launching,
        share_of_gaps: gaps.map(|share| Figure::new(share, percent(share), of("share_of_gaps"))),
        limit,
        verdict: Sentence::default(),
    };
    Some(Limits { verdict: verdict(&limits), ..limits })
}

/// The first of the three for which there is evidence. What is left is not called compute: that would need a count of operations
/// and the device's rate of them, which no record has.
fn decide(gaps: Option<f64>, launching: Option<f64>, share: Option<f64>) -> Option<Limit> {
    let most = |share: Option<f64>| share.is_some_and(|share| share >= MOST_OF_IT);
    [(gaps, Limit::HostGaps), (launching, Limit::Launches), (share, Limit::Memory)]
        .into_iter()
        .find_map(|(share, limit)| most(share).then_some(limit))
}

fn verdict(limits: &Limits) -> Sentence {
    let mut sentence = Sentence::default()
        .words(limits.limit.map_or("undecided", Limit::name))
        .words(": ")
        .number(limits.launches.clone())
        .words(" launches moved ")
        .number(limits.bytes.clone())
        .words(" at ")
        .number(limits.speed.clone());
    if let Some(share) = &limits.share_of_copy {
        sentence = sentence.words(", ").number(share.clone()).words(" of a copy");
    }
    if let Some(share) = &limits.share_of_launches {
        sentence = sentence.words("; launches alone would take ").number(share.clone()).words(" of the time");
    }
    if let Some(share) = &limits.share_of_gaps {
        sentence = sentence.words("; no kernel ran for ").number(share.clone()).words(" of it");
    }
    sentence.words(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_needs_evidence() {
        assert_eq!(decide(Some(0.6), Some(0.9), Some(0.9)), Some(Limit::HostGaps));
        assert_eq!(decide(Some(0.1), Some(0.9), Some(0.9)), Some(Limit::Launches));
        assert_eq!(decide(None, Some(0.1), Some(0.5)), Some(Limit::Memory));
        assert_eq!(decide(Some(0.1), Some(0.1), Some(0.1)), None, "nothing else fitted is no evidence");
        assert_eq!(decide(None, None, None), None);
    }
}
