//! The network view: what is shown is what Rust computes, and it plays.

use crate::browser::{Browser, Look};
use bitonic_network::{Kind, Network};
use serde_json::{Value, json};

/// Inputs of so many wires: two without order, a reversed one, one with equal keys, and zeros and ones.
fn inputs(wires: usize) -> Vec<Vec<usize>> {
    let scattered = |by: usize| (0..wires).map(|wire| (wire * by + 3) % 17).collect();
    let equal = (0..wires).map(|wire| wire / 2 % 3).collect();
    vec![
        scattered(7),
        scattered(11),
        (0..wires).rev().collect(),
        equal,
        (0..wires).map(|wire| wire * 5 / 3 % 2).collect(),
    ]
}

/// The keys on the wires before the first comparator and after each, as the library has them.
fn states(network: &Network, keys: &[usize]) -> Vec<Vec<usize>> {
    let one_by_one = Network::sequential(network.wires(), network.comparators()).unwrap();
    one_by_one.trace(keys).unwrap()
}

#[test]
fn every_kind_on_2_to_16_wires_shows_the_states_that_rust_computes() {
    let mut browser = Browser::open(Look::DESK, "");
    // What the picture is drawn from, after every comparator; and, at halts after every stage, what the page says.
    browser.ask(
        "window.walk = (kind, wires, input, halts) => { const bench = explorer.bench; bench.showKind(kind, wires, input); \
         const drawn = bench.panel.trace.states.map((state) => state.map((origin) => bench.panel.keys[origin])); \
         const said = !halts ? [] : bench.halts().map((done, halt) => { bench.goTo(halt); return [bench.panel.done, \
         document.querySelector('#caption .state').textContent.split(' ').map(Number)]; }); return [bench.network.list, drawn, said]; }; 0",
    );
    for kind in Kind::ALL {
        for wires in 2..=16 {
            let Ok(network) = kind.generate(wires) else { continue };
            for (index, keys) in inputs(wires).into_iter().enumerate() {
                let with_halts = index == 0;
                let shown = browser.ask(&format!("walk('{kind}', {wires}, {}, {with_halts})", json!(keys)));
                let states = states(&network, &keys);
                assert_eq!(shown[0].as_str().unwrap(), network.to_list(), "{kind} {wires}");
                assert_eq!(shown[1], json!(states), "{kind} {wires} {keys:?}");
                let said = shown[2].as_array().unwrap();
                assert_eq!(said.len(), if with_halts { network.depth() + 1 } else { 0 });
                for halt in said {
                    let done = halt[0].as_u64().unwrap() as usize;
                    assert_eq!(halt[1], json!(states[done]), "{kind} {wires} {keys:?} after {done}");
                }
            }
        }
    }
    browser.leave();
}

#[test]
fn halts_of_stages_and_blocks_show_the_same_states() {
    let mut browser = Browser::open(Look::DESK, "#kind=bitonic&n=8&input=5_2_7_7_1_8_0_3");
    let network = Kind::Bitonic.generate(8).unwrap();
    let trace = network.trace(&[5, 2, 7, 7, 1, 8, 0, 3]).unwrap();
    let shown = |browser: &mut Browser| {
        browser.ask("document.querySelector('#caption .state').textContent.split(' ').map(Number)")
    };
    for state in &trace {
        assert_eq!(shown(&mut browser), json!(state));
        browser.click("#forward");
    }
    browser.ask("explorer.bench.setUnit('block')");
    browser.click("#first");
    for stage in [0, 1, 3, 6] {
        assert_eq!(shown(&mut browser), json!(trace[stage]), "stage {stage}");
        browser.click("#forward");
    }
    browser.click("#back");
    assert_eq!(shown(&mut browser), json!(trace[3]));
    browser.leave();
}

#[test]
fn play_runs_to_the_end_in_motion_and_pauses() {
    let mut browser = Browser::open(Look::MOVING, "#kind=bitonic&n=8&input=8_7_6_5_4_3_2_1");
    browser.ask("document.querySelector('#speed').value = '3'");
    browser.click("#play");
    browser.wait_for("explorer.bench.panel.flight !== null");
    browser.press(&[" "]);
    browser.wait_for("!explorer.bench.playing && explorer.bench.panel.flight === null");
    let halted = browser.ask("explorer.bench.halt").as_u64().unwrap();
    assert!(halted < 6, "it was paused on its way");
    browser.click("#play");
    browser.wait_for("!explorer.bench.playing && explorer.bench.panel.flight === null");
    assert_eq!(browser.text_of("#caption .state"), "1 2 3 4 5 6 7 8");
    // Something is drawn: the picture is not blank, and differs from the start.
    let picture = "document.querySelector('#panel canvas').toDataURL().length";
    let end = browser.ask(picture).as_u64().unwrap();
    browser.click("#first");
    browser.wait_for("explorer.bench.panel.flight === null");
    let start = browser.ask(picture).as_u64().unwrap();
    assert!(start > 3000 && end > 3000 && start != end, "{start} {end}");
    browser.leave();
}

