//! Requests and plans, made without a device.

use crate::Outcome;
use bitonic::device::DeviceFacts;
use bitonic::plan::{Limits, Plan, Step, WorkMemory};
use bitonic::{Engine, Segments};

pub(crate) fn requests() -> Outcome {
    let one = bitonic::Segments::one(10);
    let rows = bitonic::Segments::rows(10, 5)?;
    assert_eq!((bitonic::Segments::count(rows), bitonic::Segments::longest(rows)), (2, 5));
    assert_eq!((bitonic::Segments::len(one), bitonic::Segments::is_empty(one)), (10, false));
    assert_eq!(bitonic::Engine::name(Engine::Cpu), "cpu");
    assert!(!bitonic::Engine::has_devices(Engine::Cpu));

    let keys = bitonic::Request::keys::<u32>(one);
    let pairs = bitonic::Request::pairs::<u32, u32>(rows);
    let indices = bitonic::Request::argsort::<u32>(one);
    assert_eq!((bitonic::Request::len(&keys), bitonic::Request::is_empty(&keys)), (10, false));
    assert_eq!(bitonic::Request::value_bytes(&pairs), 4);
    assert!(bitonic::Request::carries_values(&pairs));
    bitonic::Request::check(&indices, Engine::Cpu)?;
    println!("{:?}", bitonic::ValueType::of::<u32>());
    Ok(())
}

pub(crate) fn plans() -> Outcome {
    let request = bitonic::Request::keys::<u32>(Segments::one(1 << 20));
    let gpus = [
        bitonic::device::DeviceFacts::nvidia_h200(),
        bitonic::device::DeviceFacts::plain_gpu(),
        bitonic::device::DeviceFacts::pocl(),
    ];
    for facts in &gpus {
        let plan = bitonic::device::plan(&request, facts, &bitonic::device::Tuning::default())?;
        shape(&plan);
        let kernels = plan.kernels.as_ref().expect("a device has kernels");
        assert!(bitonic::plan::KernelPlan::passes(kernels) > 0);
        assert!(bitonic::plan::KernelPlan::cluster(kernels) >= 1);
        assert!(bitonic::plan::KernelPlan::tile_keys(kernels) > 0);
        println!("{} fallbacks", bitonic::plan::KernelPlan::fallbacks(kernels).count());
    }
    in_chunks(&gpus[0])?;
    shape(&bitonic::Sorter::new().engine(Engine::Cpu).plan::<u32>(1 << 20)?);

    let limits = Limits { tile_log2: 8, fused_steps: 3 };
    let passes: Vec<_> = bitonic::plan::passes(1 << 12, limits).collect();
    println!("{}", bitonic::plan::Pass::words(&passes[0], limits.tile_log2));
    steps();
    let memory = WorkMemory { keys: 8, values: 4, counters: 2 };
    assert_eq!(bitonic::plan::WorkMemory::bytes(memory), 14);
    println!("{:?}", bitonic::plan::WorkMemory::offsets(memory));
    Ok(())
}

fn shape(plan: &Plan) {
    assert_eq!(bitonic::plan::Plan::sorted_length(plan), 1 << 20);
    assert!(bitonic::plan::Plan::pass_count(plan) > 0);
    assert!(bitonic::plan::Plan::tile_keys(plan) > 0);
    assert!(bitonic::plan::Plan::comparators(plan) > 0);
    assert!(bitonic::plan::Plan::bytes_of_pass(plan) > 0);
    let passes = bitonic::plan::Plan::passes(plan).count();
    println!("{}: {passes} passes", bitonic::plan::Plan::summary(plan));
}

fn in_chunks(facts: &DeviceFacts) -> Outcome {
    let mut small = facts.clone();
    small.memory_bytes = 1 << 28;
    let request = bitonic::Request::keys::<u32>(Segments::one(1 << 28));
    let plan = bitonic::device::plan(&request, &small, &bitonic::device::Tuning::default())?;
    let chunks = plan.chunks.expect("1 GiB of keys does not fit 256 MiB");
    assert!(bitonic::plan::Chunks::merge_passes(&chunks) > 0);
    Ok(())
}

fn steps() {
    let step = bitonic::plan::Step::first_of_merge(3);
    assert_eq!(bitonic::plan::Step::new(bitonic::plan::Step::number(step)), step);
    assert_eq!(bitonic::plan::Step::merge(step), 3);
    assert_eq!(bitonic::plan::Step::merges(8), 3);
    assert_eq!(bitonic::plan::Step::count(8), 6);
    assert_eq!(bitonic::plan::Step::partner_mask(step), 7);
    assert_eq!(bitonic::plan::Step::span(step), 3);
    let first: Option<(usize, usize)> = bitonic::plan::Step::comparators(Step::new(0), 4).next();
    assert_eq!(first, Some((0, 1)));
}
