//! A device that goes wrong costs time, never data: single faults of a device in host memory, one after the other.

use super::*;
use crate::gpu::testing::{Fault, FaultAt, HostDevice};
use crate::key::{F8E4M3, F8E5M2, bf16, f16};

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// What is done with the keys.
#[derive(Clone, Copy, Debug)]
enum What {
    Keys,
    Pairs32,
    Pairs64,
    /// Values that the host puts in place.
    Structures,
    Argsort,
}

const WHATS: [What; 5] = [What::Keys, What::Pairs32, What::Pairs64, What::Structures, What::Argsort];

/// A sort with its arrays.
struct Case<K> {
    what: What,
    segments: Segments,
    sorter: Sorter,
    keys: Vec<K>,
}

/// What a sort made: the keys, and a number for each that says where it was.
type Made<K> = (Vec<K>, Vec<u64>);

impl<K: Key> Case<K> {
    fn new(random: &mut Random) -> Self {
        let row_length = 2 + random.below(60);
        let rows = 1 + random.below(4);
        let segments = match rows {
            1 => Segments::one(row_length),
            rows => Segments::rows(rows * row_length, row_length).expect("whole rows"),
        };
        let order = if random.below(2) == 0 { Order::Ascending } else { Order::Descending };
        let (stable, nan_last) = (random.below(2) == 0, random.below(2) == 0);
        let mut sorter = Sorter::new().order(order).stable(stable).nan_last(nan_last);
        if random.below(3) == 0 {
            // A few elements at a time; a key with its value has up to 24 bytes.
            sorter = sorter.device_memory(24 * (2 + random.below(row_length) as u64));
        }
        // Few values, so that there are ties, or any.
        let few = random.below(2) == 0;
        let mut key = || {
            let word = u128::from(random.next()) << 64 | u128::from(random.next());
            K::from_ordered_bits(Bits::truncate(if few { word % 5 } else { word }))
        };
        let keys = (0..segments.len()).map(|_| key()).collect();
        Self { what: WHATS[random.below(WHATS.len())], segments, sorter, keys }
    }

    /// Sorts copies of the arrays on the device, or on the CPU if there is none.
    fn run(&self, device: Option<&dyn DeviceEngine>) -> Result<(Made<K>, Report), Error> {
        let (segments, len) = (self.segments, self.keys.len());
        let mut keys = self.keys.clone();
        // SAFETY: what sorts them leaves a permutation of them there.
        let bits = unsafe { as_bits_mut(&mut keys) };
        let run = |request, operation: &mut dyn Operation| {
            self.sorter.run_with(device, &self.sorter.complete(request), operation, None, None)
        };
        let (numbers, report): (Vec<u64>, _) = match self.what {
            What::Keys => (Vec::new(), run(Request::keys::<K>(segments), &mut Keys(bits))?),
            What::Pairs32 => {
                let mut values: Vec<u32> = (0..len as u32).collect();
                let mut operation = PairsOfRows(Pairs(bits, &mut values));
                let report = run(Request::pairs::<K, u32>(segments), &mut operation)?;
                (values.iter().map(|&value| u64::from(value)).collect(), report)
            }
            What::Pairs64 => {
                let mut values: Vec<u64> = (0..len as u64).collect();
                let mut operation = PairsOfRows(Pairs(bits, &mut values));
                let report = run(Request::pairs::<K, u64>(segments), &mut operation)?;
                (values, report)
            }
            What::Structures => {
                let mut values: Vec<[u8; 3]> =
                    (0..len).map(|place| [place as u8, (place >> 8) as u8, 7]).collect();
                let mut operation = PairsOfRows(Pairs(bits, &mut values));
                let report = run(Request::pairs::<K, [u8; 3]>(segments), &mut operation)?;
                (
                    values.iter().map(|&[low, high, _]| u64::from(u16::from_le_bytes([low, high]))).collect(),
                    report,
                )
            }
            What::Argsort => {
                let mut indices = Vec::new();
                let report = run(Request::argsort::<K>(segments), &mut Argsort(bits, &mut indices))?;
                (indices.iter().map(|&index| index as u64).collect(), report)
            }
        };
        Ok(((keys, numbers), report))
    }

