//! Nobody else can read what is not theirs to read, not even for a moment.

use crate::{Folder, bitonic, sorted};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

const KEYS: u32 = 100_000;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// Looks at all files of the folder while a private one is sorted in place.
#[test]
fn a_private_file_stays_private_while_it_is_replaced() {
    let folder = Folder::new();
    let file = folder.keys("private.txt", KEYS);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    for _ in 0..3 {
        let mut child = bitonic(&folder).arg("sort").arg(&file).arg("-o").arg(&file).spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            for entry in fs::read_dir(folder.path()).unwrap().flatten() {
                let name = entry.file_name();
                // It may be gone again.
                let Ok(about) = entry.metadata() else { continue };
                if about.is_file() {
                    assert_eq!(about.mode() & 0o077, 0, "others may read {name:?}");
                }
            }
        }
        assert!(child.wait().unwrap().success());
        assert_eq!(mode(&file), 0o600);
        assert!(fs::read_to_string(&file).unwrap() == sorted(KEYS));
    }
}

/// The same where files have names from the beginning: without /proc an unnamed one cannot get a name.
#[test]
fn a_named_file_beside_is_private_too() {
    if !crate::has_own_mounts("a_named_file_beside_is_private_too") {
        return;
    }
    let folder = Folder::new();
    let file = folder.keys("private.txt", KEYS);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let script = "umount -l /proc && exec \"$0\" sort \"$1\" -o \"$1\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, crate::BITONIC]).arg(&file);
    let mut child = command.spawn().unwrap();
    let mut was_seen = false;
    while child.try_wait().unwrap().is_none() {
        for entry in fs::read_dir(folder.path()).unwrap().flatten() {
            let Ok(about) = entry.metadata() else { continue };
            was_seen |= entry.file_name().to_string_lossy().starts_with(".bitonic-");
            assert!(!about.is_file() || about.mode() & 0o077 == 0, "others may read {:?}", entry.file_name());
        }
    }
    assert!(child.wait().unwrap().success());
    assert!(was_seen, "there was no file beside");
    assert_eq!(folder.names(), ["private.txt"]);
    assert!(fs::read_to_string(&file).unwrap() == sorted(KEYS));
}

#[test]
fn group_and_owner_are_kept_each_on_its_own() {
    let folder = Folder::new();
    let file = folder.keys("shared.txt", 10);
    // Only root may give files away, and only to a group of their own may others.
    if chown(&file, Some(1234), Some(2345)).is_err() {
        println!("skipped: group_and_owner_are_kept_each_on_its_own: only root can give files away");
        return;
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(bitonic(&folder).arg("sort").arg(&file).arg("-o").arg(&file).status().unwrap().success());
    let about = fs::metadata(&file).unwrap();
    assert_eq!((about.uid(), about.gid(), about.mode() & 0o7777), (1234, 2345, 0o640));
    assert_eq!(fs::read_to_string(&file).unwrap(), sorted(10));
}
