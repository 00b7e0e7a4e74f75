//! Every way through the CPU engine with as few keys as it takes: small enough for Miri, which looks for undefined behaviour
//! (`scripts/test-miri`). What is sorted, and that it is sorted right for all lengths and patterns, is the kit's subject.

use bitonic::{Engine, Instructions, Key, Order, Sorter};
use bitonic_testkit::{Pattern, TestKey};

/// The sort on every instruction set that there is here.
fn sorters() -> impl Iterator<Item = Sorter> {
    let available = Instructions::ALL.iter().filter(|instructions| instructions.is_available());
    available.map(|&instructions| Sorter::new().engine(Engine::Cpu).threads(1).instructions(instructions))
}

/// Lengths that fill registers, parts of them, and a buffer of several shapes.
const LENGTHS: [usize; 10] = [0, 1, 2, 7, 33, 64, 70, 100, 150, 300];

/// More keys than the least tile of this width.
const fn above_a_tile<K>() -> usize {
    256 * 16 / size_of::<K>() + 45
}

/// The same for keys of 128 bits, which have vector kernels on AVX-512 alone: a few, where that is not there.
fn above_a_tile_of_128_bits() -> usize {
    if Instructions::Avx512.is_available() { 1024 + 45 } else { 20 }
}

fn sorted<K: Key>(keys: &[K], order: Order) -> Vec<K> {
    let mut sorted = keys.to_vec();
    sorted.sort_by_key(|key| key.to_ordered_bits());
    if order == Order::Descending {
        sorted.reverse();
    }
    sorted
}

fn check<K: TestKey>(sorter: &Sorter, keys: &[K], order: Order) {
    let bits = |keys: &[K]| keys.iter().map(|key| key.to_raw_bits()).collect::<Vec<_>>();
    let mut result = keys.to_vec();
    sorter.clone().order(order).sort(&mut result).expect("the CPU sorts");
    assert!(bits(&result) == bits(&sorted(keys, order)), "{} {} keys", keys.len(), K::TYPE);
}

fn check_type<K: TestKey>() {
    for sorter in sorters() {
        for len in LENGTHS {
            check(&sorter, &Pattern::Random.generate::<K>(len, 1), Order::Ascending);
        }
        check(&sorter, &Pattern::Special.generate::<K>(50, 1), Order::Descending);
    }
}

#[test]
fn few_keys() {
    check_type::<u32>();
    check_type::<f64>();
}

#[test]
fn few_keys_of_other_widths() {
    check_type::<i8>();
    check_type::<u16>();
    check_type::<i128>();
}

#[test]
fn more_keys_than_a_tile_holds() {
    for sorter in sorters() {
        for pattern in [Pattern::Random, Pattern::FewUnique, Pattern::Sorted, Pattern::Reversed] {
            check(&sorter, &pattern.generate::<u64>(above_a_tile::<u64>(), 1), Order::Ascending);
        }
        check(&sorter, &Pattern::Random.generate::<f32>(above_a_tile::<f32>(), 1), Order::Descending);
        check(&sorter, &Pattern::Random.generate::<i16>(above_a_tile::<i16>(), 1), Order::Ascending);
        check(&sorter, &Pattern::Random.generate::<i128>(above_a_tile_of_128_bits(), 1), Order::Descending);
    }
}

fn check_select<K: TestKey + PartialEq>(sorter: &Sorter, len: usize) {
    let mut keys: Vec<K> = Pattern::Random.generate(len, 1);
    let expected = sorted(&keys, Order::Ascending)[len / 3];
    sorter.select_nth(&mut keys, len / 3).expect("there is such a place");
    assert!(keys[len / 3] == expected, "{len} {} keys", K::TYPE);
}

#[test]
fn keys_are_partitioned_for_one_of_them() {
    for sorter in sorters() {
        check_select::<u16>(&sorter, 1000);
        check_select::<u128>(&sorter, 8 * above_a_tile_of_128_bits());
    }
}

