//! `bitonic network`.

use crate::{Folder, bitonic, one_line, with_name};
use assert_cmd::Command;
use std::io::Read;
use std::process::Stdio;

fn network<const N: usize>(arguments: [&str; N]) -> Command {
    bitonic(with_name("network", arguments))
}

fn printed<const N: usize>(arguments: [&str; N]) -> String {
    crate::printed(network(arguments))
}

fn refused<const N: usize>(arguments: [&str; N]) -> String {
    crate::refused(network(arguments))
}

#[test]
fn a_network_is_drawn_and_counted() {
    assert_eq!(
        printed(["bitonic", "4"]),
        "    1    2    3\n\
         0 ──●─┊─●───┊─●─\n\
         \x20   │ ┊ │   ┊ │\n\
         1 ──●─┊─┼─●─┊─●─\n\
         \x20     ┊ │ │ ┊\n\
         2 ──●─┊─┼─●─┊─●─\n\
         \x20   │ ┊ │   ┊ │\n\
         3 ──●─┊─●───┊─●─\n\
         4 wires, 6 comparators, depth 3\n"
    );
}

#[test]
fn the_number_of_wires_may_be_a_power() {
    assert_eq!(printed(["bitonic", "2^4", "--list"]), printed(["bitonic", "16", "--list"]));
}

#[test]
fn networks_without_comparators_are_drawn_too() {
    assert!(printed(["bitonic", "0"]).ends_with("0 wires, 0 comparators, depth 0\n"));
    assert!(printed(["bitonic", "1"]).ends_with("1 wire, 0 comparators, depth 0\n"));
}

#[test]
fn ascii_means_ascii() {
    let drawing = printed(["bitonic-alternating", "4", "--ascii"]);
    assert!(drawing.is_ascii() && drawing.contains("0 --o-:-o---:-o-"), "{drawing}");
}

#[test]
fn values_are_shown_before_and_after_every_stage() {
    let drawing = printed(["bitonic", "4", "--input", "5 3 8 1"]);
    assert!(drawing.contains("0 ─ 5 ─●─ 3 ─●─── 3 ─●─ 1"), "{drawing}");
    assert!(drawing.contains("3 ─ 1 ─●─ 8 ─●─── 8 ─●─ 8"), "{drawing}");
    let decimals = printed(["bitonic", "2", "--input", "-1.5, -2e0"]);
    assert!(decimals.contains("0 ─ -1.5 ─●─ -2e0"), "{decimals}");
    let svg = printed(["bitonic", "4", "--input", "51 31 81 11", "--svg", "-"]);
    assert!(svg.starts_with("<svg") && svg.contains(">51<") && svg.contains(">81<"), "{svg}");
}

#[test]
fn values_that_do_not_fit_are_refused() {
    assert_eq!(
        refused(["bitonic", "4", "--input", "1 2 3"]),
        "--input: 3 keys do not fit a network of 4 wires: give one key for each wire"
    );
    assert_eq!(
        refused(["bitonic", "4", "--input", "1 2 x 3"]),
        "--input: 'x' is no number: write numbers with spaces between them"
    );
}

#[test]
fn list_and_json_are_whole_documents_that_check_and_draw_read() {
    for form in ["--list", "--json"] {
        let document = printed(["smallest", "9", form]);
        let checked = network(["check", "-"]).write_stdin(document.as_str()).assert().success();
        let checked = String::from_utf8(checked.get_output().stdout.clone()).unwrap();
        assert!(
            checked.starts_with("9 wires, 25 comparators, depth 7\nproved: the network sorts"),
            "{checked}"
        );
        network(["draw", "-", form]).write_stdin(document.as_str()).assert().success().stdout(document);
    }
    assert_eq!(printed(["smallest", "4", "--list"]), "[(0,2),(1,3)]\n[(0,1),(2,3)]\n[(1,2)]\n");
}

