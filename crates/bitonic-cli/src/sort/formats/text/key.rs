//! Every key type as text.

use super::number::{has_digits_of, plain};
use super::word::Comments;
use bitonic::Key;
use bitonic::key::{F8E4M3, F8E5M2, bf16, f16};
use std::io::Write;

/// A key that can be written as a word and read from it. What is written reads back to the same bits, but for NaNs,
/// of which only the sign is written.
pub(crate) trait TextKey: Key {
    /// Whether keys are written as numbers.
    const IS_NUMBER: bool;

    /// What `#` means among such keys.
    const COMMENTS: Comments = Comments::LeftOut;

    /// Reads a word; `None` if it stands for no key of this type.
    fn read(word: &str) -> Option<Self>;

    /// Appends the shortest word that reads back.
    fn append(self, out: &mut Vec<u8>);

    /// Whether the word that it was read from has no digits that the key does not hold.
    fn holds(self, _word: &str) -> bool {
        true
    }

    /// How keys are written, for people.
    fn written() -> String;
}

macro_rules! integers {
    ($($type:ty),+) => { $(
        impl TextKey for $type {
            const IS_NUMBER: bool = true;

            #[inline]
            fn read(word: &str) -> Option<Self> {
                word.parse().ok().or_else(|| plain(word)?.parse().ok())
            }

            #[inline]
            fn append(self, out: &mut Vec<u8>) {
                append_display(format_args!("{self}"), out);
            }

            fn written() -> String {
                format!("whole numbers from {} to {}", Self::MIN, Self::MAX)
            }
        }
    )+ };
}

integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

macro_rules! floats {
    ($($type:ty, $parse:expr, $append_finite:expr;)+) => { $(
        impl TextKey for $type {
            const IS_NUMBER: bool = true;

            #[inline]
            fn read(word: &str) -> Option<Self> {
                let value: Self = $parse(word).or_else(|| $parse(&plain(word)?))?;
                // A finite number may lose digits, but it must not become infinite, or NaN where the type has no infinity.
                let is_finite = !value.is_infinite() && !value.is_nan();
                let is_named = value.is_infinite() && names_infinity(word) || value.is_nan() && names_nan(word);
                (is_finite || is_named).then_some(value)
            }

            #[inline]
            fn append(self, out: &mut Vec<u8>) {
                match (self.is_nan(), self.is_sign_negative()) {
                    (true, true) => out.extend_from_slice(b"-nan"),
                    (true, false) => out.extend_from_slice(b"nan"),
                    (false, _) => $append_finite(self, out),
                }
            }

            fn holds(self, word: &str) -> bool {
                has_digits_of(plain(word).as_deref().unwrap_or(word), self.into())
            }

            fn written() -> String {
                let [mut least, mut greatest] = [Vec::new(), Vec::new()];
                Self::MIN.append(&mut least);
                Self::MAX.append(&mut greatest);
                let [least, greatest] = [least, greatest].map(|text| String::from_utf8_lossy(&text).into_owned());
                let infinity = if Self::read("inf").is_some() { ", inf" } else { "" };
                format!("numbers from {least} to {greatest}{infinity} and nan")
            }
        }
    )+ };
}

floats! {
    f64, parse, append_float;
    f32, parse, append_float;
    f16, |word: &str| parse(word).map(f16::from_f64), append_short::<f16>;
    bf16, |word: &str| parse(word).map(bf16::from_f64), append_short::<bf16>;
    F8E4M3, |word: &str| parse(word).map(F8E4M3::from_f64), append_short::<F8E4M3>;
    F8E5M2, |word: &str| parse(word).map(F8E5M2::from_f64), append_short::<F8E5M2>;
}

fn parse<F: std::str::FromStr>(word: &str) -> Option<F> {
    word.parse().ok()
}

fn names_infinity(word: &str) -> bool {
    word.trim_start_matches(['+', '-']).starts_with(['i', 'I'])
}

