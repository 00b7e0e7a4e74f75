//! The research application's configuration: lines of `key=value`.
//!
//! ```text
//! measure_cpu=1            the five switches, 0 or 1; all of them have to be there
//! measure_gpu=1
//! measure_bitonic=1
//! measure_odd_even=1
//! verify_result=1
//!
//! random_instance=50000 10                      size, repetitions
//! predefined_instance=4 -1 88 2 9 4 105 1 34    repetitions, keys
//!
//! gpu_odd_even=V1          optional, and not in the published format: which version of odd-even sort the device runs
//! ```
//!
//! Keys are 32-bit integers with a sign, as there. What is measured are the ladder's forms of the four sorts that the
//! application had ([`COLUMNS`]); sizes that are no power of two are padded for the bitonic ones.

use super::{Case, Entry, Experiment, ExperimentError, Format, PREDEFINED, Pair, admit};
use crate::implementation::{self, RunsOn, Settings};
use bitonic_testkit::Pattern;
use std::collections::HashMap;

/// One of the four measured sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What the console and `error.log` call it.
    pub label: &'static str,
    /// What chooses it.
    pub word: &'static str,
    /// Its heading in `result.csv`. The plotting scripts look columns up by it, so the spelling stays.
    pub heading: &'static str,
}

/// The four sorts, in the order of `result.csv`.
pub const COLUMNS: [Column; 4] = [
    Column { label: "CPU Bitonic", word: "cpu:parallel_recursive", heading: "mean bitonic sort (CPU)" },
    Column { label: "GPU Bitonic", word: "gpu:compare_pair", heading: "mean bitonic sort (GPU)" },
    Column { label: "CPU Odd-Even", word: "cpu:odd_even_threads", heading: "mean odd-even sort (CPU)" },
    Column { label: "GPU Odd-Even", word: "gpu:odd_even_two_kernels", heading: "mean odd-event sort (GPU)" },
];

/// The key that chooses another version of odd-even sort on the device, and the column that it is about.
const VERSION_KEY: &str = "gpu_odd_even";
const VERSION_LABEL: &str = "GPU Odd-Even";

/// The versions that the application had, one after the other. The published table is of the first.
const VERSIONS: [(&str, &str); 3] =
    [("V0", "gpu:odd_even_two_kernels"), ("V1", "gpu:odd_even_one_kernel"), ("V2", "gpu:odd_even_local")];

/// How long a sort may take for all repetitions on all instances of a size, unless something else is asked for. Odd-even
/// sort of the 10 million keys in the application's own example takes days on a processor.
pub const BUDGET_SECONDS: f64 = 600.0;

/// The switches of a configuration.
const SWITCHES: [&str; 5] =
    ["measure_cpu", "measure_gpu", "measure_bitonic", "measure_odd_even", "verify_result"];

/// What a configuration says, before anything is looked for on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Whether the processor's sorts are measured.
    pub cpu: bool,
    /// Whether the device's sorts are measured.
    pub gpu: bool,
    /// Whether bitonic sorts are measured.
    pub bitonic: bool,
    /// Whether odd-even sorts are measured.
    pub odd_even: bool,
    /// Whether results are verified.
    pub verify: bool,
    /// Which version of odd-even sort the device runs: V0, V1 or V2.
    pub version: String,
    /// The instances.
    pub cases: Vec<Case>,
}

