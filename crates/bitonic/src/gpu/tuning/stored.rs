//! What `bitonic tune` measured on a device and stored: the best strategies, and the best shapes of the network.

use crate::Engine;
use crate::gpu::cache::Cache;
use crate::gpu::facts::DeviceFacts;
use crate::plan::{Limits, Step};
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What was measured on one device by `bitonic tune`. The default is nothing: then plans go by what this library measured on the
/// device that is most like it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// The best shapes, each for elements of one width and rows from a length on.
    pub(crate) shapes: Vec<TunedShape>,
    /// Shapes that came out wrong with this driver, if only once, each for elements of so many bytes.
    pub(crate) condemned: Vec<(usize, NetworkShape)>,
}

/// How the network is cut into work-groups and passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NetworkShape {
    /// The base-2 logarithm of the elements in a tile.
    pub(crate) tile_log2: u32,
    /// The base-2 logarithm of the elements that a work-item holds in a tile.
    pub(crate) held_log2: u32,
    /// The most steps of one pass over memory.
    pub(crate) fused_steps: u32,
    /// The most steps of a pass whose work-items hold all elements that its steps compare, 2^steps of them, in registers.
    /// Passes of more steps go through local memory once, as tiles do.
    pub(crate) register_steps: u32,
    /// The base-2 logarithm of the work-items in a group of a pass over memory.
    pub(crate) pass_items_log2: u32,
    /// Whether the merges of a tile are written out one by one.
    pub(crate) unrolled: bool,
}

impl NetworkShape {
    /// What cuts the network into passes.
    pub(crate) fn limits(self) -> Limits {
        Limits { tile_log2: self.tile_log2, fused_steps: self.fused_steps }
    }
}

/// A shape that was the fastest for some elements and lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TunedShape {
    pub(crate) element_bytes: usize,
    /// Rows with at least this many merges: longer than 2^(merges - 1).
    pub(crate) from_merges: u32,
    /// How passes of the network are cut.
    pub(crate) shape: NetworkShape,
    /// The strategy that was faster than the one that comes first by its rank; `None` where that was the fastest.
    pub(crate) strategy: Option<StrategyName>,
}

/// A strategy by the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StrategyName {
    Network,
    MergedRows,
    Cluster,
    Columnsort,
    Counted,
    Tally,
}

impl StrategyName {
    const ALL: [Self; 6] =
        [Self::Network, Self::MergedRows, Self::Cluster, Self::Columnsort, Self::Counted, Self::Tally];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::MergedRows => "merged_rows",
            Self::Cluster => "cluster",
            Self::Columnsort => "columnsort",
            Self::Counted => "counted",
            Self::Tally => "tally",
        }
    }
}

const NAME: &str = "tuning";

/// What is kept of a device: the file of a [`Tuning`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) engine: Engine,
    pub(crate) device: String,
    pub(crate) driver: String,
    pub(crate) when: SystemTime,
    pub(crate) tuning: Tuning,
}

impl Stored {
    /// What was tuned just now.
    pub(crate) fn now(facts: &DeviceFacts, tuning: &Tuning) -> Self {
        Self {
            engine: facts.engine,
            device: facts.name.clone(),
            driver: facts.driver.clone(),
            when: SystemTime::now(),
            tuning: tuning.clone(),
        }
    }

    /// Stores it for a device, in place of what was there; whether that worked.
    pub(crate) fn store(&self, identity: &str) -> bool {
        Cache::of_user().store(NAME, identity, self.to_string().as_bytes())
    }

    /// All that is kept, with the file of each. Files of other versions of this library are left out.
    pub(crate) fn all(cache: &Cache) -> Vec<(PathBuf, Self)> {
        let read = |path: PathBuf| {
            let text = Cache::load_file(&path)?;
            let stored = Self::parse(std::str::from_utf8(&text).ok()?)?;
            Some((path, stored))
        };
        Self::files(cache).into_iter().filter_map(read).collect()
    }

    /// The files of all devices and versions.
    pub(crate) fn files(cache: &Cache) -> Vec<PathBuf> {
        cache.files(NAME)
    }

    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(HEADING)?.strip_prefix('\n')?;
        let (engine, rest) = rest.strip_prefix("engine: ")?.split_once('\n')?;
        let (device, rest) = rest.strip_prefix("device: ")?.split_once('\n')?;
        let (driver, rest) = rest.strip_prefix("driver: ")?.split_once('\n')?;
        let (when, rest) = rest.strip_prefix("seconds since 1970: ")?.split_once('\n')?;
        Some(Self {
            engine: engine.parse().ok()?,
            device: device.to_owned(),
            driver: driver.to_owned(),
            when: UNIX_EPOCH.checked_add(Duration::from_secs(when.parse().ok()?))?,
            tuning: Tuning::parse(rest)?,
        })
    }
}

