//! `bitonic bench gpu` beside other libraries: their part is played by scripts that speak the same protocol.

use super::{gpu, rows_of_sorts as rows};
use crate::{Folder, one_line};
use assert_cmd::Command;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A peer that sorts with this project's own command, in ways of these names. Of what their names promise: `wrong` does not
/// sort, `ends` ends when it shall sort, `hangs` says nothing, `babbles` says something else, `refuses` says why not.
const SCRIPT: &str = r#"#!/bin/sh
echo "ready FakeSort 1.0, with a comma"
while read -r verb rest; do
    set -- $rest
    case $verb in
        keys) type=$1 length=$3; echo "sorts $SORTS" ;;
        run)
            last=$1
            case $last in
                ends) echo "out of luck" >&2; exit 7 ;;
                hangs) exec sleep 1000 ;;
                babbles) echo "tame 12" ;;
                refuses) echo "error not today" ;;
                *) echo "time 1000 with care" ;;
            esac ;;
        result)
            if [ "$last" = wrong ]; then cp keys "$1"; else
                "$BITONIC" sort --format raw --type "$type" --rows "$length" --output "$1" keys
            fi
            echo written ;;
        end) exit 0 ;;
    esac
done
"#;

/// A compiler that needs the peer's sources and makes the script above of them; `FAILURE` is what it complains about.
const COMPILER: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "fake nvcc 1.0"; exit 0; fi
if [ -n "$FAILURE" ]; then echo "nothing special" >&2; echo "peer.cu(7): error: $FAILURE" >&2; exit 1; fi
echo "$@" >> "$LOG"
[ -s peer.cu ] && [ -s device.cuh ] && [ -s arrays.cuh ] && [ -s rows.cuh ] || exit 1
while [ "$1" != -o ]; do shift; done
cp "$SCRIPT" "$2"
"#;

fn executable(folder: &Folder, name: &str, script: &str) -> String {
    let script = folder.file(name, script);
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    script
}

/// A peer with sorts of these names in place of CUB.
fn beside(sorts: &str, line: &str, folder: &Folder) -> Command {
    let script = executable(folder, "peer", SCRIPT);
    let mut command = gpu(&format!("--peers cub --rungs none --repetitions 2 --warm-up 0 {line}"));
    command.env("BITONIC_CUB_PEER", script).env("BITONIC", env!("CARGO_BIN_EXE_bitonic")).env("SORTS", sorts);
    command
}

/// What is said about every sort of the peer's, by its name.
fn told(sorts: &str, line: &str) -> Vec<(String, String)> {
    let said = crate::printed(beside(sorts, line, &Folder::new()));
    let rows = rows(&said);
    assert_eq!(rows[0][..2], ["100", "bitonic"], "{said}");
    assert!(rows[0][2].ends_with('s'), "the engine is measured in any case: {said}");
    rows[1..].iter().map(|row| (row[1].to_owned(), row.last().unwrap().to_string())).collect()
}

#[test]
fn other_libraries_sort_the_same_keys_and_the_engine_is_compared_with_the_best() {
    let folder = Folder::new();
    let csv = folder.argument("results.csv");
    let said = crate::printed(beside(
        "quick slow",
        &format!("--sizes 100,1000 --type u32,f64 --csv {csv}"),
        &folder,
    ));
    assert!(said.contains("cub     FakeSort 1.0, with a comma\n"), "{said}");
    let rows = rows(&said);
    let names: Vec<&str> = rows.iter().map(|row| row[1]).collect();
    assert_eq!(names, ["bitonic", "cub quick", "cub slow"].repeat(4), "{said}");
    assert!(rows[0].last().unwrap().ends_with(" as fast as cub quick, the best peer"), "{said}");
    assert_eq!(rows[1][2..5], ["1.00 µs", "0 %", "0.100"], "{said}");
    assert_eq!(*rows[1].last().unwrap(), "with care", "{said}");

    let text = String::from_utf8(folder.read("results.csv")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("copy,")).collect();
    assert_eq!(lines.len(), 1 + names.len(), "{text}");
    assert!(
        lines[2].starts_with("cub quick,u32,100,100,,random,yes,2,1000,1000,1000,1000,0.0000,0.1000,,,,"),
        "{text}"
    );
    assert!(lines[2].contains(",1.000,with care,\"FakeSort 1.0, with a comma\",opencl,"), "{text}");
}

#[test]
fn rows_go_to_other_libraries_too() {
    let said = crate::printed(beside("quick", "--rows 8,100 --total 1000", &Folder::new()));
    let found: Vec<_> = rows(&said).iter().map(|row| [row[0], row[1], row[2]].join(" ")).collect();
    assert_eq!(found, ["8 125 bitonic", "8 125 cub quick", "100 10 bitonic", "100 10 cub quick"], "{said}");
}

#[test]
fn a_wrong_result_of_another_library_is_found_and_named() {
    let folder = Folder::new();
    let csv = folder.argument("results.csv");
    let said = crate::printed(beside("quick wrong", &format!("--sizes 100 --csv {csv}"), &folder));
    let rows = rows(&said);
    assert_eq!((rows[1][1], rows[2][1], rows[2][2]), ("cub quick", "cub wrong", "-"), "{said}");
    assert_eq!(*rows[2].last().unwrap(), "sorted wrongly: the first wrong key is at index 0", "{said}");
    let text = String::from_utf8(folder.read("results.csv")).unwrap();
    let line = text.lines().last().unwrap();
    assert!(line.starts_with("cub wrong,u32,100,100,,random,no,,,"), "{text}");
    assert!(line.contains(",sorted wrongly: the first wrong key is at index 0,"), "{text}");
}

