//! Where sorted keys go.

use super::{Folder, refused, sort};
use std::process::{Command, Stdio};

#[test]
fn a_file_is_written_and_nothing_is_left_beside_it() {
    let folder = Folder::new();
    let file = folder.argument("out.txt");
    sort(["-o", &file]).write_stdin("2 1").assert().success().stdout("").stderr("");
    assert_eq!(folder.read("out.txt"), b"1\n2\n");
    assert_eq!(folder.names(), ["out.txt"]);
}

#[test]
fn output_may_be_the_input() {
    let folder = Folder::new();
    let file = folder.file("numbers.txt", "3 1 2");
    sort([&file, "--output", &file]).assert().success();
    assert_eq!(folder.read("numbers.txt"), b"1\n2\n3\n");
    assert_eq!(folder.names(), ["numbers.txt"]);
}

#[test]
fn bad_input_leaves_the_old_output_as_it_was() {
    let folder = Folder::new();
    let file = folder.file("numbers.txt", "3 1 x");
    refused([&file, "-o", &file], "");
    assert_eq!(folder.read("numbers.txt"), b"3 1 x");
    refused([&file, "-o", &folder.argument("new.txt")], "");
    assert_eq!(folder.names(), ["numbers.txt"]);
}

#[test]
fn the_output_follows_its_extension_and_then_the_input() {
    let folder = Folder::new();
    let file = folder.file("numbers", "2 1");
    let [numpy, raw, other] = ["out.npy", "out.raw", "out.data"].map(|name| folder.argument(name));
    for output in [&numpy, &raw, &other] {
        sort([&file, "--type", "u8", "-o", output]).assert().success();
    }
    assert_eq!(folder.read("out.raw"), [1, 2]);
    assert_eq!(folder.read("out.data"), b"1\n2\n");
    sort([&numpy, "-o", &other]).assert().success();
    assert_eq!(folder.read("out.data"), folder.read("out.npy"));
    sort([&numpy, "-o", &raw, "--output-format", "text"]).assert().success();
    assert_eq!(folder.read("out.raw"), b"1\n2\n");
}

#[test]
fn a_dash_is_standard_output() {
    sort(["-o", "-"]).write_stdin("2 1").assert().success().stdout("1\n2\n");
}

#[test]
fn a_directory_or_a_missing_one_is_refused_before_anything_is_written() {
    let folder = Folder::new();
    let directory = folder.0.path().to_str().unwrap();
    assert_eq!(
        refused(["-o", directory], "2 1"),
        format!("cannot write to {directory}: is a directory: name a file in it")
    );
    let missing = folder.argument("missing/out.txt");
    let message = refused(["-o", &missing], "2 1");
    assert!(message.starts_with(&format!("cannot write to {missing}: ")), "{message}");
    assert!(message.ends_with(": create its directory first"), "{message}");
    assert!(folder.names().is_empty());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_replaced_file_keeps_its_permissions_and_a_new_one_gets_the_usual() {
        let folder = Folder::new();
        let mode = |name: &str| folder.path(name).metadata().unwrap().permissions().mode() & 0o777;
        let file = folder.file("numbers.txt", "2 1");
        for permissions in [0o600, 0o640, 0o755] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(permissions)).unwrap();
            sort([&file, "-o", &file]).assert().success();
            assert_eq!(mode("numbers.txt"), permissions);
        }
        sort([&file, "-o", &folder.argument("new.txt")]).assert().success();
        folder.file("usual.txt", "");
        assert_eq!(mode("new.txt"), mode("usual.txt"));
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_is_replaced() {
        let folder = Folder::new();
        folder.file("target.txt", "2 1");
        symlink("target.txt", folder.path("link.txt")).unwrap();
        let link = folder.argument("link.txt");
        sort([&link, "-o", &link]).assert().success();
        assert!(folder.path("link.txt").is_symlink());
        assert_eq!(folder.read("target.txt"), b"1\n2\n");
        assert_eq!(folder.names(), ["link.txt", "target.txt"]);
    }

    #[test]
    fn a_link_to_nothing_creates_its_target() {
        let folder = Folder::new();
        symlink("target.txt", folder.path("link.txt")).unwrap();
        sort(["-o", &folder.argument("link.txt")]).write_stdin("2 1").assert().success();
        assert!(folder.path("link.txt").is_symlink());
        assert_eq!(folder.read("target.txt"), b"1\n2\n");
    }

    #[test]
    fn an_unreadable_input_is_named() {
        let folder = Folder::new();
        let directory = folder.0.path().to_str().unwrap();
        assert_eq!(
            refused([directory], ""),
            format!("cannot read {directory}: Is a directory (os error 21): name a file in it")
        );
        let missing = folder.argument("missing.txt");
        assert_eq!(
            refused([&missing], ""),
            format!("cannot read {missing}: No such file or directory (os error 2): check the name")
        );
        assert!(folder.names().is_empty());
    }

    #[test]
    fn a_device_is_written_directly() {
        sort(["-o", "/dev/null"]).write_stdin("2 1").assert().success().stdout("");
        sort(["-o", "/dev/stdout"]).write_stdin("2 1").assert().success().stdout("1\n2\n");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_does_not_panic() {
    assert_eq!(
        refused(["-o", "/dev/full"], "2 1"),
        "cannot write to /dev/full: No space left on device (os error 28): make room or choose another place"
    );
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_bitonic"));
    let output = child.args(["sort", "--random", "100000", "-o", "-"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "bitonic: cannot write to standard output: No space left on device (os error 28): make room or choose another \
         place\n"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bitonic"))
        .args(["sort", "--random", "1000000", "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
