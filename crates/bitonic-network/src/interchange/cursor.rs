//! A place in a text, and the few steps both parsers take through it.

use std::fmt;

use super::ParseError;

/// A line and a column, both counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    line: usize,
    column: usize,
}

impl Position {
    /// The error for what stands here.
    pub(super) fn error(self, reason: impl Into<String>) -> ParseError {
        ParseError { line: self.line, column: self.column, reason: reason.into() }
    }
}

/// Walks a text once, from its first character to its last.
#[derive(Clone)]
pub(super) struct Cursor<'text> {
    rest: &'text str,
    position: Position,
    is_blank: fn(char) -> bool,
}

impl<'text> Cursor<'text> {
    /// A cursor before the first character. Blanks are the characters that may stand between any two others.
    pub(super) fn new(text: &'text str, is_blank: fn(char) -> bool) -> Self {
        Self { rest: text, position: Position { line: 1, column: 1 }, is_blank }
    }

    /// The next character's place.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// The next character, blank or not.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Steps over the next character, blank or not.
    pub(super) fn advance(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        if next == '\n' {
            self.position.line += 1;
            self.position.column = 1;
        } else {
            self.position.column += 1;
        }
        Some(next)
    }

    /// Steps over characters as long as they are of the kind.
    pub(super) fn skip_while(&mut self, kind: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&kind) {
            self.advance();
        }
    }

    /// Steps over blanks.
    pub(super) fn skip_blanks(&mut self) {
        self.skip_while(self.is_blank);
    }

    /// Steps over a word when it comes next.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let comes_next = self.rest.starts_with(word);
        if comes_next {
            for _ in word.chars() {
                self.advance();
            }
        }
        comes_next
    }

    /// Steps over blanks and the character that must follow; `place` says where that is.
    pub(super) fn expect(&mut self, character: char, place: &str) -> Result<(), ParseError> {
        self.skip_blanks();
        if self.peek() != Some(character) {
            return Err(self.expected(format_args!("{character:?} {place}")));
        }
        self.advance();
        Ok(())
    }

    /// Reads items between an opening and a closing character, with commas between them.
    pub(super) fn items(
        &mut self,
        [open, close]: [char; 2],
        what: &str,
        mut item: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        self.skip_blanks();
        if self.peek() != Some(open) {
            return Err(self.expected(format_args!("{open:?} to open {what}")));
        }
        self.advance();
        self.skip_blanks();
        if self.peek() == Some(close) {
            self.advance();
            return Ok(());
        }
        loop {
            item(self)?;
            self.skip_blanks();
            match self.peek() {
                Some(',') => self.advance(),
                Some(end) if end == close => {
                    self.advance();
                    return Ok(());
                }
                _ => return Err(self.expected(format_args!("',' or {close:?} in {what}"))),
            };
        }
    }

    /// Steps over blanks and reads a whole number up to `limit`.
    pub(super) fn number(&mut self, what: &str, limit: usize) -> Result<usize, ParseError> {
        self.skip_blanks();
        let start = self.position;
        let mut value: Option<usize> = None;
        while let Some(digit) = self.peek().and_then(|next| next.to_digit(10)) {
            self.advance();
            // Past the limit the value no longer matters; saturation keeps it past the limit.
            value = Some(value.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize));
        }
        match value {
            None => Err(self.expected(format_args!("{what}"))),
            Some(value) if value > limit => {
                Err(start.error(format!("expected {what} of at most {limit}, found a larger number")))
            }
            Some(value) => Ok(value),
        }
    }

    /// The error for something that does not come next.
    pub(super) fn expected(&self, what: fmt::Arguments<'_>) -> ParseError {
        let found = match self.peek() {
            None => "the end of the text".to_owned(),
            Some('\n') => "the end of the line".to_owned(),
            Some(other) => format!("{other:?}"),
        };
        self.position.error(format!("expected {what}, found {found}"))
    }
}
