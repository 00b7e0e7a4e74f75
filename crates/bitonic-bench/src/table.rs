//! Results for people.

use crate::measure::{Cell, CellId, find};
use crate::peers::Sort;
use bitonic_lab::quantity;
use comfy_table::{CellAlignment, Table, presets};

/// A median whose times spread by more than this, relative to it, is marked.
const NOISY: f64 = 0.1;

/// The table of one element and pattern: a row for every length, a column for every contender.
///
/// Of the contenders that were `asked` for, those that could not take part at all are named below it with the reason. An
/// empty text if there are no cells.
pub fn render(cells: &[Cell], asked: &[Sort]) -> String {
    let Some(&Cell { id: CellId { element, pattern, .. }, .. }) = cells.first() else {
        return String::new();
    };
    let sorts: Vec<Sort> =
        Sort::ALL.iter().copied().filter(|&sort| cells.iter().any(|cell| cell.id.sort == sort)).collect();
    let mut sizes: Vec<usize> = cells.iter().map(|cell| cell.id.size).collect();
    sizes.dedup();

    let mut table = Table::new();
    // A line of its own for what follows the dash keeps the columns narrow.
    let names = sorts.iter().map(|sort| sort.name().replace('-', "\n"));
    table.load_style(presets::NOTHING).set_header(std::iter::once("n".to_owned()).chain(names));
    for size in sizes {
        let mut row = vec![quantity::name(size)];
        row.extend(sorts.iter().map(|&sort| text(cells, CellId { sort, element, pattern, size })));
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!(
        "{element}, {pattern}: nanoseconds per key, median; every result verified\n\n{}\n\n{}{}",
        table.trim_fmt(),
        "12.3x: so many times as fast as std; ~: the middle half of the times spreads by more than 10 %\n",
        notes(cells, asked.iter().copied().filter(|sort| !sorts.contains(sort)))
    )
}

fn text(cells: &[Cell], id: CellId) -> String {
    let Some(cell) = find(cells, id) else { return "-".to_owned() };
    let mark = if cell.nanoseconds.spread() > NOISY { "~" } else { "" };
    let time = format!("{mark}{:.2}", cell.nanoseconds.median);
    match speedup(cells, cell) {
        Some(speedup) if id.sort.is_ours() => format!("{time} {speedup:4.1}x"),
        _ => time,
    }
}

/// How many times as fast a cell is as the standard library on the same keys.
pub(crate) fn speedup(cells: &[Cell], cell: &Cell) -> Option<f64> {
    let standard = find(cells, CellId { sort: Sort::Standard, ..cell.id })?;
    Some(standard.nanoseconds.median / cell.nanoseconds.median)
}

/// A line for every contender that has no column, with the reason.
fn notes(cells: &[Cell], missing: impl Iterator<Item = Sort>) -> String {
    let note = |sort: Sort| {
        let mut ids = cells.iter().map(|cell| cell.id);
        let reason = ids.find_map(|id| sort.left_out(id.element, id.pattern, id.size))?;
        Some(format!("{sort} {reason}\n"))
    };
    missing.filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use bitonic_lab::statistics::Summary;
    use bitonic_testkit::Pattern;

    fn cell(sort: Sort, size: usize, median: f64, spread: f64) -> Cell {
        let id = CellId { sort, element: Element::F32, pattern: Pattern::Special, size };
        let one = Summary::of(&[median]).unwrap();
        let nanoseconds = Summary { upper_quartile: median * (1.0 + spread), ..one };
        Cell { id, rows: 1, nanoseconds }
    }

    #[test]
    fn a_row_for_every_length_with_ratios_for_ours_and_marks_for_noise() {
        let cells = [
            cell(Sort::Standard, 16, 15.0, 0.01),
            cell(Sort::Bitonic, 16, 1.5, 0.01),
            cell(Sort::Standard, 4096, 20.0, 0.5),
            cell(Sort::Bitonic, 4096, 2.5, 0.01),
            cell(Sort::BitonicThreads, 4096, 2.0, 0.01),
        ];
        let text = render(&cells, Sort::ALL);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(text.starts_with("f32, special: nanoseconds per key"), "{text}");
        assert!(rows.contains(&vec!["n", "bitonic", "std", "bitonic"]), "{text}");
        assert!(rows.contains(&vec!["threads"]), "{text}");
        assert!(rows.contains(&vec!["16", "1.50", "10.0x", "15.00", "-"]), "{text}");
        assert!(rows.contains(&vec!["2^12", "2.50", "8.0x", "~20.00", "2.00", "10.0x"]), "{text}");
        assert!(text.contains("voracious panics on NaN\n"), "{text}");
        assert!(!render(&cells, &[Sort::Standard, Sort::Bitonic]).contains("panics"));
    }

    #[test]
    fn no_cells_give_no_table() {
        assert_eq!(render(&[], Sort::ALL), "");
    }
}
