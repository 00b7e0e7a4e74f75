//! What the documentation promises beside the order of keys.

use bitonic::{Engine, Error, Instructions, Order, Report, Sorter};

#[test]
fn values_must_be_as_many_as_keys_and_nothing_is_moved_otherwise() {
    let mut keys = [3, 1, 2];
    let mut values = ['c', 'a'];
    let error = bitonic::sort_pairs(&mut keys, &mut values).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { keys: 3, values: 2 });
    assert_eq!((keys, values), ([3, 1, 2], ['c', 'a']));
}

#[test]
fn a_report_tells_the_engine_and_agrees_with_the_plan() {
    let sorter = Sorter::new().order(Order::Descending);
    let mut keys: Vec<i64> = (0..5000).map(|index| index * 7919 % 5003).collect();
    let plan = sorter.plan::<i64>(keys.len()).unwrap();
    let report = sorter.sort(&mut keys).unwrap();
    assert_eq!(report.engine(), Engine::Cpu);
    assert_eq!(report.device(), plan.device);
    assert_eq!(report.plan, plan);
    assert!(report.elapsed.as_nanos() > 0 && report.keys_per_second() > 0.0);
    assert!(report.to_string().starts_with("5000 keys in "), "{report}");
}

#[test]
fn a_report_of_few_keys_has_no_time() {
    let report = Sorter::new().sort(&mut [3; Report::UNTIMED]).unwrap();
    assert_eq!((report.elapsed.as_nanos(), report.keys_per_second()), (0, 0.0));
    assert!(report.to_string().starts_with("64 keys on cpu ("), "{report}");
    let report = Sorter::new().sort(&mut [3; Report::UNTIMED + 1]).unwrap();
    assert!(report.elapsed.as_nanos() > 0);
}

#[test]
fn keys_alone_are_sorted_in_place_and_pairs_say_what_they_need() {
    let n = 1 << 20;
    assert_eq!(Sorter::new().plan::<u32>(n).unwrap().memory.host, 0);
    assert_eq!(Sorter::new().plan::<f64>(n).unwrap().memory.host, 0);
    assert_eq!(Sorter::new().plan_pairs::<u32, u32>(n).unwrap().memory.host, 8 * n);
    assert_eq!(Sorter::new().plan_pairs::<u32, [u64; 2]>(n / 32).unwrap().memory.host, 24 * n / 32);
    let of_many = Sorter::new().plan_pairs::<u32, [u64; 2]>(n).unwrap().memory.host;
    assert!((10 * n..11 * n).contains(&of_many), "no second array of values: {of_many} bytes");
    assert_eq!(Sorter::new().oblivious(true).plan_pairs::<u64, [u64; 2]>(n).unwrap().memory.host, 0);
    assert_eq!(Sorter::new().plan_argsort::<u32>(n).unwrap().memory.host, 8 * n);
}

#[test]
fn every_length_can_be_planned() {
    for len in [0, 1, 2, 3, 1000, usize::MAX / 16, usize::MAX] {
        let plan = Sorter::new().plan::<u8>(len).unwrap();
        assert!(!plan.to_string().is_empty());
    }
}

#[test]
fn engines_parse_by_name_and_an_unknown_one_lists_them() {
    for &engine in Engine::ALL {
        assert_eq!(engine.to_string().parse::<Engine>().unwrap(), engine);
    }
    let error = "gpu9".parse::<Engine>().unwrap_err();
    let names: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
    assert_eq!(error.to_string(), format!("unknown engine 'gpu9': use one of {}", names.join(", ")));
}

#[test]
fn equal_keys_keep_their_index_order_in_a_descending_argsort() {
    let order = Sorter::new().order(Order::Descending).argsort(&[1, 2, 1, 2, 3]).unwrap();
    assert_eq!(order, [4, 1, 3, 0, 2]);
}

#[test]
fn something_is_always_there_to_sort_on() {
    let devices = bitonic::devices();
    assert!(devices.iter().any(|device| device.engine == Engine::Cpu && device.units > 0));
}

#[test]
fn an_instruction_set_that_is_missing_is_an_error_and_the_others_sort() {
    for &instructions in Instructions::ALL {
        assert_eq!(instructions.name().parse::<Instructions>().unwrap(), instructions);
        let mut keys = [3_u32, 1, 2];
        let result = Sorter::new().instructions(instructions).sort(&mut keys);
        match result {
            Ok(_) => assert_eq!(keys, [1, 2, 3]),
            Err(error) => {
                assert!(!instructions.is_available());
                assert!(matches!(error, Error::EngineUnavailable { engine: Engine::Cpu, .. }));
                assert_eq!(keys, [3, 1, 2]);
            }
        }
    }
    assert!(Instructions::Portable.is_available());
    assert!(Instructions::detected().is_available());
}
