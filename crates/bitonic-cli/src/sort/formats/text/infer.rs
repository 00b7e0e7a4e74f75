//! The type that holds every number of a text.

use super::word::{Word, quote, words};
use super::{is_number, no_number, word_text};
use crate::text_position::TextPosition;
use bitonic::key::KeyType;

/// The narrowest of these types that holds every number exactly as written: `i64`, `u64`, `i128`, `u128` for whole
/// numbers, `f64` as soon as one has a point, an exponent or a name (nan, inf), or is -0; `bool` for true and false.
/// A text without words is taken for `i64`.
pub(in super::super) fn infer(text: &[u8]) -> Result<KeyType, String> {
    let mut seen = Seen::default();
    for word in words(text) {
        if !is_short_whole(word.bytes) {
            seen.note(word, word_text(text, word)?, text)?;
        } else {
            seen.has_negative |= word.bytes[0] == b'-';
            seen.number.get_or_insert(word);
        }
        if let (Some(number), Some(truth)) = (seen.number, seen.truth) {
            return Err(mixed(text, number, truth));
        }
    }
    seen.key_type(text)
}

/// Whole numbers of at most 15 digits fit `i64` and are exact in `f64`: nothing is to be learnt from them but the sign,
/// unless they may be -0.
fn is_short_whole(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) && !word.starts_with(b"-0")
}

/// What the words so far have shown.
#[derive(Default)]
struct Seen<'a> {
    /// The first number.
    number: Option<Word<'a>>,
    /// The first `true` or `false`.
    truth: Option<Word<'a>>,
    has_negative: bool,
    has_fraction: bool,
    /// A whole number below the range of `i64`, or one above it.
    below_i64: bool,
    above_i64: bool,
    above_u64: bool,
    above_i128: Option<Word<'a>>,
    beyond_128_bits: Option<Word<'a>>,
    inexact_in_f64: Option<Word<'a>>,
}

impl<'a> Seen<'a> {
    fn note(&mut self, word: Word<'a>, content: &str, text: &[u8]) -> Result<(), String> {
        if matches!(content, "true" | "false") {
            self.truth.get_or_insert(word);
            return Ok(());
        }
        let digits = content.strip_prefix(['-', '+']).unwrap_or(content);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_whole && !is_number(content) {
            return Err(no_number(&TextPosition::of(text, word.offset), &quote(content)));
        }
        self.number.get_or_insert(word);
        let is_negative_zero = content.starts_with('-') && digits.bytes().all(|byte| byte == b'0');
        if is_whole && !is_negative_zero {
            self.note_whole(word, content);
        } else {
            self.has_fraction = true;
        }
        Ok(())
    }

    fn note_whole(&mut self, word: Word<'a>, content: &str) {
        self.has_negative |= content.starts_with('-');
        if self.inexact_in_f64.is_none() && !is_f64(content) {
            self.inexact_in_f64 = Some(word);
        }
        if content.parse::<i64>().is_ok() {
            return;
        }
        if let Ok(value) = content.parse::<i128>() {
            self.below_i64 |= value < 0;
            self.above_i64 |= value > 0;
            self.above_u64 |= value > i128::from(u64::MAX);
        } else if content.parse::<u128>().is_ok() {
            self.above_i128.get_or_insert(word);
        } else {
            self.beyond_128_bits.get_or_insert(word);
        }
    }

    fn key_type(self, text: &[u8]) -> Result<KeyType, String> {
        let refuse = |word: Word, reason: &str| {
            let quoted = quote(&String::from_utf8_lossy(word.bytes));
            Err(format!("{}: {quoted} {reason}", TextPosition::of(text, word.offset)))
        };
        if self.truth.is_some() {
            return Ok(KeyType::Bool);
        }
        if self.has_fraction {
            return match self.inexact_in_f64 {
                Some(word) => refuse(word, "has more digits than f64 holds: say --type f64 to round it"),
                None => Ok(KeyType::F64),
            };
        }
        if let Some(word) = self.beyond_128_bits {
            return refuse(word, "is too large for a whole number of 128 bits: say --type f64 to round it");
        }
        match (self.above_i128, self.has_negative) {
            (Some(word), true) => {
                refuse(word, "fits no type that also has negative numbers: say --type f64 to round it")
            }
            (Some(_), false) => Ok(KeyType::U128),
            (None, _) if self.above_u64 || self.below_i64 => Ok(KeyType::I128),
            (None, true) if self.above_i64 => Ok(KeyType::I128),
            (None, false) if self.above_i64 => Ok(KeyType::U64),
            (None, _) => Ok(KeyType::I64),
        }
    }
}

