//! The plain list form, one stage a line, that published collections of sorting networks use.

use std::fmt::Write;

use super::ParseError;
use super::cursor::Cursor;
use super::draft::Draft;
use crate::Network;

impl Network {
    /// Reads the plain list form that published collections of sorting networks use: one stage a line, each
    /// comparator a pair `(min,max)` of wire numbers counted from 0.
    ///
    /// White space is free within a line, a comma may follow a stage, and empty lines and comments from `#` to
    /// the end of the line are skipped. There are as many wires as the comparators touch; the comment
    /// `# wires: N` declares more. At most [`MAX_WIRES`](crate::MAX_WIRES) wires are read. The cost is linear in
    /// the length of the text.
    ///
    /// ```
    /// use bitonic_network::Network;
    ///
    /// let network = Network::from_list("
    ///     ## the smallest and fastest network for four wires
    ///     [(0,2),(1,3)]
    ///     [(0,1),(2,3)]
    ///     [(1,2)]
    /// ")?;
    /// assert_eq!((network.wires(), network.size(), network.depth()), (4, 5, 3));
    ///
    /// let error = Network::from_list("[(0,1),(1,2)]").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "line 1, column 9: this stage already touches wire 1: put the comparator into a later stage"
    /// );
    /// # Ok::<(), bitonic_network::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// The place of the first fault and what was expected there: text that is no list of comparators, a stage
    /// that touches a wire twice, a wire number past the limit, a declaration of fewer wires than are touched,
    /// or a text with neither a stage nor a declaration.
    pub fn from_list(text: &str) -> Result<Self, ParseError> {
        let mut cursor = Cursor::new(text, |character| character.is_whitespace() && character != '\n');
        let mut draft = Draft::default();
        loop {
            cursor.skip_blanks();
            if cursor.peek() == Some('[') {
                draft.stage(&mut cursor, ['(', ')'])?;
                cursor.skip_blanks();
                cursor.take(",");
                cursor.skip_blanks();
            }
            if cursor.peek() == Some('#') {
                comment(&mut cursor, &mut draft)?;
            }
            match cursor.peek() {
                Some('\n') => cursor.advance(),
                None => break,
                _ => return Err(cursor.expected(format_args!("one stage a line, such as [(0,1),(2,3)]"))),
            };
        }
        if draft.is_empty() {
            return Err(cursor.expected(format_args!("a stage, such as [(0,1),(2,3)]")));
        }
        draft.finish()
    }

    /// Writes the plain list form that [`Network::from_list`] reads, one stage a line.
    ///
    /// The number of wires is written, as the comment `# wires: N`, only when the stages do not show it.
    ///
    /// ```
    /// use bitonic_network::{Comparator, Network};
    ///
    /// let one = vec![vec![Comparator::new(0, 1)]];
    /// assert_eq!(Network::new(2, one.clone())?.to_list(), "[(0,1)]\n");
    /// assert_eq!(Network::new(3, one)?.to_list(), "# wires: 3\n[(0,1)]\n");
    /// # Ok::<(), bitonic_network::NetworkError>(())
    /// ```
    pub fn to_list(&self) -> String {
        let mut list = String::new();
        let touched = self.comparators().map(|comparator| comparator.bottom() + 1).max().unwrap_or(0);
        if touched < self.wires() || self.stages().is_empty() {
            _ = writeln!(list, "# wires: {}", self.wires());
        }
        for stage in self.stages() {
            list.push('[');
            for (index, comparator) in stage.comparators().iter().enumerate() {
                let separator = if index == 0 { "" } else { "," };
                _ = write!(list, "{separator}{comparator}");
            }
            list.push_str("]\n");
        }
        list
    }
}

/// Steps over a comment to the end of its line, and takes note of the number of wires if it declares one.
fn comment(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ParseError> {
    cursor.advance();
    cursor.skip_blanks();
    if cursor.take("wires:") {
        draft.declare_wires(cursor)?;
        cursor.skip_blanks();
        return match cursor.peek() {
            None | Some('\n') => Ok(()),
            _ => Err(cursor.expected(format_args!("the end of the line after the number of wires"))),
        };
    }
    cursor.skip_while(|character| character != '\n');
    Ok(())
}
