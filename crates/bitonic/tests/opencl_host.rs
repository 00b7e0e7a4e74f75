//! The OpenCL host layer on a real device: any will do, such as the processor through PoCL.

use bitonic::opencl::opencl3::error_codes::CL_INVALID_ARG_INDEX;
use bitonic::opencl::{Argument, Buffer, Device, DeviceChoice, Kernel, Program, devices, event_time, span};
use bitonic::{Engine, Error};
use bitonic_testkit::{in_child, is_child};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, thread};

/// The device to test on.
fn device() -> Device {
    Device::open(&DeviceChoice::Best).unwrap_or_else(|error| {
        panic!("these tests run on an OpenCL device; pocl-opencl-icd makes the processor one: {error}")
    })
}

/// Every kind of argument, each of which the result depends on.
const WEIGH: &str = "
kernel void weigh(global uint *keys, uint factor, ulong addend, local uint *shared) {
    shared[get_local_id(0)] = keys[get_global_id(0)] * factor;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint opposite = get_local_size(0) - 1 - get_local_id(0);
    keys[get_global_id(0)] = shared[opposite] + (uint)(addend >> 32);
}
kernel void clear(global uint *keys) { keys[get_global_id(0)] = 0; }
";

fn weigh_program(device: &Device) -> Program {
    device.program("weigh", WEIGH, "").expect("the source is correct")
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|&word| u32::from_ne_bytes(word)).collect()
}

#[test]
fn every_device_describes_itself() {
    let devices = devices().expect("the OpenCL loader is installed");
    assert!(!devices.is_empty(), "no OpenCL device here: install pocl-opencl-icd");
    for (index, device) in devices.iter().enumerate() {
        assert_eq!(device.index, index);
        assert!(!device.name.is_empty() && !device.platform.is_empty() && !device.driver.is_empty());
        assert!(device.version.starts_with("OpenCL "), "{}", device.version);
        assert!(device.compute_units > 0 && device.max_group_size > 0 && device.local_bytes > 0);
        assert!(device.max_allocation_bytes > 0 && device.max_allocation_bytes <= device.global_bytes);
        assert!(device.base_alignment_bytes.is_power_of_two(), "{}", device.base_alignment_bytes);
        assert!([32, 64].contains(&device.address_bits));
    }
}

#[test]
fn a_device_is_opened_once_however_it_is_chosen() {
    let best = device();
    let by_index = DeviceChoice::Index(best.info().index);
    let by_kind = DeviceChoice::Kind(best.info().kind);
    let by_name = DeviceChoice::Name(best.info().name.to_uppercase());
    let by_platform = DeviceChoice::Name(best.info().platform.to_lowercase());
    for choice in [DeviceChoice::Best, by_index, by_kind, by_name, by_platform] {
        let again = Device::open(&choice).expect("the best device answers to its own description");
        assert_eq!(again.info().index, best.info().index, "{choice}");
        assert_eq!(again.context().get(), best.context().get(), "{choice}");
    }
}

#[test]
fn a_choice_that_no_device_answers_to_lists_the_devices() {
    let missing = DeviceChoice::Name("no such device".to_owned());
    let Err(Error::NoSuchDevice { choice, known }) = Device::open(&missing) else {
        panic!("a device answers to '{missing}'");
    };
    assert_eq!(choice, "no such device");
    for device in devices().expect("the OpenCL loader is installed") {
        assert!(known.contains(&format!("{}: {} ({})", device.index, device.name, device.kind)), "{known}");
    }
}

#[test]
fn a_build_error_carries_the_kernels_name_and_the_compilers_log() {
    let device = device();
    let source = "kernel void broken(global uint *keys) { keys[0] = undeclared_name; }";
    let Err(error) = device.program("a broken program", source, "") else { panic!("it was built") };
    let Error::KernelBuild { kernel, device: named, log } = &error else { panic!("{error:?}") };
    assert_eq!((kernel.as_str(), named), ("a broken program", &device.info().name));
    assert!(log.contains("undeclared_name"), "{log}");
    let text = error.to_string();
    assert!(text.contains("a broken program") && text.contains("undeclared_name"), "{text}");
}

