//! Caches that somebody else has written to, or that are damaged.

use crate::{Folder, bitonic, said, sorted};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const KEYS: u32 = 10_000;

/// Sorts on an OpenCL device with this folder's cache. `false`, and a line that says so, where there is no device.
fn sorts_on_device(folder: &Folder, test: &str) -> bool {
    let input = folder.path().join("keys.txt");
    let output = bitonic(folder).args(["sort", "--engine", "opencl"]).arg(&input).output().unwrap();
    if !output.status.success() && said(&output).contains("is not available") {
        println!("skipped: {test}: {}", said(&output));
        return false;
    }
    assert!(output.status.success(), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stdout) == sorted(KEYS), "the keys are not sorted");
    true
}

fn entries(folder: &Folder) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.path().join("cache")).unwrap();
    files.map(|file| file.unwrap().path()).filter(|path| path.is_file()).collect()
}

#[test]
fn damaged_entries_are_built_again() {
    let folder = Folder::new();
    folder.keys("keys.txt", KEYS);
    if !sorts_on_device(&folder, "damaged_entries_are_built_again") {
        return;
    }
    assert!(!entries(&folder).is_empty(), "nothing was kept");
    for entry in entries(&folder) {
        let mut bytes = fs::read(&entry).unwrap();
        let middle = bytes.len() * 3 / 4;
        bytes[middle] ^= 0x40;
        fs::write(&entry, bytes).unwrap();
    }
    sorts_on_device(&folder, "");
}

#[test]
fn a_folder_that_others_may_write_is_neither_read_nor_written() {
    let folder = Folder::new();
    folder.keys("keys.txt", KEYS);
    if !sorts_on_device(&folder, "a_folder_that_others_may_write_is_neither_read_nor_written") {
        return;
    }
    let planted = entries(&folder);
    planted.iter().for_each(|entry| fs::write(entry, "planted").unwrap());
    let cache = folder.path().join("cache");
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
    sorts_on_device(&folder, "");
    assert_eq!(entries(&folder).len(), planted.len(), "something was written to the folder");
    for entry in planted {
        assert_eq!(fs::read_to_string(entry).unwrap(), "planted", "an entry was replaced");
    }
}
