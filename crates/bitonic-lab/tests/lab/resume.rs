//! Runs that were stopped.

use crate::silent::Silent;
use bitonic_lab::experiment::file;
use bitonic_lab::measure::{resume, run};
use bitonic_lab::record::{RECORDS, Record, Status, read_run};
use std::collections::HashSet;

/// Small sizes are measured completely; so many keys as the large one has take odd-even sort an hour anywhere.
const EXPERIMENT: &str = "implementations = [\"cpu:odd_even_threads\"]\nsizes = [\"2^5..2^7\", \"2^24\"]\nrepetitions = 5\n\
                          instances = 2\nbudget_seconds = 100.0\n";

/// Wherever a run is stopped, going on leaves all records there would have been, and none twice.
#[test]
fn a_run_stopped_anywhere_is_completed_by_going_on() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = file::read(EXPERIMENT, "x", None).unwrap();
    run(&experiment, folder.path(), &mut Silent::default()).unwrap();
    let path = folder.path().join(RECORDS);
    let whole = std::fs::read(&path).unwrap();
    let heading = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let identities = |records: &[Record]| -> HashSet<_> {
        records
            .iter()
            .map(|record| (record.cell(), record.instance, record.repetition, record.status))
            .collect()
    };
    let expected = identities(&read_run(folder.path()).unwrap().2);
    assert_eq!(expected.len(), 3 * 2 * 5 + 1);
    assert_eq!(expected.iter().filter(|record| record.3 == Status::Extrapolated).count(), 1);
    for cut in [heading, heading + 10, heading + (whole.len() - heading) / 2, whole.len() - 1, whole.len()] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        resume(folder.path(), &mut Silent::default()).unwrap();
        let records = read_run(folder.path()).unwrap().2;
        assert_eq!(identities(&records), expected, "cut at {cut}");
        assert_eq!(records.len(), expected.len(), "cut at {cut}: none twice");
        let results = std::fs::read_to_string(folder.path().join("result.csv")).unwrap();
        assert_eq!(results.lines().count(), 1 + 3 * 2 * 5, "cut at {cut}: result.csv has a line for each");
    }
}

/// The second of them was ended by its budget.
#[test]
fn a_complete_run_has_nothing_to_go_on_with() {
    for text in [
        "implementations = [\"cpu:std\"]\nsizes = [64]\nrepetitions = 3\n",
        "implementations = [\"cpu:odd_even\"]\nsizes = [256, 512]\nrepetitions = 1000000\ninstances = 3\nbudget_seconds = 0.2\n",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let experiment = file::read(text, "x", None).unwrap();
        run(&experiment, folder.path(), &mut Silent::default()).unwrap();
        let before = std::fs::read(folder.path().join(RECORDS)).unwrap();
        resume(folder.path(), &mut Silent::default()).unwrap();
        assert!(std::fs::read(folder.path().join(RECORDS)).unwrap() == before, "{text}");
    }
}
