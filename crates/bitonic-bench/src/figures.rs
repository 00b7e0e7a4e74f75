//! The project's goals as data, and what was measured beside them.

use crate::element::Element;
use crate::measure::{Cell, CellId, find};
use crate::peers::Sort;
use bitonic::Instructions;
use bitonic_lab::quantity;
use bitonic_testkit::Pattern;
use comfy_table::{CellAlignment, Table, presets};

/// A goal: one cell is at least so many times as fast as the slowest of others, per key.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What is to be fast.
    pub subject: CellId,
    /// What it is compared with.
    pub against: Vec<CellId>,
    /// The ratio to reach.
    pub at_least: f64,
}

/// A goal and what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The goal.
    pub figure: Figure,
    /// The ratio in this run; `None` if not all of it was measured.
    pub measured: Option<f64>,
}

/// The share of the ratios to other sorts that the 256-bit kernels are to reach.
const AVX2_SHARE: f64 = 0.6;

/// u32, random, one thread: times as fast as `sort_unstable`.
const TO_STANDARD: [(usize, f64); 8] = [
    (16, 9.0),
    (64, 11.0),
    (256, 15.0),
    (1024, 10.0),
    (4096, 8.0),
    (1 << 16, 6.0),
    (1 << 20, 6.5),
    (1 << 24, 5.0),
];

/// Lengths that are no power of two, and the powers measured beside them.
const BETWEEN: [(usize, [usize; 2]); 5] = [
    (100, [64, 256]),
    (300, [256, 1024]),
    (1000, [256, 1024]),
    (3000, [1024, 4096]),
    (100_000, [1 << 16, 1 << 20]),
];

/// A length between two powers takes at most this much longer per key than the slower of them.
const BETWEEN_AT_MOST: f64 = 1.25;

/// Types at which numpy is to be matched at every length, and beaten by half from 256 to 4096 keys.
const BESIDE_NUMPY: [Element; 5] = [Element::U32, Element::I32, Element::F32, Element::U64, Element::F64];

/// Pairs: times as fast as `sort_unstable` on packed `u64`s.
const PAIRS: [(usize, f64); 3] = [(256, 3.0), (1 << 16, 2.3), (1 << 20, 2.5)];

/// Nanoseconds per key of `sort_unstable` and of djbsort in C (AVX2) in one run, u32, on a Xeon with AVX-512. The
/// oblivious sort is to be twice as fast as the latter, relative to the former.
const DJBSORT_IN_C: [(usize, f64, f64); 5] = [
    (1024, 15.9, 2.97),
    (4096, 19.1, 3.51),
    (1 << 16, 20.3, 7.25),
    (1 << 20, 28.2, 16.3),
    (1 << 24, 27.7, 38.3),
];

/// Every goal, for kernels of this instruction set.
pub fn figures(instructions: Instructions) -> Vec<Figure> {
    let cell = |sort, element, size| CellId { sort, element, pattern: Pattern::Random, size };
    let ours = |element, size| cell(Sort::Bitonic, element, size);
    let beside = |subject: CellId, sort, at_least| Figure {
        subject,
        against: vec![CellId { sort, ..subject }],
        at_least: if instructions.name() == "avx2" { at_least * AVX2_SHARE } else { at_least },
    };

    let mut all = Vec::new();
    all.extend(TO_STANDARD.map(|(size, ratio)| beside(ours(Element::U32, size), Sort::Standard, ratio)));
    all.extend(BETWEEN.map(|(size, powers)| Figure {
        subject: ours(Element::U32, size),
        against: powers.map(|power| ours(Element::U32, power)).to_vec(),
        at_least: 1.0 / BETWEEN_AT_MOST,
    }));
    for element in BESIDE_NUMPY {
        all.extend(crate::experiment::default_sizes(false).into_iter().map(|size| {
            let ratio = if (256..=4096).contains(&size) { 1.5 } else { 1.0 };
            beside(ours(element, size), Sort::Numpy, ratio)
        }));
    }
    all.extend(PAIRS.map(|(size, ratio)| beside(ours(Element::Pairs, size), Sort::Standard, ratio)));
    let threads = cell(Sort::BitonicThreads, Element::U32, 1 << 24);
    all.extend([Sort::RdstThreads, Sort::VoraciousThreads].map(|peer| beside(threads, peer, 1.0)));
    let million = ours(Element::U32, 1 << 20);
    let few_unique = CellId { pattern: Pattern::FewUnique, ..million };
    all.push(Figure { subject: few_unique, against: vec![million], at_least: 4.0 });
    all.push(beside(CellId { pattern: Pattern::Sorted, ..million }, Sort::Standard, 0.5));
    for (size, standard, djbsort) in DJBSORT_IN_C {
        let oblivious = cell(Sort::BitonicOblivious, Element::U32, size);
        all.push(beside(oblivious, Sort::Standard, 2.0 * standard / djbsort));
        all.push(beside(oblivious, Sort::Djbsort, 10.0));
    }
    all
}