#[test]
fn options_that_no_compiler_takes_are_a_build_error() {
    for options in ["-no-such-option-at-all", "-DA\0B"] {
        let result = device().program("weigh", WEIGH, options);
        assert!(matches!(result, Err(Error::KernelBuild { .. })), "{options:?}: {result:?}");
    }
}

#[test]
fn a_kernel_that_a_program_lacks_is_named() {
    let device = device();
    for name in ["wiegh", "", "weigh\0"] {
        let Err(Error::KernelMissing { kernel, device: named }) = weigh_program(&device).kernel(name) else {
            panic!("there is a kernel '{name}'");
        };
        assert_eq!((kernel.as_str(), &named), (name, &device.info().name));
    }
}

#[test]
fn more_memory_than_a_buffer_can_have_is_refused() {
    let device = device();
    let most = device.info().max_allocation_bytes;
    for bytes in [most as usize + 1, usize::MAX] {
        let Err(Error::DeviceMemory { device: named, bytes: asked, available }) = device.allocate(bytes)
        else {
            panic!("{bytes} bytes were granted");
        };
        assert_eq!((&named, asked, available), (&device.info().name, bytes as u64, most));
    }
    assert!(device.allocate(4096).is_ok(), "a refusal leaves the device usable");
}

#[test]
fn data_makes_the_round_trip_at_every_size() {
    let device = device();
    for bytes in [0, 1, 255, 4096, (256 << 10) - 1, 256 << 10, (9 << 20) + 17] {
        let sent: Vec<u8> = (0..bytes).map(|index| (index * 31 + index / 256) as u8).collect();
        let buffer = device.allocate(bytes).expect("a device has this much memory");
        assert_eq!(buffer.bytes(), bytes);
        let up = device.upload(&sent, &buffer).expect("it fits");
        let mut received = vec![0; bytes];
        let down = device.download(&buffer, &mut received).expect("it fits");
        assert!(sent == received, "{bytes} bytes");
        assert_eq!((up.bytes, down.bytes), (bytes, bytes));
    }
}

#[test]
fn a_kernel_sees_every_kind_of_argument() {
    let device = device();
    let kernel = weigh_program(&device).kernel("weigh").expect("the program has this kernel");
    let group_size = kernel.max_group_size().min(64);
    assert!(group_size > 0);
    let keys: Vec<u32> = (0..4 * group_size as u32).collect();
    let buffer = device.allocate(keys.len() * 4).expect("a device has this much memory");
    device.upload(&bytes_of(&keys), &buffer).expect("it fits");

    for (round, memory) in
        [Argument::Buffer(&buffer), Argument::Memory(buffer.memory())].into_iter().enumerate()
    {
        let factor = 3 + round as u32;
        let arguments =
            [memory, Argument::U32(factor), Argument::U64(7 << 32), Argument::Local(group_size * 4)];
        // SAFETY: the arguments are those of the kernel; 4 groups touch the buffer's words, and a group its local ones.
        let event = unsafe { kernel.launch(device.queue(), 4, group_size, &arguments) }.expect("it runs");
        device.finish().expect("it ran");
        assert!(event_time(&event).is_ok());
    }

    let mut result = vec![0; keys.len() * 4];
    device.download(&buffer, &mut result).expect("it fits");
    // Two rounds turn every group around twice.
    let expected: Vec<u32> = keys.iter().map(|key| (key * 3 + 7) * 4 + 7).collect();
    assert_eq!(words_of(&result), expected);
}

#[test]
fn kernels_of_one_program_do_not_share_arguments() {
    let device = device();
    let program = weigh_program(&device);
    let buffers = [1_u32, 2].map(|word| {
        let buffer = device.allocate(4).expect("a device has this much memory");
        device.upload(&word.to_ne_bytes(), &buffer).expect("it fits");
        buffer
    });
    let kernels = [(); 2].map(|()| program.kernel("clear").expect("the program has this kernel"));
    for (kernel, buffer) in kernels.iter().zip(&buffers) {
        // SAFETY: one item, one word.
        unsafe { kernel.launch(device.queue(), 1, 1, &[Argument::Buffer(buffer)]) }.expect("it runs");
    }
    for buffer in &buffers {
        let mut word = [1; 4];
        device.download(buffer, &mut word).expect("it fits");
        assert_eq!(word, [0; 4]);
    }
}

