//! The example values of `--input`.

use crate::failure::Failure;
use bitonic_network::Drawing;
use std::cmp::Ordering;
use std::fmt;

/// Shows the values of a text such as `5 3 8 1` on the wires: whole numbers, or decimals if one of them is.
pub(super) fn show<'network>(drawing: Drawing<'network>, text: &str) -> Result<Drawing<'network>, Failure> {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()).collect();
    let shown = match words.iter().map(|word| word.parse::<i128>()).collect::<Result<Vec<_>, _>>() {
        Ok(whole) => drawing.input(&whole),
        Err(_) => {
            drawing.input(&words.iter().map(|word| Decimal::read(word)).collect::<Result<Vec<_>, _>>()?)
        }
    };
    shown.map_err(|error| Failure::new(format!("--input: {error}")))
}

/// A decimal number as it was written.
#[derive(Clone)]
struct Decimal<'a> {
    number: f64,
    word: &'a str,
}

impl<'a> Decimal<'a> {
    fn read(word: &'a str) -> Result<Self, Failure> {
        match word.parse() {
            Ok(number) => Ok(Self { number, word }),
            Err(_) => Err(Failure::new(format!(
                "--input: '{word}' is no number: write numbers with spaces between them"
            ))),
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
