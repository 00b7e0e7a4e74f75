//! `bitonic explain`.

use crate::{bitonic, with_name, without_driver};

fn printed<const N: usize>(arguments: [&str; N]) -> String {
    crate::printed(bitonic(with_name("explain", arguments)))
}

fn refused<const N: usize>(arguments: [&str; N]) -> String {
    crate::refused(bitonic(with_name("explain", arguments)))
}

#[test]
fn the_plan_is_the_library_s_own() {
    let plan = bitonic::Sorter::new().plan::<f64>(1_000_000).unwrap();
    assert_eq!(printed(["--n", "1e6", "--type", "f64"]), plan.to_string());
    let sorter = bitonic::Sorter::new().order(bitonic::Order::Descending).stable(true).threads(1);
    let plan = sorter.plan_pairs::<u16, u64>(5000).unwrap();
    let arguments =
        ["--n", "5000", "--type", "u16", "--pairs", "8", "--stable", "--reverse", "--threads", "1"];
    assert_eq!(printed(arguments), plan.to_string());
    let plan = bitonic::Sorter::new().oblivious(true).plan::<u32>(1 << 24).unwrap();
    assert_eq!(printed(["--oblivious"]), plan.to_string());
    let portable = bitonic::Sorter::new().instructions(bitonic::Instructions::Portable);
    let plan = portable.plan::<u32>(1 << 24).unwrap();
    assert_eq!(printed(["--instructions", "portable"]), plan.to_string());
}

#[test]
fn every_type_every_engine_and_every_length_can_be_explained() {
    for key_type in bitonic::key::KeyType::ALL {
        let said = printed(["--n", "1000", "--type", key_type.name()]);
        assert!(said.starts_with(&format!("1000 {key_type} keys")), "{said}");
    }
    let cpu = bitonic::Sorter::new().engine(bitonic::Engine::Cpu).plan::<u32>(1).unwrap().device;
    assert!(printed(["--engine", "cpu"]).contains(&*cpu));
    for device in bitonic::opencl::devices().unwrap() {
        let said = printed(["--engine", "opencl", "--device", &device.index.to_string()]);
        assert!(said.contains(&device.name), "{said}");
    }
    for length in ["0", "1", "2", "281474976710656", "18446744073709551615"] {
        assert!(printed(["--n", length]).starts_with(&format!("{length} u32 keys")));
    }
}

#[test]
fn keys_that_a_device_does_not_hold_are_explained_in_chunks_or_refused() {
    let said = printed(["--engine", "opencl", "--n", "1000", "--rows", "100", "--device-memory", "1K"]);
    assert!(said.contains("chunks     5 chunks of up to 200 keys, cut between rows or segments\n"), "{said}");
    let message = refused(["--engine", "opencl", "--n", "1000", "--device-memory", "1K", "--no-chunks"]);
    assert!(message.starts_with("the sort needs 4000 bytes in all"), "{message}");
}

#[test]
fn pairs_of_every_offered_size_can_be_explained() {
    for bytes in ["1", "2", "4", "8", "16", "32", "64"] {
        assert!(printed(["--pairs", bytes]).contains(&format!("with values of {bytes} bytes")));
    }
    assert!(refused(["--pairs", "3"]).contains("values of 1, 2, 4, 8, 16, 32 or 64 bytes"));
}

#[test]
fn wrong_words_are_answered_in_one_line() {
    assert!(refused(["--type", "f31"]).contains("unknown key type 'f31': did you mean 'f32'? Known: u8, "));
    assert!(
        refused(["--engine", "cpuu"]).contains("unknown engine 'cpuu': did you mean 'cpu'? Known: auto, cpu")
    );
    assert!(refused(["--n", "lots"]).contains("'lots' is not a valid count"));
    assert!(refused(["--n", "2^64"]).starts_with("'2^64' is more than this machine can count"));
    assert!(refused(["--threads", "1025"]).contains("use at most 1024"));
}

/// A plan without the time it should take: what was measured may differ from process to process.
fn without_prediction(plan: &str) -> Vec<&str> {
    plan.lines().filter(|line| !line.starts_with("predicted ")).collect()
}

#[test]
fn the_plan_of_a_device_is_the_library_s_own_and_foresees_its_time() {
    let sorter = bitonic::Sorter::new().engine(bitonic::Engine::OpenCl);
    // Plans measure nothing; what a benchmark has measured is kept, and they go by it.
    let bench =
        ["bench", "gpu", "--engine", "opencl", "--sizes", "1K", "--rungs", "none", "--repetitions", "1"];
    crate::printed(bitonic(bench));
    let said = printed(["--engine", "opencl", "--n", "1e6", "--type", "f64"]);
    let plan = sorter.plan::<f64>(1_000_000).unwrap().to_string();
    assert_eq!(without_prediction(&said), without_prediction(&plan));
    assert!(said.contains("\npredicted "), "{said}");

    let said = printed(["--engine", "opencl", "--n", "64K", "--rows", "256", "--reverse"]);
    let descending = sorter.order(bitonic::Order::Descending);
    let plan = descending.plan_rows::<u32>(1 << 16, 256).unwrap().to_string();
    assert_eq!(without_prediction(&said), without_prediction(&plan));
}

#[test]
fn rows_are_explained_on_the_processor_too() {
    let plan = bitonic::Sorter::new().plan_rows::<u32>(1 << 24, 1 << 10).unwrap();
    assert_eq!(printed(["--rows", "1K"]), plan.to_string());
    assert!(refused(["--n", "10", "--rows", "3"]).contains("10 keys are no whole number of rows of 3"));
    assert!(refused(["--rows", "4", "--pairs", "8"]).contains("cannot be used with"));
}

#[test]
fn a_device_needs_its_engine_and_a_driver() {
    for engine in ["auto", "cpu"] {
        assert_eq!(
            refused(["--engine", engine, "--device", "0"]),
            format!(
                "--device 0 is for the opencl and cuda engines, and the engine is {engine}: add --engine opencl, or leave \
                 --device out"
            )
        );
    }
    assert!(refused(["--engine", "opencl", "--device", "no such"]).starts_with("no device is 'no such'"));
    let message = crate::refused(without_driver(["explain", "--engine", "opencl"]));
    assert!(message.starts_with("the opencl engine is not available: "), "{message}");
    assert!(message.contains("install"), "{message}");
}
