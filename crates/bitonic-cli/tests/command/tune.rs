//! `bitonic tune`.

use crate::{bitonic, printed, refused, without_driver};

#[test]
fn what_was_tried_is_shown_and_kept_where_it_says() {
    // Not where the other tests look: this one tells what to use from now on.
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/tuned");
    let _ = std::fs::remove_dir_all(folder);
    let mut command = bitonic(["tune", "--quick", "--device", "cpu"]);
    command.env("BITONIC_CACHE_DIR", folder);
    let said = printed(command);
    let table = said.split("\n\n").nth(1).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].starts_with("element ") && rows[0].contains(" gain "), "{said}");
    assert!(
        rows.len() > 1 && rows[1..].iter().all(|row| row.contains("4 bytes  2^") && row.contains('x')),
        "{said}"
    );
    assert!(said.contains("--engine auto"), "{said}");
    assert!(said.contains(&format!("kept in {folder} ")), "{said}");
    let kept = |name: &str| {
        let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        files.any(|file| file.to_string_lossy().starts_with(name))
    };
    assert!(kept("tuning-"), "{said}");
    assert!(!kept("auto-"), "a processor is no rival of the cpu engine: {said}");
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    let message = refused(bitonic(["tune", "--device", "no such device"]));
    assert!(message.starts_with("no device is 'no such device': choose one of 0: "), "{message}");
    let message = refused(without_driver(["tune"]));
    assert!(message.starts_with("the opencl engine is not available: "), "{message}");
}
