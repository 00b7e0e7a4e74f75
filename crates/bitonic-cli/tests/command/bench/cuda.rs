//! `bitonic bench gpu` on a CUDA device, where there is one.

use super::rows;
use crate::{Folder, bitonic};

/// What it prints; `None`, with a line that says so, where there is no CUDA device.
fn printed(test: &str, line: &str) -> Option<String> {
    let opened = bitonic::cuda::Device::open(&bitonic::cuda::DeviceChoice::Best);
    bitonic_testkit::device_or_skip(test, opened, "BITONIC_REQUIRE_CUDA")?;
    Some(crate::printed(bitonic(["bench", "gpu", "--engine", "cuda"].into_iter().chain(line.split(' ')))))
}

#[test]
fn the_engine_is_measured_in_both_ways_and_beside_a_copy() {
    let test = "the_engine_is_measured_in_both_ways_and_beside_a_copy";
    let Some(said) = printed(test, "--sizes 1000,2^16 --repetitions 3 --rungs none --peers none") else {
        return;
    };
    let names: Vec<&str> = rows(&said).iter().map(|row| row[1]).collect();
    assert_eq!(names, ["bitonic", "bitonic oblivious", "copy"].repeat(2), "{said}");
}

#[test]
fn values_and_rows_are_measured() {
    let test = "values_and_rows_are_measured";
    let folder = Folder::new();
    let file = folder.argument("results.csv");
    for line in ["--sizes 1000,2^16 --values u32 --type u32,f64", "--rows 8,100,1024 --total 100000"] {
        let line = format!("{line} --repetitions 2 --rungs none --peers none --csv {file}");
        if printed(test, &line).is_none() {
            return;
        }
        let text = String::from_utf8(folder.read("results.csv")).unwrap();
        assert!(text.lines().skip(1).all(|line| line.contains(",yes,2,")), "{text}");
    }
}
