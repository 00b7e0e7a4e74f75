//! What a sort did, for people.

use crate::lines::Lines;
use bitonic::{Instructions, Report};

/// Which keys were sorted, where and how.
pub(super) fn lines(what: &str, report: &Report, instructions: Instructions) -> Lines {
    let mut lines = Lines::default();
    lines.add("keys", what);
    lines.add("engine", report.engine);
    lines.add("device", report.device);
    lines.add("instructions", instructions);
    lines.add("plan", report.plan);
    if let Some(reason) = &report.fallback {
        lines.add("fallback", reason);
    }
    lines
}