#[test]
fn without_motion_it_plays_halt_by_halt() {
    let mut browser = Browser::open(Look::DESK, "#kind=bitonic&n=4&input=4_3_2_1");
    browser.click("#play");
    assert_eq!(browser.ask("explorer.bench.panel.flight"), Value::Null);
    browser.wait_for("explorer.bench.halt === 3");
    assert_eq!(browser.text_of("#caption .state"), "1 2 3 4");
    browser.leave();
}

#[test]
fn keys_are_typed_drawn_at_random_dragged_and_refused() {
    let mut browser = Browser::open(Look::DESK, "#kind=bitonic&n=4&input=4_3_2_1");
    browser.ask("document.querySelector('#keys').focus(), document.querySelector('#keys').select()");
    browser.type_text("9 8 7");
    assert_eq!(browser.text_of("#keys-error"), "Keys: 3 numbers for 4 wires: give one for each.");
    browser.ask("document.querySelector('#keys').select()");
    browser.type_text("9 8 -7 0.5");
    assert_eq!(browser.ask("explorer.bench.keys"), json!([9, 8, -7, 0.5]));
    for pattern in ["sorted", "reversed", "bitonic", "two-runs", "zero-one", "random"] {
        browser.ask(&format!(
            "document.querySelector('#pattern').value = '{pattern}', document.querySelector('#pattern').dispatchEvent(new Event('change'))"
        ));
        assert_eq!(browser.ask("explorer.bench.keys.length"), 4);
    }
    browser.ask("explorer.bench.setKeys([4, 3, 2, 1])");
    browser.ask("document.querySelector('#panel').scrollIntoView({ block: 'center' })");
    let (first, last) = (key_place(&mut browser, 0), key_place(&mut browser, 3));
    browser.drag(first, last);
    assert_eq!(browser.ask("explorer.bench.keys"), json!([1, 3, 2, 4]));
    browser.ask("explorer.bench.setKeys([0, 1, 1, 0])");
    browser.drag(last, last);
    assert_eq!(browser.ask("explorer.bench.keys"), json!([0, 1, 1, 1]));
    browser.leave();
}

/// Where the key that enters on a wire is in the window.
fn key_place(browser: &mut Browser, wire: usize) -> [f64; 2] {
    let place = browser.ask(&format!(
        "(() => {{ const b = document.querySelector('#panel').getBoundingClientRect(), s = explorer.bench.panel.layout.sizes; \
         return [b.left + 45, b.top + 1 + s.top + {wire} * s.gap]; }})()"
    ));
    [place[0].as_f64().unwrap(), place[1].as_f64().unwrap()]
}

#[test]
fn a_finger_drags_keys_and_scrolls_the_rest_of_the_picture() {
    let mut browser = Browser::open(Look::PHONE, "#kind=bitonic&n=8&input=8_7_6_5_4_3_2_1");
    browser.ask("document.querySelector('#panel').scrollIntoView({ block: 'center' })");
    let (first, fourth) = (key_place(&mut browser, 0), key_place(&mut browser, 3));
    browser.drag_finger(first, fourth);
    browser.wait_for("explorer.bench.keys.join(' ') === '5 7 6 8 4 3 2 1'");
    assert_eq!(browser.ask("explorer.bench.panel.drag"), Value::Null);
    // A tap changes a zero to a one.
    browser.ask("explorer.bench.setKeys([0, 0, 0, 0, 0, 0, 0, 0])");
    browser.drag_finger(fourth, fourth);
    browser.wait_for("explorer.bench.keys.join('') === '00010000'");
    // Beside the keys the picture follows the finger, and no key moves.
    let (from, to) = ([300.0, fourth[1]], [120.0, fourth[1]]);
    browser.drag_finger(from, to);
    browser.wait_for("document.querySelector('#panel').scrollLeft > 100");
    assert_eq!(browser.text("explorer.bench.keys.join('')"), "00010000");
    browser.leave();
}

