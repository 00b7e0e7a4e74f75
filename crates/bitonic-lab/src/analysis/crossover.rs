//! Where one implementation overtakes another.

use super::{Figure, Group};
use serde::Serialize;

/// The size from which on one implementation is faster than another that is faster below it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossover {
    /// Who is faster below.
    pub below: String,
    /// Who is faster above.
    pub above: String,
    /// The last measured size at which the first is faster.
    pub last: usize,
    /// The first measured size at which the second is.
    pub first: usize,
    /// Where the curves meet: straight lines between the measured points in a plot with logarithmic axes.
    pub size: Figure,
}

/// The last crossover of every two implementations that have one, from measured times alone.
pub(super) fn crossovers(group: &Group) -> Vec<Crossover> {
    let mut found = Vec::new();
    for (index, one) in group.implementations.iter().enumerate() {
        for other in &group.implementations[index + 1..] {
            found.extend(crossover(group, one, other));
        }
    }
    found
}

fn crossover(group: &Group, one: &str, other: &str) -> Option<Crossover> {
    let others = group.measured(other);
    let logarithms: Vec<(usize, f64)> = group
        .measured(one)
        .into_iter()
        .filter_map(|(size, summary)| {
            let (_, second) = others.iter().find(|(at, _)| *at == size)?;
            Some((size, (summary.mean / second.mean).ln()))
        })
        .collect();
    let crossing = |pair: &&[(usize, f64)]| pair[0].1 * pair[1].1 < 0.0;
    let &[(last, before), (first, after)] = logarithms.windows(2).rfind(crossing)? else {
        return None;
    };
    let (low, high) = ((last as f64).ln(), (first as f64).ln());
    let size = (low + before / (before - after) * (high - low)).exp();
    let (below, above) = if before < 0.0 { (one, other) } else { (other, one) };
    let of = format!("crossover {below} {above} {} {}", group.key_type, group.distribution);
    Some(Crossover {
        below: below.to_owned(),
        above: above.to_owned(),
        last,
        first,
        size: Figure::new(size, format!("{size:.0}"), of),
    })
}
