//! Words of a text, and where they stand.

use std::fmt;

/// What is between two white spaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    /// Its first byte's place in the text.
    pub(super) offset: usize,
    pub(super) bytes: &'a [u8],
}

/// What some editors put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

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

/// A place in a text as editors count it: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// The place of the byte at `offset`.
pub(super) fn place(text: &[u8], offset: usize) -> Place {
    let before = &text[..offset];
    let before = before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before);
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let is_first_of_character = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
    Place { line, column: 1 + before[line_start..].iter().filter(is_first_of_character).count() }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
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
    fn places_count_lines_and_characters_from_one() {
        let text = "1 2\nä b\r\nc".as_bytes();
        let at = |offset| place(text, offset).to_string();
        assert_eq!(at(0), "line 1, column 1");
        assert_eq!(at(2), "line 1, column 3");
        assert_eq!(at(4), "line 2, column 1");
        assert_eq!(at(7), "line 2, column 3");
        assert_eq!(at(text.len() - 1), "line 3, column 1");
        assert_eq!(place(b"\xEF\xBB\xBFab", 4).to_string(), "line 1, column 2");
    }

    #[test]
    fn quoted_words_stay_on_one_line() {
        assert_eq!(quote("a\u{0}b"), "'a\\0b'");
        assert_eq!(quote(&"9".repeat(1000)), format!("'{}...'", "9".repeat(40)));
        assert_eq!(quote(&"9".repeat(40)), format!("'{}'", "9".repeat(40)));
    }
}