    /// Whether this is a right result: the CPU's, but for values of equal keys where the sort is not stable.
    fn is_right(&self, made: &Made<K>) -> bool {
        let sorter = self.sorter.clone().engine(Engine::Cpu);
        let (expected, _) =
            Self { sorter, keys: self.keys.clone(), ..*self }.run(None).expect("the CPU sorts");
        if !as_bits(&made.0).eq(as_bits(&expected.0)) {
            return false;
        }
        match self.what {
            What::Keys => true,
            What::Argsort => made.1 == expected.1,
            _ if self.sorter.stable => made.1 == expected.1,
            _ => {
                let belong = made
                    .1
                    .iter()
                    .zip(as_bits(&made.0))
                    .all(|(&place, key)| as_bits(&self.keys)[place as usize] == *key);
                let mut places = made.1.clone();
                let row_length = self.segments.longest();
                places.chunks_mut(row_length).for_each(<[u64]>::sort_unstable);
                belong && places.iter().copied().eq(0..places.len() as u64)
            }
        }
    }
}

/// Sorts on a device that makes one mistake at most; whether it did.
fn check<K: Key>(device: &HostDevice, random: &mut Random, fault: Option<Fault>) -> bool {
    let mut case = Case::<K>::new(random);
    // An engine that was asked for by name makes no difference here.
    case.sorter = case.sorter.engine([Engine::Auto, Engine::OpenCl][random.below(2)]);
    device.script().fault = fault;
    let (made, report) = case.run(Some(device)).expect("the device sorts, or the CPU");
    let made_a_mistake = fault.is_some() && device.script().fault.is_none();
    let about = || format!("{} {:?} {:?} {:?}, {fault:?}", K::TYPE, case.what, case.segments, case.sorter);
    assert!(case.is_right(&made), "{}", about());
    if made_a_mistake {
        assert_eq!(report.engine(), Engine::Cpu, "{}", about());
        let reason = report.fallback.as_deref().unwrap_or_else(|| panic!("{}", about()));
        for named in ["a device in host memory", "OpenCL 1", "bitonic network in flip form", "kernels "] {
            assert!(reason.contains(named), "{reason}");
        }
        assert!(report.to_string().contains(reason), "{report}");
    } else {
        assert_eq!((report.engine(), report.fallback), (Engine::OpenCl, None), "{:?}", fault);
    }
    made_a_mistake
}

/// The same with keys of every type in turn.
fn check_type(number: usize, device: &HostDevice, random: &mut Random, fault: Option<Fault>) -> bool {
    match number % 16 {
        0 => check::<u8>(device, random, fault),
        1 => check::<i8>(device, random, fault),
        2 => check::<u16>(device, random, fault),
        3 => check::<f16>(device, random, fault),
        4 => check::<bf16>(device, random, fault),
        5 => check::<u32>(device, random, fault),
        6 => check::<i32>(device, random, fault),
        7 => check::<f32>(device, random, fault),
        8 => check::<u64>(device, random, fault),
        9 => check::<f64>(device, random, fault),
        10 => check::<u128>(device, random, fault),
        11 => check::<i128>(device, random, fault),
        12 => check::<F8E4M3>(device, random, fault),
        13 => check::<F8E5M2>(device, random, fault),
        14 => check::<bool>(device, random, fault),
        _ => check::<char>(device, random, fault),
    }
}

#[test]
fn ten_thousand_single_faults_are_noticed_and_the_cpu_sorts() {
    let (device, mut random) = (HostDevice::new(1 << 20), Random(1));
    let mut noticed = [0; 3];
    for number in 0.. {
        // Most sorts are one launch; others have chunks.
        let call = random.below(2) * random.below(5);
        let at = [FaultAt::Launch, FaultAt::Upload, FaultAt::Download][number % 3];
        let fault = Fault { at, call, random: random.next() };
        if check_type(random.below(16), &device, &mut random, Some(fault)) {
            noticed[number % 3] += 1;
        }
        if noticed.iter().all(|&noticed| noticed >= 3334) {
            break;
        }
    }
    assert!(noticed.iter().sum::<usize>() >= 10_000, "{noticed:?}");
}

#[test]
fn a_right_result_is_never_condemned() {
    let (device, mut random) = (HostDevice::new(1 << 20), Random(2));
    for number in 0..3000 {
        assert!(!check_type(number, &device, &mut random, None));
    }
}
