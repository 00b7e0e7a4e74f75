//! Segments of different lengths, sorted on a device.

use crate::{ENGINE, has_device};
use bitonic::key::KeyType;
use bitonic::{Engine, Error, Order, Sorter};
use bitonic_testkit::{Pattern, TestKey};

/// Offsets of segments of these lengths, with some keys before the first that belong to none.
fn offsets(lengths: &[usize]) -> Vec<usize> {
    let mut offsets = vec![3];
    offsets.extend(lengths.iter().scan(3, |end, length| {
        *end += length;
        Some(*end)
    }));
    offsets
}

/// Lengths of every class, around the powers of two, mixed, with empty ones between.
fn mixed_lengths(largest: usize) -> Vec<usize> {
    let powers = (0..).map(|log2| 1_usize << log2).take_while(|&power| power <= largest);
    let mut lengths: Vec<usize> = powers.flat_map(|power| [power - 1, power, 0, power + 1, 1]).collect();
    // What is next to each other in the array is of different classes.
    let half = lengths.len() / 2;
    lengths = (0..lengths.len()).map(|place| lengths[(place % 2) * half + place / 2]).collect();
    lengths
}

fn raw<K: TestKey>(keys: &[K]) -> Vec<K::Bits> {
    keys.iter().map(|key| key.to_raw_bits()).collect()
}

/// Segments of keys.
struct Case<K> {
    keys: Vec<K>,
    offsets: Vec<usize>,
    on_device: Sorter,
    on_cpu: Sorter,
    what: String,
}

/// The case of segments of these lengths, in both orders.
fn cases<K: TestKey>(sorter: &Sorter, lengths: &[usize], pattern: Pattern) -> impl Iterator<Item = Case<K>> {
    [Order::Ascending, Order::Descending].into_iter().map(move |order| {
        let offsets = offsets(lengths);
        // Some keys behind the last segment stay as well.
        let keys = pattern.generate(offsets[offsets.len() - 1] + 5, 7);
        let what = format!("{} segments of {}, {pattern:?}, {order:?}", lengths.len(), K::TYPE);
        let on_cpu = Sorter::new().engine(Engine::Cpu).order(order);
        Case { keys, offsets, on_device: sorter.clone().order(order), on_cpu, what }
    })
}

impl<K: TestKey> Case<K> {
    /// The keys, as the CPU sorts them and as the device does.
    fn check_keys(&self) -> Vec<K::Bits> {
        let (mut sorted, mut expected) = (self.keys.clone(), self.keys.clone());
        let report = self.on_device.sort_segments(&mut sorted, &self.offsets).unwrap();
        assert_eq!((report.engine(), report.fallback), (ENGINE, None), "{}", self.what);
        self.on_cpu.sort_segments(&mut expected, &self.offsets).unwrap();
        assert_eq!(raw(&sorted), raw(&expected), "{}", self.what);
        raw(&sorted)
    }

    /// Indices, and values of any type that are put in place by them.
    fn check_indices(&self, sorted_keys: &[K::Bits]) {
        let indices = self.on_device.argsort_segments(&self.keys, &self.offsets).unwrap();
        assert_eq!(
            indices,
            self.on_cpu.argsort_segments(&self.keys, &self.offsets).unwrap(),
            "{}",
            self.what
        );
        let (mut keys, mut values) =
            (self.keys.clone(), (0..self.keys.len()).map(|value| [value, !value]).collect::<Vec<_>>());
        let (mut keys_of_cpu, mut values_of_cpu) = (keys.clone(), values.clone());
        let [on_device, on_cpu] = [&self.on_device, &self.on_cpu].map(|sorter| sorter.clone().stable(true));
        on_device.sort_pairs_segments(&mut keys, &mut values, &self.offsets).unwrap();
        on_cpu.sort_pairs_segments(&mut keys_of_cpu, &mut values_of_cpu, &self.offsets).unwrap();
        assert_eq!((&raw(&keys)[..], values), (sorted_keys, values_of_cpu), "{}", self.what);
    }

