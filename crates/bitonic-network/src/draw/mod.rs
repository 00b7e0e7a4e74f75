//! Pictures of networks: Unicode text for the terminal, and SVG.

mod layout;
mod svg;
mod text;

use std::fmt;

use crate::{LengthMismatch, Network};

impl Network {
    /// Begins a drawing of the network: wires run from left to right, with wire 0 at the top, and comparators
    /// connect two wires. Where the directions of comparators differ, an arrow points to the larger key.
    ///
    /// ```
    /// use bitonic_network::Network;
    ///
    /// let network = Network::from_list("[(0,2)]\n[(0,1)]\n[(1,2)]\n").unwrap();
    /// assert_eq!(network.draw().to_text().lines().collect::<Vec<_>>(), [
    ///     "    1   2   3",
    ///     "0 ──●─┊─●─┊───",
    ///     "    │ ┊ │ ┊",
    ///     "1 ──┼─┊─●─┊─●─",
    ///     "    │ ┊   ┊ │",
    ///     "2 ──●─┊───┊─●─",
    /// ]);
    /// ```
    pub fn draw(&self) -> Drawing<'_> {
        Drawing { network: self, title: None, states: None, ascii: false }
    }
}

/// A drawing of a network, made by [`Network::draw`]: set what it shall show, then ask for text or SVG.
///
/// A picture is as large as it looks: its size, and the time it takes, grow with the wires times the comparators
/// that overlap. Up to about a hundred wires it is of use to the eye.
#[derive(Clone, Debug)]
pub struct Drawing<'network> {
    network: &'network Network,
    title: Option<String>,
    /// The values on the wires before the first stage and after every stage.
    states: Option<Vec<Vec<String>>>,
    ascii: bool,
}

impl Drawing<'_> {
    /// Writes a title above the picture.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Shows an example: the values on the wires before the first stage and after every stage.
    ///
    /// ```
    /// use bitonic_network::Network;
    ///
    /// let network = Network::from_list("[(0,2)]\n[(0,1)]\n[(1,2)]\n").unwrap();
    /// let text = network.draw().input(&[30, 20, 10])?.to_text();
    /// assert_eq!(text.lines().collect::<Vec<_>>(), [
    ///     "        1      2      3",
    ///     "0 ─ 30 ─●─ 10 ─●─ 10 ─── 10",
    ///     "        │      │",
    ///     "1 ─ 20 ─┼─ 20 ─●─ 20 ─●─ 20",
    ///     "        │             │",
    ///     "2 ─ 10 ─●─ 30 ─── 30 ─●─ 30",
    /// ]);
    /// # Ok::<(), bitonic_network::LengthMismatch>(())
    /// ```
    ///
    /// # Errors
    /// [`LengthMismatch`] unless there is one value for each wire.
    pub fn input<T: Ord + Clone + fmt::Display>(mut self, values: &[T]) -> Result<Self, LengthMismatch> {
        let states = self.network.trace(values)?;
        self.states = Some(states.iter().map(|state| state.iter().map(T::to_string).collect()).collect());
        Ok(self)
    }

    /// Draws text with ASCII characters alone. Has no effect on SVG.
    pub fn ascii(mut self, ascii: bool) -> Self {
        self.ascii = ascii;
        self
    }

    /// The picture as lines of text for a terminal with a font of one width. Blocks are not shown.
    pub fn to_text(&self) -> String {
        text::draw(self)
    }

    /// The picture as an SVG 1.1 document of its own, on its own background, with the network's blocks shaded.
    pub fn to_svg(&self) -> String {
        svg::draw(self)
    }
}
