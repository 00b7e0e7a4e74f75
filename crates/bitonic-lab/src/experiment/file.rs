//! The laboratory's own format: TOML. [`EXAMPLE`](super::EXAMPLE) is a commented file with everything in it.

use super::{Case, Entry, Experiment, ExperimentError, Format, MOST_CASES, Pair, admit, sizes};
use crate::implementation::{self, Implementation, RunsOn, Settings};
use bitonic::DeviceChoice;
use bitonic::key::KeyType;
use bitonic_ladder::Rung;
use bitonic_testkit::Pattern;
use serde::Deserialize;
use std::num::NonZero;
use std::str::FromStr;
use toml::Spanned;

/// How long an implementation may take for one size, unless the file says otherwise.
const BUDGET_SECONDS: f64 = 60.0;

/// How often an implementation sorts an instance where only the budget limits it.
const MOST_REPETITIONS: usize = 1000;

/// A file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    implementations: Spanned<Vec<String>>,
    sizes: Spanned<Vec<Size>>,
    #[serde(default)]
    types: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    distributions: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    instances: Option<Spanned<usize>>,
    #[serde(default)]
    repetitions: Option<Spanned<Repetitions>>,
    #[serde(default)]
    budget_seconds: Option<Spanned<f64>>,
    #[serde(default)]
    warm_up: Option<usize>,
    #[serde(default)]
    verify: Option<bool>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    threads: Option<usize>,
    #[serde(default)]
    device: Option<Spanned<String>>,
    #[serde(default)]
    pad: Option<bool>,
    #[serde(default)]
    counters: Option<bool>,
    #[serde(default)]
    callgrind_size: Option<usize>,
    #[serde(default)]
    speedup: Vec<Spanned<Speedup>>,
    #[serde(default)]
    optimisation: Vec<Spanned<Optimisation>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Size {
    Number(usize),
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Repetitions {
    Same(usize),
    OfEachSize(Vec<usize>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Speedup {
    name: String,
    cpu: String,
    gpu: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Optimisation {
    name: String,
    before: String,
    after: String,
}

/// Reads an experiment and finds what it names. `gpu:` stands for what `gpu` says, or else for the best
/// device.
///
/// # Errors
///
/// What is wrong, with the line.
pub fn read(text: &str, name: &str, gpu: Option<RunsOn>) -> Result<Experiment, ExperimentError> {
    let reader = Reader { text, gpu };
    let named = |error: ExperimentError| ExperimentError { file: name.to_owned(), ..error };
    let file: File = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| reader.line_of(span.start));
        named(ExperimentError::at(line, error.message().replace('\n', ", ")))
    })?;
    reader.experiment(file, name).map_err(named)
}

/// A file's text, to find lines in.
struct Reader<'a> {
    text: &'a str,
    gpu: Option<RunsOn>,
}

