//! Sizes as experiments write them.

use crate::quantity;

/// More sizes than anybody measures; a slip such as `1..1e9 + 1` would be a list without end.
const MOST: usize = 10_000;

/// The sizes that a text stands for.
///
/// | text | sizes |
/// |---|---|
/// | `1000`, `16K`, `2^20`, `1e6` | this one |
/// | `2^10..2^20` | from the first, doubled as long as it is at most the last |
/// | `100..1e6 * 10` | the same with another factor |
/// | `1000..5000 + 1000` | the same with a sum instead |
///
/// ```
/// assert_eq!(bitonic_lab::experiment::sizes("2^3..2^5")?, [8, 16, 32]);
/// assert_eq!(bitonic_lab::experiment::sizes("10..30 + 10")?, [10, 20, 30]);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// What is wrong with the text.
pub fn sizes(text: &str) -> Result<Vec<usize>, String> {
    let Some((first, rest)) = text.split_once("..") else {
        return quantity::parse(text.trim()).map(|size| vec![size]);
    };
    let (last, next): (&str, Box<dyn Fn(usize) -> usize>) = if let Some((last, factor)) = rest.split_once('*')
    {
        match quantity::parse(factor.trim())? {
            0 | 1 => return Err(format!("'{text}' never ends: use a factor of at least 2")),
            factor => (last, Box::new(move |size| size.saturating_mul(factor))),
        }
    } else if let Some((last, step)) = rest.split_once('+') {
        match quantity::parse(step.trim())? {
            0 => return Err(format!("'{text}' never ends: use a step of at least 1")),
            step => (last, Box::new(move |size| size.saturating_add(step))),
        }
    } else {
        (rest, Box::new(|size| size.saturating_mul(2)))
    };
    let (first, last) = (quantity::parse(first.trim())?, quantity::parse(last.trim())?);
    if first == 0 || first > last {
        return Err(format!("'{text}' holds no size: write the smaller one first, from 1 on"));
    }
    let mut sizes = vec![first];
    loop {
        let size = next(sizes[sizes.len() - 1]);
        if size > last || size == sizes[sizes.len() - 1] {
            return Ok(sizes);
        }
        if sizes.len() == MOST {
            return Err(format!("'{text}' holds more than {MOST} sizes: use larger steps"));
        }
        sizes.push(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_ranges_and_powers() {
        assert_eq!(sizes("1000"), Ok(vec![1000]));
        assert_eq!(sizes("2^15..2^18"), Ok(vec![1 << 15, 1 << 16, 1 << 17, 1 << 18]));
        assert_eq!(sizes("100 .. 1e5 * 10"), Ok(vec![100, 1000, 10_000, 100_000]));
        assert_eq!(sizes("1..4 + 1"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(sizes("5..6"), Ok(vec![5]));
    }

    #[test]
    fn what_is_no_size_says_why() {
        for (text, reason) in [
            ("2^20..2^10", "holds no size"),
            ("0..8", "holds no size"),
            ("1..8 * 1", "never ends"),
            ("1..8 + 0", "never ends"),
            ("1..1e9 + 1", "more than 10000 sizes"),
            ("x..8", "is not a valid count"),
        ] {
            let message = sizes(text).unwrap_err();
            assert!(message.contains(reason), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered_without_a_panic(text in "[0-9^.*+ KeMx]{0,14}") {
            let _ = sizes(&text);
        }
    }
}
