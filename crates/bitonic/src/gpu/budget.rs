//! Time that a search may take.

use std::time::{Duration, Instant};

/// Time that may be spent, from when it was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    end: Instant,
}

impl Budget {
    pub(crate) fn new(time: Duration) -> Self {
        let now = Instant::now();
        // Who asks for centuries gets a day.
        Self { end: now.checked_add(time).unwrap_or(now + Duration::from_secs(86_400)) }
    }

    /// What is left of it.
    pub(crate) fn left(self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Whether something that takes so long ends in time.
    pub(crate) fn allows(self, time: Duration) -> bool {
        self.left() > time
    }

    /// A share of what is left, from 0 to 1, for a part of the work.
    pub(crate) fn share(self, share: f64) -> Self {
        Self::new(self.left().mul_f64(share)).within(self)
    }

    fn within(self, other: Self) -> Self {
        Self { end: self.end.min(other.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_by_waiting_and_its_shares_end_before_it() {
        let hour = Duration::from_secs(3600);
        let budget = Budget::new(hour);
        assert!(budget.left() <= hour && budget.allows(hour / 2) && !budget.allows(2 * hour));
        let share = budget.share(0.25);
        assert!(share.allows(hour / 5) && !share.allows(hour / 2));
        let spent = Budget::new(Duration::ZERO);
        assert!(!spent.allows(Duration::ZERO) && spent.share(0.5).left().is_zero());
        assert!(Budget::new(Duration::MAX).allows(hour));
    }
}
