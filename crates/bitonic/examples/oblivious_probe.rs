//! Sorts keys that valgrind's memcheck takes for undefined, and prints how often their values mattered.
//!
//! ```text
//! valgrind --error-limit=no target/release/examples/oblivious_probe oblivious|values|control
//! valgrind --error-limit=no target/release/examples/oblivious_probe opencl [u128]
//! valgrind --tool=lackey --trace-mem=yes target/release/examples/oblivious_probe trace|trace-control 1
//! ```
//!
//! Memcheck follows undefined bits through every instruction and reports a jump or an address that depends on them; moving
//! and combining them is no error. Marked undefined, a secret key is traced from the first load to the last
//! store. `oblivious` sorts in every way that promises not to show its keys, `values` with values of every size and shape,
//! `opencl` on the first OpenCL device, which has to be the processor; `control` runs `slice::sort_unstable` on the same keys, which must be caught. Every case is one line that ends in the
//! number of errors it caused, and every result is verified. `trace` sorts keys made from its number and marks nothing: the
//! addresses that it accesses have to be the same for every number, and those of `trace-control` must not be. The test
//! `oblivious` runs all of them and judges what they print.

use bitonic::key::{BitMap, KeyType};
use bitonic::{Instructions, Order, Sorter, with_key_type};
use bitonic_testkit::{Pattern, TestKey};
use std::fmt;
use std::process::ExitCode;

fn main() -> ExitCode {
    if !memcheck::is_running() {
        eprintln!(
            "this program has something to say under valgrind only: valgrind {}",
            std::env::args().next().unwrap()
        );
        return ExitCode::FAILURE;
    }
    let argument = std::env::args().nth(1).unwrap_or_default();
    let cases = match argument.as_str() {
        "oblivious" => oblivious_cases(),
        "control" => control_cases(),
        "opencl" => {
            opencl_cases(std::env::args().nth(2));
            return ExitCode::SUCCESS;
        }
        "values" => {
            values::check_all();
            return ExitCode::SUCCESS;
        }
        "trace" | "trace-control" => {
            let seed = std::env::args().nth(2).and_then(|number| number.parse().ok()).unwrap_or(1);
            values::trace(seed, argument == "trace");
            return ExitCode::SUCCESS;
        }
        other => {
            eprintln!(
                "unknown argument '{other}': say 'oblivious', 'values', 'opencl', 'control', 'trace' or 'trace-control'"
            );
            return ExitCode::FAILURE;
        }
    };
    for case in cases {
        let before = memcheck::count_errors();
        with_key_type!(case.key_type, K => case.run::<K>());
        println!("{case}: {}", memcheck::count_errors() - before);
    }
    ExitCode::SUCCESS
}

/// Below a register, around one, and up to some tiles of every width, in and between powers of two.
const LENGTHS: [usize; 10] = [0, 1, 2, 3, 17, 100, 300, 1000, 5000, 9001];

/// Long enough that a second thread takes part.
const PARALLEL_LENGTH: usize = 70_000;

/// Up to this length both orders are sorted; above, where an order changes nothing but the conversion, one.
const BOTH_ORDERS_UP_TO: usize = 300;

fn oblivious_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &instructions in Instructions::ALL.iter().filter(|set| set.is_available()) {
        for &key_type in KeyType::ALL {
            for work in [
                Work::Keys,
                Work::Pairs,
                Work::WidePairs,
                Work::StablePairs,
                Work::Argsort,
                Work::Top,
                Work::Merge,
                Work::MergePairs,
            ] {
                for len in LENGTHS {
                    let case =
                        Case { instructions, key_type, work, order: Order::Ascending, len, threads: 1 };
                    cases.push(case);
                    if len <= BOTH_ORDERS_UP_TO {
                        cases.push(Case { order: Order::Descending, ..case });
                    }
                }
            }
        }
        for key_type in [KeyType::U8, KeyType::I16, KeyType::U32, KeyType::F64, KeyType::U128] {
            for work in [Work::Keys, Work::Pairs, Work::Merge, Work::MergePairs] {
                let (order, len, threads) = (Order::Descending, PARALLEL_LENGTH, 2);
                cases.push(Case { instructions, key_type, work, order, len, threads });
            }
        }
    }
    cases
}