#[test]
fn obliviously() {
    for sorter in sorters() {
        let sorter = sorter.oblivious(true);
        check(&sorter, &Pattern::Random.generate::<u64>(above_a_tile::<u64>(), 1), Order::Ascending);
        check(&sorter, &Pattern::Random.generate::<u64>(4 * 256, 1), Order::Ascending);
        check(&sorter, &Pattern::Random.generate::<u16>(above_a_tile::<u16>(), 1), Order::Ascending);
        check(&sorter, &Pattern::Random.generate::<u128>(20, 1), Order::Ascending);
        check(&sorter, &Pattern::Random.generate::<u128>(above_a_tile_of_128_bits(), 1), Order::Ascending);
        check_merge::<u64>(&sorter, above_a_tile::<u64>(), 30);
        check_merge::<u128>(&sorter, 7, 20);
    }
}

/// Merges the first so many of these keys with the others, alone and with their places.
fn check_merge<K: TestKey>(sorter: &Sorter, first: usize, second: usize) {
    let keys: Vec<K> = Pattern::FewUnique.generate(first + second, 1);
    let (first, second) = keys.split_at(first);
    let (first, second) = (sorted(first, Order::Ascending), sorted(second, Order::Ascending));
    let both = [first.clone(), second.clone()].concat();
    let places: Vec<u32> = (0..keys.len() as u32).collect();
    let (of_first, of_second) = places.split_at(first.len());
    let (mut merged, mut moved) = (keys.clone(), places.clone());
    sorter.merge(&first, &second, &mut merged).expect("the lengths match");
    let bits = |keys: &[K]| keys.iter().map(|key| key.to_raw_bits()).collect::<Vec<_>>();
    assert!(bits(&merged) == bits(&sorted(&keys, Order::Ascending)));
    merged.clone_from(&keys);
    sorter
        .merge_pairs((&first, of_first), (&second, of_second), (&mut merged, &mut moved))
        .expect("the lengths match");
    let mut expected = places.clone();
    expected.sort_by_key(|&place| both[place as usize].to_ordered_bits());
    assert!(moved == expected && bits(&merged) == bits(&sorted(&keys, Order::Ascending)));
}

#[test]
fn values_and_indices() {
    for sorter in sorters() {
        for (oblivious, len) in [(false, 40), (true, 40), (false, 300)] {
            let sorter = sorter.clone().oblivious(oblivious);
            let keys: Vec<i16> = Pattern::FewUnique.generate(len, 1);
            let expected: Vec<usize> = {
                let mut indices: Vec<usize> = (0..len).collect();
                indices.sort_by_key(|&index| keys[index]);
                indices
            };
            assert_eq!(sorter.argsort(&keys).expect("the CPU sorts"), expected);
            let (mut narrow, mut values) = (keys.clone(), (0..len as u32).collect::<Vec<_>>());
            sorter.clone().stable(true).sort_pairs(&mut narrow, &mut values).expect("the CPU sorts");
            assert!(values.iter().map(|&value| value as usize).eq(expected.iter().copied()));
            let mut wide: Vec<i64> = keys.iter().map(|&key| i64::from(key)).collect();
            let mut values: Vec<[u16; 3]> = keys.iter().map(|&key| [key.cast_unsigned(), 7, 9]).collect();
            sorter.sort_pairs(&mut wide, &mut values).expect("the CPU sorts");
            assert!(wide.is_sorted());
            assert!(wide.iter().zip(&values).all(|(&key, value)| key == i64::from(value[0].cast_signed())));
        }
    }
}

#[test]
fn rows() {
    for sorter in sorters() {
        let mut keys: Vec<i32> = Pattern::Random.generate(5 * 13, 1);
        sorter.sort_rows(&mut keys, 13).expect("the CPU sorts");
        assert!(keys.chunks_exact(13).all(<[i32]>::is_sorted));
    }
}
