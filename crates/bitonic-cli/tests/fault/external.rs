//! Sorts of more than memory holds that are interrupted, or have no room: the input is as it was, the output absent or whole, and
//! nothing is left in the folder for temporary files.

use crate::{BITONIC, Folder, bitonic, has_own_mounts, said, sorted, unsorted};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// With the least memory some dozen runs.
const KEYS: u32 = 100_000;

const MEMORY: &str = "256K";

fn sort(folder: &Folder, input: &Path, output: &Path, temp: &Path) -> Command {
    let mut command = bitonic(folder);
    command.arg("sort").arg(input).arg("-o").arg(output).args(["--memory", MEMORY, "--temp"]).arg(temp);
    command
}

#[test]
fn signals_and_kills_leave_the_input_and_nothing_else() {
    const TIMES: u32 = 100;
    let folder = Folder::new();
    let (input, output) = (folder.keys("keys.txt", KEYS), folder.path().join("out.txt"));
    let temp = folder.path().join("temp");
    fs::create_dir(&temp).unwrap();
    let started = Instant::now();
    assert!(sort(&folder, &input, &output, &temp).status().unwrap().success());
    let usual = started.elapsed();
    assert!(fs::read_to_string(&output).unwrap() == sorted(KEYS));
    let mut interrupted = 0;
    for number in 0..TIMES {
        let _ = fs::remove_file(&output);
        let signal = [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL][number as usize % 4];
        let after = usual * number / TIMES;
        let mut child = sort(&folder, &input, &output, &temp)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(after);
        let case = format!("signal {number}, {signal:?} after {after:?}");
        assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "{case}: the temporary file has a name");
        if child.try_wait().unwrap().is_none() {
            kill_process(Pid::from_child(&child), signal).unwrap();
        }
        interrupted += u32::from(!child.wait().unwrap().success());
        assert!(fs::read_to_string(&input).unwrap() == unsorted(KEYS), "{case}: the input is changed");
        assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "{case}");
        if let Ok(content) = fs::read_to_string(&output) {
            assert!(content == sorted(KEYS), "{case}: the output is not complete");
        }
        // A kill between naming the complete file and moving it leaves it.
        for name in folder.names().iter().filter(|name| name.starts_with(".bitonic-")) {
            let left = folder.path().join(name);
            assert!(
                signal == Signal::KILL && fs::read_to_string(&left).unwrap() == sorted(KEYS),
                "{case}: {name}"
            );
            fs::remove_file(left).unwrap();
        }
    }
    assert!(interrupted > TIMES / 4, "{interrupted} signals came in time");
}

/// A disk for temporary files that is full: at once, or after some runs.
#[test]
fn a_full_disk_for_temporary_files_leaves_everything() {
    if !has_own_mounts("a_full_disk_for_temporary_files_leaves_everything") {
        return;
    }
    let folder = Folder::new();
    let input = folder.keys("keys.txt", KEYS);
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    for size in ["4k", "500k"] {
        let (disk, input, output) = (disk.display(), input.display(), folder.path().join("out.txt"));
        let script = format!(
            "mount -t tmpfs -o size={size} none '{disk}' || exit 77
             '{BITONIC}' sort '{input}' -o '{}' --memory {MEMORY} --temp '{disk}'
             echo \"code $?\"; ls -A '{disk}'",
            output.display()
        );
        let done = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stdout), "code 2\n", "{size}: {}", said(&done));
        assert!(
            said(&done).contains("make room there, or choose another folder with --temp"),
            "{size}: {}",
            said(&done)
        );
        assert!(fs::read_to_string(folder.path().join("keys.txt")).unwrap() == unsorted(KEYS));
        assert_eq!(folder.names(), ["disk", "keys.txt"], "{size}");
    }
}

