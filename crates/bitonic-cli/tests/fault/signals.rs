//! Signals at random moments.

use crate::{Folder, assert_whole, bitonic, has_own_mounts, sorted, unsorted};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often each command is interrupted.
const TIMES: u32 = 200;

const KEYS: u32 = 20_000;

/// Signals that a program may act upon before it ends.
const POLITE: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::HUP];

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Starts the command, and sends the signal after a while unless it has ended.
fn interrupt(command: &mut Command, signal: Signal, after: Duration) -> ExitStatus {
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    if child.try_wait().unwrap().is_none() {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    child.wait().unwrap()
}

/// How long the command takes when nobody interrupts it.
fn time(command: &mut Command) -> Duration {
    let started = Instant::now();
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    started.elapsed()
}

#[test]
fn a_file_sorted_in_place_is_old_or_new_and_nothing_is_left() {
    let folder = Folder::new();
    let file = folder.keys("keys.txt", KEYS);
    let sort = || {
        let mut command = bitonic(&folder);
        command.arg("sort").arg(&file).arg("-o").arg(&file);
        command
    };
    let usual = time(&mut sort());
    let mut random = Random(1);
    for number in 0..TIMES {
        if number % 10 == 0 {
            fs::write(&file, unsorted(KEYS)).unwrap();
        }
        let signal = POLITE[random.below(3) as usize];
        let after = Duration::from_micros(random.below(usual.as_micros() as u64 * 11 / 10));
        let status = interrupt(&mut sort(), signal, after);
        let case = format!("signal {number}, {signal:?} after {after:?}, {status}");
        assert_whole(&file, KEYS, &case);
        assert_eq!(folder.names(), ["keys.txt"], "{case}");
    }
}

/// Where files have no names until they are complete, even SIGKILL leaves nothing but, very rarely, a complete file.
#[test]
fn a_new_file_is_complete_or_not_there_even_after_a_kill() {
    let folder = Folder::new();
    let input = folder.keys("keys.txt", KEYS);
    let out = folder.path().join("out.txt");
    let sort = || {
        let mut command = bitonic(&folder);
        command.arg("sort").arg(&input).arg("-o").arg(&out);
        command
    };
    let usual = time(&mut sort());
    let mut random = Random(2);
    for number in 0..TIMES {
        let _ = fs::remove_file(&out);
        let after = Duration::from_micros(random.below(usual.as_micros() as u64 * 11 / 10));
        let status = interrupt(&mut sort(), Signal::KILL, after);
        let case = format!("kill {number} after {after:?}, {status}");
        if let Ok(content) = fs::read_to_string(&out) {
            assert!(content == sorted(KEYS), "{case}: the new file is not complete");
        }
        for name in folder.names().iter().filter(|name| name.starts_with(".bitonic-")) {
            let left = fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(left == sorted(KEYS), "{case}: {name} is left, and not complete");
            fs::remove_file(folder.path().join(name)).unwrap();
        }
    }
}

/// Where an unfinished file has a name, signals remove it first.
#[test]
fn a_named_file_beside_is_removed_by_signals() {
    if !has_own_mounts("a_named_file_beside_is_removed_by_signals") {
        return;
    }
    let folder = Folder::new();
    let file = folder.keys("keys.txt", KEYS);
    let script = "umount -l /proc && exec \"$0\" sort \"$1\" -o \"$1\"";
    let sort = || {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script, crate::BITONIC]).arg(&file);
        command
    };
    let mut usual = time(&mut sort());
    let mut random = Random(3);
    let mut interrupted = 0;
    for number in 0..TIMES {
        let signal = POLITE[random.below(3) as usize];
        // Late, when the file is being written.
        let after = usual / 2 + Duration::from_micros(random.below(usual.as_micros() as u64 * 6 / 10));
        let status = interrupt(&mut sort(), signal, after);
        interrupted += u32::from(!status.success());
        // The first time may have been measured on a busy machine: follow the command's pace, so that about half of
        // the signals come in time.
        usual = if status.success() { usual * 19 / 20 } else { usual * 20 / 19 };
        let case = format!("signal {number}, {signal:?} after {after:?}, {status}");
        assert_whole(&file, KEYS, &case);
        assert_eq!(folder.names(), ["keys.txt"], "{case}");
    }
    assert!(interrupted > TIMES / 10, "{interrupted} signals came in time");
}

/// What was started with a signal ignored, as `nohup` does, goes on.
#[test]
fn an_ignored_signal_stays_ignored() {
    let folder = Folder::new();
    let file = folder.keys("keys.txt", 300_000);
    let mut command = Command::new("sh");
    let script = "trap '' HUP; echo ignored; exec \"$0\" sort \"$1\" -o \"$1\"";
    let mut child =
        command.args(["-c", script, crate::BITONIC]).arg(&file).stdout(Stdio::piped()).spawn().unwrap();
    // Before the shell ignores the signal, it would end the shell.
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "ignored\n");
    while child.try_wait().unwrap().is_none() {
        // Gone in the meantime is as good.
        let _ = kill_process(Pid::from_child(&child), Signal::HUP);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success());
    assert!(fs::read_to_string(&file).unwrap() == sorted(300_000));
}

/// A run of the laboratory that is killed again and again has every record once in the end.
#[test]
fn a_run_that_is_killed_is_completed_by_going_on() {
    let folder = Folder::new();
    let experiment = folder.path().join("experiment.toml");
    let text = "implementations = [\"cpu:std\"]\nsizes = [64, 128]\nrepetitions = 400\ninstances = 5\ncounters = false\n\
                budget_seconds = 1000.0\n";
    fs::write(&experiment, text).unwrap();
    let run = folder.path().join("run");
    let records = run.join("records.csv");
    let lab = |words: &[&str]| {
        let mut command = bitonic(&folder);
        command.arg("lab").args(words);
        command
    };
    let path = run.to_str().unwrap();
    // The sorts come first and the report last, which takes longer.
    let usual =
        time(&mut lab(&["run", experiment.to_str().unwrap(), "-o", path])).min(Duration::from_millis(100));
    let whole = fs::read(&records).unwrap();
    let heading = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut random = Random(4);
    for number in 0..TIMES {
        if number % 20 == 0 {
            fs::write(&records, &whole[..heading]).unwrap();
        }
        let signal = [Signal::TERM, Signal::KILL][random.below(2) as usize];
        let after = Duration::from_micros(random.below(usual.as_micros() as u64));
        interrupt(&mut lab(&["resume", path]), signal, after);
    }
    assert!(lab(&["resume", path]).output().unwrap().status.success());
    let text = fs::read_to_string(&records).unwrap();
    // Who, what, on which instance, for which time: everything before the time itself.
    let mut identities: Vec<String> =
        text.lines().skip(1).map(|line| line.split(',').take(6).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(identities.len(), 2 * 5 * 400);
    identities.sort();
    identities.dedup();
    assert_eq!(identities.len(), 2 * 5 * 400, "a record is there twice");
}
