//! Drawings: exact text of small networks, and what holds for the pictures of all of them.

use bitonic_network::{Block, Comparator, Drawing, Network};
use proptest::prelude::*;

/// The bitonic sorter of four wires in flip form.
fn flip() -> Network {
    Network::from_list("[(0,1),(2,3)]\n[(0,3),(1,2)]\n[(0,1),(2,3)]").unwrap()
}

/// The bitonic sorter of four wires with alternating directions.
fn alternating() -> Network {
    Network::from_list("[(0,1),(3,2)]\n[(0,2),(1,3)]\n[(0,1),(2,3)]").unwrap()
}

/// The text of a drawing after an empty line, so that it can be written below the opening quotation mark.
fn picture(drawing: &Drawing<'_>) -> String {
    format!("\n{}", drawing.to_text())
}

#[test]
fn text_shows_wires_comparators_and_stages() {
    let expected = "
    1    2    3
0 ──●─┊─●───┊─●─
    │ ┊ │   ┊ │
1 ──●─┊─┼─●─┊─●─
      ┊ │ │ ┊
2 ──●─┊─┼─●─┊─●─
    │ ┊ │   ┊ │
3 ──●─┊─●───┊─●─
";
    assert_eq!(picture(&flip().draw()), expected);
    assert_eq!(flip().draw().title("Flip").to_text(), format!("Flip\n{expected}"));
}

#[test]
fn text_has_arrows_where_directions_vary() {
    let expected = "
    1    2    3
0 ──●─┊─●───┊─●─
    │ ┊ │   ┊ │
1 ──▼─┊─┼─●─┊─▼─
      ┊ │ │ ┊
2 ──▲─┊─▼─┼─┊─●─
    │ ┊   │ ┊ │
3 ──●─┊───▼─┊─▼─
";
    assert_eq!(picture(&alternating().draw()), expected);
}

#[test]
fn text_can_be_ascii_alone() {
    let expected = "
    1    2    3
0 --o-:-o---:-o-
    | : |   : |
1 --v-:-+-o-:-v-
      : | | :
2 --^-:-v-+-:-o-
    | :   | : |
3 --o-:---v-:-v-
";
    assert_eq!(picture(&alternating().draw().ascii(true)), expected);
}

#[test]
fn text_shows_the_values_before_and_after_every_stage() {
    let expected = "
        1       2       3
0 ─ 20 ─●─  3 ─●───  3 ─●─  3
        │      │        │
1 ─  3 ─●─ 20 ─┼─●─  7 ─●─  7
               │ │
2 ─  7 ─●─  7 ─┼─●─ 20 ─●─ 11
        │      │        │
3 ─ 11 ─●─ 11 ─●─── 11 ─●─ 20
";
    assert_eq!(picture(&flip().draw().input(&[20, 3, 7, 11]).unwrap()), expected);
}

#[test]
fn wire_and_stage_numbers_of_two_digits_keep_the_columns_straight() {
    let sequence = (0..10).map(|wire| Comparator::new(wire, wire + 1));
    let text = Network::sequential(11, sequence).unwrap().draw().to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "     1   2   3   4   5   6   7   8   9  10");
    assert_eq!(lines[1], " 0 ──●─┊───┊───┊───┊───┊───┊───┊───┊───┊───");
    assert_eq!(lines[21], "10 ────┊───┊───┊───┊───┊───┊───┊───┊───┊─●─");
}

#[test]
fn networks_without_wires_or_stages_can_be_drawn() {
    let nothing = Network::new(0, vec![]).unwrap();
    assert_eq!(nothing.draw().to_text(), "");
    assert_well_formed(&nothing.draw().to_svg());
    let no_wires = Network::new(0, vec![vec![]]).unwrap();
    assert_well_formed(&no_wires.draw().to_svg());
    let wire = Network::new(1, vec![]).unwrap();
    assert_eq!(wire.draw().input(&['x']).unwrap().to_text(), "0 ─ x\n");
    assert_well_formed(&wire.draw().input(&['x']).unwrap().to_svg());
}

#[test]
fn an_input_of_another_length_is_an_error() {
    let network = flip();
    let error = network.draw().input(&[1, 2, 3]).unwrap_err();
    assert_eq!((error.keys, error.wires), (3, 4));
}

