//! What a sort did, for people.

use std::fmt;
use std::time::Duration;

/// Names and what belongs to them, one a line, aligned.
#[derive(Default)]
pub(super) struct Lines(Vec<(&'static str, String)>);

impl Lines {
    /// Adds a line.
    pub(super) fn add(&mut self, name: &'static str, value: impl fmt::Display) {
        self.0.push((name, value.to_string()));
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        self.0.iter().try_for_each(|(name, value)| writeln!(f, "{name:<width$}  {value}"))
    }
}

/// Keys per second, such as `20.7 million keys/s`.
pub(super) fn rate(keys: usize, time: Duration) -> String {
    let rate = keys as f64 / time.as_secs_f64().max(1e-9);
    match rate {
        1e9.. => format!("{:.2} billion keys/s", rate / 1e9),
        1e6.. => format!("{:.1} million keys/s", rate / 1e6),
        _ => format!("{rate:.0} keys/s"),
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

    #[test]
    fn rates_have_a_fitting_unit() {
        assert_eq!(rate(20, Duration::from_secs(2)), "10 keys/s");
        assert_eq!(rate(16 << 20, Duration::from_secs(1)), "16.8 million keys/s");
        assert_eq!(rate(1 << 30, Duration::from_millis(500)), "2.15 billion keys/s");
        assert_eq!(rate(0, Duration::ZERO), "0 keys/s");
    }
}
