//! The CUDA backend, for programs that use `cudarc`.

use crate::{Outcome, unordered};
use bitonic::Order;
use bitonic::cuda::cudarc::driver::CudaContext;
use bitonic::cuda::{Argument, Device, DeviceChoice, ResidentSorter};
use std::sync::Arc;

const ADD_ONE: &str = "extern \"C\" __global__ void add_one(unsigned int *keys)\n\
                       { keys[blockIdx.x * blockDim.x + threadIdx.x] += 1; }\n";

pub(crate) fn cuda() -> Outcome {
    // The compiler needs no device.
    if let Some(&newest) = bitonic::cuda::architectures().ok().and_then(|all| all.last().copied()).as_ref() {
        assert!(!bitonic::cuda::compile("add_one", ADD_ONE, "", newest)?.is_empty());
    }
    crate::device::drive::<Device>(ADD_ONE)?;
    if bitonic::cuda::devices().map_or(true, |devices| devices.is_empty()) {
        return Ok(());
    }
    let device = bitonic::cuda::Device::open(&DeviceChoice::default())?;
    println!("{}", bitonic::cuda::Device::info(&device).name);
    println!("{:.1e} bytes a second", bitonic::cuda::Device::copy_bandwidth(&device)?);
    launch(&device)?;
    let context = bitonic::cuda::Device::context(&device);
    bitonic::cuda::Device::of_context(context)?;
    resident(context)
}

fn launch(device: &Device) -> Outcome {
    let program = bitonic::cuda::Device::program(device, "add_one", ADD_ONE, "")?;
    let kernel = bitonic::cuda::Program::kernel(&program, "add_one")?;
    let array = bitonic::cuda::Device::allocate(device, 16)?;
    assert_eq!(bitonic::cuda::Buffer::bytes(&array), 16);
    bitonic::cuda::Device::upload(device, &[0; 16], &array)?;
    let stream = bitonic::cuda::Device::stream(device);
    let before = bitonic::cuda::Moment::record(device, stream)?;
    let memory = Argument::Memory(bitonic::cuda::Buffer::address(&array));
    // SAFETY: the stream is the device's own; the kernel has one argument, an array of as many numbers as there are threads.
    unsafe { bitonic::cuda::Kernel::launch(&kernel, stream, 4, 1, &[memory])? };
    let after = bitonic::cuda::Moment::record(device, stream)?;
    println!("{:.1?}", bitonic::cuda::Moment::until(&before, device, &after)?);
    bitonic::cuda::Device::finish(device)?;
    let mut result = [0; 16];
    bitonic::cuda::Device::download(device, &array, &mut result)?;
    assert_eq!(result.map(u32::from).iter().sum::<u32>(), 4);
    Ok(())
}

