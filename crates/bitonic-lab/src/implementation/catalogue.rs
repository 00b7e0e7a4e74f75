//! All implementations, and which of them names and patterns choose.

use super::{EngineSort, Implementation, OtherSort, RungSort, RunsOn, Sort};
use crate::{glob, names};
use bitonic::DeviceChoice;

/// The implementation that is there to be caught; no pattern chooses it.
const PLANTED: &str = "planted_fault";

/// The name that stands for CUDA or OpenCL, whichever is better here.
const GPU: &str = "gpu";

/// Everything that has a name, the processor's first, rungs in the ladder's order.
pub fn all() -> Vec<Implementation> {
    let others =
        OtherSort::ALL.iter().map(|&other| Implementation { runs_on: RunsOn::Cpu, sort: Sort::Other(other) });
    let engines = EngineSort::ALL
        .iter()
        .map(|&(runs_on, engine)| Implementation { runs_on, sort: Sort::Engine(engine) });
    let rungs = RungSort::all().map(|(runs_on, rung)| Implementation { runs_on, sort: Sort::Rung(rung) });
    let mut all: Vec<Implementation> = others.chain(engines).chain(rungs).collect();
    all.sort_by_key(Implementation::runs_on);
    all
}

/// An implementation that shall be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Which one.
    pub implementation: Implementation,
    /// Whether its own full name was given, and not a pattern or `gpu:`: then it is an error if it cannot run.
    pub by_name: bool,
}

/// What names and patterns choose, each once, in the order of the words. `gpu:` stands for what `gpu` says; if that
/// is `None`, for CUDA where this device is one, and OpenCL elsewhere.
///
/// # Errors
///
/// A message that names the word which chooses nothing, and what there is.
pub fn choose(words: &[String], device: &DeviceChoice, gpu: Option<RunsOn>) -> Result<Vec<Chosen>, String> {
    let all = all();
    let mut chosen: Vec<Chosen> = Vec::new();
    for word in words {
        let wanted = Wanted::read(word, &all, device, gpu);
        let mut found = false;
        for implementation in all.iter().filter(|implementation| wanted.fits(implementation)) {
            found = true;
            let by_name = wanted.names(implementation);
            match chosen.iter_mut().find(|chosen| chosen.implementation == *implementation) {
                Some(earlier) => earlier.by_name |= by_name,
                None => chosen.push(Chosen { implementation: implementation.clone(), by_name }),
            }
        }
        if !found {
            let known: Vec<String> = all.iter().map(ToString::to_string).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err(names::unknown("implementation", word, &known));
        }
    }
    Ok(chosen)
}

/// A word, taken apart.
struct Wanted<'a> {
    /// What it shall run on, as a pattern; `None` if that does not matter.
    runs_on: Option<String>,
    name: &'a str,
    /// Whether it asks for the best device, which may be none: then it is no error if it cannot run.
    on_best: bool,
}

impl<'a> Wanted<'a> {
    fn read(word: &'a str, all: &[Implementation], device: &DeviceChoice, gpu: Option<RunsOn>) -> Self {
        match word.split_once(':') {
            Some((GPU, name)) => {
                // What exists for OpenCL only is measured there, even where there is a CUDA device.
                let on = |runs_on: RunsOn| Self { runs_on: Some(runs_on.to_string()), name, on_best: true };
                if let Some(runs_on) = gpu {
                    return on(runs_on);
                }
                let best = on(RunsOn::gpu(device));
                if all.iter().any(|implementation| best.fits(implementation)) {
                    best
                } else {
                    on(RunsOn::OpenCl)
                }
            }
            Some((runs_on, name)) => Self { runs_on: Some(runs_on.to_owned()), name, on_best: false },
            None => Self { runs_on: None, name: word, on_best: false },
        }
    }

    fn fits(&self, implementation: &Implementation) -> bool {
        let here = self
            .runs_on
            .as_ref()
            .is_none_or(|runs_on| glob::matches(runs_on, implementation.runs_on().name()));
        let named = self.name == implementation.name();
        here && (named || implementation.name() != PLANTED && glob::matches(self.name, implementation.name()))
    }

    fn names(&self, implementation: &Implementation) -> bool {
        let here = self.runs_on.as_deref() == Some(implementation.runs_on().name()) && !self.on_best;
        here && self.name == implementation.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let chosen = choose(&words, &DeviceChoice::Best, None).unwrap();
        chosen.iter().map(|chosen| chosen.implementation.to_string()).collect()
    }

    #[test]
    fn names_and_patterns_choose_in_full_and_in_part() {
        assert_eq!(chosen(&["cpu:recursive"]), ["cpu:recursive"]);
        assert_eq!(chosen(&["recursive", "cpu:rec*"]), ["cpu:recursive"]);
        assert!(chosen(&["naive_*"]).iter().any(|name| name == "opencl:naive_scan"));
        assert!(chosen(&["cpu:*"]).iter().all(|name| name.starts_with("cpu:")));
        assert_eq!(chosen(&["bitonic"]), ["cpu:bitonic", "opencl:bitonic", "cuda:bitonic"]);
    }

    #[test]
    fn a_gpu_is_what_was_asked_for() {
        let of = |gpu: RunsOn| {
            let chosen = choose(&["gpu:bitonic".to_owned()], &DeviceChoice::Best, Some(gpu)).unwrap();
            chosen
                .iter()
                .map(|chosen| (chosen.implementation.to_string(), chosen.by_name))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(RunsOn::OpenCl), [("opencl:bitonic".to_owned(), false)]);
        assert_eq!(of(RunsOn::Cuda), [("cuda:bitonic".to_owned(), false)]);
    }

    #[test]
    fn the_words_give_the_order() {
        assert_eq!(chosen(&["cpu:std", "cpu:recursive"]), ["cpu:std", "cpu:recursive"]);
        assert_eq!(chosen(&["cpu:recursive", "cpu:std"]), ["cpu:recursive", "cpu:std"]);
    }

    #[test]
    fn the_planted_fault_answers_to_its_name_alone() {
        assert!(!chosen(&["*"]).iter().any(|name| name.contains("planted")));
        assert_eq!(chosen(&["cpu:planted_fault"]), ["cpu:planted_fault"]);
    }

    #[test]
    fn what_chooses_nothing_is_answered_with_what_there_is() {
        let message = choose(&["cpu:recursiv".to_owned()], &DeviceChoice::Best, None).unwrap_err();
        assert!(message.contains("did you mean 'cpu:recursive'?"), "{message}");
    }
}
