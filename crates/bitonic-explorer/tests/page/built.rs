//! The committed page is the one that its sources make.

use crate::browser::{Browser, Look, page};
use bitonic_explorer::{assemble, page as explorer};
use serde_json::json;
use std::fs;
use std::path::Path;

#[test]
fn the_committed_page_is_not_older_than_its_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fingerprint = assemble::fingerprint(&root).unwrap();
    let expected = format!("<meta name=\"sources\" content=\"{fingerprint}\">");
    assert!(explorer::PAGE.contains(&expected), "run ./scripts/build-explorer and commit explorer.html");
}

#[test]
fn the_page_is_one_file_of_less_than_a_megabyte_that_loads_nothing() {
    assert!(explorer::PAGE.len() < 1_000_000, "{} bytes", explorer::PAGE.len());
    let mut browser = Browser::open(Look::DESK, "");
    assert_eq!(
        browser.ask(
            "performance.getEntriesByType('resource').filter(e => !/^(blob|data):/.test(e.name)).length"
        ),
        0
    );
    browser.leave();
}

#[test]
fn the_page_has_nothing_of_the_machine_that_built_it() {
    for path in ["/home/", "/root/", "/Users/"] {
        assert!(!explorer::PAGE.contains(path), "{path}");
    }
    // The program is packed: look into it as well.
    let mut browser = Browser::open(Look::DESK, "");
    let program = browser.text(
        "unpack().then((bytes) => new TextDecoder('latin1').decode(bytes).match(/\\/(root|home|Users)\\//)?.[0] ?? 'none')",
    );
    assert_eq!(program, "none");
    browser.leave();
}

#[test]
fn the_page_opens_with_what_the_command_puts_into_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let network = "[(0,1)]\n[(1,2)]\n";
    fs::write(
        &file,
        explorer::open_with(&json!({ "network": network, "input": [30, 20, 10], "note": "</script>" })),
    )
    .unwrap();
    let mut browser = Browser::open_file(Look::DESK, &file, "");
    assert_eq!(browser.text("explorer.bench.network.list"), network);
    assert_eq!(browser.ask("explorer.bench.keys"), json!([30, 20, 10]));
    browser.wait_for("document.querySelector('#verdict').classList.contains('refuted')");
    browser.leave();
    assert!(page().is_file());
}