#[test]
fn an_svg_file_is_written_whole_and_alone() {
    let folder = Folder::new();
    let path = folder.file("network.svg", "old");
    let said = printed(["bitonic", "8", "--svg", &path]);
    assert_eq!(said, format!("8 wires, 24 comparators, depth 6, drawn in {path}\n"));
    let svg = String::from_utf8(folder.read("network.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert_eq!(folder.names(), ["network.svg"]);
    assert_eq!(svg, printed(["bitonic", "8", "--svg", "-"]));
}

#[test]
fn an_svg_file_that_cannot_be_written_is_named_once() {
    let path = Folder::new().argument("missing/network.svg");
    let message = refused(["bitonic", "8", "--svg", &path]);
    assert!(message.starts_with(&format!("cannot write to {path}: ")), "{message}");
    assert_eq!(message.matches("missing").count(), 1, "{message}");
}

#[test]
fn one_form_at_a_time() {
    for arguments in
        [["--svg=-", "--json"], ["--json", "--list"], ["--ascii", "--list"], ["--input=1 2", "--json"]]
    {
        let [first, second] = arguments;
        assert!(refused(["bitonic", "2", first, second]).contains("cannot be used with"));
    }
}

#[test]
fn every_kind_is_listed() {
    let list = printed(["list"]);
    for kind in bitonic_network::Kind::ALL {
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(kind.name()));
        assert!(line.is_some_and(|line| line.ends_with(kind.description())), "{kind}\n{list}");
    }
    for numbers in ["top-k N K ", "merge M N "] {
        assert!(list.lines().any(|line| line.starts_with(numbers)), "{numbers}\n{list}");
    }
}

#[test]
fn a_selection_is_drawn_counted_and_says_what_it_is_for() {
    assert_eq!(
        printed(["top-k", "4", "2", "--input", "7 4 9 5"]),
        "       1      2      3
0 ─ 7 ─●─ 4 ─●─── 4 ─── 4
       │     │
1 ─ 4 ─●─ 7 ─┼─●─ 5 ─── 5
             │ │
2 ─ 9 ─●─ 5 ─┼─●─ 7 ─●─ 7
       │     │       │
3 ─ 5 ─●─ 9 ─●─── 9 ─●─ 9
4 wires, 5 comparators, depth 3
it selects the 2 largest keys, ascending, on its last 2 wires
"
    );
    let folder = Folder::new();
    let path = folder.argument("top.svg");
    assert_eq!(
        printed(["top-k", "16", "1", "--svg", &path]),
        format!(
            "16 wires, 15 comparators, depth 4, drawn in {path}\nit selects the largest key, on its last wire\n"
        )
    );
    assert_eq!(printed(["top-k", "4", "1", "--list"]), "[(0,1),(2,3)]\n[(1,3)]\n");
    let json = printed(["top-k", "2^4", "4", "--json"]);
    assert!(json.starts_with("{\n  \"wires\": 16,") && json.ends_with("}\n"), "{json}");
}

#[test]
fn a_merge_is_drawn_counted_and_says_what_it_is_for() {
    assert_eq!(
        printed(["merge", "1", "2", "--ascii"]),
        "    1   2\n0 --o-:---\n    | :\n1 --o-:-o-\n      : |\n2 ----:-o-\n\
         3 wires, 2 comparators, depth 2\nit merges two ascending runs, the first on 1 wire\n"
    );
    assert_eq!(printed(["merge", "2", "2", "--list"]), "[(0,3),(1,2)]\n[(0,1),(2,3)]\n");
    assert_eq!(printed(["merge", "2", "2", "--odd-even", "--list"]), "[(0,2),(1,3)]\n[(1,2)]\n");
    assert!(printed(["merge", "0", "3"]).contains("3 wires, 0 comparators, depth 0\n"));
}

#[test]
fn selections_and_merges_are_proved() {
    for (arguments, said) in [
        (
            ["top-k", "100", "10", "--prove"],
            "proved: the network selects the 10 largest keys, ascending, on its last 10 wires (all 2^100 0-1 inputs, as ",
        ),
        (
            ["merge", "1000", "24", "--prove"],
            "proved: the network merges two ascending runs, the first on 1000 wires (all 25025 two-run 0-1 inputs, as ",
        ),
    ] {
        for form in ["--odd-even", "--prove"] {
            let [name, first, second, prove] = arguments;
            let mut command = network([name, first, second]);
            command.arg(prove);
            if form != prove {
                command.arg(form);
            }
            let printed = crate::printed(command);
            let lines: Vec<&str> = printed.lines().collect();
            assert_eq!(lines.len(), 2, "{printed}");
            assert!(lines[1].starts_with(said), "{printed}");
        }
    }
    let done = network(["top-k", "4", "1", "--list", "--prove"]).assert().success();
    let done = done.stdout("[(0,1),(2,3)]\n[(1,3)]\n");
    assert!(String::from_utf8_lossy(&done.get_output().stderr).starts_with("proved: the network selects"));
}

#[test]
fn a_network_in_a_file_is_checked_for_selecting() {
    let folder = Folder::new();
    let path = folder.file("network.txt", printed(["top-k", "8", "3", "--list"]));
    assert!(
        printed(["check", &path, "--top-k", "3"]).contains("proved: the network selects the 3 largest keys")
    );
    network(["check", &path]).assert().code(1);
    let done = network(["check", &path, "--top-k", "4"]).assert().code(1);
    let done = done.stderr(format!(
        "bitonic: {path}: refuted: it is not true that the network selects the 4 largest keys, ascending, on its last 4 \
         wires\n"
    ));
    let said = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() == 5 && lines[1].starts_with("0-1 input    "), "{said}");
    assert!(refused(["check", &path, "--top-k", "9"]).contains("ask for at most 8"));
    for other in [&["--bitonic"][..], &["--merge", "4"]] {
        network(["check", &path, "--top-k", "3"]).args(other).assert().code(2);
    }
}