#[test]
fn svg_escapes_text_and_names_itself() {
    let svg = flip().draw().title("a < b & c\u{1b}").input(&["<", "&", ">", "\0"]).unwrap().to_svg();
    assert_well_formed(&svg);
    assert!(svg.contains("<title>a &lt; b &amp; c\u{fffd}</title>"));
    let untitled = flip().draw().to_svg();
    assert!(untitled.contains("<title>A comparator network: 4 wires, 3 stages, 6 comparators</title>"));
    assert!(untitled.contains("role=\"img\""));
}

#[test]
fn svg_shades_blocks_outer_ones_first_and_around_inner_ones() {
    let block = |stages, wires| Block { stages, wires };
    // The second is the outer one; the last two lie outside the network.
    let blocks = vec![block(0..1, 0..2), block(0..3, 0..4), block(3..4, 0..2), block(0..1, 4..5)];
    let svg = flip().with_blocks(blocks).draw().to_svg();
    let rectangles: Vec<[f64; 4]> = group(&svg, "blocks")
        .lines()
        .map(|line| ["x", "y", "width", "height"].map(|name| attribute(line, name).parse().unwrap()))
        .collect();
    let [outer, inner] = rectangles[..] else { panic!("two rectangles expected: {rectangles:?}") };
    assert!(outer[0] < inner[0] && outer[1] < inner[1], "{outer:?} begins before {inner:?}");
    assert!(outer[0] + outer[2] > inner[0] + inner[2], "{outer:?} ends right of {inner:?}");
    assert!(outer[1] + outer[3] > inner[1] + inner[3], "{outer:?} ends below {inner:?}");
}

#[test]
fn svg_has_arrows_only_where_directions_vary() {
    let arrows = |network: Network| group(&network.draw().to_svg(), "comparators").matches('Z').count();
    assert_eq!(arrows(flip()), 0);
    assert_eq!(arrows(alternating()), 5);
}

/// Any network: idle wires, empty stages and comparators of both directions included.
fn any_network() -> impl Strategy<Value = Network> {
    (0..24_usize).prop_flat_map(|wires| {
        let order = Just((0..wires).collect::<Vec<_>>()).prop_shuffle();
        let stage = (order, 0..=wires / 2).prop_map(|(order, size)| {
            order.chunks_exact(2).take(size).map(|pair| Comparator::new(pair[0], pair[1])).collect()
        });
        prop::collection::vec(stage, 0..6).prop_map(move |stages| Network::new(wires, stages).unwrap())
    })
}

fn any_block() -> impl Strategy<Value = Block> {
    (0..8_usize, 0..8_usize, 0..30_usize, 0..30_usize)
        .prop_map(|(first, last, top, bottom)| Block { stages: first..last, wires: top..bottom })
}

