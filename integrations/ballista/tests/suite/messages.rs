//! What the client says when it cannot begin.

use crate::tables::{Keys, folder, write};
use bitonic_ballista::{Sort, SortError, sort};
use std::process::Command;

#[tokio::test]
async fn errors_name_the_thing_and_the_way_out() {
    let (input, output) = (folder("messages-in"), folder("messages-out"));
    write(&input, 100, 1, Keys::Random);
    let nobody = "http://127.0.0.1:9";
    let task = |order: &str| Sort::new(nobody, vec![input.clone()], order, &output);
    let error = sort(&task("nothing")).await.unwrap_err();
    assert!(matches!(&error, SortError::Order(text) if text.contains("order by nothing")), "{error}");
    let error = sort(&task("1 + 1")).await.unwrap_err();
    assert!(matches!(&error, SortError::Order(text) if text.contains("nothing to sort")), "{error}");
    let error = sort(&Sort { input: vec!["/no/such/file.parquet".into()], ..task("k") }).await.unwrap_err();
    assert!(matches!(&error, SortError::Input(text) if text.contains("/no/such/file.parquet")), "{error}");
    let error = sort(&task("k")).await.unwrap_err();
    assert!(matches!(&error, SortError::Cluster(text) if text.contains(nobody)), "{error}");
    std::fs::write(output.join("mine"), "").unwrap();
    let error = sort(&task("k")).await.unwrap_err();
    assert!(matches!(&error, SortError::Output(text) if text.contains("something in it")), "{error}");
    std::fs::remove_dir_all(input).unwrap();
    std::fs::remove_dir_all(output).unwrap();
}

#[test]
fn the_command_fails_with_a_message() {
    let output = Command::new(env!("CARGO_BIN_EXE_bitonic-cluster-sort"))
        .args(["/no/such/file.parquet", "--order", "k", "--output", "/no/such/folder"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("bitonic-cluster-sort: /no/such/file.parquet: "), "{text}");
}
