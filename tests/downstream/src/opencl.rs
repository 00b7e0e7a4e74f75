//! The OpenCL backend, for programs that use `opencl3`.

use crate::{Outcome, unordered};
use bitonic::Order;
use bitonic::opencl::opencl3::command_queue::CommandQueue;
use bitonic::opencl::opencl3::context::Context;
use bitonic::opencl::opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use bitonic::opencl::opencl3::types::CL_BLOCKING;
use bitonic::opencl::{Argument, Device, DeviceChoice, ResidentSorter};
use std::ptr;

const ADD_ONE: &str = "kernel void add_one(global uint *keys) { keys[get_global_id(0)] += 1; }";

pub(crate) fn opencl() -> Outcome {
    crate::device::drive::<Device>(ADD_ONE)?;
    if bitonic::opencl::devices().map_or(true, |devices| devices.is_empty()) {
        return Ok(());
    }
    let device = bitonic::opencl::Device::open(&DeviceChoice::default())?;
    let info = bitonic::opencl::Device::info(&device);
    println!("{}: a {}", info.name, bitonic::opencl::DeviceKind::name(info.kind));
    println!("{:.1e} bytes a second", bitonic::opencl::Device::copy_bandwidth(&device)?);
    launch(&device)?;
    let (context, queue) =
        (bitonic::opencl::Device::context(&device), bitonic::opencl::Device::queue(&device));
    bitonic::opencl::Device::of_queue(queue)?;
    resident(context, queue)
}

fn launch(device: &Device) -> Outcome {
    let program = bitonic::opencl::Device::program(device, "add_one", ADD_ONE, "")?;
    let kernel = bitonic::opencl::Program::kernel(&program, "add_one")?;
    assert!(bitonic::opencl::Kernel::max_group_size(&kernel) >= 1);
    let array = bitonic::opencl::Device::allocate(device, 16)?;
    assert_eq!(bitonic::opencl::Buffer::bytes(&array), 16);
    bitonic::opencl::Device::upload(device, &[0; 16], &array)?;
    let memory = Argument::Memory(bitonic::opencl::Buffer::memory(&array));
    // SAFETY: the queue is the device's own; the kernel has one argument, an array of as many numbers as there are work-items.
    let event = unsafe { bitonic::opencl::Kernel::launch(&kernel, device.queue(), 4, 1, &[memory])? };
    assert_eq!(bitonic::opencl::event_time(&event)?, bitonic::opencl::span(&event, &event)?);
    bitonic::opencl::Device::finish(device)?;
    let mut result = [0; 16];
    bitonic::opencl::Device::download(device, &array, &mut result)?;
    assert_eq!(result.map(u32::from).iter().sum::<u32>(), 4);
    Ok(())
}

fn resident(context: &Context, queue: &CommandQueue) -> Outcome {
    let buffer = |contents: &[u32]| -> Result<Buffer<u32>, Box<dyn std::error::Error>> {
        // SAFETY: no host pointer is given; the write is done when the call returns.
        unsafe {
            let mut buffer = Buffer::create(context, CL_MEM_READ_WRITE, contents.len(), ptr::null_mut())?;
            queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, contents, &[])?;
            Ok(buffer)
        }
    };
    let sorter: ResidentSorter = bitonic::opencl::ResidentSorter::new(queue)?;
    let sorter = bitonic::opencl::ResidentSorter::order(sorter, Order::Descending);
    let sorter = bitonic::opencl::ResidentSorter::nan_last(sorter, true);
    println!("{} bytes", bitonic::opencl::ResidentSorter::scratch_bytes::<u32>(&sorter, 64));
    bitonic::opencl::ResidentSorter::prepare::<u32>(&sorter, 64)?;

    let (mut keys, mut values) = (buffer(&unordered(64))?, buffer(&unordered(64))?);
    let (mut best, mut indices) = (buffer(&[0; 16])?, buffer(&[0; 16])?);
    bitonic::opencl::ResidentSorter::top_k_rows(&sorter, queue, &keys, (64, 8), 2, &mut best, &mut indices)?
        .wait()?;
    let (offsets, segments) = (buffer(&[0, 4, 64])?, (2, 60));
    bitonic::opencl::ResidentSorter::argsort_segments(
        &sorter,
        queue,
        &mut keys,
        &mut values,
        64,
        &offsets,
        segments,
    )?;
    bitonic::opencl::ResidentSorter::sort_pairs_segments(
        &sorter,
        queue,
        &mut keys,
        &mut values,
        64,
        &offsets,
        segments,
    )?;
    bitonic::opencl::ResidentSorter::sort_segments(&sorter, queue, &mut keys, 64, &offsets, segments)?;
    let shape = (64, &offsets, segments.0, segments.1);
    bitonic::opencl::ResidentSorter::top_k_segments(&sorter, queue, &keys, shape, 2, &mut best, &mut indices)?;
    bitonic::opencl::ResidentSorter::argsort(&sorter, queue, &mut keys, &mut values, 64)?.wait()?;
    bitonic::opencl::ResidentSorter::sort_pairs(&sorter, queue, &mut keys, &mut values, 64)?.wait()?;
    bitonic::opencl::ResidentSorter::sort_rows(&sorter, queue, &mut keys, 64, 8)?.wait()?;
    for rows in [bitonic::opencl::Strided::columns(8, 8, 8), bitonic::opencl::Strided::rows(8, 4, 8)] {
        bitonic::opencl::ResidentSorter::sort_strided_rows(&sorter, queue, &mut keys, 64, rows)?.wait()?;
    }
    bitonic::opencl::ResidentSorter::sort(&sorter, queue, &mut keys, 64)?.wait()?;
    let verified = bitonic::opencl::ResidentSorter::verified(sorter)?;
    bitonic::opencl::ResidentSorter::sort(&verified, queue, &mut keys, 64)?;
    assert!(bitonic::opencl::ResidentSorter::verdict_memory(&verified).is_some());
    bitonic::opencl::ResidentSorter::verdict(&verified, queue)?;
    let mut sorted = vec![0_u32; 64];
    // SAFETY: the memory is there, and the read is done when the call returns.
    unsafe { queue.enqueue_read_buffer(&keys, CL_BLOCKING, 0, &mut sorted, &[])? };
    assert!(bitonic::is_sorted(&sorted, Order::Descending));
    Ok(())
}