impl Reader<'_> {
    fn line_of(&self, offset: usize) -> usize {
        1 + self.text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count()
    }

    fn wrong<T>(&self, at: &Spanned<T>, reason: impl Into<String>) -> ExperimentError {
        ExperimentError::at(self.line_of(at.span().start), reason)
    }

    fn experiment(&self, file: File, name: &str) -> Result<Experiment, ExperimentError> {
        let device = match &file.device {
            None => DeviceChoice::Best,
            Some(device) => device
                .get_ref()
                .parse()
                .map_err(|error: bitonic::Error| self.wrong(device, error.to_string()))?,
        };
        let pad = file.pad.unwrap_or(false);
        let settings = Settings { threads: file.threads.and_then(NonZero::new), device, pad };
        let sizes = self.sizes(&file.sizes)?;
        let (implementations, left_out) = self.implementations(&file.implementations, &settings, &sizes)?;
        let types = self.words(file.types.as_ref(), &["u32"], |word| {
            KeyType::from_str(word).map(|key_type| key_type.to_string()).map_err(|error| error.to_string())
        })?;
        let distributions = self.words(file.distributions.as_ref(), &["random"], |word| {
            Pattern::from_str(word).map(|pattern| pattern.to_string())
        })?;
        let repetitions = self.repetitions(file.repetitions.as_ref(), sizes.len())?;
        let instances = match &file.instances {
            Some(instances) if *instances.get_ref() == 0 => {
                return Err(self.wrong(instances, "instances is 0: write at least 1"));
            }
            Some(instances) => *instances.get_ref(),
            None => 1,
        };
        let kinds = sizes.len().saturating_mul(types.len()).saturating_mul(distributions.len());
        if let Some(written) =
            file.instances.as_ref().filter(|_| kinds.saturating_mul(instances) > MOST_CASES)
        {
            let most = MOST_CASES / kinds.max(1);
            let reason = format!("{instances} instances are more than a run can hold: write at most {most}");
            return Err(self.wrong(written, reason));
        }
        let budget_seconds = match &file.budget_seconds {
            Some(budget) if budget.get_ref().is_nan() || *budget.get_ref() <= 0.0 => {
                let reason = "budget_seconds must be more than 0; write inf for no limit";
                return Err(self.wrong(budget, reason));
            }
            Some(budget) => *budget.get_ref(),
            None => BUDGET_SECONDS,
        };
        if budget_seconds.is_infinite() && file.repetitions.is_none() {
            let reason = "without a budget the number of repetitions is needed: add repetitions = 10";
            return Err(ExperimentError::of_file(reason));
        }
        let speedups =
            self.pairs(&file.speedup, &settings, |speedup| [&speedup.name, &speedup.cpu, &speedup.gpu])?;
        let optimisations = self.pairs(&file.optimisation, &settings, |optimisation| {
            [&optimisation.name, &optimisation.before, &optimisation.after]
        })?;
        Ok(Experiment {
            name: file.name.unwrap_or_else(|| name.to_owned()),
            format: Format::Toml,
            seed: file.seed.unwrap_or(1),
            implementations: implementations.iter().map(entry).collect(),
            left_out,
            cases: cases(&types, &distributions, &sizes, instances, &repetitions),
            warm_up: file.warm_up.unwrap_or(1),
            verify: file.verify.unwrap_or(true),
            budget_seconds: Some(budget_seconds).filter(|budget| budget.is_finite()),
            threads: settings.threads,
            device: settings.device.to_string(),
            pad,
            counters: file.counters.unwrap_or(true),
            callgrind_size: file.callgrind_size,
            speedups: if file.speedup.is_empty() { default_speedups(&implementations) } else { speedups },
            optimisations: if file.optimisation.is_empty() {
                default_optimisations(&implementations)
            } else {
                optimisations
            },
        })
    }

    fn sizes(&self, written: &Spanned<Vec<Size>>) -> Result<Vec<usize>, ExperimentError> {
        let mut all = Vec::new();
        for size in written.get_ref() {
            match size {
                Size::Number(size) => all.push(*size),
                Size::Text(text) => all.extend(sizes(text).map_err(|reason| self.wrong(written, reason))?),
            }
        }
        all.sort_unstable();
        all.dedup();
        match all.first() {
            None => Err(self.wrong(written, "there is no size: write some, as in [\"2^10..2^20\"]")),
            Some(0) => Err(self.wrong(written, "a size is 0: write sizes from 1 on")),
            Some(_) => Ok(all),
        }
    }

    fn implementations(
        &self,
        words: &Spanned<Vec<String>>,
        settings: &Settings,
        sizes: &[usize],
    ) -> Result<(Vec<Implementation>, Vec<super::LeftOut>), ExperimentError> {
        let wrong = |reason: String| self.wrong(words, reason);
        let chosen = implementation::choose(words.get_ref(), &settings.device, self.gpu).map_err(wrong)?;
        for chosen in chosen.iter().filter(|chosen| chosen.by_name && !settings.pad) {
            if let Some(size) = sizes.iter().find(|&&size| !chosen.implementation.takes(size)) {
                return Err(wrong(format!(
                    "{} sorts powers of two only, and {size} is none: leave it out, choose other sizes, or set pad = true",
                    chosen.implementation
                )));
            }
        }
        let (admitted, left_out) = admit(chosen, settings).map_err(wrong)?;
        if admitted.is_empty() {
            let reasons = left_out.first().map_or("name some", |left_out| left_out.reason.as_str());
            return Err(wrong(format!("none of the implementations can run here: {reasons}")));
        }
        Ok((admitted, left_out))
    }

    fn words(
        &self,
        written: Option<&Spanned<Vec<String>>>,
        default: &[&str],
        read: impl Fn(&str) -> Result<String, String>,
    ) -> Result<Vec<String>, ExperimentError> {
        let Some(written) = written else { return Ok(default.iter().map(|&word| word.to_owned()).collect()) };
        let mut words = Vec::new();
        for word in written.get_ref() {
            let word = read(word).map_err(|reason| self.wrong(written, reason))?;
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if words.is_empty() {
            Err(self.wrong(written, "the list is empty: write one at least"))
        } else {
            Ok(words)
        }
    }

    fn repetitions(
        &self,
        written: Option<&Spanned<Repetitions>>,
        sizes: usize,
    ) -> Result<Vec<usize>, ExperimentError> {
        let Some(written) = written else { return Ok(vec![MOST_REPETITIONS; sizes]) };
        let repetitions = match written.get_ref() {
            Repetitions::Same(repetitions) => vec![*repetitions; sizes],
            Repetitions::OfEachSize(each) if each.len() == sizes => each.clone(),
            Repetitions::OfEachSize(each) => {
                let reason = format!(
                    "there are {} numbers of repetitions for {sizes} sizes: write one for each, or one number for all",
                    each.len()
                );
                return Err(self.wrong(written, reason));
            }
        };
        match repetitions.contains(&0) {
            true => Err(self.wrong(written, "a number of repetitions is 0: write at least 1")),
            false => Ok(repetitions),
        }
    }

    fn pairs<T>(
        &self,
        written: &[Spanned<T>],
        settings: &Settings,
        parts: impl Fn(&T) -> [&String; 3],
    ) -> Result<Vec<Pair>, ExperimentError> {
        let one = |at: &Spanned<T>, word: &String| {
            let chosen = implementation::choose(std::slice::from_ref(word), &settings.device, self.gpu)
                .map_err(|reason| self.wrong(at, reason))?;
            match &chosen[..] {
                [one] => Ok(one.implementation.to_string()),
                several => {
                    let reason = format!(
                        "'{word}' stands for {} implementations: name one, with its place",
                        several.len()
                    );
                    Err(self.wrong(at, reason))
                }
            }
        };
        let pair = |at: &Spanned<T>| {
            let [name, first, second] = parts(at.get_ref());
            Ok(Pair { name: name.clone(), first: one(at, first)?, second: one(at, second)? })
        };
        written.iter().map(pair).collect()
    }
}