fn resident(context: &Arc<CudaContext>) -> Outcome {
    let stream = context.new_stream()?;
    let (mut keys, mut values) = (stream.clone_htod(&unordered(64))?, stream.clone_htod(&unordered(64))?);
    let sorter: ResidentSorter = bitonic::cuda::ResidentSorter::new(context)?;
    let sorter = bitonic::cuda::ResidentSorter::order(sorter, Order::Descending);
    let sorter = bitonic::cuda::ResidentSorter::nan_last(sorter, true);
    bitonic::cuda::ResidentSorter::prepare::<u32>(&sorter, 64)?;
    bitonic::cuda::ResidentSorter::prepare_rows::<u32>(&sorter, 8, 8)?;
    bitonic::cuda::ResidentSorter::prepare_pairs::<u32, u32>(&sorter, 64)?;
    bitonic::cuda::ResidentSorter::prepare_argsort::<u32>(&sorter, 64)?;
    bitonic::cuda::ResidentSorter::prepare_top_k::<u32>(&sorter, 64, 8, 2)?;
    let (mut best, mut indices) = (stream.alloc_zeros::<u32>(16)?, stream.alloc_zeros::<u32>(16)?);
    bitonic::cuda::ResidentSorter::top_k_rows(&sorter, &stream, &keys, 8, 2, &mut best, &mut indices)?;
    bitonic::cuda::ResidentSorter::argsort(&sorter, &stream, &mut keys, &mut values)?;
    bitonic::cuda::ResidentSorter::sort_pairs(&sorter, &stream, &mut keys, &mut values)?;
    bitonic::cuda::ResidentSorter::sort_rows(&sorter, &stream, &mut keys, 8)?;
    bitonic::cuda::ResidentSorter::sort(&sorter, &stream, &mut keys)?;
    assert!(bitonic::is_sorted(&stream.clone_dtoh(&keys)?, Order::Descending));

    let strided = [bitonic::cuda::Strided::columns(8, 8, 8), bitonic::cuda::Strided::rows(8, 4, 8)];
    let bytes = [
        bitonic::cuda::ResidentSorter::workspace_size_strided_rows::<u32>(&sorter, strided[0]),
        bitonic::cuda::ResidentSorter::workspace_size_strided_rows::<u32>(&sorter, strided[1]),
        bitonic::cuda::ResidentSorter::workspace_size::<u32>(&sorter, 64),
        bitonic::cuda::ResidentSorter::workspace_size_rows::<u32>(&sorter, 8, 8),
        bitonic::cuda::ResidentSorter::workspace_size_pairs::<u32, u32>(&sorter, 64)?,
        bitonic::cuda::ResidentSorter::workspace_size_argsort::<u32>(&sorter, 64)?,
        bitonic::cuda::ResidentSorter::workspace_size_top_k::<u32>(&sorter, 64, 8, 2)?,
        bitonic::cuda::ResidentSorter::workspace_size_segments::<u32>(&sorter, 64, 2, 60)?,
        bitonic::cuda::ResidentSorter::workspace_size_pairs_segments::<u32, u32>(&sorter, 64, 2, 60)?,
        bitonic::cuda::ResidentSorter::workspace_size_argsort_segments::<u32>(&sorter, 64, 2, 60)?,
        bitonic::cuda::ResidentSorter::workspace_size_top_k_segments::<u32>(&sorter, 64, 2, 60, 8)?,
    ];
    let most = bytes.into_iter().fold(1, usize::max);
    let mut workspace = stream.alloc_zeros::<u8>(most)?;
    let mut with_workspace = bitonic::cuda::ResidentSorter::with_workspace(&sorter, &mut workspace);
    bitonic::cuda::WithWorkspace::top_k_rows(
        &mut with_workspace,
        &stream,
        &keys,
        8,
        2,
        &mut best,
        &mut indices,
    )?;
    let offsets = stream.clone_htod(&[0_u32, 4, 64])?;
    bitonic::cuda::ResidentSorter::top_k_segments(
        &sorter,
        &stream,
        &keys,
        (&offsets, 60),
        8,
        &mut best,
        &mut indices,
    )?;
    bitonic::cuda::WithWorkspace::top_k_segments(
        &mut with_workspace,
        &stream,
        &keys,
        (&offsets, 60),
        8,
        &mut best,
        &mut indices,
    )?;
    let (sorts, longest) = (&mut with_workspace, 60);
    for rows in strided {
        bitonic::cuda::WithWorkspace::sort_strided_rows(sorts, &stream, &mut keys, rows)?;
    }
    bitonic::cuda::WithWorkspace::argsort_segments(sorts, &stream, &mut keys, &mut values, &offsets, longest)?;
    bitonic::cuda::WithWorkspace::sort_pairs_segments(
        sorts,
        &stream,
        &mut keys,
        &mut values,
        &offsets,
        longest,
    )?;
    bitonic::cuda::WithWorkspace::sort_segments(sorts, &stream, &mut keys, &offsets, longest)?;
    bitonic::cuda::WithWorkspace::argsort(&mut with_workspace, &stream, &mut keys, &mut values)?;
    let mut sorted = stream.alloc_zeros::<u32>(keys.len())?;
    bitonic::cuda::WithWorkspace::sort_to(&mut with_workspace, &stream, &keys, &mut sorted)?;
    bitonic::cuda::WithWorkspace::sort_rows_to(&mut with_workspace, &stream, &keys, &mut sorted, 8)?;
    bitonic::cuda::WithWorkspace::argsort_to(&mut with_workspace, &stream, &keys, &mut sorted, &mut values)?;
    bitonic::cuda::WithWorkspace::sort_pairs(&mut with_workspace, &stream, &mut keys, &mut values)?;
    bitonic::cuda::WithWorkspace::sort_rows(&mut with_workspace, &stream, &mut keys, 8)?;
    bitonic::cuda::WithWorkspace::sort(&mut with_workspace, &stream, &mut keys)?;
    assert!(bitonic::is_sorted(&stream.clone_dtoh(&keys)?, Order::Descending));

    let verified = bitonic::cuda::ResidentSorter::verified(sorter)?;
    bitonic::cuda::ResidentSorter::sort(&verified, &stream, &mut keys)?;
    assert!(bitonic::cuda::ResidentSorter::verdict_address(&verified).is_some());
    bitonic::cuda::ResidentSorter::verdict(&verified, &stream)?;
    Ok(())
}
