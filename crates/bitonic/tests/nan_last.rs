//! NaNs of both signs last, on the CPU engine.

mod nan;

use bitonic::{Engine, Instructions, Order, Sorter};

fn on_cpu(threads: usize) -> Sorter {
    Sorter::new().engine(Engine::Cpu).threads(threads)
}

/// Lengths of one register, of a tile, of several, and so many that portable code counts 16-bit keys.
#[test]
fn on_every_instruction_set() {
    for &instructions in Instructions::ALL.iter().filter(|set| set.is_available()) {
        nan::check(&on_cpu(1).instructions(instructions), &[1, 2, 9, 100, 1000, 20_000]);
    }
}

#[test]
fn obliviously() {
    nan::check(&on_cpu(1).oblivious(true), &[1, 9, 100, 3000]);
}

#[test]
fn on_several_threads() {
    nan::check(&on_cpu(3), &[70_000]);
}

#[test]
fn items_by_a_float() {
    let mut items = [("b", 1.5_f32), ("?", -f32::NAN), ("a", 2.5), ("!", f32::NAN)];
    let sorter = on_cpu(1).order(Order::Descending).nan_last(true);
    sorter.sort_by_key(&mut items, |item| item.1).unwrap();
    assert_eq!(items.map(|item| item.0), ["a", "b", "?", "!"]);
}

/// Integers have no NaN: their plans do not speak of it, and nothing comes last that is not largest.
#[test]
fn other_keys_are_sorted_as_ever() {
    let mut keys = [i32::MIN, 5, i32::MAX, -1];
    let report = on_cpu(1).nan_last(true).sort(&mut keys).unwrap();
    assert_eq!(keys, [i32::MIN, -1, 5, i32::MAX]);
    assert!(!report.plan.to_string().contains("NaN"), "{}", report.plan);
}
