//! The type that holds every number of a text.

use super::number::{has_digits_of, plain};
use super::word::{Place, Witness};
use super::{is_number, no_number};
use crate::sort::formats::Refusal;
use bitonic::key::KeyType;

/// What was found out about keys.
#[derive(Debug, PartialEq)]
pub(in crate::sort) struct Inferred {
    pub(in crate::sort) key_type: KeyType,
    /// What is to be said of the first number that the type does not hold as it is written.
    pub(in crate::sort) rounded: Option<Refusal>,
}

/// The narrowest of these types that holds every number as written: `i64`, `u64`, `i128`, `u128` for whole
/// numbers, `f64` as soon as one has a point, an exponent or a name (nan, inf), or is -0; `bool` for true and false.
/// Only a number with a point or an exponent is rounded if it has more digits than `f64` holds. No words are taken for `i64`.
pub(in crate::sort) fn infer<'a>(words: impl Iterator<Item = Place<'a>>) -> Result<Inferred, Refusal> {
    let mut seen = Seen::default();
    seen.look_at(words)?;
    seen.inferred()
}

/// Whole numbers of at most 15 digits fit `i64` and are exact in `f64`: nothing is to be learnt from them but the sign,
/// unless they may be -0.
fn is_short_whole(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) && !word.starts_with(b"-0")
}

/// Every decimal of at most 15 digits has those of an `f64`, as long as it is neither tiny nor huge.
fn is_short_decimal(word: &str) -> bool {
    word.len() <= 16 && word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
}

/// What the words so far have shown.
#[derive(Default)]
pub(in crate::sort) struct Seen {
    /// The first number.
    number: Option<Witness>,
    /// The first `true` or `false`.
    truth: Option<Witness>,
    has_negative: bool,
    has_fraction: bool,
    /// A whole number below the range of `i64`, or one above it.
    below_i64: bool,
    above_i64: bool,
    above_u64: bool,
    above_i128: Option<Witness>,
    beyond_128_bits: Option<Witness>,
    /// A whole number that `f64` does not hold, and one with a point or an exponent.
    inexact_whole: Option<Witness>,
    inexact_decimal: Option<Witness>,
}

impl Seen {
    /// Looks at more words.
    pub(in crate::sort) fn look_at<'a>(
        &mut self,
        words: impl Iterator<Item = Place<'a>>,
    ) -> Result<(), Refusal> {
        for place in words {
            let word = place.word.bytes;
            if !is_short_whole(word) {
                self.note(place)?;
            } else {
                self.has_negative |= word[0] == b'-';
                self.number.get_or_insert_with(|| place.into());
            }
            if let (Some(number), Some(truth)) = (&self.number, &self.truth) {
                return Err(mixed(number, truth));
            }
        }
        Ok(())
    }

    fn note(&mut self, place: Place) -> Result<(), Refusal> {
        let content = place.content()?;
        if matches!(content, "true" | "false") {
            self.truth.get_or_insert_with(|| place.into());
            return Ok(());
        }
        let plain = plain(content);
        let content = plain.as_deref().unwrap_or(content);
        let digits = content.strip_prefix(['-', '+']).unwrap_or(content);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_whole && !is_number(content) {
            return Err(no_number(&place, content));
        }
        self.number.get_or_insert_with(|| place.into());
        let is_negative_zero = content.starts_with('-') && digits.bytes().all(|byte| byte == b'0');
        if is_whole && !is_negative_zero {
            self.note_whole(place, content);
        } else {
            self.has_fraction = true;
            let is_to_be_told = self.inexact_decimal.is_none() && !is_short_decimal(content);
            if is_to_be_told && !is_f64(content) {
                self.inexact_decimal = Some(place.into());
            }
        }
        Ok(())
    }

    fn note_whole(&mut self, place: Place, content: &str) {
        self.has_negative |= content.starts_with('-');
        if self.inexact_whole.is_none() && !is_f64(content) {
            self.inexact_whole = Some(place.into());
        }
        if content.parse::<i64>().is_ok() {
            return;
        }
        if let Ok(value) = content.parse::<i128>() {
            self.below_i64 |= value < 0;
            self.above_i64 |= value > 0;
            self.above_u64 |= value > i128::from(u64::MAX);
        } else if content.parse::<u128>().is_ok() {
            self.above_i128.get_or_insert_with(|| place.into());
        } else {
            self.beyond_128_bits.get_or_insert_with(|| place.into());
        }
    }

    /// What the words say together.
    pub(in crate::sort) fn inferred(self) -> Result<Inferred, Refusal> {
        let key_type = self.key_type()?;
        let rounded = self.inexact_decimal.filter(|_| key_type == KeyType::F64).map(|place| {
            place.refused(
                "has more digits than f64 holds and is rounded, and so are others like it: say --type f64 to round \
                 without this note, or --exact to refuse",
            )
        });
        Ok(Inferred { key_type, rounded })
    }

    fn key_type(&self) -> Result<KeyType, Refusal> {
        if self.truth.is_some() {
            return Ok(KeyType::Bool);
        }
        if self.has_fraction {
            return match &self.inexact_whole {
                Some(place) => {
                    Err(place.refused("has more digits than f64 holds: say --type f64 to round it"))
                }
                None => Ok(KeyType::F64),
            };
        }
        if let Some(place) = &self.beyond_128_bits {
            return Err(
                place.refused("is too large for a whole number of 128 bits: say --type f64 to round it")
            );
        }
        match (&self.above_i128, self.has_negative) {
            (Some(place), true) => {
                Err(place.refused("fits no type that also has negative numbers: say --type f64 to round it"))
            }
            (Some(_), false) => Ok(KeyType::U128),
            (None, _) if self.above_u64 || self.below_i64 => Ok(KeyType::I128),
            (None, true) if self.above_i64 => Ok(KeyType::I128),
            (None, false) if self.above_i64 => Ok(KeyType::U64),
            (None, _) => Ok(KeyType::I64),
        }
    }
}

