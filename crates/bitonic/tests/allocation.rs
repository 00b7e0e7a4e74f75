//! Sorting keys of 16 to 128 bits allocates nothing, in either mode: at any length, but for many of 16 bits, which are counted.

use bitonic::{Order, Sorter};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

/// The first sort of a process finds out what the processor can do; the first of many keys, which devices were tuned.
fn look_around() {
    bitonic::sort(&mut [2; 1000]);
    Sorter::new().sort(&mut [2; 1000]).unwrap();
}

#[test]
fn few_pairs_need_no_memory() {
    look_around();
    let mut keys: Vec<f32> = (0..256_u16).rev().map(f32::from).collect();
    let mut values: Vec<u32> = (0..256).collect();
    let count = allocations(|| bitonic::sort_pairs(&mut keys, &mut values).expect("as many keys as values"));
    assert_eq!((count, keys[255], values[255]), (0, 255.0, 0));
}

#[test]
fn few_keys_need_no_memory_even_before_devices_were_looked_for() {
    bitonic::Instructions::detected();
    assert_eq!(allocations(|| bitonic::sort(&mut [3, 1, 2])), 0);
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn keys_of_16_to_128_bits_need_no_memory() {
    look_around();
    for len in [0, 1, 16, 100, 1000, 5000, 20_000, 200_000] {
        let mut words: Vec<u32> = (0..len).map(|index: u32| index.wrapping_mul(0x9E37_79B1)).collect();
        let mut floats: Vec<f64> = words.iter().map(|&word| f64::from(word) - 1e9).collect();
        let mut shorts: Vec<i16> = words.iter().map(|&word| (word >> 16) as i16).collect();
        let mut wide: Vec<i128> = words.iter().map(|&word| i128::from(word) << 60).collect();
        for oblivious in [false, true] {
            let sorter = Sorter::new().threads(1).oblivious(oblivious).order(Order::Descending);
            let count = allocations(|| {
                sorter.sort(&mut words).unwrap();
                sorter.sort(&mut floats).unwrap();
                sorter.sort(&mut wide).unwrap();
            });
            assert_eq!(count, 0, "{len} keys, oblivious: {oblivious}");
            let count = allocations(|| {
                sorter.sort(&mut shorts).unwrap();
            });
            let expected = usize::from(sorter.plan::<i16>(shorts.len()).unwrap().memory.host > 0);
            assert_eq!(count, expected, "{len} keys of 16 bits, oblivious: {oblivious}");
            assert!(
                expected == 0 || (len > 8000 && !oblivious),
                "{len} keys of 16 bits, oblivious: {oblivious}"
            );
        }
    }
}

#[test]
fn the_free_function_allocates_nothing_for_small_inputs() {
    look_around();
    let mut keys: Vec<u32> = (0..4096).rev().collect();
    assert_eq!(allocations(|| bitonic::sort(&mut keys)), 0);
}
