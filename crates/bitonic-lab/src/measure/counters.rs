//! The processor's counters, where the system lets a program read its own.

/// What the processor counted while a sort ran, on the thread that called it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Cycles.
    pub cycles: Option<u64>,
    /// Instructions.
    pub instructions: Option<u64>,
    /// Branches.
    pub branches: Option<u64>,
    /// Branches that went another way than foreseen.
    pub branch_misses: Option<u64>,
    /// Accesses to the last cache.
    pub cache_references: Option<u64>,
    /// Those that had to go to memory.
    pub cache_misses: Option<u64>,
}

pub use system::Counters;

#[cfg(target_os = "linux")]
mod system {
    use super::Counts;
    use perf_event::events::{Event, Hardware};
    use perf_event::{Builder, Counter};

    /// Counters of the calling thread, through perf events.
    #[derive(Debug)]
    pub struct Counters {
        cycles: Option<Counter>,
        instructions: Option<Counter>,
        branches: Option<Counter>,
        branch_misses: Option<Counter>,
        cache_references: Option<Counter>,
        cache_misses: Option<Counter>,
    }

    impl Counters {
        /// Opens the counters that this machine has.
        ///
        /// # Errors
        ///
        /// Why there are none, with the way out.
        pub fn open() -> Result<Self, String> {
            // Instructions are counted by every processor: if they cannot be, the system does not allow it.
            let instructions = open(Hardware::INSTRUCTIONS).map_err(|error| why_not(&error))?;
            Ok(Self {
                instructions: Some(instructions),
                cycles: open(Hardware::CPU_CYCLES).ok(),
                branches: open(Hardware::BRANCH_INSTRUCTIONS).ok(),
                branch_misses: open(Hardware::BRANCH_MISSES).ok(),
                cache_references: open(Hardware::CACHE_REFERENCES).ok(),
                cache_misses: open(Hardware::CACHE_MISSES).ok(),
            })
        }

        /// Sets all counters to zero and starts them.
        pub fn start(&mut self) {
            for counter in self.all().into_iter().flatten() {
                // A counter that fails counts nothing, and what it then says is left out below.
                let _ = counter.reset().and_then(|()| counter.enable());
            }
        }

        /// Stops the counters and says what they counted. Where the processor has fewer counters than are asked for, the
        /// system shares them by time, and counts are scaled up.
        pub fn stop(&mut self) -> Counts {
            for counter in self.all().into_iter().flatten() {
                let _ = counter.disable();
            }
            Counts {
                cycles: count(&mut self.cycles),
                instructions: count(&mut self.instructions),
                branches: count(&mut self.branches),
                branch_misses: count(&mut self.branch_misses),
                cache_references: count(&mut self.cache_references),
                cache_misses: count(&mut self.cache_misses),
            }
        }

        fn all(&mut self) -> [Option<&mut Counter>; 6] {
            [
                self.cycles.as_mut(),
                self.instructions.as_mut(),
                self.branches.as_mut(),
                self.branch_misses.as_mut(),
                self.cache_references.as_mut(),
                self.cache_misses.as_mut(),
            ]
        }
    }

    fn open(event: impl Event) -> std::io::Result<Counter> {
        Builder::new(event).build()
    }

    fn count(counter: &mut Option<Counter>) -> Option<u64> {
        let read = counter.as_mut()?.read_count_and_time().ok()?;
        if read.time_running == 0 {
            return None;
        }
        Some((read.count as f64 * read.time_enabled as f64 / read.time_running as f64).round() as u64)
    }

    fn why_not(error: &std::io::Error) -> String {
        let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
        let level = level.trim().parse::<i32>().ok();
        match (error.kind(), level) {
            (std::io::ErrorKind::PermissionDenied, Some(level)) if level > 2 => format!(
                "not allowed: kernel.perf_event_paranoid is {level}; with root's rights, set it to 2 by sysctl"
            ),
            (std::io::ErrorKind::PermissionDenied, _) => {
                format!("not allowed ({error}): containers forbid it unless started with CAP_PERFMON")
            }
            (std::io::ErrorKind::NotFound, _) => {
                format!(
                    "not there ({error}): a virtual machine without a virtual performance counter, most likely"
                )
            }
            _ => format!("not available: {error}"),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Counts;

    /// No counters: only Linux has perf events.
    #[derive(Debug)]
    pub struct Counters;

    impl Counters {
        /// Says why there are none.
        ///
        /// # Errors
        ///
        /// Always.
        pub fn open() -> Result<Self, String> {
            Err("not available: counters are read through perf events, which Linux has".to_owned())
        }

        /// Does nothing.
        pub fn start(&mut self) {}

        /// Has counted nothing.
        pub fn stop(&mut self) -> Counts {
            Counts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count_or_say_why_not() {
        match Counters::open() {
            Ok(mut counters) => {
                let mut instructions = |rounds: u64| {
                    counters.start();
                    (0..rounds).for_each(|round| {
                        std::hint::black_box(round);
                    });
                    counters.stop().instructions.expect("instructions are always counted")
                };
                let (few, many) = (instructions(1_000), instructions(1_000_000));
                assert!(many > 10 * few, "{few} and {many}");
            }
            Err(reason) => assert!(reason.starts_with("not "), "{reason}"),
        }
    }
}
