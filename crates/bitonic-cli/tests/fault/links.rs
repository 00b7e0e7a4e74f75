//! Files with several names, and links to what is not there yet.

use crate::{Folder, bitonic, said, sorted};
use std::fs;
use std::os::unix::fs::symlink;

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
