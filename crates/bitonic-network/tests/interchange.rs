//! Networks as text: exact forms, exact errors, and no panic on any text.

use bitonic_network::{Comparator, MAX_WIRES, Network, ParseError};
use proptest::prelude::*;
use proptest::sample::Index;

/// Cases of each property test of a parser; the environment variable `PROPTEST_CASES` overrides it.
const CASES: u32 = 50_000;

fn network(wires: usize, stages: &[&[(usize, usize)]]) -> Network {
    let comparators = |stage: &&[(usize, usize)]| stage.iter().map(|&(a, b)| Comparator::new(a, b)).collect();
    Network::new(wires, stages.iter().map(comparators).collect()).expect("a valid network")
}

fn list_error(text: &str) -> String {
    Network::from_list(text).expect_err(text).to_string()
}

fn json_error(text: &str) -> String {
    Network::from_json(text).expect_err(text).to_string()
}

#[test]
fn a_list_is_one_stage_a_line() {
    let expected = network(4, &[&[(0, 2), (1, 3)], &[(0, 1), (2, 3)], &[(1, 2)]]);
    assert_eq!(Network::from_list("[(0,2),(1,3)]\n[(0,1),(2,3)]\n[(1,2)]\n"), Ok(expected.clone()));
    assert_eq!(expected.to_list(), "[(0,2),(1,3)]\n[(0,1),(2,3)]\n[(1,2)]\n");
}

#[test]
fn a_list_may_have_white_space_comments_empty_lines_and_commas_after_stages() {
    let text = "\r\n# from somewhere\n\n \t[ ( 0 , 2 ) ,(1,3) ] ,  # first\r\n[(0,1),(2,3)],\r\n\n[(1,2)]";
    let expected = network(4, &[&[(0, 2), (1, 3)], &[(0, 1), (2, 3)], &[(1, 2)]]);
    assert_eq!(Network::from_list(text), Ok(expected));
}

#[test]
fn a_list_keeps_the_direction_of_a_comparator_and_empty_stages() {
    let expected = network(3, &[&[(2, 0)], &[], &[(1, 2)]]);
    assert_eq!(expected.to_list(), "[(2,0)]\n[]\n[(1,2)]\n");
    assert_eq!(Network::from_list("[(2,0)]\n[]\n[(1,2)]\n"), Ok(expected));
}

#[test]
fn a_list_declares_its_wires_only_when_the_stages_do_not_show_them() {
    let idle = network(5, &[&[(0, 1)]]);
    assert_eq!(idle.to_list(), "# wires: 5\n[(0,1)]\n");
    assert_eq!(Network::from_list("#wires: 5\n[(0,1)]"), Ok(idle.clone()));
    assert_eq!(Network::from_list("[(0,1)]\n# wires: 5"), Ok(idle));
    assert_eq!(network(0, &[]).to_list(), "# wires: 0\n");
    assert_eq!(Network::from_list("# wires: 0"), Ok(network(0, &[])));
}