#[test]
fn a_library_whose_program_fails_is_left_out_and_the_others_go_on() {
    let refused = told("refuses quick", "--sizes 100");
    assert_eq!(
        refused[0],
        ("cub quick".to_owned(), "with care".to_owned()),
        "it goes on with its other sorts"
    );
    assert_eq!(refused[1], ("cub refuses".to_owned(), "left out: not today".to_owned()));

    let ended = told("quick ends", "--sizes 100");
    assert!(
        ended[0].1.starts_with("left out: it has ended (") && ended[0].1.ends_with("): out of luck"),
        "{ended:?}"
    );
    assert_eq!(ended[0].1, ended[1].1, "a program that has ended sorts no more");

    let babbled = told("babbles", "--sizes 100");
    assert_eq!(babbled[0].1, "left out: it says 'tame 12' where it should say 'time'");

    let silent = told("hangs", "--sizes 100 --patience 0.25");
    assert_eq!(silent[0].1, "left out: it gives no answer for 0.25 seconds: see --patience");

    let without = told("", "--sizes 100");
    assert_eq!(without[0], ("cub".to_owned(), "left out: has no sort for such keys".to_owned()));
}

#[test]
fn keys_without_an_order_by_comparison_are_kept_from_other_libraries() {
    let floats = told("quick", "--sizes 100 --type f32 --distribution special");
    let reason = "left out: special keys have NaN, which peers compare otherwise";
    assert_eq!(floats, [("cub".to_owned(), reason.to_owned())]);
    assert_eq!(told("quick", "--sizes 100 --type i32 --distribution special")[0].0, "cub quick");
}

#[test]
fn what_is_missing_is_told_in_a_line_with_what_to_install() {
    let said = |peers: &str| {
        let mut command = gpu(&format!("--peers {peers} --sizes 64 --rungs none --repetitions 1"));
        for variable in ["CUDA_HOME", "CUDA_PATH", "BITONIC_CUB_PEER", "BITONIC_TORCH_PEER"] {
            command.env_remove(variable);
        }
        command.env("PATH", "/nonexistent");
        command
    };
    let text = crate::printed(said("torch"));
    assert!(text.contains("torch   left out: python3 cannot be started: "), "{text}");
    assert!(
        text.contains(
            ": install PyTorch for CUDA where python3 finds it, or name a peer in BITONIC_TORCH_PEER\n"
        ),
        "{text}"
    );
    let mut named = said("torch");
    named.env("BITONIC_TORCH_PEER", "/nonexistent/peer");
    let text = crate::printed(named);
    assert!(text.contains("torch   left out: /nonexistent/peer cannot be started: "), "{text}");
    assert!(text.contains("; BITONIC_TORCH_PEER names this peer\n"), "{text}");
    if Path::new("/usr/local/cuda/bin/nvcc").exists() {
        println!(
            "skipped: nvcc is where it always is, for what_is_missing_is_told_in_a_line_with_what_to_install"
        );
        return;
    }
    let text = crate::printed(said("cub"));
    let line = "cub     left out: nvcc, which builds it, is not installed: install NVIDIA's CUDA toolkit so that \
                nvcc is in PATH, or name a built peer in BITONIC_CUB_PEER\n";
    assert!(text.contains(line), "{text}");

    // Where there is no table, it is said beside the results.
    let mut command = said("cub");
    let done = command.args(["--csv", "-"]).assert().success();
    assert!(one_line(&done.get_output().stderr).starts_with("cub: left out: nvcc, which builds it, is not"));
}

#[test]
fn the_program_for_cub_is_built_once_and_kept() {
    let folder = Folder::new();
    executable(&folder, "nvcc", COMPILER);
    let path = format!("{}:{}", folder.path("").display(), std::env::var("PATH").unwrap());
    let run = |cache: &str, failure: &str, line: &str| {
        let mut command = beside("quick", line, &folder);
        command
            .env_remove("BITONIC_CUB_PEER")
            .env("SCRIPT", folder.path("peer"))
            .env("LOG", folder.path("log"));
        command.env("PATH", &path).env("FAILURE", failure).env("BITONIC_CACHE_DIR", cache);
        crate::printed(command)
    };
    let builds = || String::from_utf8(folder.read("log")).unwrap().lines().count();
    let cache = folder.argument("cache");
    for _ in 0..2 {
        let said = run(&cache, "", "--sizes 100");
        assert_eq!(rows(&said)[1][1], "cub quick", "{said}");
        assert_eq!(builds(), 1, "the second run finds what the first has built");
    }
    run(&cache, "", "--sizes 100 --type f32,u64");
    assert_eq!(builds(), 2, "other types need another program");
    assert!(folder.read("log").ends_with(b"-DPEER_TYPES=float\\,std::uint64_t peer.cu -o peer\n"));
    assert_eq!(rows(&run("", "", "--sizes 100"))[1][1], "cub quick", "without a cache folder it is not kept");
    assert_eq!(builds(), 3);

    let said = run("", "no such thing", "--sizes 100");
    assert!(
        said.contains("cub     left out: nvcc does not build it: peer.cu(7): error: no such thing: name a "),
        "{said}"
    );
    let said = run("", "", "--sizes 100 --type u8");
    assert!(said.contains("cub     left out: it sorts u32, i32, f32, u64, i64 and f64 only\n"), "{said}");
}

#[test]
fn unknown_libraries_are_refused() {
    assert_eq!(
        super::refused("--peers cubs"),
        "unknown peer 'cubs': did you mean 'cub'? Known: cub, torch, all, none"
    );
    assert!(super::refused("--patience 0").contains("is not a valid time"));
}