/// Every goal with what was measured.
pub fn check(cells: &[Cell], instructions: Instructions) -> Vec<Verdict> {
    let time = |id: CellId| find(cells, id).map(|cell| cell.nanoseconds.median);
    let measured = |figure: &Figure| {
        let subject = time(figure.subject)?;
        let against: Option<Vec<f64>> = figure.against.iter().map(|&id| time(id)).collect();
        Some(against?.into_iter().fold(0.0, f64::max) / subject)
    };
    figures(instructions).into_iter().map(|figure| Verdict { measured: measured(&figure), figure }).collect()
}

/// A table of the goals that were measured, and how many were not.
pub fn render(verdicts: &[Verdict]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["goal", "beside", "at least", "measured", "reached"]);
    let (mut reached, mut missed, mut missing) = (0, 0, 0);
    for Verdict { figure, measured } in verdicts {
        let Some(measured) = measured else {
            missing += 1;
            continue;
        };
        let yes = *measured >= figure.at_least;
        if yes {
            reached += 1
        } else {
            missed += 1
        }
        table.add_row([
            figure.subject.to_string(),
            against(figure),
            format!("{:.2}x", figure.at_least),
            format!("{measured:.2}x"),
            if yes { "yes" } else { "no" }.to_owned(),
        ]);
    }
    for column in table.column_iter_mut().skip(2).take(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("{}\n\ngoals reached: {reached}, missed: {missed}\n", table.trim_fmt());
    if missing > 0 {
        text += &format!(
            "{missing} more were not measured; to measure all, install numpy and use \
             --types u32,i32,f32,u64,f64,pairs --patterns random,few-unique,sorted without --quick\n"
        );
    }
    text
}

/// What of the cells compared with differs from the subject.
fn against(figure: &Figure) -> String {
    let difference = |id: &CellId| {
        if id.sort != figure.subject.sort {
            id.sort.to_string()
        } else if id.pattern != figure.subject.pattern {
            id.pattern.to_string()
        } else {
            quantity::name(id.size)
        }
    };
    figure.against.iter().map(difference).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic_lab::statistics::Summary;

    fn cell(sort: Sort, pattern: Pattern, size: usize, median: f64) -> Cell {
        let id = CellId { sort, element: Element::U32, pattern, size };
        Cell { id, rows: 1, nanoseconds: Summary::of(&[median]).unwrap() }
    }

    #[test]
    fn goals_are_judged_by_the_slowest_of_what_they_are_compared_with() {
        let cells = [
            cell(Sort::Standard, Pattern::Random, 64, 11.0),
            cell(Sort::Bitonic, Pattern::Random, 64, 1.01),
            cell(Sort::Bitonic, Pattern::Random, 256, 1.5),
            cell(Sort::Bitonic, Pattern::Random, 100, 1.8),
        ];
        let verdicts = check(&cells, Instructions::Portable);
        let measured: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.measured.is_some()).collect();
        assert_eq!(measured.len(), 2);
        assert_eq!((measured[0].figure.at_least, measured[0].measured), (11.0, Some(11.0 / 1.01)));
        assert_eq!((measured[1].figure.at_least, measured[1].measured), (0.8, Some(1.5 / 1.8)));
        let text = render(&verdicts);
        let rows: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert!(rows.contains(&"bitonic, 64 u32 keys, random std 11.00x 10.89x no".to_owned()), "{text}");
        assert!(
            rows.contains(&"bitonic, 100 u32 keys, random 64 and 256 0.80x 0.83x yes".to_owned()),
            "{text}"
        );
        assert!(
            text.contains("goals reached: 1, missed: 1") && text.contains("more were not measured"),
            "{text}"
        );
    }

    #[test]
    fn few_unique_keys_are_compared_with_random_ones() {
        let cells = [
            cell(Sort::Bitonic, Pattern::Random, 1 << 20, 5.0),
            cell(Sort::Bitonic, Pattern::FewUnique, 1 << 20, 1.0),
        ];
        let verdicts = check(&cells, Instructions::Portable);
        let verdict = verdicts.iter().find(|verdict| verdict.measured.is_some()).unwrap();
        assert_eq!((verdict.figure.at_least, verdict.measured), (4.0, Some(5.0)));
        assert!(render(&verdicts).contains("bitonic, 2^20 u32 keys, few-unique  random"));
    }
}
