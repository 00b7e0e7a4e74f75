//! `report.html`: one page with everything.
//!
//! Every number that follows from the records stands in a `data` element with its whole value and what it is of; see
//! [`Figure`].

use super::page::{Table, cell, maybe, number, sentence, words};
use crate::analysis::{Analysis, Cell, Figure, Fit, Group, Model, Outcome, RatioTable, Summary};
use crate::figures::{significant, time_of_seconds};
use crate::markup::escape;
use crate::plot::NamedChart;
use crate::quantity;
use bitonic_ladder::Rung;
use std::fmt::Write;

/// The page of a run with its charts, and with links into the explorer if that is in a file beside it.
pub fn html(analysis: &Analysis, charts: &[NamedChart], explorer: Option<&str>) -> String {
    let title = escape(&format!("{}: report of a laboratory run", analysis.name));
    let style = include_str!("style.css");
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{style}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
        escape(&analysis.name)
    );
    let fact =
        |name: &str| analysis.machine.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str());
    let _ = writeln!(
        page,
        "{}<p>Measured on {} with {} cores, {}. Times are from the caller's keys to the caller's keys, transfers included. \
         S is the time on the processor divided by the time on a device; O is the time before an optimisation divided by the \
         time after it: both are of {}s, and above 1 where the second is faster.</p>\n<nav><a href=\"#hypotheses\">Hypotheses</a><a href=\"#times\">Times</a>\
         <a href=\"#plots\">Plots</a>{}<a href=\"#ratios\">S and O</a><a href=\"#fits\">Fits</a>\
         <a href=\"#crossovers\">Crossovers</a><a href=\"#devices\">Devices</a><a href=\"#counters\">Counters</a>\
         <a href=\"#details\">Details</a><a href=\"#machine\">Machine</a></nav>",
        unfinished(analysis.open),
        escape(fact("processor").unwrap_or("?")),
        escape(fact("cores").unwrap_or("?")),
        escape(fact("date").unwrap_or("?")),
        analysis.statistic.name(),
        if explorer.is_some() { "<a href=\"#rungs\">Rungs</a>" } else { "" },
    );
    section(&mut page, analysis, "hypotheses", "Hypotheses", hypotheses);
    section(&mut page, analysis, "times", "Times", times);
    page += &plots(charts);
    page += &explorer.map_or_else(String::new, |file| rungs(analysis, file));
    section(&mut page, analysis, "ratios", "S and O", ratios);
    section(&mut page, analysis, "fits", "Fitted curves", fits);
    section(&mut page, analysis, "crossovers", "Crossovers", crossovers);
    section(&mut page, analysis, "devices", "Devices", limits);
    section(&mut page, analysis, "counters", "Counters", counters);
    section(&mut page, analysis, "details", "Details", details);
    page += &machine(analysis);
    page + "</body>\n</html>\n"
}

/// What stands over the report of a run that is still going on, or was stopped.
fn unfinished(open: usize) -> String {
    match open {
        0 => String::new(),
        _ => format!(
            "<p class=\"unfinished\">This run is not finished: {open} instances of implementations have no time yet. \
             <code>bitonic lab resume</code> goes on.</p>\n"
        ),
    }
}

/// A section with a part for every type and distribution.
fn section(page: &mut String, analysis: &Analysis, id: &str, title: &str, part: fn(&Group) -> String) {
    let _ = writeln!(page, "<section id=\"{id}\"><h2>{title}</h2>");
    let mut empty = true;
    for group in &analysis.groups {
        let part = part(group);
        if !part.is_empty() {
            empty = false;
            if analysis.groups.len() > 1 {
                let _ = writeln!(page, "<h3>{}</h3>", escape(&group.title()));
            }
            *page += &part;
        }
    }
    if empty {
        let why = match id {
            "counters" => {
                let counters = analysis.machine.iter().find(|fact| fact.name == "counters");
                format!("None were read: {}.", counters.map_or("?", |fact| fact.value.as_str()))
            }
            "devices" => "Nothing was measured on a device.".to_owned(),
            _ => "There is nothing to say from what was measured.".to_owned(),
        };
        let _ = writeln!(page, "<p>{}</p>", escape(&why));
    }
    *page += "</section>\n";
}

