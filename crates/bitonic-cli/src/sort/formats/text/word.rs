//! Words of a text.

use crate::text_position::BYTE_ORDER_MARK;

/// What is between two white spaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    /// How many bytes of the text stand before it.
    pub(super) offset: usize,
    pub(super) bytes: &'a [u8],
}

/// The words of a text, separated by ASCII white space.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = Word<'_>> {
    let mut next = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    std::iter::from_fn(move || {
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let offset = next + text[next..].iter().position(|byte| !is_space(byte))?;
        let rest = &text[offset..];
        let bytes = &rest[..rest.iter().position(is_space).unwrap_or(rest.len())];
        next = offset + bytes.len();
        Some(Word { offset, bytes })
    })
}

/// The word as a message shows it: on one line, and not longer than one.
pub(super) fn quote(word: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = word.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if word.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    format!("'{shown}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_stands_between_white_space() {
        let of = |text: &'static [u8]| -> Vec<(usize, &[u8])> {
            words(text).map(|word| (word.offset, word.bytes)).collect()
        };
        assert_eq!(of(b" 1\t22\r\n\n333"), [(1, &b"1"[..]), (3, b"22"), (8, b"333")]);
        assert_eq!(of(b"\xEF\xBB\xBF7"), [(3, &b"7"[..])]);
        assert_eq!(of(b" \n"), []);
        assert_eq!(of(b""), []);
    }

    #[test]
    fn quoted_words_stay_on_one_line() {
        assert_eq!(quote("a\u{0}b"), "'a\\0b'");
        assert_eq!(quote(&"9".repeat(1000)), format!("'{}...'", "9".repeat(40)));
        assert_eq!(quote(&"9".repeat(40)), format!("'{}'", "9".repeat(40)));
    }
}
