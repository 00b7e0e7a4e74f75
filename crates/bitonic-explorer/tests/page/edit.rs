//! Edit and prove.

use crate::browser::{Browser, Look};
use serde_json::json;

/// Where a place of the picture is in the window: the x of a slot, the y of a wire.
fn place(browser: &mut Browser, slot: usize, wire: usize) -> [f64; 2] {
    browser.ask("document.querySelector('#panel').scrollIntoView({ block: 'center' })");
    let place = browser.ask(&format!(
        "(() => {{ const b = document.querySelector('#panel').getBoundingClientRect(), l = explorer.bench.panel.layout; \
         const x = {slot} % 2 ? l.stages[({slot} - 1) / 2].left : l.rests[{slot} / 2]; \
         return [b.left + 1 + x, b.top + 1 + l.sizes.top + {wire} * l.sizes.gap]; }})()"
    ));
    [place[0].as_f64().unwrap(), place[1].as_f64().unwrap()]
}

fn list(browser: &mut Browser) -> String {
    browser.text("explorer.bench.network.list")
}

fn verdict_is(browser: &mut Browser, verdict: &str) {
    browser.wait_for(&format!("document.querySelector('#verdict').classList.contains('{verdict}')"));
}

#[test]
fn a_network_is_built_with_the_pointer_and_the_verdict_follows() {
    let mut browser = Browser::open(Look::DESK, "#network=3:");
    browser.click("#edit");
    verdict_is(&mut browser, "refuted");
    let (from, to) = (place(&mut browser, 0, 0), place(&mut browser, 0, 1));
    browser.drag(from, to);
    assert_eq!(list(&mut browser), "# wires: 3\n[(0,1)]\n");
    let (from, to) = (place(&mut browser, 2, 2), place(&mut browser, 2, 1));
    browser.drag(from, to);
    assert_eq!(list(&mut browser), "[(0,1)]\n[(1,2)]\n");
    verdict_is(&mut browser, "refuted");
    // The counterexample plays.
    browser.click("#play-failure");
    browser.wait_for("explorer.bench.done === explorer.bench.network.size && !explorer.bench.playing");
    assert!(browser.text_of("#caption").contains("not in order"));
    let (from, to) = (place(&mut browser, 4, 0), place(&mut browser, 4, 1));
    browser.drag(from, to);
    verdict_is(&mut browser, "proved");
    assert!(browser.text_of("#verdict").contains("all 2^3 0-1 inputs"));
    // Move an end, undo, redo.
    let (from, to) = (place(&mut browser, 5, 1), place(&mut browser, 5, 2));
    browser.drag(from, to);
    assert_eq!(list(&mut browser), "[(0,1)]\n[(1,2)]\n[(0,2)]\n");
    verdict_is(&mut browser, "refuted");
    browser.click("#undo");
    assert_eq!(list(&mut browser), "[(0,1)]\n[(1,2)]\n[(0,1)]\n");
    verdict_is(&mut browser, "proved");
    browser.click("#redo");
    assert_eq!(list(&mut browser), "[(0,1)]\n[(1,2)]\n[(0,2)]\n");
    // Choose by a click, then delete.
    let first = place(&mut browser, 1, 0);
    browser.drag(first, first);
    browser.click("#remove");
    assert_eq!(list(&mut browser), "[(1,2)]\n[(0,2)]\n");
    browser.leave();
}

#[test]
fn a_network_is_built_with_keys_alone() {
    let mut browser = Browser::open(Look::DESK, "#network=3:");
    browser.press(&["e"]);
    assert_eq!(browser.text("document.activeElement.id"), "panel");
    // Wires 0 and 2, then 0 and 1, then 1 and 2.
    browser.press(&["Enter", "ArrowDown", "ArrowDown", "Enter"]);
    browser.press(&["ArrowRight", "ArrowRight", "Enter", "ArrowDown", "Enter"]);
    browser.press(&["ArrowRight", "ArrowRight", "ArrowDown", "Enter", "ArrowDown", "Enter"]);
    assert_eq!(list(&mut browser), "[(0,2)]\n[(0,1)]\n[(1,2)]\n");
    verdict_is(&mut browser, "proved");
    // The cursor says where it is.
    browser.press(&["ArrowLeft"]);
    assert_eq!(browser.text_of("#caption"), "Wire 1, stage 2, comparator of wires 0 and 1");
    browser.press(&["r"]);
    assert_eq!(list(&mut browser), "[(0,2)]\n[(1,0)]\n[(1,2)]\n");
    browser.press(&["Ctrl+z"]);
    assert_eq!(list(&mut browser), "[(0,2)]\n[(0,1)]\n[(1,2)]\n");
    browser.press(&["Ctrl+y", "Ctrl+z"]);
    browser.press(&["ArrowRight", "ArrowLeft", "Delete"]);
    assert_eq!(list(&mut browser), "[(0,2)]\n[(1,2)]\n");
    // Pick up an end: the upper one of the first comparator goes to wire 1.
    browser.press(&[
        "ArrowLeft",
        "ArrowLeft",
        "ArrowUp",
        "ArrowLeft",
        "ArrowRight",
        "Enter",
        "ArrowDown",
        "Enter",
    ]);
    assert_eq!(list(&mut browser), "[(1,2)]\n[(1,2)]\n");
    browser.press(&["Enter", "Escape"]);
    assert_eq!(browser.ask("explorer.bench.panel.ghost"), json!(null));
    browser.leave();
}