/// The first line: which library wrote the file.
const HEADING: &str = concat!("tuned by bitonic ", env!("CARGO_PKG_VERSION"));

/// One line for every fact; `Stored::parse` reads it.
impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name is a line.
        let line = |text: &str| text.replace(['\n', '\r'], " ");
        let Self { engine, device, driver, when, tuning } = self;
        writeln!(f, "{HEADING}\nengine: {engine}\ndevice: {}\ndriver: {}", line(device), line(driver))?;
        let seconds = when.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        write!(f, "seconds since 1970: {seconds}\n{tuning}")
    }
}

impl Tuning {
    /// The stored one of a device, if there is one.
    pub(crate) fn load(identity: &str) -> Option<Self> {
        let text = Cache::of_user().load(NAME, identity)?;
        Some(Stored::parse(std::str::from_utf8(&text).ok()?)?.tuning)
    }

    /// Puts a shape in place of the one that was known for its elements and lengths.
    pub(crate) fn insert(&mut self, tuned: TunedShape) {
        let place = |shape: &TunedShape| (shape.element_bytes, shape.from_merges);
        self.shapes.retain(|known| place(known) != place(&tuned));
        self.shapes.push(tuned);
        self.shapes.sort_by_key(place);
    }

    /// Whether elements of this width and arrays of this length were tuned themselves.
    pub(crate) fn has(&self, element_bytes: usize, length: usize) -> bool {
        let place = (element_bytes, Step::merges(length));
        self.shapes.iter().any(|tuned| (tuned.element_bytes, tuned.from_merges) == place)
    }

    /// The strategy that was faster than the first by rank, near a length that was tuned: further away another one may be.
    pub(crate) fn strategy(&self, element_bytes: usize, row_length: usize) -> Option<StrategyName> {
        const NEAR: u32 = 2;
        let tuned = self.shape(element_bytes, row_length)?;
        tuned.strategy.filter(|_| Step::merges(row_length) < tuned.from_merges + NEAR)
    }

    /// The shape that was tuned for elements of a width and rows of a length. Whether the device can run it, the planner asks.
    pub(crate) fn shape(&self, element_bytes: usize, row_length: usize) -> Option<TunedShape> {
        let merges = Step::merges(row_length);
        self.shapes
            .iter()
            .filter(|tuned| tuned.element_bytes == element_bytes && tuned.from_merges <= merges)
            .filter(|tuned| !self.is_condemned(element_bytes, tuned.shape))
            .max_by_key(|tuned| tuned.from_merges)
            .copied()
    }

    /// Whether a shape came out wrong for elements of this width.
    pub(crate) fn is_condemned(&self, element_bytes: usize, shape: NetworkShape) -> bool {
        self.condemned.contains(&(element_bytes, shape))
    }

    /// Nothing but what came out wrong, which stays when a device is tuned anew.
    pub(crate) fn condemned_alone(&self) -> Self {
        Self { shapes: Vec::new(), condemned: self.condemned.clone() }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut tuning = Self::default();
        for line in text.lines() {
            let (name, value) = line.split_once(": ")?;
            match name.split_once(' ') {
                Some(("condemned", element_bytes)) => {
                    tuning.condemned.push((element_bytes.parse().ok()?, NetworkShape::parse(value)?));
                }
                Some((best, place)) => {
                    let strategy = match best {
                        BY_RANK => None,
                        name => Some(StrategyName::ALL.into_iter().find(|known| known.name() == name)?),
                    };
                    let (element_bytes, from_merges) = place.split_once(' ')?;
                    tuning.shapes.push(TunedShape {
                        element_bytes: element_bytes.parse().ok()?,
                        from_merges: from_merges.parse().ok()?,
                        shape: NetworkShape::parse(value)?,
                        strategy,
                    });
                }
                _ => return None,
            }
        }
        Some(tuning)
    }
}

/// Stands where the first strategy by rank is the fastest.
const BY_RANK: &str = "shape";

/// One line for every fact; `Tuning::parse` reads it.
impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for TunedShape { element_bytes, from_merges, shape, strategy } in &self.shapes {
            let best = strategy.map_or(BY_RANK, StrategyName::name);
            writeln!(f, "{best} {element_bytes} {from_merges}: {shape}")?;
        }
        for (element_bytes, shape) in &self.condemned {
            writeln!(f, "condemned {element_bytes}: {shape}")?;
        }
        Ok(())
    }
}

/// As `bitonic tune` shows and stores it, and [`NetworkShape::parse`] reads it.
impl fmt::Display for NetworkShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tile_log2, held_log2, fused_steps, register_steps, pass_items_log2, unrolled } = self;
        write!(
            f,
            "tile 2^{tile_log2} held 2^{held_log2} fused {fused_steps} registers {register_steps} items \
             2^{pass_items_log2} {}",
            if *unrolled { "unrolled" } else { "looped" }
        )
    }
}

