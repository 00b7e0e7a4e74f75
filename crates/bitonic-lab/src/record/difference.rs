//! What differs between two documents.

use serde_json::Value;

/// Every place at which the second document says something else than the first, with both texts.
pub(super) fn differences(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", before, now, &mut found);
    found
}

fn compare(place: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(one), Value::Object(other)) => {
            for (name, before) in one {
                compare(&inside(place, name), before, other.get(name).unwrap_or(&Value::Null), found);
            }
            for (name, now) in other.iter().filter(|(name, _)| !one.contains_key(*name)) {
                compare(&inside(place, name), &Value::Null, now, found);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for (index, (before, now)) in one.iter().zip(other).enumerate() {
                compare(&inside(place, &(index + 1).to_string()), before, now, found);
            }
            if one.len() != other.len() {
                found.push(format!("{place}: there were {} and are now {}", one.len(), other.len()));
            }
        }
        (before, now) if before != now => found.push(format!("{place}: {before} is now {now}")),
        _ => {}
    }
}

fn inside(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_difference_has_its_place_and_both_values() {
        let before = json!({"seed": 1, "cases": [{"size": 8}, {"size": 9}], "gone": true, "same": "x"});
        let now =
            json!({"seed": 2, "cases": [{"size": 8}, {"size": 7}, {}], "new": null, "more": 1, "same": "x"});
        let mut found = differences(&before, &now);
        found.sort();
        let expected = [
            "cases.2.size: 9 is now 7",
            "cases: there were 2 and are now 3",
            "gone: true is now null",
            "more: null is now 1",
            "seed: 1 is now 2",
        ];
        assert_eq!(found, expected);
        assert!(differences(&now, &now).is_empty());
    }
}
