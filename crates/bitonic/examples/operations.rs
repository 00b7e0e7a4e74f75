//! Measures the operations beside a sort on this processor: `cargo run --release -p bitonic-sort --example operations`.
//!
//! Every line is one operation: the time of ours and of the standard library's nearest, on one thread, interleaved, medians of
//! several runs on copies of the same random data, which are made before the time counts; and their ratio. Results are compared first.

use bitonic::{Engine, Sorter};
use std::hint::black_box;
use std::time::Instant;

/// How often each is run.
const RUNS: usize = 9;

fn main() {
    let sorter = Sorter::new().engine(Engine::Cpu).threads(1);
    println!("{:44} {:>12} {:>12} {:>8}", "operation", "ours", "std", "ratio");
    for log2 in [16, 20, 22] {
        let keys: Vec<u64> = random(1 << log2).collect();
        line(
            &format!("argsort, 2^{log2} u64"),
            &keys,
            |keys| sorter.argsort(keys).unwrap(),
            |keys| standard_order(keys),
        );
        let apart = (keys.clone(), keys.clone());
        let together: Vec<(u64, u64)> = keys.iter().map(|&key| (key, key)).collect();
        line(
            &format!("pairs, 2^{log2} u64 with u64 values"),
            &(apart, together),
            |((keys, values), _)| sorter.sort_pairs(keys, values).map(|_| values[0]).unwrap(),
            |(_, pairs)| standard_pairs(pairs),
        );
    }
    let secret = Sorter::new().engine(Engine::Cpu).threads(1).oblivious(true);
    for log2 in [10, 16, 20] {
        let keys: Vec<u64> = random(1 << log2).collect();
        line(
            &format!("argsort, 2^{log2} u64, obliviously"),
            &keys,
            |keys| secret.argsort(keys).unwrap(),
            |keys| standard_order(keys),
        );
        let apart = (keys.clone(), keys.clone());
        let together: Vec<(u64, u64)> = keys.iter().map(|&key| (key, key)).collect();
        line(
            &format!("pairs, 2^{log2} u64 with u64 values, obliviously"),
            &(apart, together),
            |((keys, values), _)| secret.sort_pairs(keys, values).map(|_| values[0]).unwrap(),
            |(_, pairs)| standard_pairs(pairs),
        );
    }
    let keys: Vec<u32> = random(1 << 20).map(|key| key as u32).collect();
    line(
        "the median of 2^20 u32",
        &keys,
        |keys| *sorter.select_nth(keys, 1 << 19).unwrap().1,
        |keys| *keys.select_nth_unstable(1 << 19).1,
    );
    for (len, k) in [(128_256, 50), (1 << 20, 100), (1 << 22, 1000), (1 << 20, 1 << 18)] {
        let keys: Vec<u32> = random(len).map(|key| key as u32).collect();
        line(
            &format!("the {k} largest of {len} u32, with indices"),
            &keys,
            |keys| sorter.top_k(keys, k).unwrap().indices,
            |keys| {
                let mut indices: Vec<usize> = (0..keys.len()).collect();
                let first = |index: &usize| (std::cmp::Reverse(keys[*index]), *index);
                indices.select_nth_unstable_by_key(k, first);
                indices.truncate(k);
                indices.sort_unstable_by_key(first);
                indices
            },
        );
    }
    for mean in [32, 100, 1000] {
        let mut offsets = vec![0];
        for length in random(1 << 17).map(|number| number as usize % (2 * mean)) {
            let end = offsets[offsets.len() - 1] + length;
            if end > 1 << 22 {
                break;
            }
            offsets.push(end);
        }
        let keys: Vec<u32> = random(offsets[offsets.len() - 1]).map(|key| key as u32).collect();
        line(
            &format!("segments of {mean} u32 on average, {} in all", keys.len()),
            &keys,
            |keys| sorter.sort_segments(keys, &offsets).map(|_| keys[keys.len() / 2]).unwrap(),
            |keys| {
                offsets.windows(2).for_each(|ends| keys[ends[0]..ends[1]].sort_unstable());
                keys[keys.len() / 2]
            },
        );
    }
    let items: Vec<(u32, [u64; 3])> = random(1 << 20).map(|key| (key as u32, [key; 3])).collect();
    line(
        "2^20 structures of 32 bytes by a u32",
        &items,
        |items| sorter.sort_by_key(items, |item| item.0).map(|()| items[items.len() / 2].0).unwrap(),
        |items| {
            items.sort_unstable_by_key(|item| item.0);
            items[items.len() / 2].0
        },
    );
    let halves: [Vec<u32>; 2] = [0, 1].map(|half| {
        let mut keys: Vec<u32> = random(1 << 20).map(|key| (key >> half) as u32).collect();
        bitonic::sort(&mut keys);
        keys
    });
    line(
        "2 sorted runs of 2^20 u32 merged",
        &vec![0; 1 << 21],
        |merged| sorter.merge(&halves[0], &halves[1], merged).map(|()| merged.clone()).unwrap(),
        |all| {
            // The standard library's stable sort finds the two runs and merges them.
            all[..1 << 20].copy_from_slice(&halves[0]);
            all[1 << 20..].copy_from_slice(&halves[1]);
            all.sort();
            all.clone()
        },
    );
}

fn standard_order(keys: &[u64]) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..keys.len()).collect();
    indices.sort_by_key(|&index| keys[index]);
    indices
}

/// Sorts pairs by their keys, and gives the first value.
fn standard_pairs(pairs: &mut [(u64, u64)]) -> u64 {
    pairs.sort_unstable_by_key(|pair| pair.0);
    pairs[0].1
}

/// Numbers that look random and are the same in every run.
fn random(len: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..len).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

fn line<D: Clone, R: PartialEq>(
    what: &str,
    data: &D,
    ours: impl Fn(&mut D) -> R,
    standard: impl Fn(&mut D) -> R,
) {
    assert!(ours(&mut data.clone()) == standard(&mut data.clone()), "{what}: the results differ");
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        for (of, work) in [&ours as &dyn Fn(&mut D) -> R, &standard].into_iter().enumerate() {
            let mut data = data.clone();
            let started = Instant::now();
            black_box(work(&mut data));
            times[of].push(started.elapsed().as_secs_f64() * 1e3);
        }
    }
    let [ours, standard] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    });
    println!("{what:44} {ours:>9.3} ms {standard:>9.3} ms {:>7.1}x", standard / ours);
}
