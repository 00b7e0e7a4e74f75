//! `bitonic devices` from the outside.

use assert_cmd::Command;

#[test]
fn every_device_is_listed_with_what_it_can_do() {
    let done = Command::new(env!("CARGO_BIN_EXE_bitonic")).arg("devices").assert().success().stderr("");
    let said = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    for device in bitonic::devices() {
        let row = said.lines().find(|line| line.contains(&device.name)).unwrap_or_else(|| panic!("{said}"));
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words[0], device.engine.name(), "{said}");
        assert!(words.contains(&device.units.to_string().as_str()), "{said}");
        assert!(row.ends_with("u32 keys"), "{said}");
    }
    for key_type in bitonic::key::KeyType::ALL {
        assert!(said.contains(key_type.name()), "{key_type}\n{said}");
    }
}

#[test]
fn an_engine_is_either_listed_with_a_device_or_said_to_be_missing() {
    let done = Command::new(env!("CARGO_BIN_EXE_bitonic")).arg("devices").assert().success();
    let said = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    for &engine in bitonic::Engine::ALL.iter().filter(|&&engine| engine != bitonic::Engine::Auto) {
        let here = said.lines().any(|line| line.split_whitespace().next() == Some(engine.name()));
        let missing = said.contains(&format!("not available: {engine}, "));
        assert!(here != missing, "{engine}\n{said}");
    }
}