/// Keys and pairs on an OpenCL device, of the type of this name or of every width. Kernels are built by a sort of other keys, so
/// that errors of the compiler are not counted. That takes minutes for each: valgrind runs the compiler.
fn opencl_cases(only: Option<String>) {
    let one_of_each_width = [KeyType::U8, KeyType::I16, KeyType::U32, KeyType::F64, KeyType::U128];
    for key_type in one_of_each_width {
        if only.as_ref().is_some_and(|only| only != key_type.name()) {
            continue;
        }
        with_key_type!(key_type, K => {
            opencl_case::<K, ()>(100, |sorter, keys, _| sorter.sort(keys).map(drop));
            opencl_case::<K, u64>(100, |sorter, keys, values| sorter.sort_pairs(keys, values).map(drop));
        });
    }
}

fn opencl_case<K: TestKey, V: Copy + Default>(
    len: usize,
    sort: impl Fn(&Sorter, &mut [K], &mut [V]) -> Result<(), bitonic::Error>,
) {
    let case = format!("{len} {} with values of {} bytes", K::TYPE, size_of::<V>());
    let sorter = Sorter::new().engine(bitonic::Engine::OpenCl).oblivious(true);
    let (mut keys, mut values) = (Pattern::Random.generate(len, 1), vec![V::default(); len]);
    if let Err(error) = sort(&sorter, &mut keys, &mut values) {
        println!("{case}, refused, {}: 0", error.to_string().replace(": ", ", "));
        return;
    }
    let mut keys: Vec<K> = Pattern::Special.generate(len, 7);
    let errors = memcheck::count_errors();
    memcheck::make_undefined(&mut keys);
    sort(&sorter, &mut keys, &mut values).unwrap();
    let errors = memcheck::count_errors() - errors;
    memcheck::make_defined(&mut keys);
    assert!(bitonic::is_sorted(&keys, Order::Ascending), "{case}: not sorted");
    println!("{case}: {errors}");
}

fn control_cases() -> Vec<Case> {
    let instructions = Instructions::Portable;
    let case = |key_type, len| Case {
        instructions,
        key_type,
        work: Work::Standard,
        order: Order::Ascending,
        len,
        threads: 1,
    };
    KeyType::ALL.iter().flat_map(|&key_type| [17, 1000].map(|len| case(key_type, len))).collect()
}

/// One sort.
#[derive(Clone, Copy)]
struct Case {
    instructions: Instructions,
    key_type: KeyType,
    work: Work,
    order: Order,
    len: usize,
    threads: usize,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    /// Keys alone.
    Keys,
    /// Keys with values of 32 bits.
    Pairs,
    /// Keys with values of 64 bits.
    WidePairs,
    /// Keys with values of 32 bits, ties in the order they came.
    StablePairs,
    /// Indices.
    Argsort,
    /// A third of the keys, and their indices.
    Top,
    /// Two sorted parts of the keys, one of a third of them.
    Merge,
    /// The same with values of 32 bits, ties in the order they came.
    MergePairs,
    /// The standard library's sort, which branches on keys.
    Standard,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instructions, key_type, work, order, len, threads } = self;
        write!(f, "{instructions} {work:?} of {len} {key_type}, {order:?}, {threads} threads")
    }
}

