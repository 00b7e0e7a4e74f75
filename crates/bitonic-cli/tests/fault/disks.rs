//! Disks that take a part of a file and no more.

use crate::{BITONIC, Folder, assert_whole, has_own_mounts, said, shell, unsorted};
use std::fs;

const KEYS: u32 = 50_000;

/// The system ends writes beyond a limit: by an error, or by a signal that kills.
#[test]
fn a_limit_to_the_size_of_files_leaves_the_old_file() {
    for prepare in ["trap '' XFSZ;", ""] {
        let folder = Folder::new();
        let file = folder.keys("keys.txt", KEYS);
        let path = file.display();
        // Blocks of 512 bytes.
        let output = shell(&format!(
            "{prepare} ulimit -c 0; ulimit -f 100; exec '{BITONIC}' sort '{path}' -o '{path}'"
        ));
        assert!(!output.status.success());
        assert!(fs::read_to_string(&file).unwrap() == unsorted(KEYS), "{prepare}");
        assert_eq!(folder.names(), ["keys.txt"], "{prepare}");
        assert_eq!(!prepare.is_empty(), said(&output).contains("cannot write to"), "{}", said(&output));
    }
}

/// A file system that is nearly full: before there is any room, after a part, and in the last block.
#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    if !has_own_mounts("a_full_disk_leaves_the_old_file_and_nothing_else") {
        return;
    }
    let folder = Folder::new();
    let input = folder.keys("keys.txt", KEYS);
    let size_in_kib = unsorted(KEYS).len() / 1024;
    for room in [4, size_in_kib / 2, size_in_kib - 32] {
        let disk = folder.path().join("disk");
        fs::create_dir_all(&disk).unwrap();
        let (disk, input) = (disk.display(), input.display());
        let size = size_in_kib + 16 + room;
        let script = format!(
            "mount -t tmpfs -o size={size}k none '{disk}' && cp '{input}' '{disk}/keys.txt' || exit 77
             '{BITONIC}' sort '{disk}/keys.txt' -o '{disk}/keys.txt'
             echo \"code $?\"; ls -A '{disk}'; cmp '{input}' '{disk}/keys.txt' && echo same"
        );
        let output =
            std::process::Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(printed, "code 2\nkeys.txt\nsame\n", "{room} KiB of room: {}", said(&output));
        assert!(said(&output).contains("make room or choose another place"), "{}", said(&output));
    }
}

/// Where a file with several names is overwritten and there is no room, the complete content is beside it.
#[test]
fn a_full_disk_loses_nothing_of_a_file_with_several_names() {
    if !has_own_mounts("a_full_disk_loses_nothing_of_a_file_with_several_names") {
        return;
    }
    let folder = Folder::new();
    let input = folder.keys("keys.txt", KEYS);
    let disk = folder.path().join("disk");
    fs::create_dir_all(&disk).unwrap();
    let (disk, input) = (disk.display(), input.display());
    let size = unsorted(KEYS).len() / 1024 + 40;
    let script = format!(
        "mount -t tmpfs -o size={size}k none '{disk}' && cp '{input}' '{disk}/one' && ln '{disk}/one' '{disk}/other' || exit 77
         '{BITONIC}' sort '{disk}/one' -o '{disk}/one'
         echo \"code $?\"; cmp '{input}' '{disk}/other' && echo same"
    );
    let output =
        std::process::Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "code 2\nsame\n", "{}", said(&output));
}

/// A pipe that takes a few bytes at a time gets all of them.
#[test]
fn short_writes_lose_nothing() {
    let folder = Folder::new();
    let file = folder.keys("keys.txt", KEYS);
    let script = format!("'{BITONIC}' sort '{}' | dd bs=7 2>/dev/null", file.display());
    let output = shell(&script);
    assert!(String::from_utf8_lossy(&output.stdout) == crate::sorted(KEYS));
    assert_whole(&file, KEYS, "the input");
}
