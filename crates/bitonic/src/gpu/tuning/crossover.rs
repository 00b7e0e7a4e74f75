//! From which length on a device was faster than the CPU.

use crate::Engine;
use crate::gpu::cache::Cache;
use std::fmt;

/// From which length on a device, transfers included, was faster than the CPU: what `Auto` goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crossover {
    pub(crate) engine: Engine,
    /// The device's name.
    pub(crate) device: String,
    pub(crate) faster_from: usize,
}

const CROSSOVER_NAME: &str = "auto";
/// One entry for the machine, found without asking any driver; the key changes with the format.
const CROSSOVER_KEY: &str = "engines";

impl Crossover {
    /// Those of this machine.
    pub(crate) fn load_all() -> Vec<Self> {
        Self::load_from(&Cache::of_user())
    }

    fn load_from(cache: &Cache) -> Vec<Self> {
        let text = cache.load(CROSSOVER_NAME, CROSSOVER_KEY).unwrap_or_default();
        let lines = std::str::from_utf8(&text).unwrap_or_default().lines();
        lines.filter_map(Self::parse).collect()
    }

    /// Stores what was found for a device, `faster_from` being `None` if it is never faster than the CPU, beside what is
    /// known of others. Whether that worked.
    pub(crate) fn update(engine: Engine, device: &str, faster_from: Option<usize>) -> bool {
        Self::update_in(&Cache::of_user(), engine, device, faster_from)
    }

    fn update_in(cache: &Cache, engine: Engine, device: &str, faster_from: Option<usize>) -> bool {
        let all = Self::updated(Self::load_from(cache), engine, device, faster_from);
        let text: String = all.iter().map(|crossover| format!("{crossover}\n")).collect();
        cache.store(CROSSOVER_NAME, CROSSOVER_KEY, text.as_bytes())
    }

    fn updated(mut known: Vec<Self>, engine: Engine, device: &str, faster_from: Option<usize>) -> Vec<Self> {
        known.retain(|known| known.engine != engine || known.device != device);
        known.extend(faster_from.map(|faster_from| Self { engine, device: device.to_owned(), faster_from }));
        known
    }

    fn parse(line: &str) -> Option<Self> {
        let (faster_from, rest) = line.split_once(' ')?;
        let (engine, device) = rest.split_once(' ')?;
        let engine: Engine = engine.parse().ok().filter(|engine: &Engine| engine.has_devices())?;
        let faster_from = faster_from.parse().ok()?;
        (!device.is_empty()).then(|| Self { engine, device: device.to_owned(), faster_from })
    }
}

impl fmt::Display for Crossover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.faster_from, self.engine, self.device)
    }
}

#[cfg(all(test, feature = "devices"))]
mod tests {
    use super::*;
    use crate::gpu::cache::testing::TestDirectory;

    #[test]
    fn what_is_written_is_read_and_garbage_is_refused() {
        for engine in [Engine::OpenCl, Engine::Cuda] {
            let crossover = Crossover { engine, device: "A device (of 2)".to_owned(), faster_from: 1 << 20 };
            assert_eq!(Crossover::parse(&crossover.to_string()), Some(crossover));
        }
        for text in ["", "many cuda keys", "1000", "1000 ", "1000 cuda ", "1000 cpu A device"] {
            assert_eq!(Crossover::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_found_for_a_device_replaces_what_was_known_of_it_alone() {
        let of =
            |engine, device: &str, faster_from| Crossover { engine, device: device.to_owned(), faster_from };
        let known = vec![of(Engine::OpenCl, "a", 10), of(Engine::Cuda, "a", 5)];
        let measured = Crossover::updated(known.clone(), Engine::OpenCl, "a", Some(20));
        assert_eq!(measured, [of(Engine::Cuda, "a", 5), of(Engine::OpenCl, "a", 20)]);
        assert_eq!(Crossover::updated(known.clone(), Engine::Cuda, "a", None), [of(Engine::OpenCl, "a", 10)]);
        assert_eq!(Crossover::updated(known, Engine::Cuda, "b", Some(7)).len(), 3);
    }

    #[test]
    fn what_is_stored_for_a_device_is_found_again_beside_what_is_known_of_others() {
        let directory = TestDirectory::new("crossovers");
        let cache = directory.cache();
        let found = || {
            let crossovers = Crossover::load_from(&cache);
            let texts: Vec<String> = crossovers.iter().map(Crossover::to_string).collect();
            texts.join(", ")
        };
        assert_eq!(found(), "");
        assert!(Crossover::update_in(&cache, Engine::OpenCl, "a device", Some(10)));
        assert!(Crossover::update_in(&cache, Engine::Cuda, "another one", Some(5)));
        assert_eq!(found(), "10 opencl a device, 5 cuda another one");
        assert!(Crossover::update_in(&cache, Engine::OpenCl, "a device", None));
        assert_eq!(found(), "5 cuda another one");
        assert!(!Crossover::update_in(&directory.unwritable_cache(), Engine::Cuda, "a device", Some(1)));
    }
}