proptest! {
    #[test]
    fn text_has_two_ends_for_every_comparator(network in any_network()) {
        let text = network.draw().to_text();
        let ends = text.chars().filter(|glyph| "●▼▲".contains(*glyph)).count();
        prop_assert_eq!(ends, 2 * network.size());
    }

    #[test]
    fn text_shows_the_values_of_the_trace(network in any_network(), seed in any::<u32>()) {
        let input: Vec<u32> = (0..network.wires() as u32).map(|wire| (wire + 1).wrapping_mul(seed) % 1000).collect();
        let text = network.draw().input(&input).unwrap().to_text();
        let trace = network.trace(&input).unwrap();
        let rows = text.lines().filter(|line| line.contains('─'));
        for (wire, row) in rows.enumerate() {
            let shown: Vec<u32> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let expected: Vec<u32> = trace.iter().map(|state| state[wire]).collect();
            prop_assert_eq!(shown[0] as usize, wire);
            prop_assert_eq!(&shown[1..], expected);
        }
    }

    #[test]
    fn svg_is_well_formed(
        network in any_network(),
        blocks in prop::collection::vec(any_block(), 0..6),
        title in any::<Option<String>>(),
        values in prop::collection::vec(any::<String>(), 24),
        with_values in any::<bool>(),
    ) {
        let network = network.with_blocks(blocks);
        let mut drawing = network.draw();
        if let Some(title) = title {
            drawing = drawing.title(title);
        }
        if with_values {
            drawing = drawing.input(&values[..network.wires()]).unwrap();
        }
        assert_well_formed(&drawing.to_svg());
    }

    #[test]
    fn svg_draws_every_comparator_once_and_none_over_another(network in any_network()) {
        let svg = network.draw().to_svg();
        let mut drawn: Vec<Stroke> = svg.split("<g class=\"comparators\"").skip(1).flat_map(strokes).collect();
        drawn.sort_by(|a, b| (a.x, a.comparator.top()).partial_cmp(&(b.x, b.comparator.top())).unwrap());
        for pair in drawn.windows(2) {
            let apart = pair[0].comparator.bottom() < pair[1].comparator.top();
            prop_assert!(pair[0].x + 10.0 < pair[1].x || (pair[0].x == pair[1].x && apart));
        }
        // From left to right, every stage's comparators come before those of the next.
        let mut left_to_right = drawn.iter().map(|stroke| stroke.comparator);
        for stage in network.stages() {
            let mut shown: Vec<Comparator> = left_to_right.by_ref().take(stage.comparators().len()).collect();
            let mut expected = stage.comparators().to_vec();
            shown.sort_by_key(|c| (c.min(), c.max()));
            expected.sort_by_key(|c| (c.min(), c.max()));
            prop_assert_eq!(shown, expected);
        }
        prop_assert_eq!(left_to_right.next(), None);
    }

    #[test]
    fn svg_shows_the_values_of_the_trace(network in any_network(), seed in any::<u32>()) {
        let input: Vec<u32> = (0..network.wires() as u32).map(|wire| (wire + 1).wrapping_mul(seed)).collect();
        let svg = network.draw().input(&input).unwrap().to_svg();
        let text = |line: &str| line.split(['<', '>']).nth(2).unwrap().parse::<u32>().unwrap();
        let shown: Vec<u32> = group(&svg, "values").lines().map(text).collect();
        prop_assert_eq!(shown, network.trace(&input).unwrap().concat());
    }
}

/// A comparator as it stands in an SVG document.
struct Stroke {
    x: f64,
    comparator: Comparator,
}

/// The comparators of a group, read from paths such as `M20 44V68`. The wires are 24 apart from 44 on.
fn strokes(group: &str) -> impl Iterator<Item = Stroke> {
    let wire = |y: &str| {
        let wire = (y.parse::<f64>().unwrap() - 44.0) / 24.0;
        assert_eq!(wire.fract(), 0.0, "{y} is on a wire");
        wire as usize
    };
    let paths = group.lines().filter(|line| line.starts_with("<path"));
    paths.map(move |line| {
        let numbers: Vec<&str> = attribute(line, "d").split(['M', ' ', 'V', 'L']).collect();
        Stroke {
            x: numbers[1].parse().unwrap(),
            comparator: Comparator::new(wire(numbers[2]), wire(numbers[3])),
        }
    })
}

/// The lines of the first group of a class.
fn group<'svg>(svg: &'svg str, class: &str) -> &'svg str {
    let start = svg.find(&format!("<g class=\"{class}\"")).unwrap();
    let content = &svg[start + svg[start..].find(">\n").unwrap() + 2..];
    &content[..content.find("</g>").unwrap()]
}

fn attribute<'tag>(tag: &'tag str, name: &str) -> &'tag str {
    let name = format!(" {name}=\"");
    let value = &tag[tag.find(&name).unwrap() + name.len()..];
    &value[..value.find('"').unwrap()]
}

/// Checks that tags balance, attributes are quoted, text is escaped, and numbers are numbers.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut roots = 0;
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or_else(|| panic!("no end of the tag <{piece}"));
        assert!(!text.contains('>'), "unescaped text {text:?}");
        for after in text.split('&').skip(1) {
            assert!(
                ["amp;", "lt;", "gt;"].iter().any(|entity| after.starts_with(entity)),
                "unescaped {text:?}"
            );
        }
        assert!(
            !text.chars().any(|character| character.is_ascii_control() && !"\t\n\r\x7f".contains(character))
        );
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes what is open");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "unbalanced quotes in <{tag}>");
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "no number in <{tag}>");
        roots += usize::from(open.is_empty());
        if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    assert_eq!(roots, 1);
}
