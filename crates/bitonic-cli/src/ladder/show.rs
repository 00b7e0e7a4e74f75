//! `bitonic ladder show`: a rung with its facts, its lesson, its measured times and its source.

use super::select;
use super::{runs_on, threads};
use crate::failure::Failure;
use crate::figures::{counted, time};
use crate::lines::Lines;
use crate::output;
use bitonic_lab::published::{self, Published};
use bitonic_lab::quantity;
use bitonic_ladder::{Rung, Text};
use std::fmt::Write;
use std::time::Duration;

/// What `bitonic ladder show` is asked for.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Names of rungs or of their kernels, patterns such as `iterative_*`, or `all`
    #[arg(value_name = "NAME", required = true)]
    rungs: Vec<String>,
}

/// Prints the rungs, one after the other.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let chosen = select::select(&arguments.rungs)?;
    let coloured = output::is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let shown: Vec<String> = chosen.iter().map(|chosen| show(chosen.rung, coloured)).collect();
    output::print(|out| out.write_all(shown.join("\n").as_bytes()))
}

fn show(rung: Rung, coloured: bool) -> String {
    let mut facts = Lines::default();
    facts.add("document", rung.document());
    facts.add("place", runs_on(rung));
    facts.add("threads", threads(rung));
    facts.add("sizes", rung.sizes());
    facts.add("work", if rung.is_quadratic() { "n^2" } else { "n log^2 n" });
    if let Some(before) = rung.improves_on() {
        facts.add("improves on", before);
    }
    if !rung.kernels().is_empty() {
        facts.add("kernels", rung.kernels().join(", "));
    }
    let mut shown = format!("{rung}: {}\n{facts}\n{}\n\n", rung.description(), rung.teaches());
    shown += &measured(&published::of(rung));
    for Text { file, text } in rung.sources() {
        let text = if coloured { highlight(text) } else { text.to_owned() };
        let _ = write!(shown, "\n--- {file}\n{}\n", text.trim_end());
    }
    shown
}

/// The published times, or where some would come from.
fn measured(published: &[Published]) -> String {
    if published.is_empty() {
        return "no time of it is published; `bitonic ladder run` measures it here\n".to_owned();
    }
    let mut lines = String::new();
    for Published { runs_on, machine, command, times } in published {
        let times: Vec<String> = times
            .iter()
            .map(|(keys, seconds)| {
                format!("{} {}", quantity::name(*keys), time(Duration::from_secs_f64(*seconds)))
            })
            .collect();
        let _ = writeln!(
            lines,
            "measured on {runs_on}, {machine} ({}; {command}):",
            counted(times.len(), "median")
        );
        let _ = writeln!(lines, "  {}", times.join(", "));
    }
    lines
}

const COMMENT: &str = "\x1b[32m";
const KEYWORD: &str = "\x1b[1;34m";
const NUMBER: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// Words of Rust and of the kernels' C that get a colour.
const KEYWORDS: [&str; 36] = [
    "as", "bool", "const", "continue", "crate", "else", "enum", "fn", "for", "if", "impl", "in", "inline",
    "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "static", "struct", "true",
    "false", "type", "typedef", "use", "void", "while", "KERNEL", "FUNCTION", "GLOBAL", "LOCAL",
];

/// The text with comments, keywords and numbers in colours for a terminal. Rust and C have these in common; nothing else is
/// told apart.
fn highlight(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let comment_end = if rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            Some(rest.find("*/").map_or(rest.len(), |at| at + 2))
        } else {
            None
        };
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let (colour, end) = if let Some(end) = comment_end {
            (Some(COMMENT), end)
        } else if word(letter) {
            let end = rest.find(|c: char| !word(c)).unwrap_or(rest.len());
            let colour = match letter {
                '0'..='9' => Some(NUMBER),
                _ => KEYWORDS.contains(&&rest[..end]).then_some(KEYWORD),
            };
            (colour, end)
        } else {
            (None, letter.len_utf8())
        };
        let (piece, after) = rest.split_at(end);
        match colour {
            // A pager shows line by line, so a colour ends with its line.
            Some(colour) => {
                let lines: Vec<String> =
                    piece.split('\n').map(|line| format!("{colour}{line}{PLAIN}")).collect();
                shown += &lines.join("\n");
            }
            None => shown += piece,
        }
        rest = after;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_keywords_and_numbers_have_colours() {
        assert_eq!(
            highlight("let x2 = 7; // for\nx"),
            "\x1b[1;34mlet\x1b[0m x2 = \x1b[36m7\x1b[0m; \x1b[32m// for\x1b[0m\nx"
        );
        assert_eq!(
            highlight("/* a\nb */ KERNEL k"),
            "\x1b[32m/* a\x1b[0m\n\x1b[32mb */\x1b[0m \x1b[1;34mKERNEL\x1b[0m k"
        );
    }

    #[test]
    fn without_its_colours_the_text_is_as_it_was() {
        for &rung in Rung::ALL {
            for Text { file, text } in rung.sources() {
                let mut plain = highlight(text);
                for colour in [COMMENT, KEYWORD, NUMBER, PLAIN] {
                    plain = plain.replace(colour, "");
                }
                assert_eq!(plain, text, "{file}");
            }
        }
    }
}