#[test]
fn impossible_selections_and_merges_are_refused_in_one_line() {
    let message = refused(["top-k", "16", "20"]);
    assert_eq!(
        message,
        "16 wires do not have the 20 largest keys: ask for at most 16 of them, or for more wires"
    );
    assert!(refused(["top-k", "2^30", "5"]).contains("ask for fewer wires"));
    assert!(refused(["merge", "2^24", "2^24"]).contains("ask for fewer wires"));
    assert!(refused(["top-k", "129", "5", "--prove"]).contains("the limit is 128 wires"));
    assert!(refused(["top-k", "16"]).contains("<K>: see 'bitonic network top-k --help'"));
    assert!(refused(["top-k", "16", "some"]).contains("'some' is not a valid count"));
    assert!(refused(["topk", "16", "4"]).contains("unknown network 'topk': did you mean 'top-k'?"));
    assert_eq!(
        refused(["--prove", "top-k", "16", "4"]),
        "'top-k' must come before all options: write 'bitonic network top-k ..'"
    );
    assert!(refused(["bitonic", "16", "--odd-even"]).contains("unexpected argument '--odd-even'"));
}

#[test]
fn unknown_kinds_and_impossible_sizes_are_refused_in_one_line() {
    let message = refused(["bitnoic", "8"]);
    assert!(
        message.contains("unknown network 'bitnoic': did you mean 'bitonic'? Known: bitonic, "),
        "{message}"
    );
    let message = refused(["bitonic", "many"]);
    assert!(message.contains("'many' is not a valid count: write 1000, "), "{message}");
    assert!(refused(["half-cleaner", "7"]).contains("ask for an even number of wires"));
    assert!(refused(["smallest", "21"]).contains("only up to 20"));
    assert!(refused(["insertion", "1M"]).contains("ask for fewer wires"));
}

#[test]
fn a_drawing_that_nobody_can_look_at_is_not_begun() {
    let message = refused(["bitonic", "2^14"]);
    assert!(message.contains("would have") && message.contains("--svg FILE, --list or --json"), "{message}");
    let message = refused(["bitonic", "2^16", "--svg", "-"]);
    assert!(message.contains("draw fewer wires"), "{message}");
}

#[test]
fn every_kind_is_proved_for_what_it_promises() {
    for (kind, wires, said) in [
        ("bitonic", "24", "proved: the network sorts every input (all 2^24 0-1 inputs, as "),
        (
            "bitonic-merge",
            "1000",
            "proved: the network merges two ascending runs, the first on 512 wires (all ",
        ),
        (
            "bitonic-cleaner",
            "64",
            "proved: the network sorts every bitonic input (all 4034 bitonic 0-1 inputs",
        ),
        (
            "half-cleaner",
            "64",
            "proved: the network half-cleans every bitonic input (all 4034 bitonic 0-1 inputs",
        ),
    ] {
        let printed = printed([kind, wires, "--prove"]);
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines.len(), 2, "{printed}");
        assert!(lines[0].starts_with(&format!("{wires} wires, ")), "{printed}");
        // What was proved, over how many inputs, and in what time.
        assert!(
            lines[1].starts_with(said) && lines[1].contains(") in ") && lines[1].ends_with('s'),
            "{printed}"
        );
    }
}

#[test]
fn a_proof_stays_out_of_a_document_on_standard_output() {
    let done = network(["smallest", "4", "--list", "--prove"]).assert().success();
    let done = done.stdout("[(0,2),(1,3)]\n[(0,1),(2,3)]\n[(1,2)]\n");
    assert!(
        String::from_utf8_lossy(&done.get_output().stderr)
            .starts_with("proved: the network sorts every input")
    );
}

#[test]
fn what_is_too_large_to_prove_is_said() {
    let message = refused(["bitonic", "129", "--prove"]);
    assert!(message.contains("the limit is 128 wires"), "{message}");
}

#[test]
fn a_right_network_is_proved() {
    let folder = Folder::new();
    let path = folder.file("network.txt", printed(["bitonic", "8", "--list"]));
    let said = printed(["check", &path]);
    let proved =
        "8 wires, 24 comparators, depth 6\nproved: the network sorts every input (all 2^8 0-1 inputs";
    assert!(said.starts_with(proved), "{said}");
}