impl Case {
    /// Sorts marked keys, with marked values, and verifies the result.
    fn run<K: TestKey>(self) {
        // Special values are the ones that tempt a branch.
        let before: Vec<K> = Pattern::Special.generate(self.len, 7);
        let sorter = Sorter::new()
            .oblivious(true)
            .instructions(self.instructions)
            .order(self.order)
            .threads(self.threads);
        match self.work {
            Work::Keys => self.verify_keys(&before, |keys| {
                sorter.sort(keys).unwrap();
            }),
            Work::Standard => {
                self.verify_keys(&before, |keys| {
                    bitonic::key::with_ordered_bits(keys, self.order, |bits| bits.sort_unstable())
                });
            }
            Work::Pairs => self.verify_pairs(&before, sorter, |index| index as u32, |value| value as usize),
            Work::StablePairs => {
                self.verify_pairs(&before, sorter.stable(true), |index| index as u32, |value| value as usize);
            }
            Work::WidePairs => {
                self.verify_pairs(&before, sorter, |index| index as u64, |value| value as usize)
            }
            Work::Argsort => {
                let mut keys = before.clone();
                memcheck::make_undefined(&mut keys);
                let mut indices = sorter.argsort(&keys).unwrap();
                memcheck::make_defined(&mut indices);
                let after: Vec<K> = indices.iter().map(|&index| before[index]).collect();
                self.assert_sorted(&before, &after);
                self.assert_ties_by_index(&after, &indices);
            }
            Work::Top => self.verify_top(&before, &sorter),
            Work::Merge | Work::MergePairs => self.verify_merge(before, &sorter),
        }
    }

    fn verify_top<K: TestKey>(self, before: &[K], sorter: &Sorter) {
        let mut keys = before.to_vec();
        memcheck::make_undefined(&mut keys);
        let mut top = sorter.top_k(&keys, self.len / 3).unwrap();
        assert!(memcheck::is_undefined(&top.keys), "{self}: the marks of keys were lost on the way");
        memcheck::make_defined(&mut top.keys);
        memcheck::make_defined(&mut top.indices);
        let first = &sorter.argsort(before).unwrap()[..self.len / 3];
        assert_eq!(top.indices, first, "{self}");
        for (key, &index) in top.keys.iter().zip(first) {
            assert_eq!(key.to_raw_bits(), before[index].to_raw_bits(), "{self}: a key left its index");
        }
    }

    fn verify_merge<K: TestKey>(self, mut before: Vec<K>, sorter: &Sorter) {
        let (first, second) = before.split_at_mut(self.len / 3);
        sorter.sort(first).unwrap();
        sorter.sort(second).unwrap();
        let mut keys = before.clone();
        let (mut merged, mut indices) = (before.clone(), vec![0_u32; self.len]);
        memcheck::make_undefined(&mut keys);
        let (first, second) = keys.split_at(self.len / 3);
        if let Work::Merge = self.work {
            sorter.merge(first, second, &mut merged).unwrap();
        } else {
            let mut values: Vec<u32> = (0..self.len as u32).collect();
            memcheck::make_undefined(&mut values);
            let (of_first, of_second) = values.split_at(first.len());
            sorter.merge_pairs((first, of_first), (second, of_second), (&mut merged, &mut indices)).unwrap();
            assert!(memcheck::is_undefined(&indices), "{self}: the marks of values were lost on the way");
        }
        assert!(memcheck::is_undefined(&merged), "{self}: the marks of keys were lost on the way");
        memcheck::make_defined(&mut merged);
        memcheck::make_defined(&mut indices);
        self.assert_sorted(&before, &merged);
        if let Work::MergePairs = self.work {
            let expected = sorter.argsort(&before).unwrap();
            assert!(indices.into_iter().map(|index| index as usize).eq(expected), "{self}: not stable");
        }
    }

    fn verify_keys<K: TestKey>(self, before: &[K], sort: impl FnOnce(&mut [K])) {
        let mut keys = before.to_vec();
        memcheck::make_undefined(&mut keys);
        sort(&mut keys);
        assert!(memcheck::is_undefined(&keys), "{self}: the marks of keys were lost on the way");
        memcheck::make_defined(&mut keys);
        self.assert_sorted(before, &keys);
    }

    fn verify_pairs<K: TestKey, V: Copy + Send>(
        self,
        before: &[K],
        sorter: Sorter,
        to_value: impl Fn(usize) -> V,
        to_index: impl Fn(V) -> usize,
    ) {
        let mut keys = before.to_vec();
        let mut values: Vec<V> = (0..self.len).map(to_value).collect();
        memcheck::make_undefined(&mut keys);
        memcheck::make_undefined(&mut values);
        sorter.sort_pairs(&mut keys, &mut values).unwrap();
        assert!(memcheck::is_undefined(&keys), "{self}: the marks of keys were lost on the way");
        memcheck::make_defined(&mut keys);
        memcheck::make_defined(&mut values);
        self.assert_sorted(before, &keys);
        let mut indices: Vec<usize> = values.into_iter().map(to_index).collect();
        for (key, &index) in keys.iter().zip(&indices) {
            assert_eq!(key.to_raw_bits(), before[index].to_raw_bits(), "{self}: a value left its key");
        }
        if matches!(self.work, Work::StablePairs) {
            self.assert_ties_by_index(&keys, &indices);
        }
        indices.sort_unstable();
        assert!(indices.into_iter().eq(0..self.len), "{self}: a value was lost");
    }

