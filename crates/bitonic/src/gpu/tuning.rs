//! What was measured on a device and stored: the best shapes, and from which length on it beats the CPU.

use super::cache::Cache;
use super::layout::Layout;
use super::shape::{DeviceLimits, Shape};
use crate::Engine;
use crate::plan::Step;
use std::fmt;

/// The result of tuning for one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// The best shapes, each for elements of one width and rows from a length on.
    pub(crate) shapes: Vec<TunedShape>,
}

/// A shape that was the fastest for some elements and lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TunedShape {
    pub(crate) element_bytes: usize,
    /// Rows with at least this many merges: longer than 2^(merges - 1).
    pub(crate) from_merges: u32,
    /// How passes of the network are cut.
    pub(crate) shape: Shape,
    /// Whether these passes are faster than a cluster, columnsort or buckets.
    pub(crate) passes_are_best: bool,
}

const NAME: &str = "tuning";

impl Tuning {
    /// The stored one of a device, if there is one.
    pub(crate) fn load(identity: &str) -> Option<Self> {
        let text = Cache::of_user().load(NAME, identity)?;
        Self::parse(std::str::from_utf8(&text).ok()?)
    }

    /// Stores it for a device, in place of what was there; whether that worked.
    pub(crate) fn store(&self, identity: &str) -> bool {
        Cache::of_user().store(NAME, identity, self.to_string().as_bytes())
    }

    /// The shape for a layout and row length, if one was tuned and the device can run it with this layout.
    pub(crate) fn shape(
        &self,
        limits: DeviceLimits,
        layout: Layout,
        row_length: usize,
    ) -> Option<TunedShape> {
        let merges = Step::merges(row_length);
        self.shapes
            .iter()
            .filter(|tuned| tuned.element_bytes == layout.element_bytes() && tuned.from_merges <= merges)
            .max_by_key(|tuned| tuned.from_merges)
            .copied()
            .filter(|tuned| tuned.shape.is_possible(limits, layout))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut tuning = Self::default();
        for line in text.lines() {
            let (name, value) = line.split_once(": ")?;
            match name.split_once(' ') {
                Some((kind @ ("shape" | "passes"), place)) => {
                    let (element_bytes, from_merges) = place.split_once(' ')?;
                    tuning.shapes.push(TunedShape {
                        element_bytes: element_bytes.parse().ok()?,
                        from_merges: from_merges.parse().ok()?,
                        shape: Shape::parse(value)?,
                        passes_are_best: kind == "passes",
                    });
                }
                _ => return None,
            }
        }
        Some(tuning)
    }
}

/// One line for every fact; [`Tuning::parse`] reads it.
impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for TunedShape { element_bytes, from_merges, shape, passes_are_best } in &self.shapes {
            let kind = if *passes_are_best { "passes" } else { "shape" };
            writeln!(f, "{kind} {element_bytes} {from_merges}: {shape}")?;
        }
        Ok(())
    }
}

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
        let engine = [Engine::OpenCl, Engine::Cuda].into_iter().find(|known| known.to_string() == engine)?;
        let faster_from = faster_from.parse().ok()?;
        (!device.is_empty()).then(|| Self { engine, device: device.to_owned(), faster_from })
    }
}

impl fmt::Display for Crossover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.faster_from, self.engine, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::cache::testing::TestDirectory;
    use crate::gpu::shape::Way;

    fn shape(tile_log2: u32) -> Shape {
        Shape {
            tile_log2,
            held_log2: 3,
            fused_steps: 4,
            register_steps: 4,
            pass_items_log2: 6,
            unrolled: true,
            way: Way::Passes,
            wide_index: false,
        }
    }

    fn tuning() -> Tuning {
        let tuned = |from_merges, tile_log2| TunedShape {
            element_bytes: 4,
            from_merges,
            shape: shape(tile_log2),
            passes_are_best: from_merges == 0,
        };
        Tuning { shapes: vec![tuned(0, 9), tuned(17, 11)] }
    }

    #[test]
    fn what_is_written_is_read_and_garbage_is_refused() {
        for tuning in [tuning(), Tuning::default()] {
            assert_eq!(Tuning::parse(&tuning.to_string()), Some(tuning));
        }
        for text in ["shape", "shape 4 x: tile", "other: 1", "shape 4 0: tile 2^1"] {
            assert_eq!(Tuning::parse(text), None, "{text}");
        }
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

    #[test]
    fn the_shape_of_the_longest_length_that_is_reached_counts_if_it_is_possible() {
        let limits = DeviceLimits::PLAIN_GPU;
        let keys = Layout::keys::<u32>();
        let found = |length| tuning().shape(limits, keys, length).map(|tuned| tuned.shape);
        assert_eq!(found(1000), Some(shape(9)));
        assert_eq!(found(1 << 16), Some(shape(9)));
        assert_eq!(found((1 << 16) + 1), Some(shape(11)));
        assert_eq!(
            tuning().shape(limits, Layout::keys::<u64>(), 1000),
            None,
            "nothing was tuned for this width"
        );
        let tiny = DeviceLimits { local_bytes: 1 << 10, ..limits };
        assert_eq!(tuning().shape(tiny, keys, 1000), None, "the device has become smaller");
    }
}
