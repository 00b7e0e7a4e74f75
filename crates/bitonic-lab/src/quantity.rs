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
    // 1e6, 1.5M: exact as long as the result is a whole number.
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(wrong());
    }
    let value = digits.parse::<f64>().map_err(|_| wrong())? * factor as f64;
    if value.fract() != 0.0 {
        return Err(wrong());
    }
    // Above 2^53 a double no longer holds every count; nobody means such a number by 1e17.
    if value > (1_u64 << 53) as f64 { Err(too_large()) } else { Ok(value as usize) }
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
            "2^64",
            "99999999999999999999",
            "1 2",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered_without_a_panic(text in ".{0,12}") {
            let _ = parse(&text);
        }

        #[test]
        fn every_count_reads_back(count: usize, log2 in 0..usize::BITS) {
            for count in [count, 1 << log2] {
                prop_assert_eq!(parse(&count.to_string()), Ok(count));
                prop_assert_eq!(parse(&name(count)), Ok(count));
            }
        }
    }
}
