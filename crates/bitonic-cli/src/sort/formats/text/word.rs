//! Words of a text.

use crate::sort::formats::Refusal;
use crate::text_position::{BYTE_ORDER_MARK, TextPosition};

/// What is between two white spaces.
#[derive(Clone, Copy, Debug)]
pub(in crate::sort) struct Word<'a> {
    /// How many bytes of the text stand before it.
    pub(in crate::sort) offset: usize,
    pub(in crate::sort) bytes: &'a [u8],
}

/// A word in one of several texts.
#[derive(Clone, Copy, Debug)]
pub(in crate::sort) struct Place<'a> {
    /// Which text.
    pub(in crate::sort) source: usize,
    pub(in crate::sort) text: &'a [u8],
    /// Where the text begins, if it is a part of a longer one.
    pub(in crate::sort) origin: TextPosition,
    pub(in crate::sort) word: Word<'a>,
}

impl<'a> Place<'a> {
    pub(in crate::sort) fn position(&self) -> TextPosition {
        self.position_of(self.word.offset)
    }

    fn position_of(&self, offset: usize) -> TextPosition {
        TextPosition::of(self.text, offset).from(self.origin)
    }

    /// The word as text.
    pub(in crate::sort) fn content(&self) -> Result<&'a str, Refusal> {
        let Word { offset, bytes } = self.word;
        str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let reason = format!(
                "{}: byte {:#04x} is no UTF-8 text: say --format raw if the file holds bytes and not numbers as text",
                self.position_of(offset + at),
                bytes[at]
            );
            Refusal { source: self.source, reason }
        })
    }

    /// A refusal because of the word; `reason` goes on from the word itself.
    pub(in crate::sort) fn refused(&self, reason: &str) -> Refusal {
        Witness::from(*self).refused(reason)
    }
}

/// A word of which something may have to be said when its text is gone.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    pub(super) source: usize,
    pub(super) position: TextPosition,
    pub(super) quoted: String,
}

impl From<Place<'_>> for Witness {
    fn from(place: Place<'_>) -> Self {
        let quoted = quote(&String::from_utf8_lossy(place.word.bytes));
        Self { source: place.source, position: place.position(), quoted }
    }
}

impl Witness {
    /// A refusal because of the word; `reason` goes on from the word itself.
    pub(super) fn refused(&self, reason: &str) -> Refusal {
        let Self { source, position, quoted } = self;
        Refusal { source: *source, reason: format!("{position}: {quoted} {reason}") }
    }
}

/// Whether `#` and what follows it on its line is a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sort) enum Comments {
    LeftOut,
    /// Where `#` is a key like any other.
    AreWords,
}

/// The words of a text, separated by ASCII white space.
pub(super) fn words(text: &[u8], comments: Comments) -> impl Iterator<Item = Word<'_>> + Clone {
    let mut next = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    std::iter::from_fn(move || {
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let is_comment = |byte: &u8| *byte == b'#' && comments == Comments::LeftOut;
        let mut offset = next + text[next..].iter().position(|byte| !is_space(byte))?;
        while is_comment(&text[offset]) {
            offset += text[offset..].iter().position(|&byte| byte == b'\n')?;
            offset += text[offset..].iter().position(|byte| !is_space(byte))?;
        }
        let rest = &text[offset..];
        let ends = |byte: &u8| is_space(byte) || is_comment(byte);
        let bytes = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
        next = offset + bytes.len();
        Some(Word { offset, bytes })
    })
}

/// The word as a message shows it: on one line, and not longer than one.
pub(in crate::sort) fn quote(word: &str) -> String {
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
            words(text, Comments::LeftOut).map(|word| (word.offset, word.bytes)).collect()
        };
        assert_eq!(of(b" 1\t22\r\n\n333"), [(1, &b"1"[..]), (3, b"22"), (8, b"333")]);
        assert_eq!(of(b"\xEF\xBB\xBF7"), [(3, &b"7"[..])]);
        assert_eq!(of(b" \n"), []);
        assert_eq!(of(b""), []);
    }

    #[test]
    fn comments_go_from_their_sign_to_the_end_of_the_line() {
        let of = |text: &'static [u8], comments| -> Vec<&[u8]> {
            words(text, comments).map(|word| word.bytes).collect()
        };
        let text = b"# head 1\n\n 2#3\n#\n4 # five";
        assert_eq!(of(text, Comments::LeftOut), [&b"2"[..], b"4"]);
        assert_eq!(of(b"#", Comments::LeftOut), [&b""[..]; 0]);
        assert_eq!(of(b"a # #b", Comments::AreWords), [&b"a"[..], b"#", b"#b"]);
    }

    #[test]
    fn quoted_words_stay_on_one_line() {
        assert_eq!(quote("a\u{0}b"), "'a\\0b'");
        assert_eq!(quote(&"9".repeat(1000)), format!("'{}...'", "9".repeat(40)));
        assert_eq!(quote(&"9".repeat(40)), format!("'{}'", "9".repeat(40)));
    }
}