    /// Numbers that travel with the keys: those of equal keys in any order, and none in another segment.
    fn check_pairs(&self, sorted_keys: &[K::Bits]) {
        let (mut keys, mut values) = (self.keys.clone(), (0..self.keys.len() as u32).collect::<Vec<_>>());
        self.on_device.sort_pairs_segments(&mut keys, &mut values, &self.offsets).unwrap();
        assert_eq!(raw(&keys), sorted_keys, "{}", self.what);
        let moved: Vec<K> = values.iter().map(|&value| self.keys[value as usize]).collect();
        assert_eq!(raw(&moved), sorted_keys, "{}", self.what);
        for ends in self.offsets.windows(2) {
            let mut found = values[ends[0]..ends[1]].to_vec();
            found.sort_unstable();
            assert!(found.into_iter().eq(ends[0] as u32..ends[1] as u32), "{}", self.what);
        }
    }
}

/// Every operation.
fn check<K: TestKey>(sorter: &Sorter, lengths: &[usize], pattern: Pattern) {
    for case in cases::<K>(sorter, lengths, pattern) {
        let sorted_keys = case.check_keys();
        case.check_indices(&sorted_keys);
        case.check_pairs(&sorted_keys);
    }
}

fn check_keys<K: TestKey>(sorter: &Sorter, lengths: &[usize], pattern: Pattern) {
    cases::<K>(sorter, lengths, pattern).for_each(|case| drop(case.check_keys()));
}

#[test]
fn segments_of_all_lengths_are_sorted_as_on_the_cpu() {
    let sorter = on_device!();
    for pattern in [Pattern::Random, Pattern::FewUnique, Pattern::Special, Pattern::AllMax] {
        check::<u32>(&sorter, &mixed_lengths(1 << 15), pattern);
    }
}

#[test]
fn segments_of_every_width() {
    let sorter = on_device!();
    for &key in super::WIDTHS {
        bitonic::with_key_type!(key, K => check_keys::<K>(&sorter, &mixed_lengths(1 << 13), Pattern::Random));
    }
}

#[test]
fn segments_of_every_type() {
    let sorter = on_device!();
    for &key in KeyType::ALL {
        bitonic::with_key_type!(key, K => check_keys::<K>(&sorter, &[0, 1, 5, 100, 2, 0, 64], Pattern::Special));
    }
}

#[test]
fn many_short_segments_and_one_that_is_nearly_everything() {
    let sorter = on_device!();
    check::<u32>(&sorter, &vec![3; 40_000], Pattern::Random);
    let mut lengths = vec![1; 5_000];
    lengths[1234] = 300_000;
    check_keys::<f32>(&sorter, &lengths, Pattern::Random);
    check::<u32>(&sorter, &[70_001], Pattern::Reversed);
}

#[test]
fn nothing_in_segments_is_nothing_to_do() {
    let sorter = on_device!();
    for offsets in [&[][..], &[2], &[2, 2], &[0, 0, 3, 3]] {
        let mut keys = [3_u32, 1, 2, 0];
        sorter.sort_segments(&mut keys, offsets).unwrap();
        assert_eq!(keys, if offsets.len() == 4 { [1, 2, 3, 0] } else { [3, 1, 2, 0] });
    }
}

#[test]
fn segments_that_a_device_refuses() {
    let sorter = on_device!();
    let keys = [3_u32, 1, 2, 0];
    let refused = sorter.clone().oblivious(true).sort_segments(&mut keys.clone(), &[0, 4]);
    assert!(matches!(refused, Err(Error::EngineUnavailable { .. })), "{refused:?}");
    let whole = sorter.clone().device_memory(1 << 10).chunks(false);
    let refused = whole.sort_segments(&mut vec![1_u32; 10_000], &[0, 4, 10_000]).unwrap_err();
    assert!(matches!(refused, Error::LargerThanDevice { bytes: 40_012, limit: 1024, .. }), "{refused:?}");
    assert!(refused.to_string().contains("allow chunks()"), "{refused}");
    let refused = sorter.sort_segments(&mut keys.clone(), &[0, 5]);
    assert!(matches!(refused, Err(Error::Offsets { .. })), "{refused:?}");
}