/// Whether a whole number is how some program writes an `f64`: with all its digits, or with the shortest ones that read
/// back and zeros after them.
fn is_f64(whole: &str) -> bool {
    let digits = whole.trim_start_matches(['-', '+']).trim_start_matches('0');
    digits.parse::<f64>().is_ok_and(|value| format!("{value:.0}") == digits || format!("{value}") == digits)
}

fn mixed(text: &[u8], number: Word, truth: Word) -> String {
    let (first, second) = if number.offset < truth.offset { (number, truth) } else { (truth, number) };
    let [before, word] = [first, second].map(|word| quote(&String::from_utf8_lossy(word.bytes)));
    format!(
        "{}: {word} stands among keys of another type, as {before} on line {} is: write numbers only, or true and \
         false only",
        TextPosition::of(text, second.offset),
        TextPosition::of(text, first.offset).line
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<KeyType, String> {
        infer(text.as_bytes())
    }

    #[test]
    fn the_type_holds_every_number() {
        let cases = [
            ("", KeyType::I64),
            ("1 -2 +3", KeyType::I64),
            ("0 00 -1", KeyType::I64),
            ("9223372036854775807 -9223372036854775808", KeyType::I64),
            ("9223372036854775808", KeyType::U64),
            ("18446744073709551615 0", KeyType::U64),
            ("9223372036854775808 -1", KeyType::I128),
            ("18446744073709551616", KeyType::I128),
            ("-9223372036854775809", KeyType::I128),
            ("170141183460469231731687303715884105728", KeyType::U128),
            ("1 2.5", KeyType::F64),
            ("1e3", KeyType::F64),
            ("1 nan", KeyType::F64),
            ("-inf 1", KeyType::F64),
            ("1 -0", KeyType::F64),
            ("-00", KeyType::F64),
            ("0.5 9007199254740992", KeyType::F64),
            ("0.5 1180591620717411303424", KeyType::F64),
            ("0.5 -001180591620717411300000", KeyType::F64),
            ("true false", KeyType::Bool),
        ];
        for (text, key_type) in cases {
            assert_eq!(of(text), Ok(key_type), "{text}");
        }
    }

    #[test]
    fn what_no_type_holds_is_refused_with_its_position() {
        let cases = [
            ("1\n2 abc", "line 2, column 3: 'abc' is no number: write numbers with white space between them"),
            ("1,2", "line 1, column 1: '1,2' is no number: write numbers with white space between them"),
            ("- 1", "line 1, column 1: '-' is no number: write numbers with white space between them"),
            (
                "true\n3",
                "line 2, column 1: '3' stands among keys of another type, as 'true' on line 1 is: write numbers only, \
                 or true and false only",
            ),
            (
                "3 1.5 true",
                "line 1, column 7: 'true' stands among keys of another type, as '3' on line 1 is: write numbers only, \
                 or true and false only",
            ),
            (
                "0.5 9007199254740993",
                "line 1, column 5: '9007199254740993' has more digits than f64 holds: say --type f64 to round it",
            ),
            (
                "-1 170141183460469231731687303715884105728",
                "line 1, column 4: '170141183460469231731687303715884105728' fits no type that also has negative \
                 numbers: say --type f64 to round it",
            ),
            (
                "340282366920938463463374607431768211456",
                "line 1, column 1: '340282366920938463463374607431768211456' is too large for a whole number of 128 \
                 bits: say --type f64 to round it",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(of(text).unwrap_err(), message, "{text}");
        }
    }
}
