//! `bitonic completions` from the outside.

use assert_cmd::Command;

fn completions(shell: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitonic"));
    command.args(["completions", shell]);
    command
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands_and_their_words() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = completions(shell).assert().success().stderr("");
        let script = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        for word in ["network", "ladder", "explain", "--prove"] {
            // Fish writes options without their dashes.
            assert!(script.contains(word.trim_start_matches('-')), "{shell}: {word}");
        }
    }
    let script = completions("bash").assert().success();
    let script = String::from_utf8(script.get_output().stdout.clone()).unwrap();
    assert!(script.contains("odd-even-merge-sort") && script.contains("bf16"), "names are completed too");
}

#[test]
fn the_bash_script_is_one_that_bash_reads() {
    let script = completions("bash").assert().success();
    match std::process::Command::new("bash")
        .args(["-n", "-c"])
        .arg(utf8(&script.get_output().stdout))
        .output()
    {
        Ok(read) => assert!(read.status.success(), "{}", utf8(&read.stderr)),
        // A machine without bash has no use for the script.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
    }
}

#[test]
fn an_unknown_shell_gets_the_nearest_known_one() {
    let done = completions("fishh").assert().code(2).stdout("");
    let message = utf8(&done.get_output().stderr);
    assert!(
        message.contains("unknown shell 'fishh': did you mean 'fish'? Known: bash, zsh, fish, "),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1, "{message}");
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
