//! The free functions, and the builder.

use crate::{Outcome, unordered};
use bitonic::{Engine, Instructions, Order, Report};
use std::time::Duration;

pub(crate) fn functions() -> Outcome {
    let mut keys = unordered(1000);
    bitonic::sort(&mut keys);
    assert!(bitonic::is_sorted(&keys, Order::Ascending));

    let (mut keys, mut values) = ([3_u64, 1, 2], ["three", "one", "two"]);
    bitonic::sort_pairs(&mut keys, &mut values)?;
    assert_eq!(values, ["one", "two", "three"]);

    let mut rows = [3_i8, 1, 2, 9, 7, 8];
    bitonic::sort_rows(&mut rows, 3)?;
    assert_eq!(rows, [1, 2, 3, 7, 8, 9]);

    assert_eq!(bitonic::argsort(&[30, 10, 20])?, [1, 2, 0]);
    assert!(bitonic::devices().iter().any(|device| device.engine == Engine::Cpu));
    println!("kept on disk in {:?}", bitonic::cache_folder());
    Ok(())
}

pub(crate) fn sorter() -> Outcome {
    let sorter = bitonic::Sorter::new();
    let sorter = bitonic::Sorter::engine(sorter, Engine::Cpu);
    let sorter = bitonic::Sorter::device(sorter, "best".parse().unwrap_or_default());
    let sorter = bitonic::Sorter::order(sorter, Order::Descending);
    let sorter = bitonic::Sorter::stable(sorter, true);
    let sorter = bitonic::Sorter::nan_last(sorter, true);
    let sorter = bitonic::Sorter::threads(sorter, 1);
    let sorter = bitonic::Sorter::oblivious(sorter, true);
    let sorter = bitonic::Sorter::instructions(sorter, bitonic::Instructions::detected());
    let sorter = bitonic::Sorter::device_memory(sorter, 1 << 20);
    let sorter = bitonic::Sorter::chunks(sorter, false);
    assert!(bitonic::Instructions::is_available(Instructions::Portable));
    assert_eq!(bitonic::Instructions::name(Instructions::Portable), "portable");

    let mut keys = unordered(100);
    report(&bitonic::Sorter::sort(&sorter, &mut keys)?);
    assert!(bitonic::is_sorted(&keys, Order::Descending));
    bitonic::Sorter::sort_rows(&sorter, &mut keys, 10)?;
    let mut values: Vec<usize> = (0..100).collect();
    bitonic::Sorter::sort_pairs(&sorter, &mut keys, &mut values)?;
    bitonic::Sorter::sort_pairs_rows(&sorter, &mut keys, &mut values, 50)?;
    assert_eq!(bitonic::Sorter::argsort(&sorter, &[10, 30, 20])?, [1, 2, 0]);
    assert_eq!(bitonic::Sorter::argsort_rows(&sorter, &[10, 30, 20, 5], 2)?, [1, 0, 0, 1]);

    let plans = [
        bitonic::Sorter::plan::<u32>(&sorter, 100)?,
        bitonic::Sorter::plan_rows::<u32>(&sorter, 100, 10)?,
        bitonic::Sorter::plan_pairs::<u32, usize>(&sorter, 100)?,
        bitonic::Sorter::plan_pairs_rows::<u32, usize>(&sorter, 100, 50)?,
        bitonic::Sorter::plan_argsort::<u32>(&sorter, 100)?,
        bitonic::Sorter::plan_argsort_rows::<u32>(&sorter, 100, 10)?,
    ];
    assert!(plans.iter().all(|plan| plan.request.oblivious && plan.engine == Engine::Cpu));
    Ok(())
}

fn report(report: &Report) {
    assert_eq!(bitonic::Report::len(report), 100);
    assert!(!bitonic::Report::is_empty(report));
    assert_eq!(bitonic::Report::engine(report), Engine::Cpu);
    assert!(bitonic::Report::keys_per_second(report) > 0.0);
    println!("{report} on {}", bitonic::Report::device(report));

    let mut times = bitonic::DeviceTimes::default();
    (times.kernels, times.kernel_bytes) = (Duration::from_secs(1), 500);
    assert_eq!(bitonic::DeviceTimes::bytes_per_second(&times), 500.0);
    assert_eq!(bitonic::DeviceTimes::share_of_copy(&times), None);
}