fn hypotheses(group: &Group) -> String {
    let items: String = group
        .hypotheses
        .iter()
        .map(|hypothesis| {
            format!(
                "<li><span class=\"judgement\">{}</span> {} — {}: {}</li>\n",
                hypothesis.judgement.name(),
                escape(&hypothesis.claim),
                escape(&hypothesis.pair),
                sentence(&hypothesis.reason)
            )
        })
        .collect();
    if items.is_empty() { items } else { format!("<ul class=\"hypotheses\">\n{items}</ul>\n") }
}

/// What a number of a cell is of.
fn of(what: &str, group: &Group, cell: &Cell) -> String {
    format!("{what} {} {} {} {}", cell.implementation, group.key_type, group.distribution, cell.size)
}

fn times(group: &Group) -> String {
    let headings: Vec<String> = std::iter::once("implementation".to_owned())
        .chain(group.sizes.iter().map(|&size| quantity::name(size)))
        .collect();
    let caption = "Mean time with the relative standard deviation, and the median. A deviation above 20 % is marked as noise; one sort has \
                   none. ~ is extrapolated, because a run would take longer than the budget: from the most keys that were \
                   measured, growing as over the last sizes. Nothing follows from such times.";
    let mut table = Table::new(caption, &headings);
    for implementation in &group.implementations {
        let cells = group.sizes.iter().map(|&size| {
            let Some(cell_of) = group.cell(implementation, size) else { return cell("") };
            match &cell_of.outcome {
                Outcome::Measured(summary) => {
                    let mean =
                        Figure::new(summary.mean, time_of_seconds(summary.mean), of("mean", group, cell_of));
                    let median = summary.median;
                    let median = Figure::new(median, time_of_seconds(median), of("median", group, cell_of));
                    let Some(spread) = summary.relative_deviation else { return cell(number(&mean)) };
                    let shown = format!("{} %", significant(100.0 * spread));
                    let spread = Figure::new(spread, shown, of("relative_deviation", group, cell_of));
                    let (class, noise) = if summary.is_noisy() { ("noisy", ", noise") } else { ("", "") };
                    format!(
                        "<td class=\"{class}\">{}<br><small>± {}{noise}<br>median {}</small></td>",
                        number(&mean),
                        number(&spread),
                        number(&median)
                    )
                }
                Outcome::Extrapolated { seconds, note } => {
                    let seconds =
                        Figure::new(*seconds, time_of_seconds(*seconds), of("extrapolated", group, cell_of));
                    format!("<td class=\"extrapolated\" title=\"{}\">{}</td>", escape(note), number(&seconds))
                }
                Outcome::LeftOut { note } => format!("<td title=\"{}\">–</td>", escape(note)),
                Outcome::Missing => cell(""),
            }
        });
        table.row(implementation, cells.collect::<Vec<_>>());
    }
    table.finish()
}

fn plots(charts: &[NamedChart]) -> String {
    let figures: String = charts
        .iter()
        .map(|named| {
            format!(
                "<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                named.chart.svg(),
                sentence(&named.caption)
            )
        })
        .collect();
    format!("<section id=\"plots\"><h2>Plots</h2>\n{figures}</section>\n")
}

/// Links to the rungs that have times, each as a film in the explorer.
fn rungs(analysis: &Analysis, explorer: &str) -> String {
    let measured =
        analysis.groups.iter().flat_map(|group| &group.cells).filter_map(|cell| match cell.outcome {
            Outcome::Measured(_) => Some(cell.implementation.as_str()),
            _ => None,
        });
    let mut items = Vec::new();
    for implementation in measured {
        let name = implementation.split_once(':').map_or(implementation, |(_, name)| name);
        if let Some(rung) = Rung::ALL.iter().find(|rung| rung.name() == name) {
            let item = format!(
                "<li><a href=\"{explorer}#view=ladder&amp;rungs={name}\">{}</a>: {}</li>\n",
                escape(implementation),
                escape(rung.description())
            );
            if !items.contains(&item) {
                items.push(item);
            }
        }
    }
    let text = if items.is_empty() {
        format!(
            "No rung of the ladder was measured. <a href=\"{explorer}#view=ladder\">The explorer</a> shows them all."
        )
    } else {
        "Who touches which key when, and the times of this run beside it, in the explorer.".to_owned()
    };
    format!(
        "<section id=\"rungs\"><h2>The rungs at work</h2>\n<p>{text}</p>\n<ul>\n{}</ul>\n</section>\n",
        items.concat()
    )
}

