//! Numbers with their origin, and sentences with such numbers in them.
//!
//! A report shows rounded numbers. Beside each stands its whole value and a word about what it is of, so that whoever doubts
//! it can compute it again from the records; the tests do.

use serde::Serialize;
use std::fmt;

/// A number as it is shown, with its whole value and what it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// The number for people.
    pub shown: String,
    /// What it is: the name of the formula and what it is applied to, with spaces between.
    pub of: String,
}

impl Figure {
    /// A number with its origin.
    pub fn new(value: f64, shown: impl Into<String>, of: impl Into<String>) -> Self {
        Self { value, shown: shown.into(), of: of.into() }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.shown)
    }
}

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Part {
    /// Words.
    Words(String),
    /// A number.
    Number(Figure),
}

/// A sentence with numbers in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sentence(pub Vec<Part>);

impl Sentence {
    /// Adds words.
    #[must_use]
    pub fn words(mut self, words: impl Into<String>) -> Self {
        self.0.push(Part::Words(words.into()));
        self
    }

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, figure: Figure) -> Self {
        self.0.push(Part::Number(figure));
        self
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Words(words) => f.write_str(words),
            Part::Number(figure) => write!(f, "{figure}"),
        })
    }
}
