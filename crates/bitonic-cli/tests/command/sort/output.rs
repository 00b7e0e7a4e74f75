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
    let [comma, nameless] = ["out.csv", "out"].map(|name| folder.argument(name));
    sort([&numpy, "-o", &comma]).assert().success();
    assert_eq!(folder.read("out.csv"), b"1\n2\n", "the extension decides");
    sort([&numpy, "-o", &nameless]).assert().success();
    assert_eq!(folder.read("out"), folder.read("out.npy"), "no extension says nothing");
    sort([&numpy, "-o", &raw, "--output-format", "text"]).assert().success();
    assert_eq!(folder.read("out.raw"), b"1\n2\n");
}

#[test]
fn bytes_go_to_no_name_that_says_nothing_of_them() {
    let folder = Folder::new();
    let [numpy, other] = ["keys.npy", "out.json"].map(|name| folder.argument(name));
    sort(["--random", "10", "-o", &numpy]).assert().success();
    assert_eq!(
        refused([&numpy, "-o", &other], ""),
        format!(
            "{other} does not say by its name what it is to hold: name it .npy, .bin or .txt, or say --output-format npy, raw or \
             text"
        )
    );
    assert_eq!(folder.names(), ["keys.npy"]);
    sort([&numpy, "-o", &other, "--output-format", "npy"]).assert().success();
    assert_eq!(folder.read("out.json"), folder.read("keys.npy"));
    // As the input is named.
    let [floats, sorted] = [folder.file("a.f32", [0; 4]), folder.argument("b.f32")];
    sort([&floats, "--format", "raw", "-t", "f32", "-o", &sorted]).assert().success();
    sort([&numpy, "-o", "/dev/null"]).assert().success();
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
        sort(["-o", "/dev/stderr"]).write_stdin("2 1").assert().success().stdout("").stderr("1\n2\n");
    }

    /// What a shell makes of a line in which `$0` is the command and `$1` a file.
    fn shell(script: &str, file: &str) -> std::process::Output {
        let command = env!("CARGO_BIN_EXE_bitonic");
        Command::new("sh").args(["-c", script, command, file]).stdin(Stdio::null()).output().unwrap()
    }

    #[test]
    fn a_group_of_commands_keeps_what_it_wrote_before_and_after() {
        let folder = Folder::new();
        let file = folder.argument("all.txt");
        let script = "{ echo before; echo 2 1 | \"$0\" sort -o /dev/stdout; echo after; } > \"$1\"";
        let done = shell(script, &file);
        assert!(done.status.success(), "{done:?}");
        assert_eq!(String::from_utf8(folder.read("all.txt")).unwrap(), "before\n1\n2\nafter\n");
        assert_eq!(folder.names(), ["all.txt"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_open_file_is_not_replaced() {
        let folder = Folder::new();
        let file = folder.argument("all.txt");
        let done = shell("{ echo before >&3; echo 2 1 | \"$0\" sort -o /dev/fd/3; } 3> \"$1\"", &file);
        assert_eq!(done.status.code(), Some(2));
        let said = crate::one_line(&done.stderr);
        assert!(said.starts_with("cannot write to /dev/fd/3: it is a file that is open already"), "{said}");
        assert_eq!(folder.read("all.txt"), b"before\n");
        let done = shell("echo 2 1 | { \"$0\" sort -o /dev/fd/3 3>&1 | cat; }", &file);
        assert_eq!(done.stdout, b"1\n2\n", "a pipe is written to");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn closed_streams_are_told() {
        for command in ["sort", "--version", "sort --help", "network list", "sort -o /dev/stdout"] {
            let done = shell(&format!("echo 2 1 | \"$0\" {command} >&-"), "");
            assert_eq!(done.status.code(), Some(2), "{command}");
            assert_eq!(
                crate::one_line(&done.stderr),
                "cannot write to standard output: it is closed: send it to a file with > FILE",
                "{command}"
            );
        }
        let folder = Folder::new();
        let done = shell("echo 2 1 | \"$0\" sort -o \"$1\" >&-", &folder.argument("out.txt"));
        assert!(done.status.success(), "nothing is to be printed: {done:?}");
        assert_eq!(folder.read("out.txt"), b"1\n2\n");
        let done = shell("\"$0\" sort <&-", "");
        assert_eq!(done.status.code(), Some(2));
        assert_eq!(
            crate::one_line(&done.stderr),
            "cannot read standard input: it is closed: name a file, or give it one with < FILE"
        );
        assert!(shell("\"$0\" sort </dev/null >/dev/null", "").status.success());
        assert!(shell("\"$0\" sort </dev/null 1<>/dev/null", "").status.success(), "open for reading, too");
    }

    /// `script` runs a command in a terminal of its own.
    #[cfg(target_os = "linux")]
    #[test]
    fn bytes_are_not_sent_to_a_terminal_unasked() {
        let command = env!("CARGO_BIN_EXE_bitonic");
        let in_terminal = |arguments: &str| {
            let line = format!("{command} sort {arguments} </dev/null");
            Command::new("script").args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output()
        };
        let Ok(done) = in_terminal("--format raw --type u8") else {
            println!("skipped: bytes_are_not_sent_to_a_terminal_unasked: there is no command `script`");
            return;
        };
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        let said = String::from_utf8_lossy(&done.stdout).replace("\r\n", "\n");
        assert_eq!(
            said,
            "bitonic: the sorted keys are bytes and would disturb the terminal: add -o FILE, or --output-format text to read \
             them; -o - sends them to the terminal all the same\n"
        );
        for allowed in ["--format raw --type u8 -o -", "--format raw --type u8 --output-format text", ""] {
            assert!(in_terminal(allowed).unwrap().status.success(), "{allowed}");
        }
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