#[test]
fn a_run_that_the_driver_refuses_is_an_error_with_the_kernels_name() {
    let device = device();
    let kernel = weigh_program(&device).kernel("clear").expect("the program has this kernel");
    let buffer = device.allocate(4).expect("a device has this much memory");
    let memory = Argument::Buffer(&buffer);
    let refused = [
        // SAFETY: a group of this size is refused, so nothing runs.
        unsafe { kernel.launch(device.queue(), 1, device.info().max_group_size * 2, &[memory]) },
        // SAFETY: the product is no size at all, so nothing runs.
        unsafe { kernel.launch(device.queue(), usize::MAX, 2, &[memory]) },
        // SAFETY: the kernel has no second argument, so nothing runs.
        unsafe { kernel.launch(device.queue(), 1, 1, &[memory, Argument::U32(1)]) },
    ];
    for (number, result) in refused.into_iter().enumerate() {
        let Err(Error::Device { reason, .. }) = result else { panic!("run {number} was not refused") };
        assert!(reason.contains("kernel 'clear'"), "{reason}");
        assert!(number != 2 || reason.contains(&CL_INVALID_ARG_INDEX.to_string()), "{reason}");
    }
    // SAFETY: one item, one word.
    let event = unsafe { kernel.launch(device.queue(), 1, 1, &[memory]) };
    assert!(event.is_ok(), "the device is still usable");
    // PoCL compiles a kernel when it runs; a process that ends meanwhile was seen to be aborted.
    device.finish().expect("it ran");
}

#[test]
fn a_span_covers_the_commands_in_it() {
    let device = device();
    let kernel = weigh_program(&device).kernel("clear").expect("the program has this kernel");
    let buffer = device.allocate(4 << 16).expect("a device has this much memory");
    let [first, last] = [(); 2].map(|()| {
        // SAFETY: 65536 items, 65536 words.
        unsafe { kernel.launch(device.queue(), 1 << 10, 64, &[Argument::Buffer(&buffer)]) }.expect("it runs")
    });
    let times = [&first, &last].map(|event| event_time(event).expect("the queue takes times"));
    let both = span(&first, &last).expect("the queue takes times");
    assert!(both >= times[0] + times[1], "{both:?} for {times:?}");
    assert_eq!(span(&last, &first).map(|backwards| backwards <= both), Ok(true));
    assert!(both < Duration::from_secs(600), "{both:?}");
}

#[test]
fn threads_share_a_device_without_disturbing_each_other() {
    let device = device();
    thread::scope(|scope| {
        for thread in 0..4_u32 {
            let device = &device;
            scope.spawn(move || {
                let kernel = weigh_program(device).kernel("weigh").expect("the program has this kernel");
                let group_size = kernel.max_group_size().min(32);
                let words = group_size * 1000;
                let buffer = device.allocate(words * 4).expect("a device has this much memory");
                for round in 0..10_u32 {
                    let factor = thread * 100 + round;
                    device.upload(&bytes_of(&vec![5; words]), &buffer).expect("it fits");
                    let local = Argument::Local(group_size * 4);
                    let arguments =
                        [Argument::Buffer(&buffer), Argument::U32(factor), Argument::U64(1 << 32), local];
                    // SAFETY: the arguments are those of the kernel; 1000 groups touch the buffer's words.
                    unsafe { kernel.launch(device.queue(), 1000, group_size, &arguments) }.expect("it runs");
                    let mut result = vec![0; words * 4];
                    device.download(&buffer, &mut result).expect("it fits");
                    let expected = 5 * factor + 1;
                    assert!(words_of(&result).iter().all(|&word| word == expected), "thread {thread}");
                }
            });
        }
    });
}