    fn assert_sorted<K: TestKey>(self, before: &[K], after: &[K]) {
        let map = BitMap::new(K::TYPE.form(), self.order);
        let mut expected: Vec<_> = before.iter().map(|key| map.to_ordered(key.to_raw_bits())).collect();
        expected.sort_unstable();
        let sorted = after.iter().map(|key| map.to_ordered(key.to_raw_bits()));
        assert!(sorted.eq(expected), "{self}: not sorted");
    }

    fn assert_ties_by_index<K: TestKey>(self, keys: &[K], indices: &[usize]) {
        for (keys, indices) in keys.windows(2).zip(indices.windows(2)) {
            let tie = keys[0].to_raw_bits() == keys[1].to_raw_bits();
            assert!(!tie || indices[0] < indices[1], "{self}: not stable");
        }
    }
}

/// Values of every size and shape, which the network has to move without showing where.
mod values {
    use super::memcheck;
    use bitonic::Sorter;
    use bitonic_testkit::{Pattern, TestKey};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A value that knows the index of its key.
    trait Value: Copy + Send + Sync {
        fn of(index: usize) -> Self;
        fn index(self) -> usize;
    }

    impl<const BYTES: usize> Value for [u8; BYTES] {
        fn of(index: usize) -> Self {
            std::array::from_fn(|at| (index >> (at % 2 * 8)) as u8)
        }
        fn index(self) -> usize {
            assert!(self.iter().step_by(2).all(|&byte| byte == self[0]), "a value was torn");
            usize::from(self[0]) | self.get(1).map_or(0, |&byte| usize::from(byte) << 8)
        }
    }

    macro_rules! values {
        ($($type:ty: $of:expr, $index:expr;)+) => {$(
            impl Value for $type {
                fn of(index: usize) -> Self {
                    $of(index)
                }
                fn index(self) -> usize {
                    $index(self)
                }
            }
        )+};
    }

    /// What a reference can point to.
    static NUMBERS: [u64; 256] = {
        let mut numbers = [0; 256];
        let mut at = 0;
        while at < 256 {
            numbers[at] = at as u64;
            at += 1;
        }
        numbers
    };

    /// Padding in the middle and at the end.
    #[derive(Clone, Copy)]
    struct Padded {
        first: u8,
        second: u32,
        third: u16,
    }

    #[derive(Clone, Copy)]
    #[repr(align(32))]
    struct Aligned(u8);

    values! {
        u16: |index| index as u16, usize::from;
        u128: |index| index as u128, |value| value as usize;
        [u16; 3]: |index| [index as u16; 3], |value: [u16; 3]| usize::from(value[2]);
        [u64; 2]: |index| [index as u64; 2], |value: [u64; 2]| value[1] as usize;
        [u64; 64]: |index| [index as u64; 64], |value: [u64; 64]| value[63] as usize;
        (u8, u16): |index| (0, index as u16), |value: (u8, u16)| usize::from(value.1);
        Padded: |index| Padded { first: 1, second: index as u32, third: 2 },
            |value: Padded| value.second as usize + usize::from(value.first + value.third as u8 - 3);
        Aligned: |index| Aligned(index as u8), |value: Aligned| usize::from(value.0);
        &'static u64: |index: usize| &NUMBERS[index % 256], |value: &u64| *value as usize;
        &'static [u64]: |index: usize| &NUMBERS[..index % 256], |value: &[u64]| value.len();
        Option<&'static u64>: |index: usize| Some(&NUMBERS[index % 256]), |value: Option<&u64>| *value.unwrap() as usize;
    }

