//! Counts on the command line: `1000`, `1_000`, `16M`, `2^24`, `1e6`.

/// Reads a count. K, M, G and T are powers of 1024 (so that 16M is 2^24), with or without a following `i`.
pub fn parse(text: &str) -> Result<usize, String> {
    let wrong = || format!("'{text}' is not a valid count: write 1000, 16M (16 x 2^20), 2^24 or 1e6");
    let too_large = || format!("'{text}' is more than this machine can count: use at most {}", usize::MAX);
    let cleaned: String = text.chars().filter(|&c| c != '_').collect();
    if let Some((base, exponent)) = cleaned.split_once('^') {
        let base: usize = base.parse().map_err(|_| wrong())?;
        let exponent: u32 = exponent.parse().map_err(|_| wrong())?;
        return base.checked_pow(exponent).ok_or_else(too_large);
    }
    let (digits, factor) = split_unit(&cleaned);
    if let Ok(count) = digits.parse::<usize>() {
        return count.checked_mul(factor).ok_or_else(too_large);
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty() {
        return Err(too_large());
    }
    match decimal(digits, factor) {
        Decimal::Count(count) => Ok(count),
        Decimal::TooLarge => Err(too_large()),
        Decimal::NoCount => Err(wrong()),
    }
}

/// What a decimal stands for.
enum Decimal {
    Count(usize),
    TooLarge,
    NoCount,
}

/// A decimal such as `1.5` or `1e6`, times the factor: a count if it is a whole number. In integers, which hold every
/// count; a double holds none of the odd ones above 2^53.
fn decimal(text: &str, factor: usize) -> Decimal {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let Ok(exponent) = exponent.parse::<i32>() else { return Decimal::NoCount };
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return Decimal::NoCount;
    }
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let zeros = digits.len() - significant.len();
    let power = i64::from(exponent) + zeros as i64 - fraction.len() as i64;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Decimal::Count(0);
    }
    let scaled = significant.parse::<u128>().ok().and_then(|value| value.checked_mul(factor as u128));
    // Ten to the power of 38 is the last that 128 bits hold.
    let ten_to = u32::try_from(power.unsigned_abs()).ok().and_then(|power| 10_u128.checked_pow(power));
    match (scaled, ten_to, power >= 0) {
        (Some(value), Some(ten_to), true) => {
            let count = value.checked_mul(ten_to).and_then(|count| usize::try_from(count).ok());
            count.map_or(Decimal::TooLarge, Decimal::Count)
        }
        (Some(value), Some(ten_to), false) if value % ten_to == 0 => {
            usize::try_from(value / ten_to).map_or(Decimal::TooLarge, Decimal::Count)
        }
        (_, _, true) => Decimal::TooLarge,
        (_, _, false) => Decimal::NoCount,
    }
}

/// A count as one writes it: `2^24`, `1000`.
pub fn name(count: usize) -> String {
    // Small powers are better known by their digits.
    if count.is_power_of_two() && count >= 1 << 10 {
        format!("2^{}", count.ilog2())
    } else {
        count.to_string()
    }
}

fn split_unit(text: &str) -> (&str, usize) {
    let trimmed = text.strip_suffix('i').unwrap_or(text);
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    for (letter, shift) in units {
        let stripped =
            trimmed.strip_suffix(letter).or_else(|| trimmed.strip_suffix(letter.to_ascii_lowercase()));
        if let Some(digits) = stripped {
            return (digits, 1_usize.checked_shl(shift).unwrap_or(usize::MAX));
        }
    }
    (text, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_ways_to_write_a_count() {
        let counts = [
            ("0", 0),
            ("1000", 1000),
            ("1_000", 1000),
            ("16M", 1 << 24),
            ("16Mi", 1 << 24),
            ("16m", 1 << 24),
            ("4k", 4096),
            ("1.5K", 1536),
            ("2^24", 1 << 24),
            ("3^4", 81),
            ("1e6", 1_000_000),
            ("2.5e3", 2500),
            ("1E3", 1000),
            ("1e+3", 1000),
            ("0e999", 0),
            ("0.000", 0),
            ("1.0e0", 1),
            ("1230000e-4", 123),
            ("0.0009765625M", 1024),
            ("1e17", 100_000_000_000_000_000),
            ("9007199254740993e0", 9_007_199_254_740_993),
            ("1.8446744073709551615e19", usize::MAX),
            ("1G", 1 << 30),
        ];
        for (text, count) in counts {
            assert_eq!(parse(text), Ok(count), "{text}");
        }
    }

    #[test]
    fn what_is_no_count_says_so() {
        for text in [
            "",
            "M",
            "i",
            "x",
            "-1",
            "1.5",
            "2^",
            "^2",
            "2^-1",
            "nan",
            "inf",
            "1e400",
            "1e-1",
            "1e",
            "1e1.5",
            "1.2.3",
            "1e99999999999",
            "1.8446744073709551616e19",
            "2^64",
            "99999999999999999999",
            "1 2",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_count_that_is_too_large_is_told_from_none() {
        for text in ["1e400", "1e20", "1.8446744073709551616e19", "2e10T"] {
            assert!(parse(text).unwrap_err().contains("more than this machine can count"), "{text}");
        }
        for text in ["1.5", "1e-400", "1.00000000000000000000000000000000000000000001e3"] {
            assert!(parse(text).unwrap_err().contains("is not a valid count"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered_without_a_panic(
            text in ".{0,12}",
            near in "[0-9]{0,45}[.]?[0-9]{0,45}([eE][-+]?[0-9]{0,12})?[KMGTkmgt]?i?",
        ) {
            let _ = parse(&text);
            let _ = parse(&near);
        }

        #[test]
        fn every_count_reads_back(count: usize, log2 in 0..usize::BITS) {
            for count in [count, 1 << log2] {
                prop_assert_eq!(parse(&count.to_string()), Ok(count));
                prop_assert_eq!(parse(&name(count)), Ok(count));
                prop_assert_eq!(parse(&format!("{count}.0")), Ok(count));
                prop_assert_eq!(parse(&format!("{count}00e-2")), Ok(count));
            }
        }
    }
}