#[test]
fn the_whole_page_can_be_used_with_keys_alone() {
    let mut browser = Browser::open(Look::DESK, "#kind=bitonic&n=4&input=4_3_2_1");
    browser.press(&["ArrowRight", "ArrowRight"]);
    assert_eq!(browser.ask("explorer.bench.done"), 4);
    browser.press(&["Home", "c", "End"]);
    assert_eq!(browser.text_of("#caption .state"), "1 2 3 4");
    browser.press(&["Home", "b", "ArrowRight", "s", "n"]);
    assert_eq!(browser.ask("explorer.bench.unit"), "stage");
    browser.press(&["?"]);
    assert_eq!(browser.ask("document.querySelector('#help').open"), true);
    browser.press(&["Escape"]);
    assert_eq!(browser.ask("document.querySelector('#help').open"), false);
    // Tab reaches every control in sight, and each has a name and shows the focus.
    browser.ask("document.activeElement.blur()");
    let mut seen = Vec::new();
    for _ in 0..80 {
        browser.press(&["Tab"]);
        let found = browser.text(
            "(() => { const e = document.activeElement; const name = e.getAttribute('aria-label') ?? (e.labels?.[0]?.innerText || e.innerText || '').trim(); \
             const ring = getComputedStyle(e); return `${e.id || e.dataset.view || e.tagName}|${name !== ''}|${ring.outlineStyle !== 'none'}`; })()",
        );
        if seen.contains(&found) {
            break;
        }
        assert!(found.starts_with("BODY") || found.ends_with("|true|true"), "{found}");
        seen.push(found);
    }
    let reached = seen.join(" ");
    for id in [
        "skip",
        "network|",
        "tour|",
        "kind|",
        "wires|",
        "pattern|",
        "keys|",
        "panel|",
        "play|",
        "at|",
        "unit|",
        "speed|",
        "claim|",
        "edit|",
        "sweep|",
        "second-kind|",
        "copy-link|",
        "SUMMARY|",
    ] {
        assert!(reached.contains(id), "Tab does not reach {id}: {reached}");
    }
    browser.leave();
}

#[test]
fn networks_are_brought_in_and_taken_out() {
    let mut browser = Browser::open(Look::DESK, "");
    browser.click("#import-box summary");
    browser.ask("document.querySelector('#import-text').value = '{\"wires\": 4, \"stages\": [[[0,2],[1,3]], [[0,1],[2,3]], [[1,2]]]}'");
    browser.click("#import");
    assert_eq!(browser.text_of("#share-text"), "Read: 4 wires, 5 comparators, depth 3.");
    verdict_is(&mut browser, "proved");
    browser.ask("document.querySelector('#import-text').value = '[(0,1),(1,2)]'");
    browser.click("#import");
    assert!(browser.text_of("#share-text").contains("line 1, column 9"), "a fault is told with its place");
    browser.ask("document.querySelector('#import-text').value = '[(0,99)]'");
    browser.click("#import");
    assert!(browser.text_of("#share-text").contains("up to 64 wires"));
    // Downloads are caught on their way.
    browser.ask(
        "window.saved = []; const create = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return create(blob); }; \
         HTMLAnchorElement.prototype.click = function () {}; 0",
    );
    for form in ["list", "json", "svg"] {
        browser.click(&format!("#save-{form}"));
    }
    browser.wait_for("saved.length === 3");
    assert_eq!(browser.text("saved[0]"), "[(0,2),(1,3)]\n[(0,1),(2,3)]\n[(1,2)]\n");
    assert!(browser.text("saved[1]").contains("\"wires\": 4"));
    assert!(browser.text("saved[2]").starts_with("<svg"));
    browser.leave();
}

#[test]
fn the_address_leads_back_to_the_same_picture() {
    let mut browser =
        Browser::open(Look::DESK, "#network=4:0-2.1-3;0-1.2-3;1-2&input=4_3_2_1.5&at=4&with=bubble");
    let state = "JSON.stringify([explorer.bench.network.list, explorer.bench.keys, explorer.bench.done, explorer.bench.secondKind])";
    let expected =
        json!(["[(0,2),(1,3)]\n[(0,1),(2,3)]\n[(1,2)]\n", [4, 3, 2, 1.5], 4, "bubble"]).to_string();
    assert_eq!(browser.text(state), expected);
    browser.click("#copy-link");
    let hash = browser.text("location.hash");
    browser.leave();
    let mut browser = Browser::open(Look::DESK, &hash);
    assert_eq!(browser.text(state), expected);
    browser.leave();
    // What cannot be is told, and the page stands.
    let mut browser = Browser::open(Look::DESK, "#kind=no-such&n=8");
    assert!(browser.text_of("#failure").contains("there is no network called `no-such`"));
    browser.leave();
}
