//! What the page can ask, and what it is answered.

use crate::edit::{self, Change};
use crate::network::{self, Described};
use crate::plan::{self, Asked};
use crate::{ladder, large, machine, prove, run};
use bitonic_network::{Claim, Kind, Network};
use serde::{Deserialize, Serialize};

/// A question of the page, as JSON: `{"ask": "trace", "network": "[(0,1)]", "keys": [7, 3]}`.
///
/// Networks travel in the list form, one stage a line.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Question {
    /// Every kind of network, and which of them exist with so many wires.
    Kinds {
        /// The number of wires.
        wires: usize,
    },
    /// The network of a kind.
    Generate {
        /// The name of the kind.
        kind: String,
        /// The number of wires.
        wires: usize,
    },
    /// The network in a text: the list form or JSON.
    Read {
        /// The text.
        text: String,
    },
    /// The network after a change.
    Edit {
        /// The network before it.
        network: String,
        /// What changes.
        change: Change,
    },
    /// The keys on the wires before the first comparator and after every one.
    Trace {
        /// The network.
        network: String,
        /// The keys that enter, one for each wire.
        keys: Vec<f64>,
    },
    /// Whether the network does what is claimed, for every input.
    Prove {
        /// The network.
        network: String,
        /// What is claimed.
        claim: ClaimWords,
    },
    /// Which of the 0-1 inputs `first..first + count` is the first that the network does not sort. Bit w of an input's number is
    /// the key on wire w.
    Sweep {
        /// The network.
        network: String,
        /// The first input.
        first: u32,
        /// How many inputs.
        count: u32,
    },
    /// The network as a document for other programs.
    Export {
        /// The network.
        network: String,
        /// The keys to show in a picture; none if empty.
        keys: Vec<f64>,
        /// The form.
        form: Form,
    },
    /// Whether keys are bitonic, and where they turn.
    Sequence {
        /// The keys.
        keys: Vec<f64>,
    },
    /// Every bitonic input of zeros and ones.
    BitonicInputs {
        /// The number of wires.
        wires: usize,
    },
    /// The machines that sorts can be planned for.
    Machines,
    /// The passes in which a machine does the network of n keys.
    Plan(Asked),
    /// Pictures of the data in the sorts of large arrays.
    Large,
    /// The names of the ladder's rungs.
    Rungs,
    /// Who touches what in a rung of the ladder, moment by moment.
    Film {
        /// The rung.
        rung: String,
    },
}

/// A claim in words that JSON has.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(tag = "does", rename_all = "snake_case")]
pub enum ClaimWords {
    /// It sorts every input.
    Sorts,
    /// It merges two ascending runs.
    MergesTwoRuns {
        /// The number of wires of the first run.
        split: usize,
    },
    /// It sorts every bitonic input.
    MergesBitonic,
    /// It half-cleans every bitonic input.
    HalfCleans,
}

impl From<ClaimWords> for Claim {
    fn from(words: ClaimWords) -> Self {
        match words {
            ClaimWords::Sorts => Self::Sorts,
            ClaimWords::MergesTwoRuns { split } => Self::MergesTwoRuns { split },
            ClaimWords::MergesBitonic => Self::MergesBitonic,
            ClaimWords::HalfCleans => Self::HalfCleans,
        }
    }
}

impl From<Claim> for ClaimWords {
    fn from(claim: Claim) -> Self {
        match claim {
            Claim::MergesTwoRuns { split } => Self::MergesTwoRuns { split },
            Claim::MergesBitonic => Self::MergesBitonic,
            Claim::HalfCleans => Self::HalfCleans,
            // The enum may grow; until the page knows the new claim, it asks for the strongest.
            _ => Self::Sorts,
        }
    }
}

/// The form of an exported network.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// One stage a line.
    List,
    /// A JSON object.
    Json,
    /// A picture.
    Svg,
}

/// Answers a question: a JSON object with `"answer"`, or with `"error"`, a sentence for the reader.
///
/// ```
/// let answer = bitonic_explorer::answer(r#"{"ask": "sequence", "keys": [1, 3, 2]}"#);
/// assert!(answer.contains(r#""bitonic":true"#));
/// let answer = bitonic_explorer::answer(r#"{"ask": "generate", "kind": "half-cleaner", "wires": 3}"#);
/// assert!(answer.starts_with(r#"{"error":"`half-cleaner` pairs the wires of two halves"#));
/// ```
pub fn answer(question: &str) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Reply {
        Answer(serde_json::Value),
        Error(String),
    }
    let reply = serde_json::from_str(question)
        .map_err(|error| format!("this is not a question that the page can ask: {error}"))
        .and_then(consider);
    let reply = reply.map_or_else(Reply::Error, Reply::Answer);
    serde_json::to_string(&reply).expect("the keys of every object are text")
}

fn consider(question: Question) -> Result<serde_json::Value, String> {
    fn json(value: impl Serialize) -> Result<serde_json::Value, String> {
        serde_json::to_value(value).map_err(|error| error.to_string())
    }
    match question {
        Question::Kinds { wires } => json(network::kinds(wires)),
        Question::Generate { kind, wires } => {
            let kind: Kind = kind.parse().map_err(|error| format!("{error}"))?;
            json(Described::of_kind(kind, wires)?)
        }
        Question::Read { text } => json(Described::of(&read(&text)?)),
        Question::Edit { network, change } => json(Described::of(&edit::change(&read(&network)?, change)?)),
        Question::Trace { network, keys } => json(run::trace(&read(&network)?, &keys)?),
        Question::Prove { network, claim } => json(prove::prove(&read(&network)?, claim.into())),
        Question::Sweep { network, first, count } => json(run::sweep(&read(&network)?, first, count)?),
        Question::Export { network, keys, form } => json(export(&read(&network)?, &keys, form)?),
        Question::Sequence { keys } => json(run::sequence(&keys)),
        Question::BitonicInputs { wires } => json(run::bitonic_inputs(wires)?),
        Question::Large => json(large::pictures()),
        Question::Rungs => json(ladder::rungs()),
        Question::Film { rung } => json(ladder::film(&rung)?),
        Question::Machines => json(machine::known()),
        Question::Plan(asked) => json(plan::plan(asked)?),
    }
}

/// The network in a text, if the page can show it.
fn read(text: &str) -> Result<Network, String> {
    let network = Network::parse(text).map_err(|error| error.to_string())?;
    network::check_size(&network)?;
    Ok(network)
}

fn export(network: &Network, keys: &[f64], form: Form) -> Result<String, String> {
    Ok(match form {
        Form::List => network.to_list(),
        Form::Json => network.to_json(),
        Form::Svg if keys.is_empty() => network.draw().to_svg(),
        Form::Svg => {
            let keys: Vec<run::Key> = keys.iter().copied().map(run::Key).collect();
            network.draw().input(&keys).map_err(|error| error.to_string())?.to_svg()
        }
    })
}
