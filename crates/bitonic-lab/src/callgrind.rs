//! Instructions counted by `valgrind --tool=callgrind`, which works where the processor's counters cannot be read.
//!
//! A program is run twice: once it sorts once, once it sorts twice. The difference is one sort, without what a program does
//! before its first one. valgrind knows fewer instruction sets than processors have, so the library's engine may count
//! with another one than it is measured with; rungs are the same.

use crate::experiment::Experiment;
use crate::implementation::{self, Implementation, RunsOn, Settings};
use crate::record::{InstructionCount, StoreError, write_instructions};
use bitonic::key::KeyType;
use bitonic_testkit::{Pattern, TestKey};
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

/// A sort whose instructions are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Who sorts.
    pub implementation: String,
    /// The type of the keys.
    pub key_type: String,
    /// What they look like.
    pub distribution: String,
    /// How many there are.
    pub size: usize,
    /// What random keys follow from.
    pub seed: u64,
}

/// How many times keys are brought into place, whether or not they are sorted then.
const COPIES: usize = 2;

/// Does a job so often: what runs under callgrind.
///
/// # Errors
///
/// What kept it from sorting.
pub fn perform(job: &Job, sorts: usize) -> Result<(), String> {
    let found = implementation::all().into_iter().find(|one| one.to_string() == job.implementation);
    let sort = found.ok_or_else(|| format!("there is no implementation '{}'", job.implementation))?;
    let key_type = KeyType::from_str(&job.key_type).map_err(|error| error.to_string())?;
    bitonic::with_key_type!(key_type, K => perform_on::<K>(job, &sort, sorts))
}

fn perform_on<K: TestKey>(job: &Job, sort: &Implementation, sorts: usize) -> Result<(), String> {
    let keys: Vec<K> = Pattern::from_str(&job.distribution)?.generate(job.size, job.seed);
    let settings = Settings { pad: true, ..Settings::default() };
    for round in 0..COPIES {
        let mut copy = std::hint::black_box(keys.clone());
        if round < sorts {
            sort.sort(&mut copy, &settings).map_err(|error| error.to_string())?;
        }
        std::hint::black_box(copy);
    }
    Ok(())
}

/// Counts the instructions of every implementation of an experiment on the processor, for every type and distribution, and
/// writes them to the folder of its run. `command` starts the program that [`perform`]s a job so many times; `watch` is told
/// what is being counted. What cannot be counted is recorded with the reason.
///
/// # Errors
///
/// If the counts cannot be written.
pub fn count_all(
    experiment: &Experiment,
    size: usize,
    directory: &Path,
    command: impl Fn(&Job, usize) -> Command,
    mut watch: impl FnMut(&str),
) -> Result<(), StoreError> {
    let mut counts = Vec::new();
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for case in experiment.cases.iter().filter(|case| case.values.is_none()) {
        if !kinds.contains(&(&case.key_type, &case.distribution)) {
            kinds.push((&case.key_type, &case.distribution));
        }
    }
    let on_processor = |name: &&String| name.split(':').next() == Some(RunsOn::Cpu.name());
    for (key_type, distribution) in kinds {
        let names = experiment.implementations.iter().map(|entry| &entry.implementation);
        for implementation in names.filter(on_processor) {
            watch(implementation);
            let job = Job {
                implementation: implementation.clone(),
                key_type: key_type.to_owned(),
                distribution: distribution.to_owned(),
                size,
                seed: experiment.seed,
            };
            let counted = count(|sorts| command(&job, sorts));
            let Job { implementation, key_type, distribution, size, .. } = job;
            let (instructions, note) = match counted {
                Ok(instructions) => (Some(instructions), String::new()),
                Err(reason) => (None, reason),
            };
            counts.push(InstructionCount {
                implementation,
                key_type,
                distribution,
                size,
                instructions,
                note,
            });
        }
    }
    write_instructions(directory, &counts)
}

/// The instructions of one sort.
fn count(command: impl Fn(usize) -> Command) -> Result<u64, String> {
    let (once, twice) = (collected(&command(1))?, collected(&command(2))?);
    let too_little = || "two sorts took fewer instructions than one: too few keys to tell".to_owned();
    twice.checked_sub(once).ok_or_else(too_little)
}

/// The instructions of a program from its start to its end.
fn collected(command: &Command) -> Result<u64, String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(command.get_program());
    valgrind.args(command.get_args());
    let output =
        valgrind.output().map_err(|error| format!("valgrind cannot be started: {error}; install it"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let last = text.lines().last().unwrap_or_default();
        return Err(format!("under valgrind it ended with {}: {last}", output.status));
    }
    read_collected(&text).ok_or_else(|| "valgrind did not say what it counted".to_owned())
}

/// The number in valgrind's line `==1== Collected : 12345`.
fn read_collected(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.split_once("Collected : "))?.1;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valgrind_s_line_is_found_among_its_others() {
        let text = "==7== Callgrind, a call-graph generating cache profiler\n==7== Events    : Ir\n==7== Collected : 198765\n";
        assert_eq!(read_collected(text), Some(198_765));
        assert_eq!(read_collected("==7== Events : Ir\n"), None);
    }

    #[test]
    fn a_job_is_done_by_its_names() {
        let job = Job {
            implementation: "cpu:recursive".to_owned(),
            key_type: "f64".to_owned(),
            distribution: "random".to_owned(),
            size: 100,
            seed: 1,
        };
        assert_eq!(perform(&job, 2), Ok(()));
        assert!(perform(&Job { implementation: "cpu:none".to_owned(), ..job }, 1).is_err());
    }
}