impl NetworkShape {
    /// Reads what `Display` writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let ["tile", tile, "held", held, "fused", fused, "registers", registers, "items", items, merges] =
            words[..]
        else {
            return None;
        };
        let power = |word: &str| word.strip_prefix("2^")?.parse().ok();
        Some(Self {
            tile_log2: power(tile)?,
            held_log2: power(held)?,
            fused_steps: fused.parse().ok()?,
            register_steps: registers.parse().ok()?,
            pass_items_log2: power(items)?,
            unrolled: match merges {
                "unrolled" => true,
                "looped" => false,
                _ => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(tile_log2: u32) -> NetworkShape {
        NetworkShape {
            tile_log2,
            held_log2: 3,
            fused_steps: 4,
            register_steps: 4,
            pass_items_log2: 6,
            unrolled: true,
        }
    }

    fn tuning() -> Tuning {
        let tuned = |from_merges, tile_log2| TunedShape {
            element_bytes: 4,
            from_merges,
            shape: shape(tile_log2),
            strategy: (from_merges == 0).then_some(StrategyName::Network),
        };
        Tuning { shapes: vec![tuned(0, 9), tuned(17, 11)], condemned: vec![(4, shape(10)), (8, shape(9))] }
    }

    #[test]
    fn what_is_written_is_read_and_garbage_is_refused() {
        for tuning in [tuning(), Tuning::default()] {
            assert_eq!(Tuning::parse(&tuning.to_string()), Some(tuning));
        }
        for text in [
            "shape",
            "shape 4 x: tile",
            "other: 1",
            "other 4 0: tile 2^1",
            "shape 4 0: tile 2^1",
            "condemned 4: tile 2^1",
        ] {
            assert_eq!(Tuning::parse(text), None, "{text}");
        }
        for text in [
            "",
            "tile 2^13",
            "tile 13 held 2^5 fused 6 items 2^8 looped",
            "garbage of nine words in a row is none",
        ] {
            assert_eq!(NetworkShape::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_shape_of_the_longest_length_that_is_reached_counts() {
        let found = |length| tuning().shape(4, length).map(|tuned| tuned.shape);
        assert_eq!(found(1000), Some(shape(9)));
        assert_eq!(found(1 << 16), Some(shape(9)));
        assert_eq!(found((1 << 16) + 1), Some(shape(11)));
        assert_eq!(tuning().shape(8, 1000), None, "nothing was tuned for this width");
    }

    #[test]
    fn a_strategy_is_known_near_the_length_that_it_was_tuned_for() {
        let mut tuning = tuning();
        assert_eq!(tuning.strategy(4, 1), Some(StrategyName::Network));
        assert_eq!(tuning.strategy(4, 1000), None, "too far from the length that was tuned");
        assert_eq!(tuning.strategy(4, 1 << 17), None, "the first by rank is the fastest");
        let counted =
            TunedShape { strategy: Some(StrategyName::Counted), ..tuning.shape(4, 1 << 17).unwrap() };
        tuning.insert(counted);
        assert_eq!(tuning.shapes.len(), 2, "it takes the place of the one that was there");
        assert_eq!(tuning.strategy(4, 1 << 18), Some(StrategyName::Counted));
        assert!(tuning.has(4, 1 << 17) && !tuning.has(4, 1 << 18) && !tuning.has(8, 1 << 17));
    }

    #[test]
    fn what_is_kept_names_its_device() {
        let facts = DeviceFacts { name: "A\ndevice".to_owned(), ..DeviceFacts::nvidia_h200() };
        let stored = Stored::now(&facts, &tuning());
        let read = Stored::parse(&stored.to_string()).expect("it was written just now");
        assert_eq!(
            (read.device.as_str(), read.engine, &read.driver),
            ("A device", Engine::Cuda, &facts.driver)
        );
        assert_eq!(read.tuning, tuning());
        let age = stored.when.duration_since(read.when).expect("seconds are rounded down");
        assert!(age < Duration::from_secs(1));
        let of_another = stored.to_string().replace("by bitonic ", "by bitonic 9.");
        assert_eq!(Stored::parse(&of_another), None);
    }

    #[test]
    fn a_condemned_shape_is_not_taken() {
        let mut tuning = tuning();
        tuning.condemned.push((4, shape(11)));
        assert_eq!(tuning.shape(4, 1 << 20).map(|tuned| tuned.shape), Some(shape(9)));
        tuning.condemned.push((4, shape(9)));
        assert_eq!(tuning.shape(4, 1 << 20), None);
        assert!(
            tuning.condemned_alone().is_condemned(4, shape(9)) && tuning.condemned_alone().shapes.is_empty()
        );
    }
}
