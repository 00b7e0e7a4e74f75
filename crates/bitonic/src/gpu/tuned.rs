//! What `bitonic tune` has kept: shown, and forgotten.

use super::bandwidth;
use super::cache::Cache;
use super::search::FasterFrom;
use super::tuning::{Crossover, NoDevice, Stored, StrategyName};
use crate::Engine;
use std::path::PathBuf;
use std::time::SystemTime;
use std::{fs, io};

/// What is kept of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TunedDevice {
    /// The engine that uses it.
    pub engine: Engine,
    /// Its name.
    pub device: String,
    /// The driver's version when it was tuned. Sorts go by what was tuned with the driver that is there.
    pub driver: Option<String>,
    /// When it was tuned last.
    pub when: Option<SystemTime>,
    /// The file with the best ways to sort.
    pub file: Option<PathBuf>,
    /// The best ways to sort on it.
    pub sorts: Vec<TunedSort>,
    /// The ways that gave a wrong result with this driver. They are never taken again.
    pub wrong: Vec<WrongSort>,
    /// From which length on it is faster than the CPU, for each kind of sorts that was compared.
    pub faster_from: Vec<FasterFrom>,
}

/// The best way to sort on a device, from a length on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TunedSort {
    /// What an element takes: a key, with what travels with it.
    pub element_bytes: usize,
    /// Arrays of this length were tuned; longer ones go by it, up to the next.
    pub length: usize,
    /// The strategy that was faster than the one taken without tuning, if there was one.
    pub strategy: Option<&'static str>,
    /// How passes of the network are cut.
    pub shape: String,
}

/// A way to sort whose result was wrong once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrongSort {
    /// What an element takes: a key, with what travels with it.
    pub element_bytes: usize,
    /// How passes of the network were cut.
    pub shape: String,
}

/// What is kept of every device that was tuned, or compared with the CPU by a first sort. Reads the [cache
/// folder](crate::cache_folder), and asks no driver.
///
/// ```
/// for tuned in bitonic::device::tuned() {
///     println!("{} ({}): {} lengths", tuned.device, tuned.engine, tuned.sorts.len());
/// }
/// ```
pub fn tuned() -> Vec<TunedDevice> {
    tuned_in(&Cache::of_user())
}

fn tuned_in(cache: &Cache) -> Vec<TunedDevice> {
    let mut devices: Vec<TunedDevice> = Stored::all(cache).into_iter().map(of_stored).collect();
    for crossover in Crossover::load_from(cache) {
        let (engine, name) = (crossover.engine, &crossover.device);
        let place = devices.iter().position(|known| known.engine == engine && known.device == *name);
        let place = place.unwrap_or_else(|| {
            devices.push(TunedDevice {
                engine,
                device: name.clone(),
                driver: None,
                when: None,
                file: None,
                sorts: Vec::new(),
                wrong: Vec::new(),
                faster_from: Vec::new(),
            });
            devices.len() - 1
        });
        devices[place].faster_from.push(FasterFrom::from(&crossover));
    }
    devices
}

fn of_stored((file, stored): (PathBuf, Stored)) -> TunedDevice {
    let Stored { engine, device, driver, when, tuning } = stored;
    let sorts = tuning.shapes.iter().map(|tuned| TunedSort {
        element_bytes: tuned.element_bytes,
        length: 1_usize.checked_shl(tuned.from_merges).unwrap_or(usize::MAX),
        strategy: tuned.strategy.map(StrategyName::name),
        shape: tuned.shape.to_string(),
    });
    let wrong = tuning
        .condemned
        .iter()
        .map(|(element_bytes, shape)| WrongSort { element_bytes: *element_bytes, shape: shape.to_string() });
    TunedDevice {
        engine,
        device,
        driver: Some(driver),
        when: Some(when),
        file: Some(file),
        sorts: sorts.collect(),
        wrong: wrong.collect(),
        faster_from: Vec::new(),
    }
}

/// Removes what is kept of all devices: the best ways to sort, the comparisons with the CPU, and the speeds of copies. Built kernels
/// stay. Says which files were removed.
///
/// # Errors
///
/// When a file cannot be removed.
pub fn forget_tuned() -> io::Result<Vec<PathBuf>> {
    forget_in(&Cache::of_user())
}

fn forget_in(cache: &Cache) -> io::Result<Vec<PathBuf>> {
    let files =
        [Stored::files(cache), Crossover::files(cache), NoDevice::files(cache), bandwidth::files(cache)]
            .concat();
    for file in &files {
        fs::remove_file(file)?;
    }
    Ok(files)
}

#[cfg(all(test, feature = "devices"))]
mod tests {
    use super::*;
    use crate::gpu::cache::testing::TestDirectory;
    use crate::gpu::facts::DeviceFacts;
    use crate::gpu::tuning::{NetworkShape, SortKind, Tuning};
    use std::time::Duration;

    #[test]
    fn shapes_that_came_out_wrong_are_shown() {
        let text = "tile 2^10 held 2^3 fused 3 registers 3 items 2^7 looped";
        let shape = NetworkShape::parse(text).expect("it is one");
        let tuning = Tuning { shapes: Vec::new(), condemned: vec![(8, shape)] };
        let stored = Stored::now(&DeviceFacts::nvidia_h200(), &tuning);
        let shown = of_stored((PathBuf::from("a file"), stored));
        assert_eq!(shown.wrong, [WrongSort { element_bytes: 8, shape: text.to_owned() }]);
        assert!(shown.sorts.is_empty());
    }

    #[test]
    fn what_is_kept_is_shown_until_it_is_forgotten() {
        let directory = TestDirectory::new("tuned");
        let cache = directory.cache();
        assert!(tuned_in(&cache).is_empty());
        let crossover = Crossover {
            engine: Engine::Cuda,
            device: "A GPU".to_owned(),
            kind: SortKind::MEASURED[0],
            faster_from: Some(1 << 20),
            up_to: 1 << 22,
            gain: 1.0,
            opening: Duration::ZERO,
        };
        assert!(crossover.update_in(&cache));
        bandwidth::store(&cache, "A GPU", 1e9);
        assert!(cache.store("tile_sort", "a kernel", b"built"));
        let shown = tuned_in(&cache);
        assert_eq!((shown.len(), shown[0].device.as_str()), (1, "A GPU"));
        assert_eq!(shown[0].faster_from[0].length, Some(1 << 20));
        let files = forget_in(&cache).expect("the folder is this test's own");
        assert_eq!((files.len(), directory.files().len()), (2, 1), "the kernel stays");
        assert!(tuned_in(&cache).is_empty());
    }
}
