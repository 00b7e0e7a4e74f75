//! The other views, and screens of all sorts.

use crate::browser::{Browser, Look};
use serde_json::json;

#[test]
fn the_tour_goes_through_all_chapters_with_a_live_network_beside_each() {
    let mut browser = Browser::open(Look::DESK, "#view=tour");
    let mut titles = Vec::new();
    loop {
        titles.push(browser.text_of("#chapter-title"));
        assert!(browser.ask("explorer.bench.network.size").as_u64().unwrap() > 0);
        browser.click("#last");
        assert_eq!(
            browser.ask(
                "explorer.bench.panel.trace.sorted_after !== null || explorer.bench.kind === 'half-cleaner'"
            ),
            true
        );
        if browser.ask("document.querySelector('#tour .steps .main').disabled") == json!(true) {
            break;
        }
        browser.click("#tour .steps .main");
    }
    assert_eq!(titles.len(), 11);
    browser.leave();
}

#[test]
fn the_tour_says_what_is_bitonic_and_tries_every_case_of_the_half_cleaner() {
    let mut browser = Browser::open(Look::DESK, "#view=tour&chapter=4");
    assert!(browser.text_of("#tour-verdict").starts_with("Bitonic."));
    browser.click("[data-keys='1 5 2 6 3 7 4 8']");
    assert!(browser.text_of("#tour-verdict").starts_with("Not bitonic."));
    browser.click("[data-keys='6 7 8 5 3 1 2 4']");
    assert!(browser.text_of("#tour-verdict").starts_with("Bitonic."));
    browser.click("#tour .steps .main");
    browser.click("[data-run]");
    browser.wait_for("document.querySelector('#tour-verdict').innerText.includes('That was every case')");
    assert!(browser.text_of("#tour-verdict").contains("Case 58 of 58"));
    browser.leave();
}

#[test]
fn challenges_are_solved_by_proof_and_only_by_proof() {
    let mut browser = Browser::open(Look::DESK, "#view=challenges&challenge=3");
    assert!(!browser.text_of("#challenges").contains("✓ Solved"));
    // The lost comparator of the flip comes back.
    browser.ask("explorer.bench.editor.change({ what: 'add', stage: 3, min: 2, max: 5, alone: false })");
    browser.wait_for("document.querySelector('#challenges').innerText.includes('✓ Solved')");
    browser.click("[data-challenge='0']");
    browser.click("[data-hint]");
    assert!(browser.text_of("#challenges").contains("Hint 1."));
    for change in [
        "{ what: 'add', stage: 0, min: 0, max: 2, alone: true }",
        "{ what: 'add', stage: 1, min: 0, max: 1, alone: true }",
    ] {
        browser.ask(&format!("explorer.bench.editor.change({change})"));
    }
    browser.wait_for("document.querySelector('#verdict').classList.contains('refuted')");
    assert!(!browser.text_of("#challenges section").contains("✓ Solved"));
    browser.ask("explorer.bench.editor.change({ what: 'add', stage: 2, min: 1, max: 2, alone: true })");
    browser.wait_for("document.querySelector('#challenges section').innerText.includes('✓ Solved')");
    browser.click("[data-challenge='6']");
    browser.click("[data-answer='0']");
    assert!(browser.text_of("#challenges section").contains("No: look for keys"));
    browser.click("[data-answer='1']");
    assert!(browser.text_of("#challenges section").contains("✓ Solved"));
    browser.leave();
}

#[test]
fn the_plan_shows_the_passes_of_the_library() {
    let mut browser = Browser::open(Look::DESK, "#view=plan");
    let sums = browser.text_of("#plan-sums");
    assert!(
        sums.contains("210\n") && sums.contains("16\n") && sums.contains("8 + 8") && sums.contains("134 MB"),
        "{sums}"
    );
    assert_eq!(browser.ask("document.querySelectorAll('#plan-passes tr').length"), 17);
    browser.ask("document.querySelector('#plan-shape').value = '0', document.querySelector('#plan-shape').dispatchEvent(new Event('input', { bubbles: true }))");
    assert!(browser.text_of("#plan-sums").contains("0 + 210"), "without tiles every step is a pass");
    browser.leave();
}

#[test]
fn every_view_fits_every_screen() {
    let views = [
        ("#kind=bitonic&n=64", "explorer.bench.network.wires === 64"),
        ("#kind=insertion&n=20", "explorer.bench.network.wires === 20"),
        ("#view=tour&chapter=10", "explorer.view === 'tour'"),
        ("#view=challenges&challenge=2", "explorer.view === 'challenges'"),
        ("#view=plan", "explorer.view === 'plan'"),
        ("#view=ladder", "explorer.view === 'ladder'"),
    ];
    for look in
        [Look::PHONE, Look { width: 768, ..Look::DESK }, Look { width: 1920, dark: true, ..Look::DESK }]
    {
        let mut browser = Browser::open(look, "");
        for (hash, shown) in views {
            browser.ask(&format!("location.hash = '{hash}'"));
            browser.wait_for(shown);
            let width = browser.ask("document.scrollingElement.scrollWidth").as_u64().unwrap();
            assert!(
                width <= u64::from(look.width),
                "{hash} is {width} pixels wide on a screen of {}",
                look.width
            );
            if look.width < 600 {
                let small = browser.text(
                    "[...document.querySelectorAll('button')].filter((button) => button.offsetParent && \
                     button.getBoundingClientRect().height < 32).map((button) => button.id || button.innerText).join()",
                );
                assert_eq!(small, "", "buttons too small for a finger: {hash}");
            }
        }
        browser.leave();
    }
}

#[test]
fn every_rung_of_the_ladder_plays_to_its_end_with_its_text_and_times() {
    let mut browser = Browser::open(Look::DESK, "#view=ladder");
    let rungs = browser.ask("[...document.querySelectorAll('#rung-0 option')].map((option) => option.value)");
    let rungs = rungs.as_array().unwrap();
    assert_eq!(rungs.len(), 21);
    for rung in rungs {
        browser.ask(&format!(
            "document.querySelector('#rung-0').value = {rung}, document.querySelector('#rung-0').dispatchEvent(new Event('input', {{ bubbles: true }}))"
        ));
        browser.click("[data-by=end]");
        // Bitonic sort of 16 keys has 80 comparators, odd-even transposition 120.
        let sums = browser.text_of("#rung-sums-0");
        let expected = if rung.as_str().unwrap().starts_with("odd_even") {
            "120\ncomparisons"
        } else {
            "80\ncomparisons"
        };
        assert!(sums.starts_with(expected), "{rung}: {sums}");
        assert!(
            browser.ask("document.querySelector('#rung-text-0').textContent.length").as_u64().unwrap() > 500,
            "{rung}"
        );
    }
    // Half of the work-items of a scan have nothing to do.
    browser.ask("explorer.ladder.choose(0, 'naive_scan'), explorer.ladder.choose(1, 'compare_pair')");
    assert!(browser.text_of("#rung-now-0").contains("8 compare in memory, 8 idle. Then: end of launch."));
    assert!(browser.text_of("#rung-now-1").contains("8 compare in memory. Then: the host waits."));
    assert!(browser.text_of("#rung-times-1").contains("cuda:compare_pair: 13.2 ms for 4,194,304 keys"));
    browser.click("#ladder-play");
    browser.wait_for("explorer.ladder.at >= 2");
    browser.click("#ladder-play");
    assert_eq!(browser.ask("explorer.ladder.playing"), false);
    browser.leave();
}