fn ratios(group: &Group) -> String {
    let tables = [
        ("S = time on the processor / time on the device", &group.speedups),
        ("O = time before / time after an optimisation", &group.optimisations),
    ];
    tables.iter().map(|(caption, tables)| ratio_table(group, caption, tables)).collect()
}

fn ratio_table(group: &Group, caption: &str, tables: &[RatioTable]) -> String {
    let headings = std::iter::once("pair".to_owned());
    let headings: Vec<String> =
        headings.chain(group.sizes.iter().map(|&size| quantity::name(size))).collect();
    let caption = format!(
        "{caption}, where both were measured. Bold: the confidence intervals of both means keep apart."
    );
    let mut table = Table::new(&caption, &headings);
    for ratios in tables {
        let cells = group.sizes.iter().map(|&size| {
            let Some(ratio) = ratios.ratios.iter().find(|ratio| ratio.size == size) else { return cell("") };
            let class = if ratio.certain { "best" } else { "" };
            format!("<td class=\"{class}\">{}</td>", number(&ratio.figure))
        });
        let name = format!("{}: {} / {}", ratios.name, ratios.first, ratios.second);
        table.row(&name, cells.collect::<Vec<_>>());
    }
    table.finish()
}

fn fits(group: &Group) -> String {
    let mut headings = vec!["implementation".to_owned()];
    for model in Model::ALL {
        headings.extend([format!("c · {}", model.name()), "R²".to_owned(), "off".to_owned()]);
    }
    let caption = "Fitted to the logarithms of the measured means, with logarithms of n to base 2; \
                   the best is bold, if its R² is at least 0.9. Off: the factor by which a time typically misses the curve.";
    let mut table = Table::new(caption, &headings);
    for implementation in &group.implementations {
        let own: Vec<&Fit> = group.fits.iter().filter(|fit| fit.implementation == *implementation).collect();
        if own.is_empty() {
            continue;
        }
        let cells = own.iter().flat_map(|fit| {
            let class = if fit.best { "best" } else { "" };
            [&fit.factor, &fit.r_squared, &fit.typical_error]
                .map(|figure| format!("<td class=\"{class}\">{}</td>", number(figure)))
        });
        table.row(implementation, cells.collect::<Vec<_>>());
    }
    table.finish() + &two_terms(group)
}

fn two_terms(group: &Group) -> String {
    if group.two_terms.is_empty() {
        return String::new();
    }
    let headings = ["implementation", "a launch", "bytes a second", "R²"].map(str::to_owned);
    let caption = "On devices: time = launches · what one takes + bytes / their speed, fitted to relative errors; bold with an R² of at \
                   least 0.9. A dash: bytes explain nothing.";
    let mut table = Table::new(caption, &headings);
    for terms in &group.two_terms {
        let class = if terms.fits { "best" } else { "" };
        let shown = |figure: Option<&Figure>| {
            let shown = figure.map_or_else(|| "–".to_owned(), number);
            format!("<td class=\"{class}\">{shown}</td>")
        };
        table.row(
            &terms.implementation,
            [shown(Some(&terms.launch)), shown(terms.speed.as_ref()), shown(Some(&terms.r_squared))],
        );
    }
    table.finish()
}

fn crossovers(group: &Group) -> String {
    let headings = ["faster below", "faster above", "between"].map(str::to_owned);
    let caption = "The last two sizes between which the order of two implementations changes, where at both the confidence intervals of \
                   the means keep apart. What happens between them is not decided.";
    let mut table = Table::new(caption, &headings);
    for crossover in &group.crossovers {
        let range = format!("{} and {}", quantity::name(crossover.last), quantity::name(crossover.first));
        table.row(
            &crossover.below,
            [format!("<td class=\"short\">{}</td>", escape(&crossover.above)), cell(range)],
        );
    }
    table.finish()
}

fn limits(group: &Group) -> String {
    let headings = ["implementation", "n", "upload", "kernels", "download", "what limits the kernels"]
        .map(str::to_owned);
    let caption = "Means at the largest measured size, by the device's clock. Bound by gaps: no kernel ran for half of the kernels' time; \
                   launch bound: launches alone would take half of it; memory bound: at least half of a copy's speed. Else it \
                   is undecided: no operations are counted.";
    let mut table = Table::new(caption, &headings);
    for limits in &group.limits {
        table.row(
            &limits.implementation,
            [
                cell(quantity::name(limits.size)),
                cell(number(&limits.upload)),
                cell(number(&limits.kernels)),
                cell(number(&limits.download)),
                words(sentence(&limits.verdict)),
            ],
        );
    }
    table.finish()
}

