//! Names and what belongs to them, one a line, aligned.

use std::fmt;

/// Lines such as `engine  cpu`.
#[derive(Default)]
pub(crate) struct Lines(Vec<(&'static str, String)>);

impl Lines {
    /// Adds a line.
    pub(crate) fn add(&mut self, name: &'static str, value: impl fmt::Display) {
        self.0.push((name, value.to_string()));
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        self.0.iter().try_for_each(|(name, value)| writeln!(f, "{name:<width$}  {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned() {
        let mut lines = Lines::default();
        lines.add("a", 1);
        lines.add("long", "x");
        assert_eq!(lines.to_string(), "a     1\nlong  x\n");
    }
}
