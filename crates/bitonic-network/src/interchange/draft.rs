//! What a parser has read so far of a network, checked as it grows.

use std::collections::HashMap;

use super::cursor::{Cursor, Position};
use super::{MAX_WIRES, ParseError};
use crate::{Comparator, Network};

/// A network being read.
#[derive(Default)]
pub(super) struct Draft {
    stages: Vec<Vec<Comparator>>,
    /// For every wire touched so far, the last stage that touches it. A map and not a vector: one huge wire
    /// number in a short text must not cost memory.
    touched_in: HashMap<usize, usize>,
    declared: Option<(usize, Position)>,
}

impl Draft {
    /// Reads the number of wires that the text declares.
    pub(super) fn declare_wires(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        cursor.skip_blanks();
        let position = cursor.position();
        let wires = cursor.number("a number of wires", MAX_WIRES)?;
        match self.declared.replace((wires, position)) {
            Some(_) => {
                Err(position.error("the number of wires is declared a second time: keep one of the two"))
            }
            None => Ok(()),
        }
    }

    /// Reads a stage: comparators between square brackets, each a pair of wires between the given brackets.
    pub(super) fn stage(&mut self, cursor: &mut Cursor<'_>, pair: [char; 2]) -> Result<(), ParseError> {
        let mut comparators = Vec::new();
        cursor.items(['[', ']'], "a stage", |cursor| {
            comparators.push(self.comparator(cursor, pair)?);
            Ok(())
        })?;
        self.stages.push(comparators);
        Ok(())
    }

    /// Reads a comparator as a stage of its own.
    pub(super) fn lone_comparator(
        &mut self,
        cursor: &mut Cursor<'_>,
        pair: [char; 2],
    ) -> Result<(), ParseError> {
        let comparator = self.comparator(cursor, pair)?;
        self.stages.push(vec![comparator]);
        Ok(())
    }

    fn comparator(&mut self, cursor: &mut Cursor<'_>, pair: [char; 2]) -> Result<Comparator, ParseError> {
        cursor.expect(pair[0], "to open a comparator")?;
        let min = self.wire(cursor, None)?;
        cursor.expect(',', "after the first wire")?;
        let max = self.wire(cursor, Some(min))?;
        cursor.expect(pair[1], "after the second wire")?;
        Ok(Comparator::new(min, max))
    }

    fn wire(&mut self, cursor: &mut Cursor<'_>, partner: Option<usize>) -> Result<usize, ParseError> {
        cursor.skip_blanks();
        let position = cursor.position();
        let wire = cursor.number("a wire number", MAX_WIRES - 1)?;
        if partner == Some(wire) {
            return Err(
                position.error(format!("both ends of this comparator are wire {wire}: it needs two wires"))
            );
        }
        let stage = self.stages.len();
        if self.touched_in.insert(wire, stage) == Some(stage) {
            let reason =
                format!("this stage already touches wire {wire}: put the comparator into a later stage");
            return Err(position.error(reason));
        }
        Ok(wire)
    }

    /// Whether neither a stage nor a number of wires has been read.
    pub(super) fn is_empty(&self) -> bool {
        self.stages.is_empty() && self.declared.is_none()
    }

    /// The network: as many wires as declared, or as the comparators touch when nothing is declared.
    pub(super) fn finish(self) -> Result<Network, ParseError> {
        let touched = self.touched_in.keys().max().map_or(0, |highest| highest + 1);
        let wires = match self.declared {
            Some((declared, position)) if declared < touched => {
                let wire = touched - 1;
                return Err(position.error(format!(
                    "{declared} wires are declared, but a comparator touches wire {wire}: declare {touched} or more"
                )));
            }
            Some((declared, _)) => declared,
            None => touched,
        };
        Ok(Network::new(wires, self.stages).expect("every wire was checked when it was read"))
    }
}
