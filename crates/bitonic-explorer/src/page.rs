//! The committed page.

use crate::network::check_size;
use bitonic_network::{Kind, Network};
use serde_json::json;

/// The page as `scripts/build-explorer` made it: one HTML document that needs no other file.
pub const PAGE: &str = include_str!("../explorer.html");

/// Where the page keeps what it opens with.
pub(crate) const NOTHING_OPENED: &str = "<script type=\"application/json\" id=\"opened\">{}</script>";

/// The page with content of the caller's, which it shows when it opens.
///
/// - `"view"`: `network`, `tour`, `challenges`, `plan` or `ladder`;
/// - `"network"`: a network in list form, `"kind"` and `"wires"` if it is of a kind;
/// - `"input"`: the keys on its wires, an array of numbers;
/// - `"measured"`: times of a run of the laboratory, made by [`measured::of_summary`](crate::measured::of_summary);
/// - `"plan"`: a plan, in the form that `web/plan.js` describes;
/// - `"machines"`: machines that the plan view lists before the ones it knows, an array of [`Named`](crate::machine::Named).
///
/// A network that is of a kind is best named so: the page then knows its blocks and what it promises. [`of_network`] does that.
///
/// ```
/// let page = bitonic_explorer::page::open_with(&serde_json::json!({ "kind": "bitonic", "wires": 8 }));
/// assert!(page.contains(r#"id="opened">{"kind":"bitonic","wires":8}</script>"#));
/// ```
pub fn open_with(content: &serde_json::Value) -> String {
    // Within a script element only "</" could end it, and JSON may write the stroke as an escape.
    let content = content.to_string().replace("</", "<\\/");
    PAGE.replacen(NOTHING_OPENED, &NOTHING_OPENED.replace("{}", &content), 1)
}

/// The page with a network, and with keys on its wires unless there are none.
///
/// # Errors
/// Why the page cannot show it: it has more than 64 wires or more than 4096 comparators.
pub fn of_network(network: &Network, keys: &[f64]) -> Result<String, String> {
    check_size(network)?;
    let wires = network.wires();
    let same = |kind: &Kind| kind.generate(wires).is_ok_and(|other| other.stages() == network.stages());
    let mut content = match Kind::ALL.iter().find(|kind| same(kind)) {
        Some(kind) => json!({ "kind": kind.name(), "wires": wires }),
        None => json!({ "network": network.to_list() }),
    };
    if !keys.is_empty() {
        content["input"] = json!(keys);
    }
    Ok(open_with(&content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_a_kind_is_named_and_any_other_is_listed() {
        let page = of_network(&Kind::OddEvenMergeSort.generate(8).unwrap(), &[]).unwrap();
        assert!(page.contains(r#"id="opened">{"kind":"odd-even-merge-sort","wires":8}</script>"#));
        let page = of_network(&Network::parse("[(0,1)]\n").unwrap(), &[2.0, 1.0]).unwrap();
        assert!(page.contains(r#""input":[2.0,1.0]"#));
        assert!(of_network(&Kind::Bitonic.generate(65).unwrap(), &[]).is_err());
    }
}