#[test]
fn a_wrong_network_is_refuted_by_inputs_that_it_does_not_sort() {
    let right = printed(["bitonic", "8", "--list"]);
    let wrong = right.trim_end().strip_suffix(",(6,7)]").map(|rest| format!("{rest}]\n")).unwrap();
    let folder = Folder::new();
    let path = folder.file("network.txt", &wrong);
    let done = network(["check", &path]).assert().code(1);
    let done =
        done.stderr(format!("bitonic: {path}: refuted: it is not true that the network sorts every input\n"));
    let said = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 5, "{said}");
    assert_eq!(lines[0], "8 wires, 23 comparators, depth 6");

    let network = bitonic_network::Network::from_list(&wrong).unwrap();
    let mut bits: Vec<char> = lines[1].strip_prefix("0-1 input    ").unwrap().chars().collect();
    network.apply(&mut bits).unwrap();
    assert!(!bits.is_sorted());
    assert_eq!(lines[2], format!("comes out    {}", bits.iter().collect::<String>()));

    let keys = lines[3].strip_prefix("permutation  ").unwrap();
    let mut keys: Vec<usize> = keys.split(' ').map(|key| key.parse().unwrap()).collect();
    network.apply(&mut keys).unwrap();
    assert!(!keys.is_sorted());
    let shown: Vec<String> = keys.iter().map(usize::to_string).collect();
    assert_eq!(lines[4], format!("comes out    {}", shown.join(" ")));
}

#[test]
fn a_merging_network_is_checked_for_merging() {
    let folder = Folder::new();
    let path = folder.file("network.txt", printed(["bitonic-merge", "8", "--list"]));
    network(["check", &path]).assert().code(1);
    let said = printed(["check", &path, "--merge", "4"]);
    assert!(
        said.contains("proved: the network merges two ascending runs, the first on 4 wires (all 25 "),
        "{said}"
    );
    network(["check", &path, "--merge", "3"]).assert().code(1);
    assert!(refused(["check", &path, "--merge", "9"]).contains("give a split of at most 8"));

    let folder = Folder::new();
    let path = folder.file("network.txt", printed(["bitonic-cleaner", "8", "--json"]));
    assert!(printed(["check", &path, "--bitonic"]).contains("proved: the network sorts every bitonic input"));
    network(["check", &path, "--merge", "4"]).assert().code(1);
    network(["check", &path, "--merge", "4", "--bitonic"]).assert().code(2);
}

#[test]
fn bad_text_is_answered_with_its_position() {
    for (content, said) in [
        (&b""[..], "line 1, column 1: expected a stage"),
        (b"[(0,1),(1,2)]", "line 1, column 9: this stage already touches wire 1"),
        (b"[(0,1)]\n[(0 1)]", "line 2, column 5: expected ',' after the first wire"),
        (b"{\"wires\": 4, \"stages\": [[[0,4]]]}", "line 1, column 11: 4 wires are declared"),
        (b"[(0,1)]\n\xff", "line 2, column 1: byte 0xff is no UTF-8 text"),
    ] {
        let folder = Folder::new();
        let path = folder.file("network.txt", content);
        for action in ["check", "draw"] {
            let message = refused([action, &path]);
            assert!(message.starts_with(&format!("{path}: {said}")), "{message}");
        }
    }
    let done = network(["check", "-"]).write_stdin("[").assert().code(2).stdout("");
    let message = one_line(&done.get_output().stderr);
    assert!(message.starts_with("standard input: line 1, column 2: "), "{message}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = Folder::new();
    let missing = folder.argument("missing.txt");
    for action in ["check", "draw"] {
        let message = refused([action, &missing]);
        assert!(message.starts_with(&format!("cannot read {missing}: ")), "{message}");
        assert!(message.ends_with(": check the name"), "{message}");
    }
    assert!(refused(["draw", folder.0.path().to_str().unwrap()]).ends_with(": name a file in it"));
}

#[test]
fn a_network_from_a_file_is_drawn_like_any_other() {
    let folder = Folder::new();
    let path = folder.file("network.txt", "[(0,1)]\n");
    assert_eq!(
        printed(["draw", &path, "--ascii", "--input", "2 1"]),
        "       1\n0 - 2 -o- 1\n       |\n1 - 1 -o- 2\n2 wires, 1 comparator, depth 1\n"
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_bitonic"))
        .args(["network", "bitonic", "512", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(done.stderr.is_empty(), "{done:?}");
}

#[test]
fn a_sequence_is_bitonic_or_not_and_the_rotation_is_shown() {
    let asked = |values: &'static str| bitonic(["network", "is-bitonic", values]);
    assert_eq!(crate::printed(asked("1 3 5 4 2")), "bitonic: it rises and then falls as it stands\n");
    assert_eq!(
        crate::printed(asked("5 4 -2 1.5 3")),
        "bitonic: with its first 2 values moved to the end it rises and then falls\n-2 1.5 3 5 4\n"
    );
    let refused = asked("1 3 2 4").output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("it turns 4 times, at 1 3 2 4;"));
    assert!(crate::refused(asked("1 x")).starts_with("'x' is no number"));
}