#[test]
fn everything_may_be_sent_to_threads_and_all_but_kernels_shared_by_them() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    shared::<Device>();
    shared::<Program>();
    shared::<Buffer>();
    sent::<Kernel>();
}

#[test]
fn without_a_driver_there_is_no_device_and_the_error_says_what_to_install() {
    let test = "without_a_driver_there_is_no_device_and_the_error_says_what_to_install";
    if in_child(test, &[("OCL_ICD_VENDORS", Path::new("/nonexistent"))]) {
        return;
    }
    assert!(devices().is_ok_and(|devices| devices.is_empty()));
    assert_unavailable(Device::open(&DeviceChoice::Best));
}

#[test]
#[cfg(target_os = "linux")]
fn a_loader_that_is_none_is_an_unavailable_engine() {
    let test = "a_loader_that_is_none_is_an_unavailable_engine";
    if in_child(test, &[("OPENCL_DYLIB_PATH", Path::new("libc.so.6"))]) {
        return;
    }
    assert!(matches!(devices(), Err(Error::EngineUnavailable { engine: Engine::OpenCl, .. })));
    assert_unavailable(Device::open(&DeviceChoice::Best));
}

fn assert_unavailable(opened: Result<Device, Error>) {
    let Err(Error::EngineUnavailable { engine: Engine::OpenCl, advice, .. }) = opened else {
        panic!("no device was expected: {opened:?}");
    };
    assert!(advice.contains("pocl-opencl-icd"), "{advice}");
}

/// Builds a program, measures, and shows that both work.
fn use_what_is_cached() {
    let device = device();
    assert!(weigh_program(&device).kernel("weigh").is_ok());
    let speed = device.copy_bandwidth();
    assert!(speed.as_ref().is_ok_and(|&speed| speed > 0.0), "{speed:?}");
    assert_eq!(device.copy_bandwidth(), speed);
}

#[test]
fn the_cache_folder_is_filled_and_garbage_in_it_is_replaced() {
    let test = "the_cache_folder_is_filled_and_garbage_in_it_is_replaced";
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("opencl-cache-garbage");
    if !is_child() {
        // A run before this one may have left it.
        let _ = fs::remove_dir_all(&directory);
    }
    let setting = [("BITONIC_CACHE_DIR", directory.as_path())];
    if !in_child(test, &setting) {
        return use_what_is_cached();
    }
    let entries = files_of(&directory);
    let names: Vec<_> = entries.iter().map(|(path, _)| path.to_string_lossy()).collect();
    assert!(names.iter().any(|name| name.contains("weigh-")), "{names:?}");
    assert!(names.iter().any(|name| name.contains("copy-bandwidth-")), "{names:?}");

    in_child(test, &setting);
    assert!(entries == files_of(&directory), "what is whole is used, not written again");

    for (path, contents) in &entries {
        fs::write(path, &contents[..contents.len() / 2]).expect("the folder is this test's own");
    }
    fs::write(directory.join("something else"), "garbage").expect("the folder is this test's own");
    in_child(test, &setting);
    for (path, contents) in files_of(&directory) {
        assert!(path.ends_with("something else") || contents.starts_with(b"bitonic cache entry 2\n"));
        let damaged = entries.iter().any(|(old, whole)| *old == path && contents.len() < whole.len() * 3 / 4);
        assert!(!damaged, "{} was not replaced", path.display());
    }
}

#[test]
fn a_cache_folder_that_cannot_be_written_changes_nothing() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("opencl-cache-file");
    if !is_child() {
        fs::write(&file, "no folder").expect("the folder for temporary files can be written");
    }
    if !in_child("a_cache_folder_that_cannot_be_written_changes_nothing", &[("BITONIC_CACHE_DIR", &file)]) {
        return use_what_is_cached();
    }
    assert_eq!(fs::read_to_string(&file).expect("the file is still there"), "no folder");
}

fn files_of(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(directory).expect("the folder was made");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut files: Vec<_> =
        paths.map(|path| (path.clone(), fs::read(path).expect("the entry can be read"))).collect();
    files.sort();
    files
}
