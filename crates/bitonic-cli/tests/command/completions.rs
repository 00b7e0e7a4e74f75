//! `bitonic completions`.

use crate::{bitonic, refused};

fn script(shell: &str) -> String {
    crate::printed(bitonic(["completions", shell]))
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands_and_their_words() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = script(shell);
        for word in [
            "network",
            "ladder",
            "explain",
            "tune",
            "bench",
            "top-k",
            "--odd-even",
            "--prove",
            "--device",
            "--rungs",
        ] {
            // Fish writes options without their dashes.
            assert!(script.contains(word.trim_start_matches('-')), "{shell}: {word}");
        }
    }
    let script = script("bash");
    assert!(script.contains("odd-even-merge-sort") && script.contains("bf16"), "names are completed too");
}

#[test]
fn the_bash_script_is_one_that_bash_reads() {
    match std::process::Command::new("bash").args(["-n", "-c", &script("bash")]).output() {
        Ok(read) => assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr)),
        // A machine without bash has no use for the script.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
    }
}

#[test]
fn an_unknown_shell_gets_the_nearest_known_one() {
    let message = refused(bitonic(["completions", "fishh"]));
    assert!(
        message.starts_with("unknown shell 'fishh': did you mean 'fish'? Known: bash, zsh, fish, "),
        "{message}"
    );
}