fn entry(implementation: &Implementation) -> Entry {
    Entry { implementation: implementation.to_string(), label: implementation.to_string() }
}

fn cases(
    types: &[String],
    distributions: &[String],
    sizes: &[usize],
    instances: usize,
    repetitions: &[usize],
) -> Vec<Case> {
    let mut cases = Vec::new();
    for (&size, &repetitions) in sizes.iter().zip(repetitions) {
        for key_type in types {
            for distribution in distributions {
                cases.extend((1..=instances).map(|instance| Case {
                    key_type: key_type.clone(),
                    distribution: distribution.clone(),
                    size,
                    instance,
                    instances,
                    repetitions,
                    values: None,
                }));
            }
        }
    }
    cases
}

/// The first rung of each algorithm on the processor against the first on each device.
fn default_speedups(implementations: &[Implementation]) -> Vec<Pair> {
    let rungs = || implementations.iter().filter(|implementation| implementation.is_rung());
    let mut pairs: Vec<Pair> = Vec::new();
    for cpu in rungs().filter(|rung| !rung.runs_on().is_device()) {
        for gpu in rungs().filter(|rung| rung.runs_on().is_device() && rung.algorithm() == cpu.algorithm()) {
            let name = format!("{} sort, {}", cpu.algorithm().name(), gpu.runs_on());
            if !pairs.iter().any(|pair| pair.name == name) {
                pairs.push(Pair { name, first: cpu.to_string(), second: gpu.to_string() });
            }
        }
    }
    pairs
}

