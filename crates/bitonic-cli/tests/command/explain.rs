//! `bitonic explain`.

use crate::{bitonic, with_name};

fn printed<const N: usize>(arguments: [&str; N]) -> String {
    crate::printed(bitonic(with_name("explain", arguments)))
}

fn refused<const N: usize>(arguments: [&str; N]) -> String {
    crate::refused(bitonic(with_name("explain", arguments)))
}

#[test]
fn the_plan_is_the_library_s_own() {
    let plan = bitonic::Sorter::new().plan::<f64>(1_000_000).unwrap();
    assert_eq!(printed(["--n", "1e6", "--type", "f64"]), plan.to_string());
    let sorter = bitonic::Sorter::new().order(bitonic::Order::Descending).stable(true).threads(1);
    let plan = sorter.plan_pairs::<u16, u64>(5000).unwrap();
    let arguments =
        ["--n", "5000", "--type", "u16", "--pairs", "8", "--stable", "--reverse", "--threads", "1"];
    assert_eq!(printed(arguments), plan.to_string());
    let plan = bitonic::Sorter::new().oblivious(true).plan::<u32>(1 << 24).unwrap();
    assert_eq!(printed(["--oblivious"]), plan.to_string());
    let portable = bitonic::Sorter::new().instructions(bitonic::Instructions::Portable);
    let plan = portable.plan::<u32>(1 << 24).unwrap();
    assert_eq!(printed(["--instructions", "portable"]), plan.to_string());
}

#[test]
fn every_type_every_engine_and_every_length_can_be_explained() {
    for key_type in bitonic::key::KeyType::ALL {
        let said = printed(["--n", "1000", "--type", key_type.name()]);
        assert!(said.starts_with(&format!("1000 {key_type} keys")), "{said}");
    }
    for device in bitonic::devices() {
        assert!(printed(["--engine", device.engine.name()]).contains(&device.name));
    }
    for length in ["0", "1", "2", "281474976710656", "18446744073709551615"] {
        assert!(printed(["--n", length]).starts_with(&format!("{length} u32 keys")));
    }
}

#[test]
fn pairs_of_every_offered_size_can_be_explained() {
    for bytes in ["1", "2", "4", "8", "16", "32", "64"] {
        assert!(printed(["--pairs", bytes]).contains(&format!("with values of {bytes} bytes")));
    }
    assert!(refused(["--pairs", "3"]).contains("values of 1, 2, 4, 8, 16, 32 or 64 bytes"));
}

#[test]
fn wrong_words_are_answered_in_one_line() {
    assert!(refused(["--type", "f31"]).contains("unknown key type 'f31': did you mean 'f32'? Known: u8, "));
    assert!(
        refused(["--engine", "cpuu"]).contains("unknown engine 'cpuu': did you mean 'cpu'? Known: auto, cpu")
    );
    assert!(refused(["--n", "lots"]).contains("'lots' is no count"));
    assert!(refused(["--n", "2^64"]).starts_with("'2^64' is more than this machine can count"));
    assert!(refused(["--threads", "1025"]).contains("use at most 1024"));
}
