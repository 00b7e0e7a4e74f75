//! Where one implementation overtakes another.

use super::Group;
use crate::statistics::Summary;
use serde::Serialize;

/// The range of sizes within which one implementation overtakes another that is faster below it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossover {
    /// Who is faster below.
    pub below: String,
    /// Who is faster above.
    pub above: String,
    /// The last measured size at which the first is certainly faster.
    pub last: usize,
    /// The first measured size after it at which the second certainly is. Between the two it is not decided.
    pub first: usize,
}

/// The last crossover of every two implementations that have one, from measured times alone, and only where on both sides the
/// confidence intervals of the two means keep apart.
pub(super) fn crossovers(group: &Group) -> Vec<Crossover> {
    let mut found = Vec::new();
    for (index, one) in group.implementations.iter().enumerate() {
        for other in &group.implementations[index + 1..] {
            found.extend(crossover([one, other], &group.measured(one), &group.measured(other)));
        }
    }
    found
}

fn crossover(names: [&str; 2], one: &[(usize, Summary)], other: &[(usize, Summary)]) -> Option<Crossover> {
    // Sizes at which it is certain who is faster: true for the first.
    let certain: Vec<(usize, bool)> = one
        .iter()
        .filter_map(|(size, summary)| {
            let (_, second) = other.iter().find(|(at, _)| at == size)?;
            summary.differs_from(second).then_some((*size, summary.mean < second.mean))
        })
        .collect();
    let &[(last, first_was_faster), (first, _)] = certain.windows(2).rfind(|pair| pair[0].1 != pair[1].1)?
    else {
        return None;
    };
    let [below, above] = if first_was_faster { names } else { [names[1], names[0]] };
    Some(Crossover { below: below.to_owned(), above: above.to_owned(), last, first })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(value: f64, spread: f64) -> Summary {
        Summary::of(&[value - spread, value, value + spread]).unwrap()
    }

    #[test]
    fn a_crossover_is_a_range_between_sizes_that_are_certain() {
        let one =
            [(1, around(1.0, 0.01)), (2, around(2.0, 0.5)), (4, around(4.0, 0.01)), (8, around(8.0, 0.01))];
        let other =
            [(1, around(2.0, 0.01)), (2, around(2.1, 0.5)), (4, around(3.9, 2.0)), (8, around(4.0, 0.01))];
        let found = crossover(["one", "other"], &one, &other).unwrap();
        assert_eq!(
            (found.below.as_str(), found.above.as_str(), found.last, found.first),
            ("one", "other", 1, 8)
        );
        // Where the intervals overlap on one side, there is none.
        assert_eq!(crossover(["one", "other"], &one[..3], &other[..3]), None);
        let single = [(1, Summary::of(&[1.0]).unwrap()), (8, Summary::of(&[8.0]).unwrap())];
        assert_eq!(crossover(["one", "other"], &single, &other), None);
    }
}
