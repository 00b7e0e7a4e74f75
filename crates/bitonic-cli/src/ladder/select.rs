//! Which rungs the words of the command line choose.

use crate::failure::Failure;
use crate::names;
use bitonic_lab::glob;
use bitonic_ladder::Rung;

/// A rung that shall run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) rung: Rung,
    /// Whether its own name was given, and not a pattern or `all`: then it is an error if it cannot run.
    pub(crate) by_name: bool,
}

/// The rungs of the given names and patterns (`iterative_*`, `all`), each once, in the ladder's order. The name of a kernel
/// stands for the first rung that it is a part of.
pub(crate) fn select(words: &[String]) -> Result<Vec<Chosen>, Failure> {
    for word in words {
        if !Rung::ALL.iter().any(|rung| chooses(word, *rung)) {
            let known: Vec<&str> = Rung::ALL.iter().map(|rung| rung.name()).chain(["all"]).collect();
            return Err(Failure::new(names::unknown("rung", word, &known)));
        }
    }
    let chosen = Rung::ALL.iter().filter(|&&rung| words.iter().any(|word| chooses(word, rung)));
    Ok(chosen.map(|&rung| Chosen { rung, by_name: words.iter().any(|word| names(word, rung)) }).collect())
}

fn names(word: &str, rung: Rung) -> bool {
    let with_kernel = || Rung::ALL.iter().find(|rung| rung.kernels().contains(&word));
    word == rung.name() || with_kernel() == Some(&rung)
}

fn chooses(word: &str, rung: Rung) -> bool {
    word == "all" || names(word, rung) || glob::matches(word, rung.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(words: &[&str]) -> Vec<(&'static str, bool)> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        select(&words).unwrap().iter().map(|chosen| (chosen.rung.name(), chosen.by_name)).collect()
    }

    #[test]
    fn rungs_come_once_and_in_the_ladder_s_order() {
        assert_eq!(chosen(&["iterative_scan", "recursive"]), [("recursive", true), ("iterative_scan", true)]);
        let both_ways = chosen(&["iterative_*", "iterative_scan"]);
        assert_eq!(both_ways.iter().filter(|(name, _)| *name == "iterative_scan").count(), 1);
        assert!(
            both_ways.contains(&("iterative_scan", true)) && both_ways.contains(&("iterative_blocks", false))
        );
        assert_eq!(chosen(&["all"]).len(), Rung::ALL.len());
    }

    #[test]
    fn the_name_of_a_kernel_chooses_its_rung() {
        for kernel in ["local_big_bucket", "local_big_biton", "local_small_biton"] {
            assert_eq!(chosen(&[kernel]), [("local_memory", true)]);
        }
    }

    #[test]
    fn what_chooses_nothing_is_unknown() {
        for word in ["recursiv", "nothing_*", ""] {
            assert!(select(&[word.to_owned()]).is_err(), "{word}");
        }
    }
}
