//! A text in blocks that are cut between words.
//!
//! A block ends before white space, with which the next one begins: before the end of a line if there is one in the block, so that
//! comments stay whole. Of a comment that is longer than a block only its sign is kept until its line ends.

use crate::text_position::TextPosition;
use std::io::{self, Read};

/// A part of a text.
pub(super) struct Block<'a> {
    pub(super) text: &'a [u8],
    /// Where it begins.
    pub(super) origin: TextPosition,
}

/// The blocks of a text, one after the other.
pub(super) struct Blocks<R> {
    source: R,
    length: usize,
    /// What was read: the block that was handed over, and what is not in a block yet.
    text: Vec<u8>,
    /// How long the block is that was handed over.
    handed_over: usize,
    /// Where it begins.
    origin: TextPosition,
    has_comments: bool,
    is_at_end: bool,
}

impl<R: Read> Blocks<R> {
    /// Blocks of this length, or as long as their only word.
    pub(super) fn new(source: R, length: usize, has_comments: bool) -> Self {
        let origin = TextPosition::START;
        Self { source, length, text: Vec::new(), handed_over: 0, origin, has_comments, is_at_end: false }
    }

    /// The next block, or none after the last.
    pub(super) fn next_block(&mut self) -> io::Result<Option<Block<'_>>> {
        let before = std::mem::take(&mut self.handed_over);
        self.origin = TextPosition::of(&self.text, before).from(self.origin);
        self.text.drain(..before);
        self.handed_over = loop {
            if !self.is_at_end {
                // At least a byte more than before, or there is no end to this.
                let more = self.length.saturating_sub(self.text.len()).max(self.length / 2 + 1);
                self.is_at_end = read_more(&mut self.source, more, &mut self.text)? < more;
            }
            let end = match self.is_at_end {
                true => Some(self.text.len()),
                false => self.cut(),
            };
            // The first byte alone would be no progress.
            if let Some(end) = end.filter(|&end| end > 0) {
                break end;
            }
            if self.is_at_end {
                return Ok(None);
            }
        };
        Ok(Some(Block { text: &self.text[..self.handed_over], origin: self.origin }))
    }

    /// Where the text, which goes on, may be cut.
    fn cut(&mut self) -> Option<usize> {
        let Self { text, has_comments, .. } = self;
        if let Some(end) = text.iter().rposition(|&byte| byte == b'\n').filter(|&end| end > 0) {
            return Some(end);
        }
        let sign = text.iter().position(|&byte| byte == b'#' && *has_comments);
        match sign {
            Some(sign) => {
                // All that follows is comment, of which only the sign matters.
                text.truncate(sign + 1);
                (sign > 0).then_some(sign)
            }
            None => text.iter().rposition(u8::is_ascii_whitespace),
        }
    }
}

/// Appends so many bytes, or as many as there are, and takes no more memory than they need. Tells how many came.
pub(super) fn read_more(source: &mut impl Read, more: usize, text: &mut Vec<u8>) -> io::Result<usize> {
    text.try_reserve_exact(more)?;
    source.by_ref().take(more as u64).read_to_end(text)
}

/// Cuts a block in as many parts as there are threads, between lines; each with the place where it begins.
pub(super) fn parts<'a>(block: &Block<'a>, count: usize) -> Vec<(&'a [u8], TextPosition)> {
    let Block { text, origin } = block;
    let mut parts = Vec::new();
    let mut start = 0;
    for number in 1..=count {
        let wanted = (text.len() * number / count).max(start + 1).min(text.len());
        let end = match number == count {
            true => text.len(),
            false => {
                text[wanted..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |more| wanted + more)
            }
        };
        if end > start {
            parts.push((&text[start..end], TextPosition::of(text, start).from(*origin)));
            start = end;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::super::formats::text::{Comments, places, places_of_part};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_and_their_parts_have_the_words_of_the_text_with_their_positions(
            words in prop::collection::vec(("[0-9ä]{1,9}", "[ \t\n]{1,2}|\n\n|#[a-z ]{0,40}\n| #\n"), 0..40),
            length in 2..60_usize,
            threads in 1..4_usize,
        ) {
            let text: String = words.into_iter().flat_map(|(word, space)| [word, space]).collect();
            for comments in [Comments::LeftOut, Comments::AreWords] {
                let whole = [text.as_bytes()];
                let expected: Vec<_> = places(&whole, comments)
                    .map(|place| (place.word.bytes.to_vec(), place.position()))
                    .collect();
                let mut blocks = Blocks::new(text.as_bytes(), length, comments == Comments::LeftOut);
                let mut found = Vec::new();
                while let Some(block) = blocks.next_block().unwrap() {
                    for (part, origin) in parts(&block, threads) {
                        let words = places_of_part(0, part, origin, comments);
                        found.extend(words.map(|place| (place.word.bytes.to_vec(), place.position())));
                    }
                }
                prop_assert_eq!(found, expected);
            }
        }
    }
}
