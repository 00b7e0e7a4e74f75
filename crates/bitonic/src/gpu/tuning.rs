//! What was measured on a device and stored: the best shapes, and from which length on it beats the CPU.

use super::cache::Cache;
use super::layout::Layout;
use super::shape::{DeviceLimits, Shape};
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
    pub(crate) shape: Shape,
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
    pub(crate) fn shape(&self, limits: DeviceLimits, layout: Layout, row_length: usize) -> Option<Shape> {
        let merges = Step::merges(row_length);
        self.shapes
            .iter()
            .filter(|tuned| tuned.element_bytes == layout.element_bytes() && tuned.from_merges <= merges)
            .max_by_key(|tuned| tuned.from_merges)
            .map(|tuned| tuned.shape)
            .filter(|shape| shape.is_possible(limits, layout))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut tuning = Self::default();
        for line in text.lines() {
            let (name, value) = line.split_once(": ")?;
            match name.split_once(' ') {
                Some(("shape", place)) => {
                    let (element_bytes, from_merges) = place.split_once(' ')?;
                    tuning.shapes.push(TunedShape {
                        element_bytes: element_bytes.parse().ok()?,
                        from_merges: from_merges.parse().ok()?,
                        shape: Shape::parse(value)?,
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
        for TunedShape { element_bytes, from_merges, shape } in &self.shapes {
            writeln!(f, "shape {element_bytes} {from_merges}: {shape}")?;
        }
        Ok(())
    }
}

/// From which length on a device, transfers included, was faster than the CPU: what `Auto` goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crossover {
    /// The device's name.
    pub(crate) device: String,
    pub(crate) faster_from: usize,
}

const CROSSOVER_NAME: &str = "auto";
/// One for the machine: the entry is found without asking any driver.
const CROSSOVER_KEY: &str = "opencl";

impl Crossover {
    /// The one of this machine, if there is one.
    pub(crate) fn load() -> Option<Self> {
        let text = Cache::of_user().load(CROSSOVER_NAME, CROSSOVER_KEY)?;
        Self::parse(std::str::from_utf8(&text).ok()?)
    }

    /// Stores what was found for a device, `None` if it is never faster than the CPU, unless another device is known to be
    /// faster from a smaller length on. Whether that worked.
    pub(crate) fn update(device: &str, found: Option<Self>) -> bool {
        let best = Self::better(Self::load(), device, found);
        let text = best.as_ref().map_or_else(String::new, Self::to_string);
        Cache::of_user().store(CROSSOVER_NAME, CROSSOVER_KEY, text.as_bytes())
    }

    fn better(known: Option<Self>, device: &str, found: Option<Self>) -> Option<Self> {
        let other = known.filter(|known| known.device != device);
        [other, found].into_iter().flatten().min_by_key(|crossover| crossover.faster_from)
    }

    fn parse(text: &str) -> Option<Self> {
        let (faster_from, device) = text.split_once(' ')?;
        let faster_from = faster_from.parse().ok()?;
        (!device.is_empty()).then(|| Self { device: device.to_owned(), faster_from })
    }
}

impl fmt::Display for Crossover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.faster_from, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(tile_log2: u32) -> Shape {
        Shape { tile_log2, held_log2: 3, fused_steps: 4, pass_items_log2: 6, unrolled: true }
    }

    fn tuning() -> Tuning {
        let tuned =
            |from_merges, tile_log2| TunedShape { element_bytes: 4, from_merges, shape: shape(tile_log2) };
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
        let crossover = Crossover { device: "A device (of 2)".to_owned(), faster_from: 1 << 20 };
        assert_eq!(Crossover::parse(&crossover.to_string()), Some(crossover));
        for text in ["", "many keys", "1000", "1000 "] {
            assert_eq!(Crossover::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_device_that_is_faster_from_fewer_keys_on_stays() {
        let of = |device: &str, faster_from| Some(Crossover { device: device.to_owned(), faster_from });
        assert_eq!(Crossover::better(None, "a", of("a", 10)), of("a", 10));
        assert_eq!(Crossover::better(of("a", 10), "b", of("b", 20)), of("a", 10));
        assert_eq!(Crossover::better(of("a", 10), "b", of("b", 5)), of("b", 5));
        assert_eq!(Crossover::better(of("a", 10), "b", None), of("a", 10));
        assert_eq!(Crossover::better(of("a", 10), "a", of("a", 20)), of("a", 20), "measured anew");
        assert_eq!(Crossover::better(of("a", 10), "a", None), None);
    }

    #[test]
    fn the_shape_of_the_longest_length_that_is_reached_counts_if_it_is_possible() {
        let limits = DeviceLimits { group_size: 256, local_bytes: 16 << 10, is_cpu: false };
        let keys = Layout::keys::<u32>();
        assert_eq!(tuning().shape(limits, keys, 1000), Some(shape(9)));
        assert_eq!(tuning().shape(limits, keys, 1 << 16), Some(shape(9)));
        assert_eq!(tuning().shape(limits, keys, (1 << 16) + 1), Some(shape(11)));
        assert_eq!(
            tuning().shape(limits, Layout::keys::<u64>(), 1000),
            None,
            "nothing was tuned for this width"
        );
        let tiny = DeviceLimits { local_bytes: 1 << 10, ..limits };
        assert_eq!(tuning().shape(tiny, keys, 1000), None, "the device has become smaller");
    }
}
