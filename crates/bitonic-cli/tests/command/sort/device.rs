//! Sorting on an OpenCL device.

use super::{Folder, refused, sort, sorted};
use crate::without_driver;

#[test]
fn a_device_sorts_as_the_processor_does() {
    let text = "0.5 -nan -0 0 inf -inf nan 3e30";
    for arguments in [["--engine", "opencl", "--type", "f32"], ["--engine", "cpu", "--type", "f32"]] {
        assert_eq!(sorted(arguments, text), "-nan\n-inf\n-0\n0\n0.5\n3e30\ninf\nnan\n");
    }
    assert_eq!(sorted(["--engine", "opencl", "--device", "0", "-r"], "1 3 2"), "3\n2\n1\n");
    assert_eq!(sorted(["--engine", "opencl"], ""), "");
}

#[test]
fn files_are_the_same_whoever_sorts_them() {
    let folder = Folder::new();
    let [device, processor] = ["device.bin", "processor.bin"].map(|name| folder.argument(name));
    for (engine, file) in [("opencl", &device), ("cpu", &processor)] {
        let made = ["--random", "100003", "-t", "i64", "--engine", engine, "-o", file];
        sort(made).assert().success().stdout("").stderr("");
    }
    assert!(folder.read("device.bin") == folder.read("processor.bin"));
}

#[test]
fn the_report_says_what_the_device_took() {
    // What a copy reaches is measured by benchmarks, and kept.
    crate::bitonic("bench gpu --engine opencl --sizes 2^8 --rungs none --repetitions 1".split(' '))
        .assert()
        .success();
    let done =
        sort(["--engine", "opencl", "--random", "64K", "--report", "-o", "/dev/null"]).assert().success();
    let report = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    let names: Vec<&str> = report.lines().filter_map(|line| line.split(' ').next()).collect();
    let expected = [
        "keys",
        "engine",
        "device",
        "plan",
        "upload",
        "kernels",
        "download",
        "bandwidth",
        "make",
        "sort",
        "write",
    ];
    assert_eq!(names, expected, "{report}");
    let line = |name| report.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line("engine").ends_with(" opencl"), "{report}");
    assert!(line("upload").ends_with(" GB/s") && line("download").ends_with(" GB/s"), "{report}");
    assert!(line("kernels").contains(" launch"), "{report}");
    assert!(line("bandwidth").contains(" % of what a plain copy on the device reaches"), "{report}");
}

#[test]
fn random_keys_are_verified_and_the_kernels_have_a_column() {
    let text = crate::printed(sort(["--random", "10000", "--engine", "opencl"]));
    assert!(text.contains("\nkernels ") && text.contains("\nverified: "), "{text}");
    let table = text.split("\n\n").nth(1).unwrap();
    let rows: Vec<&str> = table.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(rows, ["sort", "bitonic", "std"], "a device has no row for one thread\n{text}");
    assert!(table.lines().next().unwrap().contains(" kernels "), "{text}");
}

#[test]
fn a_device_needs_its_engine() {
    for arguments in [["--device", "0"], ["--device=gpu", "--check"], ["--device=0", "--engine=cpu"]] {
        let message = refused(arguments, "2 1");
        assert!(message.contains(" is for the opencl and cuda engines, and the engine is "), "{message}");
        assert!(message.ends_with(": add --engine opencl, or leave --device out"), "{message}");
    }
    assert!(
        refused(["--engine", "opencl", "--device", "17"], "2 1")
            .starts_with("no device is '17': choose one of 0: ")
    );
    assert!(refused(["--device", ""], "2 1").starts_with("unknown device ''"));
}

#[test]
fn without_a_driver_its_engine_is_refused_and_the_default_sorts() {
    let mut command = without_driver(["sort", "--engine", "opencl"]);
    command.write_stdin("2 1");
    let message = crate::refused(command);
    assert!(message.starts_with("the opencl engine is not available: "), "{message}");
    let mut command = without_driver(["sort"]);
    command.write_stdin("2 1");
    assert_eq!(crate::printed(command), "1\n2\n");
}
