//! Runs that were stopped.

use crate::silent::Silent;
use bitonic_lab::experiment::file;
use bitonic_lab::measure::{resume, run};
use bitonic_lab::record::{RECORDS, Record, Status, read_run};
use std::collections::HashSet;

const EXPERIMENT: &str = "implementations = [\"cpu:std\", \"cpu:parallel_recursive\", \"cpu:odd_even\"]\n\
                          sizes = [\"2^5..2^7\", \"2^18\"]\nrepetitions = 3\ninstances = 2\nbudget_seconds = 0.3\n";

/// Wherever a run is stopped, going on leaves all records there would have been, and none twice.
#[test]
fn a_run_stopped_anywhere_is_completed_by_going_on() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = file::read(EXPERIMENT, "x").unwrap();
    run(&experiment, folder.path(), &mut Silent::default()).unwrap();
    let path = folder.path().join(RECORDS);
    let whole = std::fs::read(&path).unwrap();
    let heading = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let small = |records: &[Record]| -> HashSet<_> {
        // How often the large size is sorted is for the budget to say, and differs from run to run.
        let small = records.iter().filter(|record| record.size < 1 << 18 || record.status != Status::Measured);
        small.map(|record| (record.cell(), record.instance, record.repetition, record.status)).collect()
    };
    let expected = small(&read_run(folder.path()).unwrap().2);
    assert_eq!(expected.len(), 3 * 3 * 2 * 3 + 1);
    for cut in [heading, heading + 10, heading + (whole.len() - heading) / 2, whole.len() - 1, whole.len()] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        resume(folder.path(), &mut Silent::default()).unwrap();
        let records = read_run(folder.path()).unwrap().2;
        assert_eq!(small(&records), expected, "cut at {cut}");
        let different: HashSet<_> =
            records.iter().map(|record| (record.cell(), record.instance, record.repetition)).collect();
        assert_eq!(different.len(), records.len(), "cut at {cut}: none twice");
        let results = std::fs::read_to_string(folder.path().join("result.csv")).unwrap();
        let sorted = records.iter().filter(|record| record.implementation == "cpu:parallel_recursive").count();
        assert_eq!(results.lines().count(), 1 + sorted, "cut at {cut}: result.csv has a line for each");
    }
}

#[test]
fn a_complete_run_has_nothing_to_go_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = file::read("implementations = [\"cpu:std\"]\nsizes = [64]\nrepetitions = 3\n", "x").unwrap();
    run(&experiment, folder.path(), &mut Silent::default()).unwrap();
    let before = std::fs::read(folder.path().join(RECORDS)).unwrap();
    resume(folder.path(), &mut Silent::default()).unwrap();
    assert_eq!(std::fs::read(folder.path().join(RECORDS)).unwrap(), before);
}
