//! Positions in a text.

use std::fmt;

/// What some editors put before UTF-8 text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A position in a text as editors count it: lines and columns from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextPosition {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl TextPosition {
    /// Where every text begins.
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The same position in a text of which this one is a part that begins at `origin`.
    pub(crate) fn from(self, origin: Self) -> Self {
        match self.line {
            1 => Self { line: origin.line, column: origin.column + self.column - 1 },
            line => Self { line: origin.line + line - 1, column: self.column },
        }
    }

    /// The position of the byte at `offset`.
    pub(crate) fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset];
        let before = before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let is_first_of_character = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
        Self { line, column: 1 + before[line_start..].iter().filter(is_first_of_character).count() }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = "1 2\nä b\r\nc".as_bytes();
        let at = |offset| TextPosition::of(text, offset).to_string();
        assert_eq!(at(0), "line 1, column 1");
        assert_eq!(at(2), "line 1, column 3");
        assert_eq!(at(4), "line 2, column 1");
        assert_eq!(at(7), "line 2, column 3");
        assert_eq!(at(text.len() - 1), "line 3, column 1");
        let part =
            |offset| TextPosition::of(&text[6..], offset - 6).from(TextPosition::of(text, 6)).to_string();
        assert_eq!((part(7), part(text.len() - 1)), (at(7), at(text.len() - 1)));
        assert_eq!(TextPosition::of(b"\xEF\xBB\xBFab", 4).to_string(), "line 1, column 2");
    }
}
