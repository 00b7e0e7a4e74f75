//! Which device to open.

use crate::Error;
use std::cmp::Reverse;
use std::fmt;

/// Which device to open.
///
/// As text: `best` (or `any`), an index such as `0`, a kind (`cpu`, `gpu`, `accelerator`, `other`), or anything else as a
/// part of a name.
///
/// ```
/// use bitonic::opencl::{DeviceChoice, DeviceKind};
///
/// assert_eq!("gpu".parse(), Ok(DeviceChoice::Kind(DeviceKind::Gpu)));
/// assert_eq!("1".parse(), Ok(DeviceChoice::Index(1)));
/// assert_eq!("H200".parse(), Ok(DeviceChoice::Name("H200".to_owned())));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// A GPU before an accelerator before a CPU, then the one with most compute units, then the lowest index.
    #[default]
    Best,
    /// The device with this index in the list of the engine's devices.
    Index(usize),
    /// The best device of this kind.
    Kind(DeviceKind),
    /// The best device with this in its name or in its platform's, in capitals or not.
    Name(String),
}

impl DeviceChoice {
    /// The place in the list of the device chosen.
    pub(super) fn choose(&self, devices: &[Candidate<'_>]) -> Result<usize, Error> {
        devices
            .iter()
            .enumerate()
            .filter(|(_, device)| self.accepts(device))
            .max_by_key(|(_, device)| (rank(device.kind), device.units, Reverse(device.index)))
            .map(|(place, _)| place)
            .ok_or_else(|| Error::NoSuchDevice { choice: self.to_string(), known: listing(devices) })
    }

    fn accepts(&self, device: &Candidate<'_>) -> bool {
        match self {
            Self::Best => true,
            Self::Index(index) => device.index == *index,
            Self::Kind(kind) => device.kind == *kind,
            Self::Name(part) => {
                let part = part.to_lowercase();
                [device.name, device.platform].into_iter().any(|text| text.to_lowercase().contains(&part))
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Best => f.pad("best"),
            Self::Index(index) => fmt::Display::fmt(index, f),
            Self::Kind(kind) => fmt::Display::fmt(kind, f),
            Self::Name(part) => f.pad(part),
        }
    }
}

impl std::str::FromStr for DeviceChoice {
    type Err = Error;

    /// Everything but the empty text is a choice; whether there is such a device is known when it is opened.
    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::UnknownName {
                what: "device",
                name: String::new(),
                known: "best, an index, cpu, gpu, accelerator, other, a part of a name".to_owned(),
            });
        }
        if matches!(text, "best" | "any") {
            return Ok(Self::Best);
        }
        if let Ok(index) = text.parse() {
            return Ok(Self::Index(index));
        }
        let kind = DeviceKind::ALL.iter().find(|kind| kind.name() == text);
        Ok(kind.map_or_else(|| Self::Name(text.to_owned()), |&kind| Self::Kind(kind)))
    }
}

/// What sort of device it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A processor that also runs the host's code.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// A device made for computing alone.
    Accelerator,
    /// Anything else.
    Other,
}

impl DeviceKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::Cpu, Self::Gpu, Self::Accelerator, Self::Other];

    /// The kind's name, as `Display` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Accelerator => "accelerator",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a choice goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) index: usize,
    pub(super) name: &'a str,
    /// The name of the driver's platform.
    pub(super) platform: &'a str,
    pub(super) kind: DeviceKind,
    /// Cores or multiprocessors.
    pub(super) units: usize,
}

fn rank(kind: DeviceKind) -> u8 {
    match kind {
        DeviceKind::Gpu => 3,
        DeviceKind::Accelerator => 2,
        DeviceKind::Cpu => 1,
        DeviceKind::Other => 0,
    }
}

fn listing(devices: &[Candidate<'_>]) -> String {
    let lines = devices.iter().map(|device| format!("{}: {} ({})", device.index, device.name, device.kind));
    lines.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> [Candidate<'static>; 4] {
        let device = |index, name, platform, kind, units| Candidate { index, name, platform, kind, units };
        [
            device(0, "Xeon", "Portable", DeviceKind::Cpu, 128),
            device(1, "Small GPU", "Vendor", DeviceKind::Gpu, 8),
            device(2, "Large GPU", "Vendor", DeviceKind::Gpu, 64),
            device(3, "Large GPU", "Vendor", DeviceKind::Gpu, 64),
        ]
    }

    fn chosen(choice: &str) -> Result<usize, Error> {
        choice.parse::<DeviceChoice>()?.choose(&machine())
    }

    #[test]
    fn the_best_device_is_a_gpu_with_most_units_and_the_lowest_index() {
        assert_eq!(chosen("best"), Ok(2));
        assert_eq!(chosen("any"), Ok(2));
    }

    #[test]
    fn an_index_a_kind_and_a_part_of_a_name_or_platform_choose() {
        assert_eq!(chosen("3"), Ok(3));
        assert_eq!(chosen("cpu"), Ok(0));
        assert_eq!(chosen("gpu"), Ok(2));
        assert_eq!(chosen("small"), Ok(1));
        assert_eq!(chosen("PORTABLE"), Ok(0));
    }

    #[test]
    fn a_choice_that_nothing_answers_to_lists_the_devices() {
        for choice in ["4", "accelerator", "H200"] {
            let Err(Error::NoSuchDevice { choice: named, known }) = chosen(choice) else {
                panic!("'{choice}' must be refused");
            };
            assert_eq!(named, choice);
            assert_eq!(known, "0: Xeon (cpu), 1: Small GPU (gpu), 2: Large GPU (gpu), 3: Large GPU (gpu)");
        }
    }

    #[test]
    fn display_and_from_str_are_inverse() {
        for text in ["best", "0", "17", "cpu", "gpu", "accelerator", "other", "H200"] {
            assert_eq!(text.parse::<DeviceChoice>().map(|choice| choice.to_string()).as_deref(), Ok(text));
        }
        assert!(matches!(" ".parse::<DeviceChoice>(), Err(Error::UnknownName { what: "device", .. })));
    }
}
