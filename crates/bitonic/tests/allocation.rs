//! Sorting keys of 16 to 128 bits allocates nothing, in either mode: at any length, but for many of 16 bits, which are counted. What other
//! operations allocate is no more than their plans say.

use bitonic::plan::Plan;
use bitonic::{Engine, Order, Sorter};
use bitonic_testkit::{Pattern, TestKey};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// How many bytes are allocated now, counted from any time, and how many were at most since the last look.
    static BYTES: Cell<[isize; 2]> = const { Cell::new([0; 2]) };
}

fn count_bytes(more: isize) {
    BYTES.with(|bytes| {
        let [now, most] = bytes.get();
        bytes.set([now + more, most.max(now + more)]);
    });
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        count_bytes(layout.size() as isize);
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_bytes(-(layout.size() as isize));
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

/// How many bytes more than before are allocated at any moment of `work`, what it returns included.
fn most_bytes<R>(work: impl FnOnce() -> R) -> usize {
    let before = BYTES.with(Cell::get)[0];
    BYTES.with(|bytes| bytes.set([before; 2]));
    let result = work();
    let most = BYTES.with(Cell::get)[1];
    drop(result);
    (most - before) as usize
}

/// That an operation with such a result takes no more than its plan says. A report and the text in it are small.
fn check_plan<R>(what: &str, plan: Plan, result_bytes: usize, work: impl FnOnce() -> R) {
    const REPORT: usize = 4096;
    let (most, planned) = (most_bytes(work), plan.memory.host);
    assert!(
        most <= planned + result_bytes + REPORT,
        "{what}: {most} bytes, where {planned} are planned beside a result of {result_bytes}"
    );
}

fn check_plans<K: TestKey>() {
    look_around();
    let (len, row) = (66_000, 3000);
    let keys: Vec<K> = Pattern::Random.generate(len, 7);
    let indices = len * size_of::<usize>();
    for (stable, oblivious) in [(false, false), (true, false), (false, true), (true, true)] {
        let sorter = Sorter::new().engine(Engine::Cpu).threads(1).stable(stable).oblivious(oblivious);
        let what =
            |operation: &str| format!("{operation} of {}, stable {stable}, oblivious {oblivious}", K::TYPE);
        check_plan(&what("argsort"), sorter.plan_argsort::<K>(len).unwrap(), indices, || {
            sorter.argsort(&keys)
        });
        let plan = sorter.plan_argsort_rows::<K>(len, row).unwrap();
        check_plan(&what("argsort of rows"), plan, indices, || sorter.argsort_rows(&keys, row));
        let best = len / 2 * (size_of::<usize>() + size_of::<K>());
        let plan = sorter.plan_top_k::<K>(len, len / 2).unwrap();
        check_plan(&what("top_k"), plan, best, || sorter.top_k(&keys, len / 2));
        check_pairs(&what("pairs with u32"), &sorter, &keys, &vec![7_u32; len], row);
        check_pairs(&what("pairs with u64"), &sorter, &keys, &vec![7_u64; len], row);
        check_pairs(&what("pairs with three bytes"), &sorter, &keys, &vec![[7_u8; 3]; len], row);
    }
}

fn check_pairs<K: TestKey, V: Copy + Send>(
    what: &str,
    sorter: &Sorter,
    keys: &[K],
    values: &[V],
    row: usize,
) {
    let (mut keys, mut values) = (keys.to_vec(), values.to_vec());
    let plan = sorter.plan_pairs_rows::<K, V>(keys.len(), row).unwrap();
    check_plan(&format!("{what} in rows"), plan, 0, || sorter.sort_pairs_rows(&mut keys, &mut values, row));
    keys.reverse();
    let plan = sorter.plan_pairs::<K, V>(keys.len()).unwrap();
    check_plan(what, plan, 0, || sorter.sort_pairs(&mut keys, &mut values));
}

#[test]
fn plans_say_how_much_memory_is_taken() {
    check_plans::<u8>();
    check_plans::<i16>();
    check_plans::<f32>();
    check_plans::<u64>();
    check_plans::<i128>();
}
