//! The other views, and screens of all sorts.

use crate::browser::{Browser, Look};
use bitonic::device::DeviceFacts;
use bitonic_explorer::machine::Named;
use bitonic_explorer::page;
use serde_json::json;
use std::fs;

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

/// Chooses in a list or moves a slider, as a reader does.
fn set(browser: &mut Browser, id: &str, value: &str) {
    browser.ask(&format!(
        "(() => {{ const e = document.querySelector('#{id}'); e.value = '{value}'; e.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
    ));
}

/// Chooses the machine of the plan whose name begins so.
fn choose_machine(browser: &mut Browser, name: &str) {
    let value = browser.text(&format!(
        "[...document.querySelectorAll('#plan-machine option')].find((option) => option.text.startsWith('{name}')).value"
    ));
    set(browser, "plan-machine", &value);
}

#[test]
fn a_proof_of_another_network_solves_no_challenge() {
    // As many wires as the challenge has, and proved; then the challenge, with one comparator too few.
    let mut browser = Browser::open(Look::DESK, "#view=tour&chapter=5");
    browser.wait_for("explorer.bench.verdict?.verdict === 'proved'");
    browser.ask("location.hash = '#view=challenges&challenge=3'");
    browser.wait_for("explorer.bench.network.size === 23 && explorer.bench.verdict?.verdict === 'refuted'");
    assert!(!browser.text_of("#challenges").contains("olved"), "{}", browser.text_of("#challenges"));
    browser.leave();
}

#[test]
fn the_plan_shows_the_passes_of_the_library() {
    let mut browser = Browser::open(Look::DESK, "#view=plan");
    choose_machine(&mut browser, "the same, with steps fused in registers");
    let sums = browser.text_of("#plan-sums");
    assert!(
        sums.contains("210\n") && sums.contains("16\n") && sums.contains("8 + 8") && sums.contains("134 MB"),
        "{sums}"
    );
    assert_eq!(browser.ask("document.querySelectorAll('#plan-passes tr').length"), 17);
    choose_machine(&mut browser, "a kernel for every step");
    assert!(browser.text_of("#plan-sums").contains("0 + 210"), "without tiles every step is a pass");
    // A slider makes kernels of the reader's own.
    set(&mut browser, "plan-tile", "16");
    assert_eq!(browser.text("document.querySelector('#plan-machine').value"), "own");
    assert!(browser.text_of("#plan-sums").contains("5 + 10"), "{}", browser.text_of("#plan-sums"));
    browser.leave();
}

#[test]
fn the_plan_draws_where_keys_sit_and_tells_times_only_where_there_are_any() {
    let mut browser = Browser::open(Look::DESK, "#view=plan");
    choose_machine(&mut browser, "an NVIDIA H200");
    for brought in ["memory", "local", "lanes"] {
        let frames =
            browser.ask(&format!("document.querySelectorAll('#plan-picture .run.{brought}').length"));
        assert!(frames.as_u64().unwrap() > 5, "{brought}: {frames}");
    }
    // Every step has a mark.
    assert_eq!(browser.ask("document.querySelectorAll('#plan-picture rect:not(.run)').length"), 210);
    let times = browser.text_of("#plan-times");
    assert!(
        times.contains("columnsort") && !times.contains("undecided") && !times.contains("not recorded"),
        "{times}"
    );
    let words = browser.text_of("#plan-times-text");
    assert!(words.contains("It is a lower bound.") && words.contains("one NVIDIA H200, 20"), "{words}");
    assert!(
        browser
            .text("document.querySelector('#plan-default-text').textContent")
            .contains("on cuda: NVIDIA H200")
    );
    // Of 128-bit keys nothing is recorded.
    set(&mut browser, "plan-bytes", "16");
    assert!(browser.text_of("#plan-times").contains("not recorded"));
    set(&mut browser, "plan-bytes", "4");
    choose_machine(&mut browser, "a processor through PoCL");
    let times = browser.text_of("#plan-times");
    assert!(times.contains("undecided\tundecided\t59 ms"), "{times}");
    choose_machine(&mut browser, "a laptop");
    assert!(browser.text_of("#plan-alt").contains("first-level cache"));
    choose_machine(&mut browser, "a plain GPU");
    assert!(browser.text_of("#plan-times-text").contains("nothing is recorded for this machine"));
    browser.leave();
}

#[test]
fn every_machine_plans_every_length_and_type() {
    let mut browser = Browser::open(Look::DESK, "#view=plan");
    let faults = browser.ask(
        "(() => { const faults = []; const set = (id, value) => { document.querySelector(id).value = value; }; \
         const machines = [...document.querySelectorAll('#plan-machine option')].map((option) => option.value).filter((value) => value !== 'own'); \
         for (const machine of machines) for (const bytes of [1, 2, 4, 8, 16]) for (let n = 1; n <= 30; n += 1) { \
           set('#plan-machine', machine); set('#plan-bytes', bytes); set('#plan-n', n); explorer.plan.draw(); \
           const steps = n * (n + 1) / 2; const error = document.querySelector('#plan-error').textContent; \
           const marks = document.querySelectorAll('#plan-picture rect:not(.run)').length; \
           if (error || marks !== steps) faults.push(`${machine} ${bytes} ${n}: ${marks} of ${steps}, ${error}`); } \
         return faults.slice(0, 5).join('; '); })()",
    );
    assert_eq!(faults, "");
    browser.leave();
}