fn names_nan(word: &str) -> bool {
    word.trim_start_matches(['+', '-']).starts_with(['n', 'N'])
}

/// `Debug` has the fewest digits that read back, and an exponent where that is shorter; whole numbers end in `.0`, which
/// says nothing.
fn append_float(value: impl std::fmt::Debug, out: &mut Vec<u8>) {
    append_display(format_args!("{value:?}"), out);
    if out.ends_with(b".0") {
        out.truncate(out.len() - 2);
    }
}

/// A float of 16 bits or 8 has so few digits that trying them is quick: 0.1 and not 0.099975586.
fn append_short<F: Into<f64> + TextKey>(value: F, out: &mut Vec<u8>) {
    const MOST_DIGITS_AFTER_FIRST: usize = 4;
    let exact: f64 = value.into();
    let reads_back = |short: &f64| {
        F::read(&format!("{short:e}")).is_some_and(|key| key.to_raw_bits() == value.to_raw_bits())
    };
    let shortest = (0..=MOST_DIGITS_AFTER_FIRST)
        .find_map(|digits| parse(&format!("{exact:.digits$e}")).filter(reads_back));
    append_float(shortest.unwrap_or(exact), out);
}

fn append_display(text: std::fmt::Arguments, out: &mut Vec<u8>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "a vector takes every write");
}

impl TextKey for bool {
    const IS_NUMBER: bool = false;

    fn read(word: &str) -> Option<Self> {
        match word {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }

    fn append(self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self { b"true" } else { b"false" });
    }

    fn written() -> String {
        "written true, false, 1 or 0".to_owned()
    }
}

/// A character stands for itself; one that cannot be seen is written by its number, as in U+0020.
impl TextKey for char {
    const IS_NUMBER: bool = false;

    const COMMENTS: Comments = Comments::AreWords;

