//! Files with several names, links to what is not there yet, folders that take no new file.

use crate::{Folder, bitonic, said, sorted, unsorted};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

#[test]
fn all_names_of_a_file_show_the_new_content() {
    let folder = Folder::new();
    let file = folder.keys("one.txt", 1000);
    let other = folder.path().join("other.txt");
    fs::hard_link(&file, &other).unwrap();
    assert!(bitonic(&folder).arg("sort").arg(&file).arg("-o").arg(&file).status().unwrap().success());
    assert!(fs::read_to_string(&file).unwrap() == sorted(1000));
    assert!(fs::read_to_string(&other).unwrap() == sorted(1000), "the other name has the old content");
    assert_eq!(folder.names(), ["one.txt", "other.txt"]);
}

#[test]
fn a_chain_of_links_to_nothing_stays_a_chain() {
    let folder = Folder::new();
    let input = folder.keys("input.txt", 10);
    let links = ["first", "second", "third"].map(|name| folder.path().join(name));
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    symlink("second", &links[0]).unwrap();
    symlink(folder.path().join("third"), &links[1]).unwrap();
    symlink("elsewhere/target", &links[2]).unwrap();
    assert!(bitonic(&folder).arg("sort").arg(&input).arg("-o").arg(&links[0]).status().unwrap().success());
    assert!(links.iter().all(|link| link.is_symlink()));
    assert_eq!(fs::read_to_string(folder.path().join("elsewhere/target")).unwrap(), sorted(10));
}

#[test]
fn links_that_lead_to_one_another_are_refused() {
    let folder = Folder::new();
    let input = folder.keys("input.txt", 10);
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    symlink("other", &one).unwrap();
    symlink("one", &other).unwrap();
    let output = bitonic(&folder).arg("sort").arg(&input).arg("-o").arg(&one).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(one.is_symlink() && other.is_symlink());
    assert_eq!(folder.names(), ["input.txt", "one", "other"]);
}

/// The administrator may write to every folder: `setpriv` takes that right away.
#[test]
fn a_file_in_a_folder_that_takes_no_new_one_is_overwritten_and_that_is_told() {
    let folder = Folder::new();
    let [closed, temporary] = ["closed", "temporary"].map(|name| folder.path().join(name));
    fs::create_dir(&closed).unwrap();
    fs::create_dir(&temporary).unwrap();
    let file = closed.join("keys.txt");
    fs::write(&file, unsorted(1000)).unwrap();
    let forbid = |forbidden| {
        let mode = if forbidden { 0o555 } else { 0o755 };
        fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
    };
    forbid(true);
    let without_privilege = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
    let is_possible = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let is_obeyed = fs::write(closed.join("new"), "").is_err();
    let words: &[&str] = match is_obeyed {
        true => &[],
        false if is_possible(Command::new("setpriv").arg(without_privilege[1]).arg("true")) => {
            &without_privilege
        }
        false => {
            forbid(false);
            println!(
                "skipped: a_file_in_a_folder_that_takes_no_new_one: this user may write to every folder"
            );
            return;
        }
    };
    let _ = fs::remove_file(closed.join("new"));
    let script = "exec \"$@\"";
    let sort = |output: &Path| {
        let mut command = Command::new("sh");
        command
            .args(["-c", script, "sh"])
            .args(words)
            .arg(crate::BITONIC)
            .arg("sort")
            .arg(&file)
            .arg("-o")
            .arg(output);
        command.env("TMPDIR", &temporary).output().unwrap()
    };
    let output = sort(&file);
    let new = sort(&closed.join("other.txt"));
    forbid(false);
    assert!(output.status.success(), "{}", said(&output));
    let told = format!(
        "bitonic: {}: its folder takes no new file (permission denied), so it is overwritten in place: should that be \
         interrupted, the complete content is in {}\n",
        file.display(),
        temporary.display()
    );
    assert_eq!(said(&output), told);
    assert!(fs::read_to_string(&file).unwrap() == sorted(1000));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "something is left");
    // A new file there cannot be.
    assert_eq!(new.status.code(), Some(2));
    assert!(said(&new).contains("permission denied: choose another place"), "{}", said(&new));
    assert_eq!(fs::read_dir(&closed).unwrap().count(), 1);
}
