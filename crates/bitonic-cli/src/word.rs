//! Words of the command line that stand for something: names, counts, seeds.

use crate::failure::on_one_line;
use crate::flags::in_flags;
use crate::{names, quantity};
use bitonic::DeviceChoice;
use bitonic::key::KeyType;
use bitonic_network::Kind;
use bitonic_testkit::Pattern;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use std::ffi::OsStr;
use std::sync::Arc;

/// Reads one word of the command line. The shell completes the known words, the help lists them, and a wrong word is
/// answered with one line that says what is wrong.
#[derive(Clone)]
pub(crate) struct Word<T> {
    known: Vec<&'static str>,
    read: Arc<Read<T>>,
}

type Read<T> = dyn Fn(&str) -> Result<T, String> + Send + Sync;

impl<T: Copy + Send + Sync + 'static> Word<T> {
    /// The name of one of the given things; `what` says what kind of thing they are.
    pub(crate) fn one_of(what: &'static str, all: &'static [T], name_of: fn(T) -> &'static str) -> Self {
        let known: Vec<&'static str> = all.iter().map(|&item| name_of(item)).collect();
        let listed = known.clone();
        let read = move |word: &str| {
            let found = all.iter().copied().find(|&item| name_of(item) == word);
            found.ok_or_else(|| names::unknown(what, word, &listed))
        };
        Self { known, read: Arc::new(read) }
    }
}

impl<T> Word<T> {
    /// A word of which no list can be given.
    pub(crate) fn open(read: impl Fn(&str) -> Result<T, String> + Send + Sync + 'static) -> Self {
        Self { known: Vec::new(), read: Arc::new(read) }
    }
}

impl Word<KeyType> {
    /// A key type: u32, f64.
    pub(crate) fn key_type() -> Self {
        Self::one_of("key type", KeyType::ALL, KeyType::name)
    }
}

impl Word<Kind> {
    /// A kind of network. The commands that make other networks are offered in the same place, and must come first.
    pub(crate) fn network(commands: &[&'static str]) -> Self {
        let commands = commands.to_vec();
        let known: Vec<&'static str> =
            Kind::ALL.into_iter().map(Kind::name).chain(commands.clone()).collect();
        let listed = known.clone();
        let read = move |word: &str| match word.parse() {
            Ok(kind) => Ok(kind),
            Err(_) if commands.contains(&word) => {
                Err(format!("'{word}' must come before all options: write 'bitonic network {word} ..'"))
            }
            Err(_) => Err(names::unknown("network", word, &listed)),
        };
        Self { known, read: Arc::new(read) }
    }
}

impl Word<Pattern> {
    /// How made keys are spread: random, few-unique.
    pub(crate) fn distribution() -> Self {
        Self::one_of("distribution", Pattern::ALL, Pattern::name)
    }
}

impl Word<usize> {
    /// A count: 1000, 16M, 2^24, 1e6.
    pub(crate) fn count() -> Self {
        Self::open(quantity::parse)
    }

    /// The length of rows. Where it may be left out, what follows is taken for it.
    pub(crate) fn row_length() -> Self {
        Self::open(|word| {
            quantity::parse(word).map_err(|reason| match word.contains(['.', '/']) {
                true => format!("{reason}; name files before --rows if it has no length"),
                false => reason,
            })
        })
    }

    /// A number of threads. No machine has use for more than a thousand, and starting a million takes minutes.
    pub(crate) fn threads() -> Self {
        Self::open(|word| match quantity::parse(word)? {
            threads @ 0..=1024 => Ok(threads),
            threads => {
                Err(format!("{threads} threads are too many: use at most 1024, or 0 for one on every core"))
            }
        })
    }
}

impl Word<i64> {
    /// An axis of an array: 0, 1, -1.
    pub(crate) fn axis() -> Self {
        Self::open(|word| {
            word.parse()
                .map_err(|_| format!("'{word}' is not a valid axis: use 0 for the first, or -1 for the last"))
        })
    }
}

impl Word<DeviceChoice> {
    /// A device: an index, a kind, a part of its name. Which devices there are is known when one is opened.
    pub(crate) fn device() -> Self {
        Self::open(|word| word.parse().map_err(|error: bitonic::Error| in_flags(error)))
    }
}

impl Word<f64> {
    /// A time: 10, 0.5.
    pub(crate) fn seconds() -> Self {
        Self::open(|word| match word.parse() {
            Ok(seconds) if seconds > 0.0 && seconds < f64::INFINITY => Ok(seconds),
            _ => Err(format!("'{word}' is not a valid time: write seconds such as 10 or 0.5")),
        })
    }
}

impl Word<u64> {
    /// A seed: any number of 64 bits.
    pub(crate) fn seed() -> Self {
        Self::open(|word| {
            word.parse()
                .map_err(|_| format!("'{word}' is not a valid seed: use a number from 0 to {}", u64::MAX))
        })
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Word<T> {
    type Value = T;

    fn parse_ref(&self, _: &clap::Command, _: Option<&clap::Arg>, word: &OsStr) -> Result<T, clap::Error> {
        // What is no text is no known word either; the replacement characters show where.
        (self.read)(&word.to_string_lossy())
            .map_err(|reason| clap::Error::raw(ErrorKind::InvalidValue, on_one_line(&reason)))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        (!self.known.is_empty()).then(|| Box::new(self.known.iter().map(PossibleValue::new)) as Box<_>)
    }
}
