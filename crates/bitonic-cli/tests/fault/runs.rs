//! Several commands at once.

use crate::{Folder, bitonic, said, sorted};
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn commands_that_write_the_same_file_leave_one_complete_content() {
    let folder = Folder::new();
    let counts = [1000, 20_000, 50_000, 80_000];
    let inputs = counts.map(|count| folder.keys(&format!("in-{count}.txt"), count));
    let out = folder.path().join("out.txt");
    for _ in 0..5 {
        let children: Vec<_> = inputs
            .iter()
            .map(|input| bitonic(&folder).arg("sort").arg(input).arg("-o").arg(&out).spawn().unwrap())
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let content = fs::read_to_string(&out).unwrap();
        assert!(counts.iter().any(|&count| content == sorted(count)), "{} bytes of a mixture", content.len());
        assert_eq!(folder.names().len(), inputs.len() + 1, "{:?}", folder.names());
    }
}

#[test]
fn the_second_to_go_on_with_a_run_is_refused_and_records_are_there_once() {
    let folder = Folder::new();
    let experiment = folder.path().join("experiment.toml");
    let text = "implementations = [\"cpu:std\"]\nsizes = [64]\nrepetitions = 20000\ncounters = false\n\
                budget_seconds = 1000.0\n";
    fs::write(&experiment, text).unwrap();
    let run = folder.path().join("run");
    let mut first = bitonic(&folder);
    first
        .args(["lab", "run"])
        .arg(&experiment)
        .arg("-o")
        .arg(&run)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut first = first.spawn().unwrap();
    let started = Instant::now();
    while !run.join("records.csv").exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "the run does not start");
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = bitonic(&folder).args(["lab", "resume"]).arg(&run).output().unwrap();
    let is_running = first.try_wait().unwrap().is_none();
    assert!(first.wait().unwrap().success());
    assert!(is_running, "the first had ended before the second was refused: make it longer");
    assert_eq!(second.status.code(), Some(2), "{}", said(&second));
    assert!(
        said(&second).contains(&format!("process {} is measuring this run", first.id())),
        "{}",
        said(&second)
    );
    assert_eq!(fs::read_to_string(run.join("records.csv")).unwrap().lines().count(), 1 + 20_000);
}
