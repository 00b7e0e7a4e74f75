//! Numbers as people write them: with separators, in hexadecimal digits, with more digits than a float holds.

/// The number in decimal digits alone, if it has separators (`1_000`) or hexadecimal digits (`0x3E8`) and both are in place: a
/// separator stands between two digits, and hexadecimal digits make at most 128 bits.
pub(super) fn plain(word: &str) -> Option<String> {
    let (sign, rest) = match word.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    match hexadecimal(rest) {
        Some(digits) => {
            let digits = without_separators(digits, u8::is_ascii_hexdigit)?;
            let value = u128::from_str_radix(&digits, 16).ok()?;
            Some(format!("{sign}{value}"))
        }
        None if rest.contains('_') => {
            Some(format!("{sign}{}", without_separators(rest, u8::is_ascii_digit)?))
        }
        None => None,
    }
}

/// The digits of a hexadecimal number without a sign.
pub(super) fn hexadecimal(word: &str) -> Option<&str> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"))?;
    let is_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_');
    (is_digits && digits.bytes().any(|byte| byte != b'_')).then_some(digits)
}

fn without_separators(digits: &str, is_digit: fn(&u8) -> bool) -> Option<String> {
    let bytes = digits.as_bytes();
    let is_digit_at = |at: usize| bytes.get(at).is_some_and(is_digit);
    let is_in_place = |(at, _): (usize, &u8)| at > 0 && is_digit_at(at - 1) && is_digit_at(at + 1);
    let mut separators = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_');
    separators.all(is_in_place).then(|| digits.replace('_', ""))
}

/// Whether the digits of a decimal are those of the float that it was read as, to as many places as it has. Then it is how
/// some program writes that float, be it with the fewest digits that read back, with a fixed number of them or with all.
pub(super) fn has_digits_of(decimal: &str, value: f64) -> bool {
    // No double has more; formatting more than 65535 is refused.
    const MOST_DIGITS: usize = 767;
    let unsigned = decimal.trim_start_matches(['-', '+']);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        // A NaN, or infinite by name.
        return true;
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let from_first = all.trim_start_matches('0');
    let digits = from_first.trim_end_matches('0');
    if digits.is_empty() {
        return true;
    }
    if digits.len() > MOST_DIGITS || value == 0.0 || !value.is_finite() {
        return false;
    }
    let leading_zeros = all.len() - from_first.len();
    // An exponent that is no i64 makes every number zero or infinite.
    let Ok(exponent) = exponent.parse::<i64>() else { return false };
    let first_digit_stands_for = exponent.saturating_add(whole.len() as i64 - leading_zeros as i64 - 1);
    let written = format!("{:.*e}", digits.len() - 1, value.abs());
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    mantissa.bytes().filter(|&byte| byte != b'.').eq(digits.bytes())
        && exponent.parse() == Ok(first_digit_stands_for)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_and_hexadecimal_digits_are_read_where_they_are_in_place() {
        let cases = [
            ("1_000", "1000"),
            ("-1_000_000", "-1000000"),
            ("+1_0.5_0e1_0", "10.50e10"),
            ("0x1F", "31"),
            ("0Xff", "255"),
            ("-0x10", "-16"),
            ("0xdead_beef", "3735928559"),
            ("0xffffffffffffffffffffffffffffffff", "340282366920938463463374607431768211455"),
        ];
        for (word, number) in cases {
            assert_eq!(plain(word).as_deref(), Some(number), "{word}");
        }
        for word in [
            "1000",
            "_1",
            "1_",
            "1__0",
            "1_.5",
            "1._5",
            "1_e5",
            "-_1",
            "_",
            "0x",
            "0x_1",
            "0x1_",
            "0xg",
            "0x-1",
            "0x+1",
            "x1",
            "",
            "-",
            "0x1.8p1",
            "0x1ffffffffffffffffffffffffffffffff",
        ] {
            assert_eq!(plain(word), None, "{word}");
        }
    }

    #[test]
    fn digits_of_a_double_are_told_from_others() {
        let held = [
            "0",
            "-0.000",
            "0e999999999999999999999",
            "0.1",
            "+0.1",
            ".5",
            "5.",
            "0.10",
            "1e300",
            "100e298",
            "5e-324",
            "4.9e-324",
            "9007199254740992",
            "1180591620717411303424",
            "001180591620717411300000",
            "nan",
            "-inf",
            // With 17, 19 and all digits.
            "0.10000000000000001",
            "1.000000000000000056e-01",
            "0.1000000000000000055511151231257827021181583404541015625",
        ];
        for word in held {
            assert!(has_digits_of(word, word.parse().unwrap()), "{word}");
        }
        let rounded = [
            "9007199254740993",
            "0.5000000000000000001",
            "0.1000000000000000055511151231257828",
            "1e-400",
            "3e-324",
            "123456789012345678.9",
            "1e-99999999999999999999",
        ];
        for word in rounded {
            assert!(!has_digits_of(word, word.parse().unwrap()), "{word}");
        }
        let long = format!("0.{}", "3".repeat(100_000));
        assert!(!has_digits_of(&long, 1.0 / 3.0));
    }
}
