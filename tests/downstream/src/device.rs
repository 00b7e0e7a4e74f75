//! Devices of any engine, and the layer under them.

use crate::{Outcome, unordered};
use bitonic::device::{Argument, Command, DeviceChoice, Driver, Grid, Source};
use bitonic::{Engine, Segments};
use std::time::Duration;

pub(crate) fn devices() -> Outcome {
    assert!(bitonic::device::engines().all(Engine::has_devices));
    for facts in bitonic::device::list() {
        println!("{}: a {}", facts.name, bitonic::device::DeviceKind::name(facts.kind));
    }
    for engine in bitonic::device::engines() {
        // Where there is no driver, both say so.
        if bitonic::device::list_of(engine).is_ok_and(|devices| !devices.is_empty()) {
            let device = bitonic::device::open(engine, &DeviceChoice::default())?;
            let facts = bitonic::device::OpenDevice::facts(&device);
            let bandwidth = bitonic::device::OpenDevice::copy_bandwidth(&device)?;
            println!("{} copies {bandwidth:.1e} bytes a second", facts.name);
        }
    }
    // Takes seconds, so it is named and not called.
    let _ = |device: &bitonic::device::OpenDevice| {
        bitonic::device::OpenDevice::tune(device, Duration::from_secs(5), &mut |_| ())
    };
    for tuned in bitonic::device::tuned() {
        println!("{} was tuned for {} lengths", tuned.device, tuned.sorts.len());
        for bitonic::device::WrongSort { element_bytes, shape, .. } in &tuned.wrong {
            println!("elements of {element_bytes} bytes came out wrong with {shape}");
        }
    }
    let (rows, columns) =
        (bitonic::device::Strided::rows(8, 4, 10), bitonic::device::Strided::columns(4, 8, 10));
    assert_eq!((rows.rows, rows.row_stride, columns.rows, columns.stride), (8, 10, 8, 10));
    // What the user has tuned stays.
    let _ = bitonic::device::forget_tuned;
    let choice = bitonic::device::auto_choice(&bitonic::Request::keys::<u32>(Segments::one(100)));
    assert_eq!(choice.engine, Engine::Cpu, "{}", choice.reason);
    Ok(())
}

/// A kernel of one's own on a device, and a sort of a buffer.
pub(crate) fn drive<D: Driver>(text: &str) -> Outcome {
    if <D as bitonic::device::Driver>::list().map_or(true, |devices| devices.is_empty()) {
        return Ok(());
    }
    let device = <D as bitonic::device::Driver>::open(&DeviceChoice::default())?;
    println!("{}", bitonic::device::Driver::identity(&device));
    let most = bitonic::device::Driver::facts(&device).group_size;

    let keys: Vec<u8> = unordered(64).into_iter().flat_map(u32::to_ne_bytes).collect();
    let array = bitonic::device::Driver::allocate(&device, keys.len())?;
    assert_eq!(bitonic::device::DeviceBuffer::bytes(&array), keys.len());
    bitonic::device::Driver::upload(&device, &keys, &array)?;
    let request = bitonic::Request::keys::<u32>(Segments::one(64));
    bitonic::device::sort_resident(&device, &request, &array, None)?;
    let request = bitonic::Request::top::<u32>(Segments::one(64), 2);
    let best = bitonic::device::Driver::allocate(&device, 8)?;
    let indices = bitonic::device::Driver::allocate(&device, 8)?;
    bitonic::device::top_resident(&device, &request, &array, &best, &indices)?;
    let request = bitonic::Request::keys::<u32>(Segments::Offsets { segments: 2, longest: 60, len: 64 });
    let offsets = bitonic::device::Driver::allocate(&device, 12)?;
    let table: Vec<u8> = [0_u32, 4, 64].into_iter().flat_map(u32::to_ne_bytes).collect();
    bitonic::device::Driver::upload(&device, &table, &offsets)?;
    bitonic::device::sort_segments_resident(&device, &request, &array, None, &offsets)?;

    let source = Source { file: "add_one.c", kernel: "add_one", text, options: "" };
    let kernel = bitonic::device::Driver::build(&device, &source)?;
    let grid = bitonic::device::Grid::plain(8, 8.min(most));
    assert!(bitonic::device::Driver::most_items(&device, &kernel) >= 1);
    assert!(bitonic::device::Driver::prepare(&device, &kernel, grid)?);
    let mut arguments = bitonic::device::Arguments::new();
    let memory = bitonic::device::DeviceBuffer::memory(&array);
    bitonic::device::Arguments::push(&mut arguments, Argument::Memory(memory));
    assert_eq!(bitonic::device::Arguments::as_slice(&arguments).len(), 1);
    let elapsed = launch(&device, Command { kernel: &kernel, grid, arguments })?;

    let copy = bitonic::device::Driver::allocate(&device, keys.len())?;
    bitonic::device::Driver::copy(&device, &array, &copy)?;
    bitonic::device::Driver::finish(&device)?;
    let mut result = vec![0; keys.len()];
    bitonic::device::Driver::download(&device, &copy, &mut result)?;
    let result: Vec<u32> = result.as_chunks().0.iter().map(|&bytes| u32::from_ne_bytes(bytes)).collect();
    let mut expected: Vec<u32> = unordered(64);
    expected.sort_unstable();
    assert!(result.iter().zip(expected).all(|(&result, expected)| result == expected + 1));
    println!("{} work-items took {elapsed:.1?}", grid.groups * grid.group_size);
    // Its keys are made by the library alone.
    let _ = <D as bitonic::device::Driver>::submit_again;
    Ok(())
}

fn launch<D: Driver>(device: &D, command: Command<'_, D>) -> Result<Duration, bitonic::Error> {
    let Grid { groups, group_size, .. } = command.grid;
    assert_eq!(groups * group_size, 64, "a work-item for every key");
    let queue = bitonic::device::Driver::queue(device);
    // SAFETY: the queue is the device's own; the kernel has one argument, an array of as many numbers as there are work-items.
    let span = unsafe { bitonic::device::Driver::submit(device, queue, &[command], true)? };
    bitonic::device::Driver::elapsed(device, &span, &span)
}
