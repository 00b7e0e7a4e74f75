//! `bitonic explore`, and the pages that `network` and `explain` write.

use crate::{Folder, bitonic, printed, refused};
use std::fs;

#[test]
fn in_a_pipe_the_command_says_where_the_page_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = bitonic(["explore"]);
    command.env("TMPDIR", folder.path()).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let said = printed(command);
    let page = fs::read_to_string(said.trim_end()).unwrap();
    assert_eq!(page, bitonic_explorer::page::PAGE);
    assert!(said.contains("bitonic-explorer-") && said.ends_with(".html\n"), "{said}");
}

#[test]
fn the_page_is_written_to_a_file_or_to_standard_output() {
    let folder = Folder::new();
    let file = folder.argument("explorer.html");
    assert_eq!(printed(bitonic(["explore", "--output", &file])), format!("page written to {file}\n"));
    assert_eq!(fs::read_to_string(&file).unwrap(), bitonic_explorer::page::PAGE);
    assert_eq!(printed(bitonic(["explore", "--output", "-"])), bitonic_explorer::page::PAGE);
    assert!(
        refused(bitonic(["explore", "--output", "no/such/folder.html"]))
            .contains("create its directory first")
    );
}

#[test]
fn a_network_is_put_on_the_page_with_its_keys() {
    let folder = Folder::new();
    let file = folder.argument("network.html");
    let said = printed(bitonic(["network", "bitonic", "4", "--input", "4 3 2 1", "--html", &file]));
    assert_eq!(said, format!("4 wires, 6 comparators, depth 3, on the page {file}\n"));
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains(r#"id="opened">{"input":[4.0,3.0,2.0,1.0],"kind":"bitonic","wires":4}</script>"#));

    let own = folder.file("own.txt", "[(0,1)]\n[(1,2)]\n");
    let page = printed(bitonic(["network", "draw", &own, "--html", "-"]));
    assert!(page.contains(r#"id="opened">{"network":"[(0,1)]\n[(1,2)]\n"}</script>"#));
}

#[test]
fn what_the_page_cannot_show_is_refused() {
    let wide = refused(bitonic(["network", "bitonic", "65", "--html", "-"]));
    assert_eq!(wide, "--html: the page shows networks of up to 64 wires, and this one has 65");
    let few = refused(bitonic(["network", "bitonic", "4", "--html", "-", "--input", "1 2"]));
    assert_eq!(few, "--input: 2 keys do not fit a network of 4 wires: give one key for each wire");
    let endless = refused(bitonic(["network", "bitonic", "2", "--html", "-", "--input", "1 inf"]));
    assert_eq!(endless, "--input: the page cannot show inf: write finite numbers");
    assert!(
        refused(bitonic(["network", "bitonic", "2", "--html", "-", "--json"]))
            .contains("cannot be used with")
    );
}

#[test]
fn a_plan_is_put_on_the_page() {
    let folder = Folder::new();
    let file = folder.argument("plan.html");
    let said = printed(bitonic(["explain", "--n", "1M", "--oblivious", "--html", &file]));
    assert!(
        said.contains("20 merges, 210 steps") && said.ends_with(&format!("page written to {file}\n")),
        "{said}"
    );
    let page = fs::read_to_string(&file).unwrap();
    assert!(
        page.contains(r#"id="opened">{"plan":{"key_bytes":4,"keys":1048576,"machine":{"is":"processor""#)
    );
}

#[test]
fn times_of_a_run_of_the_laboratory_are_put_on_the_page() {
    let folder = Folder::new();
    folder.file("summary.csv", "size,implementation,status,mean,note\n1024,cpu:recursive,measured,0.002,\n");
    let run = folder.0.path().to_str().unwrap();
    let page = printed(bitonic(["explore", run, "--output", "-"]));
    assert!(page.contains(
        r#"id="opened">{"measured":{"rows":[["cpu:recursive",1024,0.002]],"where":"the machine of the run"#
    ));
    assert!(refused(bitonic(["explore", "no-such-run"])).contains("name the folder of a run"));
    folder.file("summary.csv", "size,implementation,status,mean,note\n");
    assert!(refused(bitonic(["explore", run])).contains("has no measured times"));
}

#[test]
fn a_device_that_is_here_is_put_on_the_page() {
    let page = printed(bitonic(["explore", "--engine", "opencl", "--device", "cpu", "--output", "-"]));
    assert!(page.contains(r#"id="opened">{"machines":[{"machine":{"buffer_bytes":"#), "PoCL is a device");
    assert!(page.contains(r#""engine":"opencl""#) && page.contains(r#""is":"device""#));
    let unknown = refused(bitonic(["explore", "--device", "no-such-device"]));
    assert!(unknown.contains("no-such-device"), "{unknown}");
    let cpu = refused(bitonic(["explore", "--engine", "cpu", "--device", "best"]));
    assert!(cpu.contains("--device is for the opencl and cuda engines"), "{cpu}");
}
