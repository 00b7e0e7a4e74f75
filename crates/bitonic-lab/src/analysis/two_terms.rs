//! Times on a device as what launches take and what memory takes: t = launches · a + bytes · b.

use super::{Figure, Group};
use crate::figures::{gigabytes_per_second, time_of_seconds};
use serde::Serialize;

/// The two terms fitted to the times of an implementation on a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TwoTerms {
    /// Who was measured.
    pub implementation: String,
    /// a: what a launch takes, in seconds.
    pub launch: Figure,
    /// 1 / b: how many bytes a second its kernels read and write; `None` if bytes explain nothing.
    pub speed: Option<Figure>,
    /// The share of the spread of the times' logarithms that the two terms explain.
    pub r_squared: Figure,
    /// Whether R² is at least [`FITS`](super::fit::FITS).
    pub fits: bool,
}

/// The terms of every implementation whose launches and bytes are known at three sizes at least.
pub(super) fn two_terms(group: &Group) -> Vec<TwoTerms> {
    group.implementations.iter().filter_map(|implementation| of(group, implementation)).collect()
}

fn of(group: &Group, implementation: &str) -> Option<TwoTerms> {
    let point = |&size: &usize| {
        let cell = group.cell(implementation, size)?;
        let seconds = cell.measured()?.center(group.statistic);
        let device = cell.device.filter(|device| device.launches > 0.0 && seconds > 0.0)?;
        Some([device.launches, device.kernel_bytes, seconds])
    };
    let points: Vec<[f64; 3]> = group.sizes.iter().filter_map(point).collect();
    if points.len() < 3 {
        return None;
    }
    let (launch, byte) = solve(&points);
    let predicted = |[launches, bytes, _]: &[f64; 3]| launch * launches + byte * bytes;
    let middle = points.iter().map(|[_, _, t]| t.ln()).sum::<f64>() / points.len() as f64;
    let spread: f64 = points.iter().map(|[_, _, t]| (t.ln() - middle).powi(2)).sum();
    let off: f64 = points.iter().map(|point| (point[2].ln() - predicted(point).ln()).powi(2)).sum();
    let r_squared = if spread > 0.0 { 1.0 - off / spread } else { 0.0 };
    let of = |what: &str| format!("{what} {implementation} {} {} terms", group.key_type, group.distribution);
    Some(TwoTerms {
        implementation: implementation.to_owned(),
        launch: Figure::new(launch, time_of_seconds(launch), of("term_launch")),
        speed: (byte > 0.0)
            .then(|| Figure::new(1.0 / byte, gigabytes_per_second(1.0 / byte), of("term_speed"))),
        r_squared: Figure::new(r_squared, format!("{r_squared:.4}"), of("term_r2")),
        fits: r_squared >= super::fit::FITS,
    })
}

/// The coefficients with the least sum of squares of relative errors, neither below 0.
fn solve(points: &[[f64; 3]]) -> (f64, f64) {
    let sum = |of: fn(&[f64; 3]) -> f64| points.iter().map(of).sum::<f64>();
    let (ll, lb, bb) = (
        sum(|[l, _, t]| (l / t).powi(2)),
        sum(|[l, b, t]| l * b / (t * t)),
        sum(|[_, b, t]| (b / t).powi(2)),
    );
    let (l1, b1) = (sum(|[l, _, t]| l / t), sum(|[_, b, t]| b / t));
    let determinant = ll * bb - lb * lb;
    let (launch, byte) = ((l1 * bb - b1 * lb) / determinant, (b1 * ll - l1 * lb) / determinant);
    match (launch > 0.0, byte > 0.0) {
        (true, true) => (launch, byte),
        (false, _) if bb > 0.0 => (0.0, b1 / bb),
        _ => (l1 / ll, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_that_make_up_the_times_are_found() {
        let points =
            [10.0, 100.0, 1000.0].map(|n: f64| [n.sqrt(), 8.0 * n, 3e-6 * n.sqrt() + 2e-9 * 8.0 * n]);
        let (launch, byte) = solve(&points);
        assert!((launch / 3e-6 - 1.0).abs() < 1e-9 && (byte / 2e-9 - 1.0).abs() < 1e-9, "{launch} {byte}");
        // What launches alone explain has no term for bytes, and none is negative.
        let launches = [1.0, 2.0, 4.0].map(|l: f64| [l, l.powi(3), 5e-6 * l]);
        let (launch, byte) = solve(&launches);
        assert!((launch / 5e-6 - 1.0).abs() < 1e-6 && (0.0..1e-12).contains(&byte), "{launch} {byte}");
    }
}
