//! The example values of `--input`.

use crate::failure::Failure;
use bitonic_network::{Drawing, LengthMismatch};
use std::cmp::Ordering;
use std::fmt;

/// Shows the values of a text such as `5 3 8 1` on the wires: whole numbers, or decimals if one of them is.
pub(super) fn show<'network>(drawing: Drawing<'network>, text: &str) -> Result<Drawing<'network>, Failure> {
    let words = words(text);
    let shown = match words.iter().map(|word| word.parse::<i128>()).collect::<Result<Vec<_>, _>>() {
        Ok(whole) => drawing.input(&whole),
        Err(_) => {
            drawing.input(&words.iter().map(|word| Decimal::of_input(word)).collect::<Result<Vec<_>, _>>()?)
        }
    };
    shown.map_err(|error| Failure::new(format!("--input: {error}")))
}

/// The values of a text as numbers, one for each wire.
pub(super) fn numbers(text: &str, wires: usize) -> Result<Vec<f64>, Failure> {
    let read = words(text).into_iter().map(|word| Ok(Decimal::of_input(word)?.number));
    let keys: Vec<f64> = read.collect::<Result<_, Failure>>()?;
    if let Some(key) = keys.iter().find(|key| !key.is_finite()) {
        return Err(Failure::new(format!("--input: the page cannot show {key}: write finite numbers")));
    }
    match keys.len() == wires {
        true => Ok(keys),
        false => Err(Failure::new(format!("--input: {}", LengthMismatch { keys: keys.len(), wires }))),
    }
}

/// The values of a text, as they are written.
pub(super) fn read(text: &str) -> Result<Vec<Decimal<'_>>, Failure> {
    words(text).into_iter().map(Decimal::read).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()).collect()
}

/// A decimal number as it was written.
#[derive(Clone)]
pub(super) struct Decimal<'a> {
    number: f64,
    word: &'a str,
}

impl<'a> Decimal<'a> {
    /// A value of `--input`.
    fn of_input(word: &'a str) -> Result<Self, Failure> {
        Self::read(word).map_err(|failure| match failure {
            Failure::Message(message) => Failure::Message(format!("--input: {message}")),
            other => other,
        })
    }

    fn read(word: &'a str) -> Result<Self, Failure> {
        match word.parse() {
            Ok(number) => Ok(Self { number, word }),
            Err(_) => {
                Err(Failure::new(format!("'{word}' is no number: write numbers with spaces between them")))
            }
        }
    }
}

impl fmt::Display for Decimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word)
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number.total_cmp(&other.number)
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal<'_> {}
