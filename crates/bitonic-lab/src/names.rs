//! Names on the command line: what to say when one is unknown.

/// A message for an unknown name: the closest known one if it is close, and all of them.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let closest = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= candidate.len().max(3) / 3);
    let all = known.join(", ");
    match closest {
        Some((_, candidate)) => format!("unknown {what} '{name}': did you mean '{candidate}'? Known: {all}"),
        None => format!("unknown {what} '{name}'. Known: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_name_is_suggested_and_a_far_one_is_not() {
        let known = ["bitonic", "bubble", "insertion"];
        assert_eq!(
            unknown("network", "bitnoic", &known),
            "unknown network 'bitnoic': did you mean 'bitonic'? Known: bitonic, bubble, insertion"
        );
        assert!(!unknown("network", "quicksort", &known).contains("did you mean"));
    }
}