    fn read(word: &str) -> Option<Self> {
        let mut characters = word.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Some(character),
            _ => {
                let digits = word
                    .strip_prefix("U+")
                    .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)
            }
        }
    }

    fn append(self, out: &mut Vec<u8>) {
        // U+FEFF at the start of a text would be taken for its byte order mark.
        if self.is_whitespace() || self.is_control() || self == '\u{FEFF}' {
            append_display(format_args!("U+{:04X}", u32::from(self)), out);
        } else {
            out.extend_from_slice(self.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn written() -> String {
        "one character or its number, as in U+0041".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<K: TextKey>(key: K) -> String {
        let mut out = Vec::new();
        key.append(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_are_written_as_short_as_they_read_back() {
        assert_eq!(written(0.1_f64), "0.1");
        assert_eq!(written(0.1_f32), "0.1");
        assert_eq!(written(f16::from_f32(0.1)), "0.1");
        assert_eq!(written(bf16::from_f32(0.1)), "0.1");
        assert_eq!(written(F8E4M3::from_f64(0.1)), "0.1");
        assert_eq!(written(F8E5M2::from_f64(-0.1)), "-0.09");
        assert_eq!(written(2.0_f64), "2");
        assert_eq!(written(-0.0_f64), "-0");
        assert_eq!(written(f16::from_f32(-0.0)), "-0");
        assert_eq!(written(1e300_f64), "1e300");
        assert_eq!(written(5e-324_f64), "5e-324");
        assert_eq!(written(f64::NAN), "nan");
        assert_eq!(written(-f64::NAN), "-nan");
        assert_eq!(written(f16::NEG_INFINITY), "-inf");
        assert_eq!(written(f32::INFINITY), "inf");
    }

    #[test]
    fn every_16_bit_float_reads_back() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            if !half.is_nan() {
                assert_eq!(f16::read(&written(half)).map(f16::to_bits), Some(bits), "f16 {half}");
                let digits = written(half)
                    .trim_start_matches(['-', '0', '.'])
                    .split('e')
                    .next()
                    .unwrap()
                    .replace('.', "");
                assert!(digits.len() <= 5, "{digits} for f16 {half}");
            }
            if !brain.is_nan() {
                assert_eq!(bf16::read(&written(brain)).map(bf16::to_bits), Some(bits), "bf16 {brain}");
            }
        }
    }

    #[test]
    fn the_sign_of_nans_and_zeros_is_read() {
        for (word, negative) in
            [("nan", false), ("-nan", true), ("NaN", false), ("+nan", false), ("-0", true), ("0", false)]
        {
            assert_eq!(f64::read(word).unwrap().is_sign_negative(), negative, "{word}");
            assert_eq!(f32::read(word).unwrap().is_sign_negative(), negative, "{word}");
            assert_eq!(f16::read(word).unwrap().is_sign_negative(), negative, "{word}");
            assert_eq!(bf16::read(word).unwrap().is_sign_negative(), negative, "{word}");
        }
    }

    #[test]
    fn a_finite_number_does_not_become_infinite() {
        assert_eq!(f64::read("1e400"), None);
        assert_eq!(f16::read("65520"), None);
        assert_eq!(f16::read("65519"), Some(f16::MAX));
        assert_eq!(f16::read("-Infinity"), Some(f16::NEG_INFINITY));
        assert_eq!(f32::read("1e-400"), Some(0.0));
        assert_eq!(F8E5M2::read("61440"), None);
        assert_eq!(F8E5M2::read("inf").map(F8E5M2::to_f32), Some(f32::INFINITY));
        // A type without infinity.
        assert_eq!(F8E4M3::read("464"), Some(F8E4M3::MAX));
        assert_eq!([F8E4M3::read("-465"), F8E4M3::read("inf")], [None; 2]);
        assert!(F8E4M3::read("nan").unwrap().is_nan());
        assert_eq!(F8E4M3::written(), "numbers from -450 to 450 and nan");
    }

    #[test]
    fn separators_and_hexadecimal_digits_make_numbers_of_every_type() {
        assert_eq!(i16::read("-0x7F_FF"), Some(-0x7FFF));
        assert_eq!(u8::read("0x100"), None);
        assert_eq!(f32::read("1_000.5"), Some(1000.5));
        assert_eq!(f16::read("0x10"), Some(f16::from_f32(16.0)));
        assert_eq!(f64::read("0xff"), Some(255.0));
        assert_eq!(char::read("0x41"), None);
    }

    #[test]
    fn a_float_tells_the_digits_that_it_does_not_hold() {
        let holds = |word: &str| {
            [
                f64::read(word).unwrap().holds(word),
                f32::read(word).unwrap().holds(word),
                f16::read(word).unwrap().holds(word),
                bf16::read(word).unwrap().holds(word),
            ]
        };
        assert_eq!(holds("0.1"), [true; 4]);
        assert_eq!(holds("1_024"), [true; 4]);
        assert_eq!(holds("2049"), [true, true, false, false]);
        assert_eq!(holds("0.12345678"), [true, true, false, false]);
        assert_eq!(holds("0.1234567891"), [true, false, false, false]);
        assert_eq!(holds("0x101"), [true, true, true, false]);
        assert!(7_u8.holds("+0_7"));
    }

    #[test]
    fn characters_stand_for_themselves_or_by_number() {
        assert_eq!(char::read("ä"), Some('ä'));
        assert_eq!(char::read("7"), Some('7'));
        assert_eq!(char::read("U+1F600"), Some('\u{1F600}'));
        assert_eq!(char::read("U"), Some('U'));
        for word in ["ab", "U+", "U+D800", "U+110000", "U++41", "U+FFFFFFFFFF"] {
            assert_eq!(char::read(word), None, "{word}");
        }
        assert_eq!(written(' '), "U+0020");
        assert_eq!(written('\u{10FFFF}'), "\u{10FFFF}");
        assert_eq!(written('\u{0}'), "U+0000");
    }
}