/// Reads a configuration and finds its sorts, those on a GPU with what `gpu` says, or else on the best
/// device.
///
/// # Errors
///
/// What is wrong, with the line.
pub fn read(text: &str, name: &str, gpu: Option<RunsOn>) -> Result<Experiment, ExperimentError> {
    let configuration = parse(text)?;
    let settings = Settings { pad: true, ..Settings::default() };
    let mut entries = Vec::new();
    for (index, column) in COLUMNS.iter().enumerate() {
        let wanted = [configuration.cpu, configuration.gpu][index % 2]
            && [configuration.bitonic, configuration.odd_even][index / 2];
        if wanted {
            let version = || VERSIONS.iter().find(|(name, _)| *name == configuration.version);
            let word = match column.label {
                VERSION_LABEL => version().map_or(column.word, |(_, word)| word),
                _ => column.word,
            };
            let chosen = implementation::choose(&[word.to_owned()], &settings.device, gpu);
            let chosen = chosen.map_err(ExperimentError::of_file)?;
            let (admitted, left_out) = admit(chosen, &settings).map_err(ExperimentError::of_file)?;
            if let Some(left_out) = left_out.first() {
                let reason =
                    format!("{} cannot run here: {}; or set measure_gpu=0", column.label, left_out.reason);
                return Err(ExperimentError::of_file(reason));
            }
            entries.extend(admitted.iter().map(|implementation| Entry {
                implementation: implementation.to_string(),
                label: column.label.to_owned(),
            }));
        }
    }
    if entries.is_empty() {
        let reason = "nothing is measured: set one of measure_cpu and measure_gpu to 1, and one of measure_bitonic and \
                      measure_odd_even";
        return Err(ExperimentError::of_file(reason));
    }
    let label = |label: &str| {
        entries.iter().find(|entry| entry.label == label).map(|entry| entry.implementation.clone())
    };
    let speedups = [("bitonic sort", "Bitonic"), ("odd-even sort", "Odd-Even")];
    let speedups = speedups.iter().filter_map(|(name, algorithm)| {
        let (first, second) = (label(&format!("CPU {algorithm}"))?, label(&format!("GPU {algorithm}"))?);
        Some(Pair { name: (*name).to_owned(), first, second })
    });
    Ok(Experiment {
        name: name.to_owned(),
        format: Format::Ini,
        seed: 1,
        speedups: speedups.collect(),
        implementations: entries,
        left_out: Vec::new(),
        cases: configuration.cases,
        warm_up: 1,
        verify: configuration.verify,
        budget_seconds: Some(BUDGET_SECONDS),
        threads: None,
        device: settings.device.to_string(),
        pad: true,
        counters: false,
        callgrind_size: None,
        optimisations: Vec::new(),
    })
}

/// Reads a configuration.
///
/// # Errors
///
/// What is wrong, with the line.
pub fn parse(text: &str) -> Result<Configuration, ExperimentError> {
    let mut switches: HashMap<&str, bool> = HashMap::new();
    let mut cases: Vec<Case> = Vec::new();
    let mut version: Option<&str> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim().trim_start_matches('\u{FEFF}');
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let wrong = |reason: String| ExperimentError::at(number, reason);
        let (key, value) = line
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()))
            .ok_or_else(|| wrong(format!("'{line}' is no setting: write key=value")))?;
        match key {
            "random_instance" => cases.push(random(value).map_err(wrong)?),
            "predefined_instance" => cases.push(predefined(value).map_err(wrong)?),
            VERSION_KEY if version.is_some() => {
                return Err(wrong(format!("{key} is given twice: keep one of the lines")));
            }
            VERSION_KEY => {
                let found = VERSIONS.iter().find(|(name, _)| *name == value);
                let (name, _) =
                    found.ok_or_else(|| wrong(format!("{key} is '{value}': write V0, V1 or V2")))?;
                version = Some(name);
            }
            _ => {
                let switch = SWITCHES
                    .iter()
                    .find(|&&switch| switch == key || key == "verify" && switch == "verify_result");
                let Some(&switch) = switch else { return Err(wrong(unknown(key))) };
                let value = match value {
                    "0" => false,
                    "1" => true,
                    _ => return Err(wrong(format!("{key} is '{value}': write 0 or 1"))),
                };
                if switches.insert(switch, value).is_some() {
                    return Err(wrong(format!("{key} is given twice: keep one of the lines")));
                }
            }
        }
    }
    let missing: Vec<&str> =
        SWITCHES.iter().copied().filter(|switch| !switches.contains_key(switch)).collect();
    if !missing.is_empty() {
        let missing = missing.join("=1, ");
        return Err(ExperimentError::of_file(format!("{missing}=1 is missing: add it, or with 0")));
    }
    if cases.is_empty() {
        let reason = "there is no instance: add a line such as random_instance=50000 10";
        return Err(ExperimentError::of_file(reason));
    }
    number_instances(&mut cases);
    let on = |switch: &str| switches[switch];
    Ok(Configuration {
        cpu: on("measure_cpu"),
        gpu: on("measure_gpu"),
        bitonic: on("measure_bitonic"),
        odd_even: on("measure_odd_even"),
        verify: on("verify_result"),
        version: version.unwrap_or(VERSIONS[0].0).to_owned(),
        cases,
    })
}

