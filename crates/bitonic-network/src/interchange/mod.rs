//! Networks as text: the plain list form and JSON, both directions.
//!
//! Both parsers read through one [`cursor`], which knows line and column, and collect what they read in one
//! [`draft`], which checks wires while their place in the text is still known.

mod cursor;
mod draft;
mod json;
mod list;

use std::fmt;

use crate::Network;

/// The most wires a network read from text may have: 2^24.
///
/// Wire numbers are read before anything is known about the network, so a slip of the keyboard could otherwise
/// ask for more memory than any machine has.
pub const MAX_WIRES: usize = 1 << 24;

impl Network {
    /// Reads a network in either of the two text forms, told apart by the first character that is not white
    /// space: `{` begins JSON ([`Network::from_json`]), anything else the list form ([`Network::from_list`]).
    ///
    /// ```
    /// use bitonic_network::Network;
    ///
    /// let list = Network::parse("[(0,2)]\n[(0,1)]\n[(1,2)]\n")?;
    /// let json = Network::parse(r#"{"wires": 3, "stages": [[[0, 2]], [[0, 1]], [[1, 2]]]}"#)?;
    /// assert_eq!(list, json);
    /// # Ok::<(), bitonic_network::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// The place of the first fault and what was expected there.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        if text.trim_start().starts_with('{') { Self::from_json(text) } else { Self::from_list(text) }
    }
}

/// Where and why a text is not a network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What was expected there, or which rule the text breaks.
    pub reason: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.reason)
    }
}

impl std::error::Error for ParseError {}