#[test]
fn a_list_error_has_the_place_and_the_reason() {
    let cases = [
        ("", "line 1, column 1: expected a stage, such as [(0,1),(2,3)], found the end of the text"),
        (
            "# only this\n",
            "line 2, column 1: expected a stage, such as [(0,1),(2,3)], found the end of the text",
        ),
        ("[(0,1)]\n\n[(0,1]", "line 3, column 6: expected ')' after the second wire, found ']'"),
        ("[(0,1)\n]", "line 1, column 7: expected ',' or ']' in a stage, found the end of the line"),
        ("[(0,1),]", "line 1, column 8: expected '(' to open a comparator, found ']'"),
        ("[(0;1)]", "line 1, column 4: expected ',' after the first wire, found ';'"),
        ("[(0,)]", "line 1, column 5: expected a wire number, found ')'"),
        ("[(-1,0)]", "line 1, column 3: expected a wire number, found '-'"),
        ("[(0,1)],[(1,2)]", "line 1, column 9: expected one stage a line, such as [(0,1),(2,3)], found '['"),
        ("é(0,1)", "line 1, column 1: expected one stage a line, such as [(0,1),(2,3)], found 'é'"),
        ("# é\n# é wires\n[(é", "line 3, column 3: expected a wire number, found 'é'"),
        ("# wires: many", "line 1, column 10: expected a number of wires, found 'm'"),
        (
            "# wires: 4 or 5",
            "line 1, column 12: expected the end of the line after the number of wires, found 'o'",
        ),
        (
            "# wires: 4\n# wires: 4",
            "line 2, column 10: the number of wires is declared a second time: keep one of the two",
        ),
        (
            "[(0,9)]\n# wires: 4",
            "line 2, column 10: 4 wires are declared, but a comparator touches wire 9: declare 10 or more",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(list_error(text), expected, "{text:?}");
    }
}

#[test]
fn a_stage_that_touches_a_wire_twice_is_an_error_at_the_second_touch() {
    let reason = "this stage already touches wire 2: put the comparator into a later stage";
    assert_eq!(list_error("[(0,1)]\n[(0,2), (2,1)]"), format!("line 2, column 10: {reason}"));
    assert_eq!(json_error(r#"{"stages": [[[0,2],[2,1]]]}"#), format!("line 1, column 21: {reason}"));
}

#[test]
fn a_comparator_of_a_wire_with_itself_is_an_error_at_its_second_end() {
    let reason = "both ends of this comparator are wire 2: it needs two wires";
    assert_eq!(list_error("[(2,2)]"), format!("line 1, column 5: {reason}"));
    assert_eq!(json_error(r#"{"nw": [[0,1],[2,2]]}"#), format!("line 1, column 18: {reason}"));
}

#[test]
fn wire_numbers_past_the_limit_are_refused() {
    let last = MAX_WIRES - 1;
    let refused = format!("expected a wire number of at most {last}, found a larger number");
    for absurd in [MAX_WIRES.to_string(), "1000000000000000000".into(), "9".repeat(100_000)] {
        assert_eq!(list_error(&format!("[(0,{absurd})]")), format!("line 1, column 5: {refused}"));
        assert_eq!(json_error(&format!("{{\"nw\":[[{absurd},0]]}}")), format!("line 1, column 9: {refused}"));
    }
    let declared = format!("expected a number of wires of at most {MAX_WIRES}, found a larger number");
    assert_eq!(list_error("# wires: 16777217"), format!("line 1, column 10: {declared}"));
    assert_eq!(json_error(r#"{"wires":16777217}"#), format!("line 1, column 10: {declared}"));
    assert_eq!(Network::from_list(&format!("[(0,{last})]")), Ok(network(MAX_WIRES, &[&[(0, last)]])));
}

#[test]
fn json_is_written_one_stage_a_line() {
    let expected = "{\n  \"wires\": 5,\n  \"stages\": [\n    [[0,2],[1,3]],\n    [],\n    [[2,1]]\n  ]\n}\n";
    assert_eq!(network(5, &[&[(0, 2), (1, 3)], &[], &[(2, 1)]]).to_json(), expected);
    assert_eq!(network(1, &[]).to_json(), "{\n  \"wires\": 1,\n  \"stages\": []\n}\n");
}

#[test]
fn json_takes_keys_in_any_order_and_skips_those_it_does_not_know() {
    let text = r#"
        {"note": "a \"quote\", \\ and \u00e9 \ud83d", "blocks": [{"stages": [0, 1], "deep": [[], {}, [null]]}],
         "stages": [ [ [0, 2], [1, 3] ], [[0,1],[2,3]], [[1,2]] ],
         "numbers": [-1.5e+10, 0, 2E-3, 1e9], "words": [true, false, null], "w\u0069res": 6}
    "#;
    let expected = network(6, &[&[(0, 2), (1, 3)], &[(0, 1), (2, 3)], &[(1, 2)]]);
    assert_eq!(Network::from_json(text), Ok(expected));
}

#[test]
fn the_json_of_published_collections_is_a_sequence_that_gets_parallelised() {
    let text = r#"{
      "N": 4,
      "L": 5,
      "D": 3,
      "symmetric": true,
      "nw": [
        [0,2], [1,3],
        [0,1], [2,3],
        [1,2]
      ]
    }"#;
    let expected = network(4, &[&[(0, 2), (1, 3)], &[(0, 1), (2, 3)], &[(1, 2)]]);
    assert_eq!(Network::from_json(text), Ok(expected.clone()));
    assert_eq!(Network::from_json(r#"{"nw":[[[0,2],[1,3]],[[0,1],[2,3]],[[1,2]]],"N":4}"#), Ok(expected));
}

#[test]
fn a_json_error_has_the_place_and_the_reason() {
    let no_stages = "the network has no \"stages\": add an array of stages, such as [[[0,1],[2,3]]]";
    let cases = [
        ("[]", "line 1, column 1: expected '{' to open the network, found '['"),
        ("{", "line 1, column 2: expected '\"' to open a string, found the end of the text"),
        ("{}", &format!("line 1, column 3: {no_stages}")),
        ("{\"wires\": 3\n}", &format!("line 2, column 2: {no_stages}")),
        (r#"{"wires": 3,}"#, "line 1, column 13: expected '\"' to open a string, found '}'"),
        (r#"{"wires" 3}"#, "line 1, column 10: expected ':' after the key, found '3'"),
        (r#"{"wires": "3"}"#, "line 1, column 11: expected a number of wires, found '\"'"),
        (r#"{"wires": 3.5}"#, "line 1, column 12: expected ',' or '}' in the network, found '.'"),
        ("{\"stages\": [\n [0,1],\n [[0,1]]\n]}", "line 3, column 3: expected a wire number, found '['"),
        ("{\"stages\": [[],[0,1]]}", "line 1, column 17: expected '[' to open a comparator, found '0'"),
        ("{\"stages\": [[[0,1,2]]]}", "line 1, column 18: expected ']' after the second wire, found ','"),
        (
            "{\"stages\": [[[0,1]] [[0,1]]]}",
            "line 1, column 21: expected ',' or ']' in the stages, found '['",
        ),
        ("{\"stages\": []} {}", "line 1, column 16: expected nothing after the network, found '{'"),
        (
            r#"{"nw":[],"stages":[]}"#,
            "line 1, column 10: the stages are given a second time: keep one of the two",
        ),
        (
            r#"{"N":1,"wires":1}"#,
            "line 1, column 16: the number of wires is declared a second time: keep one of the two",
        ),
        (
            r#"{"N":2,"nw":[[0,2]]}"#,
            "line 1, column 6: 2 wires are declared, but a comparator touches wire 2: declare 3 or more",
        ),
        (r#"{"a":nul}"#, "line 1, column 6: expected a value, found 'n'"),
        (r#"{"a":-}"#, "line 1, column 7: expected a digit, found '}'"),
        (r#"{"a":"\x"}"#, "line 1, column 8: expected an escape such as \\n or \\u0041, found 'x'"),
        (r#"{"a":"\u00g0"}"#, "line 1, column 11: expected four hexadecimal digits after \\u, found 'g'"),
        ("{\"a\":\"\n\"}", "line 1, column 7: expected '\"' to close the string, found the end of the line"),
    ];
    for (text, expected) in cases {
        assert_eq!(json_error(text), expected, "{text:?}");
    }
}

#[test]
fn json_nested_without_end_is_refused_and_not_followed() {
    for opening in ["[", "{\"a\":"] {
        let text = format!("{{\"a\":{}", opening.repeat(1_000_000));
        assert!(json_error(&text).ends_with("nested deeper than 64 levels"));
    }
}

#[test]
fn parse_tells_the_forms_apart() {
    let expected = network(2, &[&[(0, 1)]]);
    assert_eq!(Network::parse("\n [(0,1)]"), Ok(expected.clone()));
    assert_eq!(Network::parse("\n {\"stages\": [[[0,1]]]}"), Ok(expected));
}

/// Any network: idle wires, empty stages and comparators of both directions included.
fn any_network() -> impl Strategy<Value = Network> {
    (0..20_usize).prop_flat_map(|wires| {
        let order = Just((0..wires).collect::<Vec<_>>()).prop_shuffle();
        let stage = (order, 0..=wires / 2).prop_map(|(order, size)| {
            order.chunks_exact(2).take(size).map(|pair| Comparator::new(pair[0], pair[1])).collect()
        });
        prop::collection::vec(stage, 0..8).prop_map(move |stages| Network::new(wires, stages).unwrap())
    })
}

/// Characters that mean something to one of the parsers, and some that mean nothing to either.
fn meaningful_character() -> impl Strategy<Value = char> {
    prop_oneof![
        prop::sample::select("()[]{},:#\"\\-.eu0123456789 \t\r\n".chars().collect::<Vec<_>>()),
        any::<char>(),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(meaningful_character(), 0..80).prop_map(String::from_iter),
        prop::collection::vec(
            prop::sample::select(vec![
                "[",
                "]",
                "(",
                ")",
                "{",
                "}",
                ",",
                ":",
                "#",
                "\n",
                "0",
                "1",
                "23",
                "\"N\"",
                "\"nw\"",
                "\"wires\"",
                "\"stages\"",
                "wires:",
                "null",
                "1e5",
                " ",
                "[(0,1)]",
                "[[0,1]]",
            ]),
            0..30
        )
        .prop_map(|words| words.concat()),
    ]
}

/// The text of a valid network with a few characters dropped, replaced or inserted.
fn mutated_text(write: fn(&Network) -> String) -> impl Strategy<Value = String> {
    let edit = (any::<Index>(), 0..2_usize, prop::collection::vec(meaningful_character(), 0..3));
    (any_network(), prop::collection::vec(edit, 1..4)).prop_map(move |(network, edits)| {
        let mut text: Vec<char> = write(&network).chars().collect();
        for (place, dropped, inserted) in edits {
            let start = place.index(text.len() + 1);
            let end = (start + dropped).min(text.len());
            text.splice(start..end, inserted);
        }
        String::from_iter(text)
    })
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(cases.unwrap_or(CASES))
}

/// A parser's answer is right if a network reads back as itself, and an error points into the text.
fn assert_sound(
    text: &str,
    read: fn(&str) -> Result<Network, ParseError>,
    write: fn(&Network) -> String,
) -> Result<(), TestCaseError> {
    match read(text) {
        Ok(network) => prop_assert_eq!(read(&write(&network)), Ok(network)),
        Err(error) => {
            let line = text.split('\n').nth(error.line - 1);
            let length = line.map(|line| line.chars().count());
            prop_assert!(length.is_some_and(|length| (1..=length + 1).contains(&error.column)), "{}", error);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_list_reads_back_as_the_network_it_was_written_from(network in any_network()) {
        prop_assert_eq!(Network::from_list(&network.to_list()), Ok(network.clone()));
        prop_assert_eq!(Network::parse(&network.to_list()), Ok(network));
    }

    #[test]
    fn json_reads_back_as_the_network_it_was_written_from(network in any_network()) {
        prop_assert_eq!(Network::from_json(&network.to_json()), Ok(network.clone()));
        prop_assert_eq!(Network::parse(&network.to_json()), Ok(network));
    }

    #[test]
    fn any_text_is_a_list_or_an_error_that_points_into_it(text in any_text()) {
        assert_sound(&text, Network::from_list, Network::to_list)?;
    }

    #[test]
    fn any_text_is_json_or_an_error_that_points_into_it(text in any_text()) {
        assert_sound(&text, Network::from_json, Network::to_json)?;
    }

    #[test]
    fn a_mutated_list_is_a_list_or_an_error_that_points_into_it(text in mutated_text(Network::to_list)) {
        assert_sound(&text, Network::from_list, Network::to_list)?;
    }

    #[test]
    fn mutated_json_is_json_or_an_error_that_points_into_it(text in mutated_text(Network::to_json)) {
        assert_sound(&text, Network::from_json, Network::to_json)?;
    }
}