fn unknown(key: &str) -> String {
    let known: Vec<&str> =
        SWITCHES.iter().copied().chain(["random_instance", "predefined_instance", VERSION_KEY]).collect();
    crate::names::unknown("key", key, &known)
}

fn random(value: &str) -> Result<Case, String> {
    let numbers: Vec<&str> = value.split_whitespace().collect();
    let [size, repetitions] = numbers[..] else {
        return Err(format!(
            "'{value}' is no random instance: write its size and how often it is sorted, as in 50000 10"
        ));
    };
    let size = count("size", size)?;
    if size > i32::MAX as usize {
        return Err(format!("a size of {size} is more than {}: use a smaller one", i32::MAX));
    }
    Ok(case(Pattern::Random.name(), size, count("number of repetitions", repetitions)?, None))
}

fn predefined(value: &str) -> Result<Case, String> {
    let mut numbers = value.split_whitespace();
    let repetitions =
        numbers.next().ok_or("how often it is sorted is missing, and its keys: write 4 -1 88 2 9")?;
    let repetitions = count("number of repetitions", repetitions)?;
    let keys: Result<Vec<i64>, String> = numbers
        .map(|key| {
            let read = key.parse::<i32>().map(i64::from);
            read.map_err(|_| {
                format!("'{key}' is no key: write whole numbers from {} to {}", i32::MIN, i32::MAX)
            })
        })
        .collect();
    match keys? {
        keys if keys.is_empty() => {
            Err("the instance has no keys: write them after the repetitions".to_owned())
        }
        keys => Ok(case(PREDEFINED, keys.len(), repetitions, Some(keys))),
    }
}

fn count(what: &str, text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err(format!("the {what} is 0: write at least 1")),
        Ok(count) => Ok(count),
        Err(_) => Err(format!("'{text}' is no {what}: write a whole number from 1 on")),
    }
}

fn case(distribution: &str, size: usize, repetitions: usize, values: Option<Vec<i64>>) -> Case {
    let (key_type, distribution) = ("i32".to_owned(), distribution.to_owned());
    Case { key_type, distribution, size, instance: 1, instances: 1, repetitions, values }
}