/// A folder that cannot be written to, or is none.
#[test]
fn a_folder_that_takes_no_file_is_named() {
    let folder = Folder::new();
    let (input, output) = (folder.keys("keys.txt", KEYS), folder.path().join("out.txt"));
    for temp in [input.as_path(), &folder.path().join("missing"), Path::new("/proc")] {
        let done = sort(&folder, &input, &output, temp).output().unwrap();
        assert_eq!(done.status.code(), Some(2));
        let said = said(&done);
        assert!(said.contains(&format!("a temporary file in {}: ", temp.display())), "{said}");
        assert!(said.contains("choose another folder with --temp"), "{said}");
        assert_eq!(folder.names(), ["keys.txt"]);
    }
}

/// What a process has in memory at most, in KiB, while it runs.
fn most_memory(child: &mut std::process::Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let here = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
        most = most.max(here);
        std::thread::sleep(Duration::from_millis(2));
    }
    most
}

/// Sorts a file with 32 MiB of memory, looks at how much it takes, and gives the path of the output.
fn sort_with_32_mib(folder: &Folder, input: &Path, options: &[&str]) -> PathBuf {
    let output = input.with_file_name("out").with_extension(input.extension().unwrap());
    let mut command = bitonic(folder);
    command.args(["sort", "--memory", "32M", "-o"]).arg(&output).arg(input).args(options);
    let mut child = command.spawn().unwrap();
    let most = most_memory(&mut child);
    assert!(child.wait().unwrap().success());
    let case = input.display();
    assert!(most > 16 << 10, "{case}: {most} KiB is less than a run");
    assert!(most < (32 + OVERHEAD) << 10, "{case}: {most} KiB");
    output
}

/// What the program itself may take, in MiB: its code, the stacks of its threads, and small pieces of memory.
const OVERHEAD: u64 = 24;

/// Numbers in no order.
fn numbers(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|index| index.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

#[test]
fn memory_stays_near_the_limit_with_binary_keys() {
    let folder = Folder::new();
    let input = folder.path().join("keys.bin");
    fs::write(&input, numbers(20_000_000).flat_map(u64::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let sorted = fs::read(sort_with_32_mib(&folder, &input, &["--type", "u64"])).unwrap();
    let keys = sorted.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes));
    assert!(sorted.len() == 160_000_000 && keys.is_sorted());
}

/// Their sort takes and gives back much memory, which the allocator would like to keep.
#[test]
fn memory_stays_near_the_limit_with_records() {
    let folder = Folder::new();
    let input = folder.path().join("records.bin");
    fs::write(&input, numbers(7_500_000).flat_map(u64::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let output = sort_with_32_mib(&folder, &input, &["--record", "40", "--key", "0:u64"]);
    let sorted = fs::read(output).unwrap();
    let keys =
        sorted.as_chunks::<40>().0.iter().map(|record| record.first_chunk().copied().map(u64::from_le_bytes));
    assert!(sorted.len() == 60_000_000 && keys.is_sorted());
}

#[test]
fn memory_stays_near_the_limit_with_numbers_as_text() {
    let folder = Folder::new();
    let input = folder.path().join("numbers.txt");
    let text: String = numbers(5_000_000).map(|number| format!("{}\n", number >> 32)).collect();
    fs::write(&input, &text).unwrap();
    let sorted = fs::read_to_string(sort_with_32_mib(&folder, &input, &[])).unwrap();
    let keys = sorted.lines().map(|line| line.parse::<u64>().unwrap());
    assert!(sorted.len() == text.len() && keys.is_sorted());
}

/// Short ones take many times their length as records of a table, and as items of a window.
#[test]
fn memory_stays_near_the_limit_with_short_lines() {
    let folder = Folder::new();
    let input = folder.path().join("lines.csv");
    let text: String = numbers(2_000_000).map(|number| format!("{}\n", number >> 57)).collect();
    fs::write(&input, &text).unwrap();
    let sorted = fs::read_to_string(sort_with_32_mib(&folder, &input, &["--key", "1"])).unwrap();
    let keys = sorted.lines().map(|line| line.parse::<u8>().unwrap());
    assert!(sorted.len() == text.len() && keys.is_sorted());
}