    /// Short of, at and beyond powers of two; indices fit a byte.
    const LENGTHS: [usize; 3] = [2, 17, 100];

    /// Sizes up to 64 bytes, with every number of bytes behind whole words, with one width of keys, and every shape with all widths.
    pub(crate) fn check_all() {
        macro_rules! sizes {
            ($($size:literal)+) => { $(check::<u64, [u8; $size]>();)+ };
        }
        sizes!(1 2 3 4 5 6 7 8 9 11 12 13 15 16 17 23 24 25 31 32 33 47 48 63 64);
        check_shapes::<u8>();
        check_shapes::<f32>();
        check_shapes::<i64>();
        check_shapes::<u128>();
        check::<bool, [u8; 16]>();
        check::<char, [u8; 16]>();
        check::<bitonic::key::f16, [u8; 16]>();
    }

    fn check_shapes<K: TestKey>() {
        check::<K, [u8; 16]>();
        check::<K, [u8; 100]>();
        check::<K, u16>();
        check::<K, u128>();
        check::<K, [u16; 3]>();
        check::<K, [u64; 2]>();
        check::<K, [u64; 64]>();
        check::<K, (u8, u16)>();
        check::<K, Padded>();
        check::<K, Aligned>();
        check::<K, &'static u64>();
        check::<K, &'static [u64]>();
        check::<K, Option<&'static u64>>();
    }

    /// Sorts marked keys with marked values, stable and not, and verifies the result.
    fn check<K: TestKey, V: Value>() {
        for len in LENGTHS {
            for stable in [false, true] {
                let before: Vec<K> = Pattern::Special.generate(len, 7);
                let mut keys = before.clone();
                let mut values: Vec<V> = (0..len).map(V::of).collect();
                let errors = memcheck::count_errors();
                memcheck::make_undefined(&mut keys);
                memcheck::make_undefined(&mut values);
                Sorter::new().oblivious(true).stable(stable).sort_pairs(&mut keys, &mut values).unwrap();
                let case = format!(
                    "{len} {} with {}, stable: {stable}",
                    K::TYPE,
                    std::any::type_name::<V>().replace(": ", ":")
                );
                assert!(memcheck::is_undefined(&values), "{case}: the marks of values were lost on the way");
                memcheck::make_defined(&mut keys);
                memcheck::make_defined(&mut values);
                println!("{case}: {}", memcheck::count_errors() - errors);
                verify(&before, &keys, &values, &case);
            }
        }
    }

    fn verify<K: TestKey, V: Value>(before: &[K], keys: &[K], values: &[V], case: &str) {
        assert!(bitonic::is_sorted(keys, bitonic::Order::Ascending), "{case}: not sorted");
        let mut indices: Vec<usize> = values.iter().map(|value| value.index()).collect();
        for (key, &index) in keys.iter().zip(&indices) {
            assert_eq!(key.to_raw_bits(), before[index].to_raw_bits(), "{case}: a value left its key");
        }
        indices.sort_unstable();
        assert!(indices.into_iter().eq(0..before.len()), "{case}: a value was lost");
    }

    /// Written to before and after a traced sort. Its address is printed, so that a reader of the trace finds the sorts: the start
    /// of a program is never the same twice.
    static MARK: AtomicU64 = AtomicU64::new(0);