fn counters(group: &Group) -> String {
    let headings = [
        "implementation",
        "n",
        "cycles",
        "instr.",
        "branches",
        "missed",
        "cache",
        "misses",
        "n, cg",
        "instr., cg",
    ]
    .map(str::to_owned);
    let mut table = Table::new(
        "For each key; of the thread that sorts: cycles, instructions, branches and those mispredicted, accesses to the last cache \
         and those that went to memory; cg: instructions by callgrind.",
        &headings,
    );
    for counted in &group.counted {
        table.row(
            &counted.implementation,
            [
                cell(counted.size.map_or_else(String::new, quantity::name)),
                maybe(counted.cycles.as_ref()),
                maybe(counted.instructions.as_ref()),
                maybe(counted.branches.as_ref()),
                maybe(counted.branch_misses.as_ref()),
                maybe(counted.cache_references.as_ref()),
                maybe(counted.cache_misses.as_ref()),
                cell(counted.callgrind_size.map_or_else(String::new, quantity::name)),
                maybe(counted.callgrind.as_ref()),
            ],
        );
    }
    table.finish()
}

fn details(group: &Group) -> String {
    let headings = [
        "implementation",
        "n",
        "runs",
        "mean",
        "95 % confidence",
        "deviation",
        "relative",
        "median",
        "least",
        "greatest",
    ];
    let mut table = Table::new("Everything that was measured.", &headings.map(str::to_owned));
    let mut notes = String::new();
    for cell_of in &group.cells {
        match &cell_of.outcome {
            Outcome::Measured(summary) => {
                table.row(&cell_of.implementation, details_of(group, cell_of, summary))
            }
            Outcome::Extrapolated { note, .. } | Outcome::LeftOut { note } => {
                let size = quantity::name(cell_of.size);
                let _ = writeln!(
                    notes,
                    "<li>{} of {size} keys: {}</li>",
                    escape(&cell_of.implementation),
                    escape(note)
                );
            }
            Outcome::Missing => {}
        }
    }
    let notes = if notes.is_empty() { notes } else { format!("<p>Not measured:</p>\n<ul>\n{notes}</ul>\n") };
    table.finish() + &notes
}

fn details_of(group: &Group, cell_of: &Cell, summary: &Summary) -> Vec<String> {
    let time = |what: &str, value: f64| {
        cell(number(&Figure::new(value, time_of_seconds(value), of(what, group, cell_of))))
    };
    let count = Figure::new(summary.count as f64, summary.count.to_string(), of("count", group, cell_of));
    let confidence = summary.confidence.map(|width| {
        let shown = format!("± {}", time_of_seconds(width));
        Figure::new(width, shown, of("confidence", group, cell_of))
    });
    let relative = summary.relative_deviation.map(|relative| {
        let shown = format!("{} %", significant(100.0 * relative));
        Figure::new(relative, shown, of("relative_deviation", group, cell_of))
    });
    let deviation = summary
        .deviation
        .map(|deviation| Figure::new(deviation, time_of_seconds(deviation), of("deviation", group, cell_of)));
    vec![
        cell(quantity::name(cell_of.size)),
        cell(number(&count)),
        time("mean", summary.mean),
        maybe(confidence.as_ref()),
        maybe(deviation.as_ref()),
        maybe(relative.as_ref()),
        time("median", summary.median),
        time("least", summary.least),
        time("greatest", summary.greatest),
    ]
}

fn machine(analysis: &Analysis) -> String {
    let mut table = Table::new("What was measured on and with.", &["what".to_owned(), "here".to_owned()]);
    for fact in &analysis.machine {
        table.row(&fact.name, [words(escape(&fact.value))]);
    }
    let budget = analysis.budget_seconds.map_or_else(|| "none".to_owned(), |seconds| format!("{seconds} s"));
    table.row("budget of an implementation at a size", [words(escape(&budget))]);
    let left_out: String = analysis
        .left_out
        .iter()
        .map(|left_out| {
            format!("<li>{}: {}</li>\n", escape(&left_out.implementation), escape(&left_out.reason))
        })
        .collect();
    let left_out = if left_out.is_empty() {
        left_out
    } else {
        format!("<p>Could not run here:</p>\n<ul>\n{left_out}</ul>\n")
    };
    format!("<section id=\"machine\"><h2>Machine</h2>\n{}{left_out}</section>\n", table.finish())
}