#[test]
fn a_sweep_passes_a_sorter_and_stops_at_the_first_failure() {
    let mut browser = Browser::open(Look::DESK, "#kind=smallest&n=9");
    browser.click("#sweep");
    browser.wait_for(
        "document.querySelector('#sweep-text').textContent.startsWith('All 512 inputs are sorted')",
    );
    browser.ask("explorer.bench.showText('[(0,1)]\\n[(1,2)]\\n')");
    browser.click("#sweep");
    browser.wait_for(
        "document.querySelector('#sweep-text').textContent.startsWith('Input 4 of 8 is not sorted')",
    );
    assert_eq!(browser.ask("explorer.bench.keys"), json!([1, 1, 0]));
    assert_eq!(browser.text_of("#caption .state"), "1 0 1");
    browser.ask("explorer.bench.showKind('bitonic', 17)");
    assert_eq!(browser.ask("document.querySelector('#sweep').disabled"), true);
    browser.leave();
}

#[test]
fn two_networks_are_compared_on_the_same_keys() {
    let mut browser = Browser::open(
        Look::DESK,
        "#kind=insertion-parallel&n=8&input=1_2_3_4_5_6_8_7&with=odd-even-transposition",
    );
    assert_eq!(browser.ask("document.querySelector('#second').hidden"), false);
    let rows = browser.text_of("#compare");
    assert!(
        rows.contains("insertion-parallel\t28\t13\t")
            && rows.contains("odd-even-transposition\t28\t8\tstage 1 ✓"),
        "{rows}"
    );
    browser.click("#last");
    assert_eq!(browser.ask("explorer.bench.second.done"), 28);
    browser.leave();
}

#[test]
fn proofs_run_beside_the_page_and_can_be_stopped() {
    let mut browser = Browser::open(Look::DESK, "#kind=bitonic&n=32");
    browser.wait_for("document.querySelector('#verdict').innerText.includes('as 28561 cases')");
    // Pairs of neighbours leave 3^20 states: minutes of work.
    browser.ask("explorer.bench.showKind('odd-even-transposition', 40)");
    browser.wait_for("!document.querySelector('#stop-proof').hidden");
    // The page still answers, and another network takes the proof's place.
    browser.click("#stop-proof");
    browser.wait_for("document.querySelector('#verdict').innerText.startsWith('Stopped')");
    browser.ask("explorer.bench.showKind('bitonic', 8)");
    browser.wait_for("document.querySelector('#verdict').classList.contains('proved')");
    browser.leave();
}

#[test]
fn a_frame_of_sixty_four_wires_is_a_few_hundred_strokes() {
    // What a frame costs, without a clock: how often something is drawn. A busy machine draws as often.
    for (kind, still) in [("bitonic", 3000), ("insertion", 600)] {
        let mut browser = Browser::open(Look::MOVING, &format!("#kind={kind}&n=64"));
        let drawn = browser.ask(
            "(() => { let calls = 0; const canvas = CanvasRenderingContext2D.prototype; \
             for (const name of ['stroke', 'fill', 'fillText']) { const draw = canvas[name]; \
               canvas[name] = function (...rest) { calls += 1; return draw.apply(this, rest); }; } \
             const { panel } = explorer.bench; const [from, to] = panel.layout.ends.slice(panel.network.depth >> 1); \
             panel.fly(from, to, 0.4); calls = 0; panel.fly(from, to, 0.5); const frame = calls; \
             calls = 0; panel.drawStill(); return [frame, calls]; })()",
        );
        assert!(drawn[0].as_u64().unwrap() <= 300, "{kind}: a frame in motion draws {} times", drawn[0]);
        // Insertion sort has 2016 stages, of which few are in sight.
        assert!(drawn[1].as_u64().unwrap() <= still, "{kind}: a new stage draws {} times", drawn[1]);
        browser.leave();
    }
}

/// Prints how many frames a second are drawn while networks of 64 wires play; what docs/explorer.md tells. Not a test: a busy machine draws
/// fewer.
#[test]
#[ignore = "measures: cargo test -p bitonic-explorer --test page frames -- --ignored --nocapture"]
fn frames_a_second_with_64_wires() {
    for kind in Kind::ALL {
        if kind.generate(64).is_err() {
            continue;
        }
        let mut browser = Browser::open(Look::MOVING, &format!("#kind={kind}&n=64"));
        let frames = browser.ask(
            "new Promise((done) => { const times = []; explorer.bench.play(); const see = (now) => { times.push(now); \
             if (now - times[0] < 4000) requestAnimationFrame(see); \
             else done(1000 * (times.length - 1) / (now - times[0])); }; requestAnimationFrame(see); })",
        );
        println!("{kind}: {:.1}", frames.as_f64().unwrap());
        browser.leave();
    }
}