/// Segments of which many fit at a time, few, one, and none; the longest just fits, and is one key too long.
#[test]
fn segments_in_chunks() {
    let sorter = on_device!();
    let mut lengths = mixed_lengths(1 << 10);
    // Empty ones where chunks begin and end.
    lengths.extend([1025, 0, 0, 1025, 0, 1024, 1, 0, 0, 0]);
    for limit in [8 * 100, 4 * 1025, 8 * 1024, 8 * 1025, 8 * 5000] {
        check::<u32>(&sorter.clone().device_memory(limit), &lengths, Pattern::FewUnique);
    }
    for &key in super::WIDTHS {
        let sorter = sorter.clone().device_memory(3000);
        bitonic::with_key_type!(key, K => check_keys::<K>(&sorter, &mixed_lengths(200), Pattern::Special));
    }
}

/// Values that the merge does not move itself.
#[test]
fn values_of_any_size_follow_the_keys_of_segments_in_chunks() {
    let sorter = on_device!().device_memory(1000).stable(true);
    let offsets = offsets(&[0, 10, 500, 0, 0, 20, 3, 90, 0]);
    let keys: Vec<u16> = Pattern::FewUnique.generate(offsets[9] + 5, 7);
    let (mut on_device, mut on_cpu) = (keys.clone(), keys.clone());
    let values: Vec<[u8; 3]> = (0..keys.len()).map(|place| [1, (place >> 8) as u8, place as u8]).collect();
    let (mut values_of_device, mut values_of_cpu) = (values.clone(), values);
    let report = sorter.sort_pairs_segments(&mut on_device, &mut values_of_device, &offsets).unwrap();
    assert!(report.times.is_some_and(|times| times.chunks > 2), "{report}");
    sorter.engine(Engine::Cpu).sort_pairs_segments(&mut on_cpu, &mut values_of_cpu, &offsets).unwrap();
    assert_eq!((on_device, values_of_device), (on_cpu, values_of_cpu));
}

#[test]
fn plan_and_report_tell_the_chunks_of_segments() {
    let sorter = on_device!().device_memory(4000);
    let offsets = offsets(&[500, 0, 490, 0, 1000, 2001, 7]);
    let plan = sorter.plan_segments::<u32>(5000, &offsets).unwrap();
    let chunks = plan.chunks.expect("they do not fit");
    assert_eq!((chunks.count, chunks.len, chunks.row_pieces), (6, 1000, 3));
    let text = plan.to_string();
    assert!(
        text.contains("chunks     6 chunks of up to 1000 keys, merged on the host in 2 passes\n"),
        "{text}"
    );
    assert!(text.contains(" over the longest chunk, "), "{text}");
    let mut keys: Vec<u32> = Pattern::Random.generate(5000, 1);
    let report = sorter.sort_segments(&mut keys, &offsets).unwrap();
    assert_eq!(report.plan, plan);
    let times = report.times.expect("a device was used");
    // 3998 keys, and a table of the segments that go together: 500, 0 and 490 keys.
    assert_eq!((times.chunks, times.downloaded_bytes), (6, 4 * 3998));
    assert_eq!(times.uploaded_bytes, 4 * 3998 + 4 * 4);

    let between = sorter.plan_segments::<u32>(5000, &offsets[..6]).unwrap().to_string();
    assert!(
        between.contains("chunks     2 chunks of up to 1000 keys, cut between rows or segments\n"),
        "{between}"
    );
}

#[test]
fn a_plan_of_segments_says_what_is_done() {
    let sorter = on_device!();
    let plan = sorter.plan_segments::<u32>(200_000, &[0, 10, 100_000, 200_000]).unwrap();
    let text = plan.to_string();
    for words in
        ["3 segments of at most", "count 3 segments", "sort segments of 1 to ", "merge longer segments"]
    {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}
