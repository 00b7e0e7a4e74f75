//! Lengths on the command line: `1000`, `2^20`, `16K`, `1M`.

use std::str::FromStr;

/// A list of lengths between commas. K, M and G are powers of 1024, so that 1M is 2^20.
///
/// ```
/// use bitonic_bench::quantity::Sizes;
///
/// assert_eq!("100, 2^10,4K".parse::<Sizes>()?.0, [100, 1024, 4096]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(|size| parse(size.trim())).collect::<Result<_, _>>().map(Self)
    }
}

fn parse(text: &str) -> Result<usize, String> {
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let unit = units.iter().find_map(|&(letter, shift)| Some((text.strip_suffix(letter)?, shift)));
    let size = match (text.split_once('^'), unit) {
        (Some((base, exponent)), _) => power(base, exponent),
        (None, Some((digits, shift))) => {
            digits.parse::<usize>().ok().and_then(|count| count.checked_mul(1 << shift))
        }
        (None, None) => text.parse().ok(),
    };
    // Nothing can be said about the time per key of no keys.
    size.filter(|&size| size > 0).ok_or_else(|| {
        format!("'{text}' is no length: write 1000, 2^20, 16K (16 x 2^10) or 1M (2^20), at least 1")
    })
}

fn power(base: &str, exponent: &str) -> Option<usize> {
    base.parse::<usize>().ok()?.checked_pow(exponent.parse().ok()?)
}

/// A length as people write it: powers of two from 2^10 on as such.
pub fn name(size: usize) -> String {
    if size >= 1 << 10 && size.is_power_of_two() { format!("2^{}", size.ilog2()) } else { size.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_ways_to_write_a_length() {
        for (text, size) in [
            ("1", 1),
            ("1000", 1000),
            ("2^4", 16),
            ("10^3", 1000),
            ("16K", 1 << 14),
            ("1M", 1 << 20),
            ("1G", 1 << 30),
        ] {
            assert_eq!(parse(text), Ok(size), "{text}");
        }
    }

    #[test]
    fn what_is_no_length_says_so() {
        for text in ["", "0", "0K", "-1", "K", "2^", "^2", "2^64", "1.5K", "1e6", "x"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!("16,,32".parse::<Sizes>().is_err());
    }

    proptest! {
        #[test]
        fn a_name_reads_back(size in 1_usize..) {
            prop_assert_eq!(parse(&name(size)), Ok(size));
        }

        #[test]
        fn any_text_is_answered_without_a_panic(text in ".{0,12}") {
            let _ = text.parse::<Sizes>();
        }
    }
}