#[test]
fn a_device_of_the_command_stands_first_in_the_list_of_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let mut facts = DeviceFacts::plain_gpu();
    facts.name = "Toaster <1>".to_owned();
    facts.copy_bytes_per_second = Some(1e9);
    fs::write(&file, page::open_with(&json!({ "machines": [Named::device(&facts)] }))).unwrap();
    let mut browser = Browser::open_file(Look::DESK, &file, "");
    assert_eq!(browser.text("explorer.view"), "plan");
    assert_eq!(
        browser.text("document.querySelector('#plan-machine').selectedOptions[0].text"),
        "Toaster <1>, through OpenCL"
    );
    // 22 passes of 8 MiB at 1 GB a second.
    let expected =
        browser.text("(explorer.plan.view.querySelectorAll('#plan-passes tr').length - 1) * 8.388608 + ''");
    let times = browser.text_of("#plan-times");
    let least: f64 = expected.parse().unwrap();
    assert!(times.contains(&format!("{} ms", (least).round())), "{times}: {expected}");
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
fn every_control_of_every_view_has_a_name() {
    let mut browser = Browser::open(Look::DESK, "");
    let views = [
        "#kind=bitonic&n=8",
        "#view=tour&chapter=4",
        "#view=tour&chapter=5",
        "#view=challenges&challenge=7",
        "#view=plan",
        "#view=ladder",
    ];
    for hash in views {
        browser.ask(&format!("location.hash = '{hash}'"));
        browser.wait_for(&format!(
            "explorer.view === '{}'",
            match hash.strip_prefix("#view=") {
                Some(view) => view.split('&').next().unwrap(),
                None => "network",
            }
        ));
        let nameless = browser.text(
            "[...document.querySelectorAll('button, select, input, textarea, summary, [tabindex=\"0\"]')].filter((e) => e.checkVisibility()) \
             .filter((e) => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || (e.labels?.[0]?.innerText || e.innerText || '').trim())) \
             .map((e) => e.outerHTML.slice(0, 80)).join()",
        );
        assert_eq!(nameless, "", "{hash}");
    }
    browser.leave();
}

#[test]
fn every_rung_of_the_ladder_plays_to_its_end_with_its_text_and_times() {
    let mut browser = Browser::open(Look::DESK, "#view=ladder");
    let rungs = browser.ask("[...document.querySelectorAll('#rung-0 option')].map((option) => option.value)");
    let rungs = rungs.as_array().unwrap();
    assert_eq!(rungs.len(), 27);
    for rung in rungs {
        browser.ask(&format!(
            "document.querySelector('#rung-0').value = {rung}, document.querySelector('#rung-0').dispatchEvent(new Event('input', {{ bubbles: true }}))"
        ));
        browser.click("[data-by=end]");
        // Bitonic sort of 16 keys has 80 comparators, odd-even transposition 120; threads that run free sweep over 15 pairs 11 times.
        let sums = browser.text_of("#rung-sums-0");
        let expected = if rung == "odd_even_threads" {
            "165\ncomparisons"
        } else if rung.as_str().unwrap().starts_with("odd_even") {
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
    assert!(browser.text_of("#rung-now-1").contains("8 compare in memory, 8 idle. Then: the host waits."));
    assert!(browser.text_of("#rung-times-1").contains("cuda:compare_pair: 11.6 ms for 4,194,304 keys"));
    browser.click("#ladder-play");
    browser.wait_for("explorer.ladder.at >= 2");
    browser.click("#ladder-play");
    assert_eq!(browser.ask("explorer.ladder.playing"), false);
    browser.leave();
}

#[test]
fn the_address_of_a_rung_leads_to_it() {
    // As the laboratory's report links it.
    let mut browser = Browser::open(Look::DESK, "#view=ladder&rungs=compare_pair");
    let shown = "explorer.ladder.films.map((film) => film.rung).join(' ')";
    assert_eq!(browser.text(shown), "compare_pair naive_scan");
    set(&mut browser, "rung-1", "local_memory");
    browser.wait_for("location.hash === '#view=ladder&rungs=compare_pair.local_memory'");
    let hash = browser.text("location.hash");
    browser.leave();
    let mut browser = Browser::open(Look::DESK, &hash);
    assert_eq!(browser.text(shown), "compare_pair local_memory");
    browser.ask("location.hash = '#view=ladder&rungs=no_such_rung'");
    browser.wait_for("!document.querySelector('#failure').hidden");
    assert!(browser.text_of("#failure").contains("no_such_rung"), "{}", browser.text_of("#failure"));
    browser.leave();
}