/// Numbers instances of the same kind and size.
fn number_instances(cases: &mut [Case]) {
    let mut counts: HashMap<(String, usize), usize> = HashMap::new();
    for case in cases.iter_mut() {
        let count = counts.entry((case.distribution.clone(), case.size)).or_default();
        *count += 1;
        case.instance = *count;
    }
    for case in cases.iter_mut() {
        case.instances = counts[&(case.distribution.clone(), case.size)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of the application's own documentation.
    const PUBLISHED: &str = "measure_cpu=0\nmeasure_gpu=1\nmeasure_bitonic=1\nmeasure_odd_even=1\nverify_result=1\n\n\
                             random_instance=50000 10\nrandom_instance=10000000 56\nrandom_instance=199 56\n\n\
                             predefined_instance=4 -1 88 2 9 4 105 1 34\n";

    fn message(text: &str) -> String {
        let error = parse(text).unwrap_err();
        ExperimentError { file: "configuration.ini".to_owned(), ..error }.to_string()
    }

    #[test]
    fn the_published_example_reads_as_it_is() {
        let read = parse(PUBLISHED).unwrap();
        assert!(!read.cpu && read.gpu && read.bitonic && read.odd_even && read.verify);
        let sizes: Vec<(usize, usize)> =
            read.cases.iter().map(|case| (case.size, case.repetitions)).collect();
        assert_eq!(sizes, [(50_000, 10), (10_000_000, 56), (199, 56), (8, 4)]);
        assert_eq!(read.cases[3].values.as_deref(), Some(&[-1, 88, 2, 9, 4, 105, 1, 34][..]));
        assert_eq!(parse(&PUBLISHED.replace('\n', "\r\n")), Ok(read));
    }

    #[test]
    fn the_device_runs_the_published_version_unless_another_is_chosen() {
        let chosen = |line: &str| {
            let text = format!("{}{line}", PUBLISHED.replace("10000000 56", "64 1"));
            let experiment = read(&text, "x", Some(RunsOn::OpenCl)).unwrap();
            let entry = experiment.implementations.iter().find(|entry| entry.label == VERSION_LABEL);
            entry.unwrap().implementation.clone()
        };
        assert_eq!(chosen(""), "opencl:odd_even_two_kernels");
        assert_eq!(chosen("gpu_odd_even=V0\n"), "opencl:odd_even_two_kernels");
        assert_eq!(chosen("gpu_odd_even=V1\n"), "opencl:odd_even_one_kernel");
        assert_eq!(chosen("gpu_odd_even=V2\n"), "opencl:odd_even_local");
        assert!(
            message(&format!("{PUBLISHED}gpu_odd_even=V3\n"))
                .contains("line 12: gpu_odd_even is 'V3': write V0")
        );
        let twice = format!("{PUBLISHED}gpu_odd_even=V1\ngpu_odd_even=V1\n");
        assert!(message(&twice).contains("line 13: gpu_odd_even is given twice"));
    }

    #[test]
    fn instances_of_one_size_are_numbered() {
        let read = parse(&PUBLISHED.replace("10000000 56", "50000 7")).unwrap();
        let numbers: Vec<(usize, usize)> =
            read.cases.iter().map(|case| (case.instance, case.instances)).collect();
        assert_eq!(numbers, [(1, 2), (2, 2), (1, 1), (1, 1)]);
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_the_way_out() {
        for (old, new, told) in [
            (
                "measure_gpu=1",
                "measure_gpus=1",
                "line 2: unknown key 'measure_gpus': did you mean 'measure_gpu'?",
            ),
            ("measure_gpu=1", "measure_gpu=yes", "line 2: measure_gpu is 'yes': write 0 or 1"),
            ("measure_gpu=1", "measure_cpu=1", "line 2: measure_cpu is given twice"),
            ("measure_gpu=1\n", "", "measure_gpu=1 is missing"),
            ("50000 10", "50000", "line 7: '50000' is no random instance"),
            ("50000 10", "5e4 10", "line 7: '5e4' is no size"),
            ("50000 10", "50000 0", "line 7: the number of repetitions is 0"),
            ("50000 10", "3000000000 1", "line 7: a size of 3000000000 is more than"),
            ("105", "10x5", "line 11: '10x5' is no key"),
            ("105", "3000000000", "line 11: '3000000000' is no key"),
            ("4 -1 88 2 9 4 105 1 34", "4", "line 11: the instance has no keys"),
            ("verify_result=1", "verify_result", "line 5: 'verify_result' is no setting: write key=value"),
        ] {
            let told_now = message(&PUBLISHED.replacen(old, new, 1));
            assert!(told_now.contains(told), "{new}: {told_now}");
        }
        let without_instances: String = PUBLISHED.lines().take(5).map(|line| format!("{line}\n")).collect();
        assert!(message(&without_instances).contains("there is no instance"));
    }

    proptest! {
        #[test]
        fn any_text_is_answered_without_a_panic(text in "([a-z_]{0,20}=?[-0-9 ]{0,12}\n){0,6}") {
            let _ = parse(&text);
        }
    }
}
