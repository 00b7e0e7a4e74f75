//! From which length on a device was faster than the CPU.

use super::SortKind;
use crate::Engine;
use crate::gpu::cache::Cache;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// From which length on a device, transfers included, was faster than the CPU, for one kind of sorts: what `Auto` goes by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Crossover {
    pub(crate) engine: Engine,
    /// The device's name.
    pub(crate) device: String,
    pub(crate) kind: SortKind,
    /// `None` where it was never faster beyond the spread of the times.
    pub(crate) faster_from: Option<usize>,
    /// The longest sort that was measured.
    pub(crate) up_to: usize,
    /// What a key more saves at the longest, in nanoseconds.
    pub(crate) gain: f64,
    /// What a process waits for the device before its first sort.
    pub(crate) opening: Duration,
}

const CROSSOVER_NAME: &str = "auto";
/// One entry for the machine, found without asking any driver; the key changes with the format.
const CROSSOVER_KEY: &str = "engines, kinds of sorts";

impl Crossover {
    /// Those of this machine.
    pub(crate) fn load_all() -> Vec<Self> {
        Self::load_from(&Cache::of_user())
    }

    pub(crate) fn load_from(cache: &Cache) -> Vec<Self> {
        let text = cache.load(CROSSOVER_NAME, CROSSOVER_KEY).unwrap_or_default();
        let lines = std::str::from_utf8(&text).unwrap_or_default().lines();
        lines.filter_map(Self::parse).collect()
    }

    /// The file that they are kept in, and all older ones.
    pub(crate) fn files(cache: &Cache) -> Vec<PathBuf> {
        cache.files(CROSSOVER_NAME)
    }

    /// Stores what was found for a device and a kind of sorts beside what else is known. Whether that worked.
    pub(crate) fn update(self) -> bool {
        self.update_in(&Cache::of_user())
    }

    pub(crate) fn update_in(self, cache: &Cache) -> bool {
        let all = self.replace_in(Self::load_from(cache));
        let text: String = all.iter().map(|crossover| format!("{crossover}\n")).collect();
        cache.store(CROSSOVER_NAME, CROSSOVER_KEY, text.as_bytes())
    }

    fn replace_in(self, mut known: Vec<Self>) -> Vec<Self> {
        known.retain(|known| {
            (known.engine, known.kind) != (self.engine, self.kind) || known.device != self.device
        });
        known.push(self);
        known
    }

    /// What a sort of so many keys gains over the CPU on an open device: nothing where they are even.
    pub(crate) fn gain_of(&self, len: usize) -> Duration {
        let beyond = self.faster_from.map_or(0, |from| len.saturating_sub(from));
        Duration::from_nanos((beyond as f64 * self.gain) as u64)
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(7, ' ');
        let mut word = || words.next();
        let faster_from = match word()? {
            NEVER => None,
            length => Some(length.parse().ok()?),
        };
        let up_to = word()?.parse().ok()?;
        let kind = SortKind::parse(word()?)?;
        let gain = word()?.parse().ok().filter(|gain: &f64| gain.is_finite() && *gain >= 0.0)?;
        let opening = Duration::from_micros(word()?.parse().ok()?);
        let engine = word()?.parse().ok().filter(|engine: &Engine| engine.has_devices())?;
        let device = word()?.to_owned();
        (!device.is_empty()).then_some(Self { engine, device, kind, faster_from, up_to, gain, opening })
    }
}

/// Stands for a length where there is none.
const NEVER: &str = "never";

impl fmt::Display for Crossover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, device, kind, faster_from, up_to, gain, opening } = self;
        let faster_from = faster_from.map_or_else(|| NEVER.to_owned(), |length| length.to_string());
        write!(f, "{faster_from} {up_to} {} {gain:.3} {} {engine} {device}", kind.word(), opening.as_micros())
    }
}

#[cfg(all(test, feature = "devices"))]
mod tests {
    use super::super::kind::Operation;
    use super::*;
    use crate::gpu::cache::testing::TestDirectory;

    fn of(engine: Engine, device: &str, bytes: usize, faster_from: Option<usize>) -> Crossover {
        Crossover {
            engine,
            device: device.to_owned(),
            kind: SortKind::new(Operation::Keys, bytes),
            faster_from,
            up_to: 1 << 24,
            gain: 1.5,
            opening: Duration::from_millis(300),
        }
    }

    #[test]
    fn what_is_written_is_read_and_garbage_is_refused() {
        for engine in [Engine::OpenCl, Engine::Cuda] {
            for faster_from in [Some(1 << 20), None] {
                let crossover = of(engine, "A device (of 2)", 8, faster_from);
                assert_eq!(Crossover::parse(&crossover.to_string()), Some(crossover));
            }
        }
        for text in [
            "",
            "1000 opencl A device",
            "many 9 keys-4 1 1 cuda A",
            "1 9 keys-3 1 1 cuda A",
            "1 9 keys-4 NaN 1 cuda A",
            "1 9 keys-4 -1 1 cuda A",
            "1 9 keys-4 1 1 cpu A",
            "1 9 keys-4 1 1 cuda ",
        ] {
            assert_eq!(Crossover::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_found_replaces_what_was_known_of_that_device_and_kind_alone() {
        let known = vec![
            of(Engine::OpenCl, "a", 4, Some(10)),
            of(Engine::OpenCl, "a", 8, Some(7)),
            of(Engine::Cuda, "a", 4, Some(5)),
        ];
        let measured = of(Engine::OpenCl, "a", 4, None);
        let all = measured.clone().replace_in(known.clone());
        assert_eq!(all, [known[1].clone(), known[2].clone(), measured]);
        let other = of(Engine::OpenCl, "b", 4, Some(30));
        assert_eq!(other.clone().replace_in(known.clone()), [known, vec![other]].concat());
    }

    #[test]
    fn what_is_stored_is_found_and_a_cache_that_is_lost_is_told() {
        let directory = TestDirectory::new("crossovers");
        let cache = directory.cache();
        let device = of(Engine::Cuda, "A device", 4, Some(1 << 20));
        assert!(device.clone().update_in(&cache));
        let other = of(Engine::OpenCl, "Another", 4, Some(1 << 22));
        assert!(other.clone().update_in(&cache));
        assert_eq!(Crossover::load_from(&cache), [device.clone(), other]);
        assert_eq!(Crossover::files(&cache), directory.files());
        assert!(!device.update_in(&directory.unwritable_cache()));
    }

    #[test]
    fn gains_grow_from_the_crossover_on() {
        let crossover = of(Engine::Cuda, "a", 4, Some(1000));
        assert_eq!([1000, 3000].map(|len| crossover.gain_of(len).as_nanos()), [0, 3000]);
        assert_eq!(crossover.gain_of(10), Duration::ZERO);
        assert_eq!(of(Engine::Cuda, "a", 4, None).gain_of(1 << 30), Duration::ZERO);
    }
}
