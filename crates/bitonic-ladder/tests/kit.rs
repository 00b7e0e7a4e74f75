//! Every rung is what the registry says; and those on the processor sort what they say they sort, and refuse the rest.

use bitonic::Order;
use bitonic::key::KeyType;
use bitonic_ladder::{Document, LadderError, Options, Rung, RunsOn, Sizes, Text};
use bitonic_testkit::{Pattern, SortChecks, SortsKeys, TestKey};
use std::num::NonZero;
use std::path::Path;

struct Adapter {
    rung: Rung,
    threads: Option<NonZero<usize>>,
}

impl SortsKeys for Adapter {
    fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order) {
        let options = Options { order, threads: self.threads, ..Options::default() };
        self.rung.sort(keys, &options).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// The checks for what the rung takes. Quadratic rungs get shorter inputs, and those that meet at barriers shorter ones still.
fn checks(rung: Rung) -> SortChecks {
    let checks = SortChecks::new(rung.name());
    let checks = match rung.sizes() {
        Sizes::Any => checks,
        Sizes::PowerOfTwo => checks.only_powers_of_two(),
    };
    match (rung.is_quadratic(), rung.is_parallel()) {
        (true, true) => checks.max_len(34),
        (true, false) => checks.max_len(260),
        (false, _) => checks,
    }
}

fn on_the_processor() -> impl Iterator<Item = Rung> {
    Rung::ALL.iter().copied().filter(|rung| rung.runs_on() == [RunsOn::Cpu])
}

fn check(rung: Rung) {
    checks(rung).check_keys(&Adapter { rung, threads: None });
}

fn threads(count: usize) -> Option<NonZero<usize>> {
    Some(NonZero::new(count).expect("a test names the number of threads"))
}

/// One test a rung, so that they run in parallel and a failure names its rung.
macro_rules! every_rung_on_the_processor_passes_the_kit {
    ($($test:ident: $rung:ident),+ $(,)?) => {
        $(
            #[test]
            fn $test() {
                check(Rung::$rung);
            }
        )+

        #[test]
        fn no_rung_on_the_processor_is_left_out_of_the_kit() {
            assert_eq!(on_the_processor().collect::<Vec<_>>(), [$(Rung::$rung),+]);
        }
    };
}

every_rung_on_the_processor_passes_the_kit! {
    recursive_passes_the_kit: Recursive,
    iterative_scan_passes_the_kit: IterativeScan,
    iterative_blocks_passes_the_kit: IterativeBlocks,
    iterative_folded_passes_the_kit: IterativeFolded,
    iterative_shifts_passes_the_kit: IterativeShifts,
    network_passes_passes_the_kit: NetworkPasses,
    network_no_dependency_passes_the_kit: NetworkNoDependency,
    odd_even_passes_the_kit: OddEven,
    parallel_guarded_passes_the_kit: ParallelGuarded,
    parallel_steps_passes_the_kit: ParallelSteps,
    parallel_recursive_passes_the_kit: ParallelRecursive,
    parallel_merges_passes_the_kit: ParallelMerges,
    odd_even_threads_passes_the_kit: OddEvenThreads,
    odd_even_barriers_passes_the_kit: OddEvenBarriers,
}

#[test]
fn parallel_rungs_sort_with_any_number_of_threads() {
    for &rung in Rung::ALL.iter().filter(|rung| rung.is_parallel()) {
        for count in [1, 2, 3, 7] {
            let checks = SortChecks::new(format!("{rung} on {count} threads"))
                .key_types(&[KeyType::U32, KeyType::F64])
                .max_len(0);
            // Of quadratic rungs, lengths that cut into chunks of equal, unequal and odd length, and fewer than
            // threads; and as many keys as odd_even_threads wants for two threads.
            let checks = match rung.is_quadratic() {
                true => checks.also_lengths([2, 3, 5, 13, 14, 15, 29, 129]),
                false => checks.also_lengths([2, 4, 16, 1 << 10, 1 << 14]),
            };
            checks.check_keys(&Adapter { rung, threads: threads(count) });
        }
    }
}

#[test]
fn odd_even_threads_sorts_across_many_borders() {
    // 2^12 keys and more are what it wants for seven threads.
    for len in [4096, 4097, 4103] {
        let mut keys: Vec<u32> = Pattern::Reversed.generate(len, 1);
        let mut expected = keys.clone();
        expected.sort_unstable();
        Rung::OddEvenThreads.sort(&mut keys, &Options { threads: threads(7), ..Options::default() }).unwrap();
        assert!(keys == expected, "{len}");
    }
}

#[test]
fn odd_even_sorts_on_threads_do_not_stop_while_one_key_is_still_on_its_way() {
    for rung in [Rung::OddEvenThreads, Rung::OddEvenBarriers] {
        // The smallest key goes from one end to the other, through every chunk, and nothing else moves but by it.
        let mut keys: Vec<u32> = (1..=999).chain([0]).collect();
        rung.sort(&mut keys, &Options { threads: threads(3), ..Options::default() }).unwrap();
        assert!(keys.iter().copied().eq(0..1000), "{rung}");
    }
}

#[test]
fn more_threads_than_keys_are_no_error() {
    for &rung in Rung::ALL.iter().filter(|rung| rung.is_parallel()) {
        for len in [0, 1, 2, 8] {
            let input: Vec<i16> = Pattern::Reversed.generate(len, 1);
            let mut keys = input.clone();
            rung.sort(&mut keys, &Options { threads: threads(33), ..Options::default() }).unwrap();
            assert!(keys.is_sorted() && keys.len() == len, "{rung}, {len} keys: {keys:?}");
        }
    }
}

#[test]
fn a_number_of_threads_that_no_machine_has_is_refused_at_once() {
    for &rung in Rung::ALL.iter().filter(|rung| rung.is_parallel()) {
        let mut keys = [2_u8, 1];
        let error =
            rung.sort(&mut keys, &Options { threads: threads(1_000_000), ..Options::default() }).unwrap_err();
        assert_eq!(
            error.to_string(),
            "1000000 threads could not be started: a rung starts 4096 at most; ask for fewer",
            "{rung}"
        );
        assert_eq!(keys, [2, 1], "{rung}");
    }
}

#[test]
fn rungs_for_powers_of_two_refuse_other_lengths_and_leave_the_keys_alone() {
    for &rung in Rung::ALL.iter().filter(|rung| rung.sizes() == Sizes::PowerOfTwo) {
        for (len, below, above) in [(3, 2, 4), (6, 4, 8), (1000, 512, 1024)] {
            let input: Vec<f32> = Pattern::Reversed.generate(len, 1);
            let mut keys = input.clone();
            let error = rung.sort(&mut keys, &Options::default()).unwrap_err();
            assert_eq!(error, LadderError::NotAPowerOfTwo { rung, len });
            assert_eq!(keys, input, "{rung}");
            assert_eq!(
                error.to_string(),
                format!(
                    "{rung} sorts powers of two only, and {len} is none: give it {below} or {above} keys, or call \
                     bitonic::sort, which takes any length"
                )
            );
        }
    }
}

#[test]
fn a_rung_is_on_the_processor_or_on_every_kind_of_device() {
    for &rung in Rung::ALL {
        match rung.kernels().is_empty() {
            true => assert_eq!(rung.runs_on(), [RunsOn::Cpu], "{rung}"),
            false => assert_eq!(rung.runs_on(), [RunsOn::OpenCl, RunsOn::Cuda], "{rung}"),
        }
    }
}

#[test]
fn what_the_rung_does_not_run_on_is_refused() {
    for &rung in Rung::ALL {
        for runs_on in [RunsOn::Cpu, RunsOn::OpenCl, RunsOn::Cuda] {
            if rung.runs_on().contains(&runs_on) {
                continue;
            }
            let mut keys = [2_u8, 1];
            let options = Options { runs_on: Some(runs_on), ..Options::default() };
            let error = rung.sort(&mut keys, &options).unwrap_err();
            assert_eq!(error, LadderError::NotThere { rung, runs_on });
            assert_eq!(keys, [2, 1], "{rung}");
        }
    }
    let message = LadderError::NotThere { rung: Rung::NaiveScan, runs_on: RunsOn::Cpu }.to_string();
    assert_eq!(message, "naive_scan does not work on cpu: choose opencl or cuda, or another rung");
}

#[test]
fn names_are_snake_case_and_parse_back() {
    for &rung in Rung::ALL {
        assert_eq!(rung.name().parse(), Ok(rung));
        assert_eq!(rung.to_string(), rung.name());
        assert!(rung.name().chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'), "{rung}");
        assert!(!rung.description().contains('\n') && !rung.teaches().is_empty(), "{rung}");
    }
}

#[test]
fn every_rung_comes_with_its_text_its_picture_and_its_document() {
    for &rung in Rung::ALL {
        let sources = rung.sources();
        let kernels = sources.iter().filter(|source| source.file.ends_with(".c"));
        let kernels: Vec<&str> = kernels.map(|source| source.text).collect();
        assert_eq!(kernels.is_empty(), rung.kernels().is_empty(), "{rung}");
        for kernel in rung.kernels() {
            let defined = format!("KERNEL {kernel}(");
            assert!(kernels.iter().any(|text| text.contains(&defined)), "{rung}: {kernel}");
        }
        for Text { file, text } in &sources {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
            assert!(std::fs::read_to_string(path).unwrap().starts_with(text), "{rung}: {file}");
            assert!(!text.contains("#[test]"), "{rung}: {file}");
            // A kernel's head has the picture; on the processor the function's has.
            let has_picture = text.contains("//! ```text") || text.starts_with("/*\n * ");
            assert!(has_picture || !kernels.is_empty(), "{rung}: {file}");
        }
        let costs = ["What it costs", "What limits it", "What it gains"];
        assert!(sources.iter().any(|source| costs.iter().any(|words| source.text.contains(words))), "{rung}");
        assert!(Document::ALL.contains(&rung.document()), "{rung}");
    }
    for &document in Document::ALL {
        assert!(Rung::ALL.iter().any(|rung| rung.document() == document), "{document} has no rung");
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_names_there_are() {
    let message = "quick".parse::<Rung>().unwrap_err().to_string();
    assert!(message.starts_with("unknown rung 'quick': use one of recursive, "), "{message}");
    assert!(Rung::ALL.iter().all(|rung| message.contains(rung.name())), "{message}");
}

#[test]
fn the_documentation_lists_every_rung() {
    let documentation = include_str!("../src/lib.rs");
    for &rung in Rung::ALL {
        assert!(
            documentation.contains(&format!("//! | `{rung}` | ")),
            "{rung} is missing from the table in lib.rs"
        );
    }
}