/// Whether a number is how some program writes an `f64`. What is too large for one is refused when it is read.
fn is_f64(number: &str) -> bool {
    number.parse().is_ok_and(|value: f64| value.is_infinite() || has_digits_of(number, value))
}

fn mixed(number: &Witness, truth: &Witness) -> Refusal {
    let number_is_first = (number.source, number.position) < (truth.source, truth.position);
    let (first, second) = if number_is_first { (number, truth) } else { (truth, number) };
    second.refused(&format!(
        "stands among keys of another type, as {} on line {} is: write numbers only, or true and false only",
        first.quoted, first.position.line
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::formats::text::word::Comments;

    fn inferred(text: &str) -> Result<Inferred, Refusal> {
        infer(super::super::places(&[text.as_bytes()], Comments::LeftOut))
    }

    fn of(text: &str) -> Result<KeyType, String> {
        inferred(text).map(|inferred| inferred.key_type).map_err(|refusal| refusal.reason)
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
            // Zero has no digits that could be too many.
            ("0.5 +0", KeyType::F64),
            ("0.5 +0000000000000000000000", KeyType::F64),
            ("+0", KeyType::I64),
            ("0x10 1_000", KeyType::I64),
            ("0xffffffffffffffff", KeyType::U64),
            ("1_0.5", KeyType::F64),
            ("1 # 2.5\n# true", KeyType::I64),
        ];
        for (text, key_type) in cases {
            assert_eq!(of(text), Ok(key_type), "{text}");
        }
    }

    #[test]
    fn what_no_type_holds_is_refused_with_its_position() {
        let cases = [
            ("1\n2 abc", "line 2, column 3: 'abc' is no number: write numbers with white space between them"),
            (
                "1,2",
                "line 1, column 1: '1,2' is no number: write numbers with white space between them, or sort lines by one \
                 of their columns with --key",
            ),
            (
                "0x1ffffffffffffffffffffffffffffffff",
                "line 1, column 1: '0x1ffffffffffffffffffffffffffffffff' has more than the 128 bits that are read of a \
                 hexadecimal number: write it in decimal digits and say --type f64 to round it",
            ),
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

    #[test]
    fn a_decimal_that_is_rounded_is_told_once() {
        let rounded = |text| inferred(text).unwrap().rounded.map(|refusal| refusal.reason);
        let told = rounded("1.5\n 0.1234567890123456789 0.50000000000000000001").unwrap();
        assert!(
            told.starts_with(
                "line 2, column 2: '0.1234567890123456789' has more digits than f64 holds and is rounded"
            ),
            "{told}"
        );
        assert!(rounded("1e-400").is_some());
        for held in
            ["0.1 2.5 1e300 -0.30000000000000004 1.000000000000000056e-01 nan inf", "1 2", "true", "1e999"]
        {
            assert_eq!(rounded(held), None, "{held}");
        }
    }
}