    /// Sorts keys made from a number, which changes nothing but the keys.
    pub(crate) fn trace(seed: u64, oblivious: bool) {
        println!("{:x}", std::ptr::from_ref(&MARK).addr());
        fn traced<V: Value>(seed: u64, oblivious: bool) {
            // No generator that could take longer for one number than for another.
            let key = |at: u64| (at + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            let mut keys: Vec<u64> = (0..33).map(|at| key(key(at))).collect();
            let mut values: Vec<V> = (0..33).map(V::of).collect();
            let mut parts = keys.clone();
            MARK.store(1, Ordering::SeqCst);
            if oblivious {
                let sorter = Sorter::new().oblivious(true).threads(1);
                sorter.sort_pairs(&mut keys, &mut values).unwrap();
                sorter.clone().stable(true).sort_pairs(&mut keys, &mut values).unwrap();
                let (first, second) = parts.split_at_mut(12);
                sorter.sort(first).unwrap();
                sorter.sort(second).unwrap();
                let (mut merged, mut moved) = ([0; 33], values.clone());
                let (of_first, of_second) = values.split_at(12);
                sorter.merge(first, second, &mut merged).unwrap();
                sorter
                    .merge_pairs((first, of_first), (second, of_second), (&mut merged, &mut moved))
                    .unwrap();
            } else {
                keys.sort_unstable();
            }
            MARK.store(2, Ordering::SeqCst);
        }
        traced::<[u8; 1]>(seed, oblivious);
        traced::<[u8; 16]>(seed, oblivious);
        traced::<[u8; 29]>(seed, oblivious);
        traced::<[u8; 100]>(seed, oblivious);
        traced::<[u64; 2]>(seed, oblivious);
        traced::<Padded>(seed, oblivious);
        traced::<&'static u64>(seed, oblivious);
    }
}

/// What a program can ask of valgrind while it runs in it: `valgrind.h` and `memcheck.h` without a C compiler.
#[cfg(target_arch = "x86_64")]
mod memcheck {
    const RUNNING_ON_VALGRIND: usize = 0x1001;
    const COUNT_ERRORS: usize = 0x1201;
    const MEMCHECK: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;
    const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
    const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;
    const GET_VBITS: usize = MEMCHECK + 8;

    pub(crate) fn is_running() -> bool {
        request(RUNNING_ON_VALGRIND, 0, 0, 0) != 0
    }

    /// How many errors there were so far, repeated ones included.
    pub(crate) fn count_errors() -> usize {
        request(COUNT_ERRORS, 0, 0, 0)
    }

    /// Makes memcheck take these bits for undefined. The program itself sees no difference.
    pub(crate) fn make_undefined<T>(slice: &mut [T]) {
        mark(slice, MAKE_MEM_UNDEFINED);
    }

    pub(crate) fn make_defined<T>(slice: &mut [T]) {
        mark(slice, MAKE_MEM_DEFINED);
    }

    /// Whether something in each of these is undefined: what memcheck followed through the sort was all of the keys. (Not
    /// every bit has to be: seven bits of a `bool` are always zero.)
    pub(crate) fn is_undefined<T>(slice: &[T]) -> bool {
        let mut marks = vec![0_u8; size_of_val(slice)];
        let (from, to) = (slice.as_ptr().expose_provenance(), marks.as_mut_ptr().expose_provenance());
        let is_done = request(GET_VBITS, from, to, marks.len()) == 1;
        is_done && marks.chunks(size_of::<T>()).all(|marks| marks.iter().any(|&mark| mark != 0))
    }

    fn mark<T>(slice: &mut [T], code: usize) {
        let answer = request(code, slice.as_mut_ptr().expose_provenance(), size_of_val(slice), 0);
        // Memcheck says -1 for done; any other tool of valgrind's leaves the 0.
        assert_ne!(answer, 0, "valgrind must run its tool memcheck");
    }

    /// Asks valgrind; 0 if there is none.
    fn request(code: usize, first: usize, second: usize, third: usize) -> usize {
        let block = [code, first, second, third, 0, 0];
        let answer;
        // SAFETY: rotations by 128 bits in all leave rdi as it was and the exchange of a register with itself does
        // nothing; in this sequence valgrind sees a request, reads the block and puts its answer into rdx. It writes
        // to memory for GET_VBITS only, as many bytes as the vector has.
        unsafe {
            std::arch::asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") block.as_ptr(),
                inout("rdx") 0_usize => answer,
                options(nostack),
            );
        }
        answer
    }
}

/// The requests are machine code, written here for x86-64 alone.
#[cfg(not(target_arch = "x86_64"))]
mod memcheck {
    pub(crate) fn is_running() -> bool {
        false
    }
    pub(crate) fn count_errors() -> usize {
        0
    }
    pub(crate) fn is_undefined<T>(_: &[T]) -> bool {
        false
    }
    pub(crate) fn make_undefined<T>(_: &mut [T]) {}
    pub(crate) fn make_defined<T>(_: &mut [T]) {}
}
