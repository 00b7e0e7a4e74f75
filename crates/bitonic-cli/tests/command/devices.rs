//! `bitonic devices`.

use crate::{bitonic, printed, without_driver};

#[test]
fn every_device_is_listed_with_what_it_can_do() {
    let said = printed(bitonic(["devices"]));
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
    let said = printed(bitonic(["devices"]));
    for &engine in bitonic::Engine::ALL.iter().filter(|&&engine| engine != bitonic::Engine::Auto) {
        let here = said.lines().any(|line| line.split_whitespace().next() == Some(engine.name()));
        let missing = said.contains(&format!("not available: {engine}, "));
        assert!(here != missing, "{engine}\n{said}");
    }
}

#[test]
fn every_instruction_set_is_listed_with_whether_it_is_here() {
    let said = printed(bitonic(["devices"]));
    for &set in bitonic::Instructions::ALL {
        let row = said.lines().find(|line| line.split_whitespace().next() == Some(set.name())).unwrap();
        assert_eq!(row.contains(" not available"), !set.is_available(), "{said}");
        assert_eq!(row.contains(" used "), set == bitonic::Instructions::detected(), "{said}");
    }
}

#[test]
fn opencl_devices_are_listed_with_their_limits() {
    let said = printed(bitonic(["devices"]));
    let devices = bitonic::opencl::devices().unwrap();
    assert!(!devices.is_empty(), "this test needs an OpenCL device, such as PoCL");
    for device in devices {
        let begins = format!("opencl  {} ", device.index);
        let row = said.lines().find(|line| line.starts_with(&begins) && line.contains(&device.name));
        let row = row.unwrap_or_else(|| panic!("{said}"));
        assert!(row.contains(&format!("  {}  ", device.kind)), "{said}");
        assert!(row.contains(&format!("  {}  ", device.max_group_size)), "{said}");
        assert!(
            row.contains("iB  ") && row.contains(&device.driver) && row.contains(&device.version),
            "{said}"
        );
    }
}

#[test]
fn without_a_driver_it_says_what_to_install_and_lists_the_rest() {
    let said = printed(without_driver(["devices"]));
    let reason = said.lines().find(|line| line.starts_with("not available: opencl, "));
    assert!(reason.is_some_and(|reason| reason.contains("install")), "{said}");
    assert!(!said.contains("\nopencl ") && said.contains("--engine cpu"), "{said}");
}