/// Every rung against the one that the ladder says it improves on, where both run on the same.
fn default_optimisations(implementations: &[Implementation]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for after in implementations {
        let Some(before) = after.rung().and_then(Rung::improves_on) else { continue };
        let is_before =
            |one: &&Implementation| one.rung() == Some(before) && one.runs_on() == after.runs_on();
        if let Some(before) = implementations.iter().find(is_before) {
            let name = format!("{} → {} on {}", before.name(), after.name(), after.runs_on());
            pairs.push(Pair { name, first: before.to_string(), second: after.to_string() });
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "implementations = [\"cpu:recursive\", \"cpu:std\"]\nsizes = [\"2^3..2^5\", 128]\n";

    #[test]
    fn a_file_becomes_cases_in_the_order_of_sizes() {
        let text = format!("{SMALL}instances = 2\nrepetitions = [4, 3, 2, 1]\ntypes = [\"u32\", \"f64\"]\n");
        let experiment = read(&text, "small", None).unwrap();
        assert_eq!(experiment.cases.len(), 4 * 2 * 2);
        let first = &experiment.cases[0];
        assert_eq!(
            (first.size, first.repetitions, first.key_type.as_str(), first.instance),
            (8, 4, "u32", 1)
        );
        let last = &experiment.cases[15];
        assert_eq!((last.size, last.repetitions, last.key_type.as_str(), last.instance), (128, 1, "f64", 2));
        assert_eq!(experiment.resolve().unwrap().len(), 2);
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_the_way_out() {
        for (added, told) in [
            ("repetitoins = 3", "small, line 3: unknown field `repetitoins`"),
            ("repetitions = [1, 2]", "line 3: there are 2 numbers of repetitions for 4 sizes"),
            ("repetitions = 0", "line 3: a number of repetitions is 0"),
            ("instances = 0", "line 3: instances is 0"),
            (
                "instances = 1000000000000",
                "line 3: 1000000000000 instances are more than a run can hold: write at most 250000",
            ),
            ("budget_seconds = -1.0", "line 3: budget_seconds must be more than 0"),
            ("budget_seconds = inf", "small: without a budget the number of repetitions is needed"),
            ("types = [\"u33\"]", "line 3: "),
            ("distributions = [\"rand\"]", "line 3: "),
            (
                "[[speedup]]\nname = \"x\"\ncpu = \"cpu:std\"\ngpu = \"cpu:rec*e*\"\n[[speedup]]\nname = \"y\"\ncpu = \"cpu:*\"\ngpu = \"cpu:std\"",
                "line 7: 'cpu:*' stands for",
            ),
        ] {
            let message = read(&format!("{SMALL}{added}\n"), "small", None).unwrap_err().to_string();
            assert!(message.contains(told), "{added}: {message}");
        }
        let message = read("implementations = [\"cpu:recursive\"]\n\nsizes = [1000]\n", "x", None)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("x, line 1: cpu:recursive sorts powers of two only, and 1000 is none"),
            "{message}"
        );
    }

    #[test]
    fn optimisations_are_those_that_the_ladder_declares() {
        let text = "implementations = [\"cpu:iterative_*\", \"cpu:network_passes\", \"cpu:odd_even*\"]\nsizes = [64]\n";
        let pairs = read(text, "x", None).unwrap().optimisations;
        let pairs: Vec<(&str, &str)> =
            pairs.iter().map(|pair| (pair.first.as_str(), pair.second.as_str())).collect();
        assert!(pairs.contains(&("cpu:iterative_scan", "cpu:iterative_blocks")));
        assert!(pairs.contains(&("cpu:odd_even", "cpu:odd_even_threads")));
        // Neither the lecture's form against the article's, nor barriers against threads that run free.
        assert_eq!(pairs.len(), 4, "{pairs:?}");
    }
}
