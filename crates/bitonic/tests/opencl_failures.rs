//! Injected failures of the OpenCL engine, with PoCL as its device: each ends in the documented error or in a sort on the
//! CPU, and the caller's data is never lost. What the host layer does by itself is in `opencl_host.rs`.

use bitonic::opencl::{Device, DeviceChoice};
use bitonic::{Engine, Error, Report, Sorter};
use bitonic_testkit::{Pattern, in_child, is_child};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The variables of a test's second process.
struct Settings {
    variables: Vec<(&'static str, OsString)>,
    cache: PathBuf,
}

impl Settings {
    /// With an empty cache of the test's own.
    fn new(test: &str) -> Self {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        if !is_child() {
            // A run before this one may have left it.
            let _ = fs::remove_dir_all(&cache);
            fs::create_dir_all(&cache).expect("the folder for temporary files can be written");
        }
        Self { variables: vec![("BITONIC_CACHE_DIR", cache.clone().into())], cache }
    }

    fn with(mut self, variable: &'static str, value: &str) -> Self {
        self.variables.push((variable, value.into()));
        self
    }

    /// As if `bitonic tune` had found this device faster from this length on.
    fn tuned(self, device: &str, faster_from: usize) -> Self {
        self.tuned_with_opening(device, faster_from, 0)
    }

    /// The same of a device that saves a nanosecond a key, and takes some microseconds to open.
    fn tuned_with_opening(self, device: &str, faster_from: usize, opening: u64) -> Self {
        let kinds = ["keys-4", "rows-4", "pairs-8", "argsort-4"];
        let line = |kind| format!("{faster_from} 16777216 {kind} 1.000 {opening} opencl {device}\n");
        let payload: String = kinds.map(line).concat();
        let key = sha_256(&format!("bitonic-sort {}\nengines, kinds of sorts", env!("CARGO_PKG_VERSION")));
        let entry =
            format!("bitonic cache entry 2\n{key}\n{}\n{payload}", sha_256(&format!("{key}\n{payload}")));
        let path = self.cache.join(format!("auto-{}", &key[..32]));
        if !is_child() {
            fs::write(path, entry).expect("the folder is this test's own");
        }
        self
    }

    /// As [`in_child`].
    fn in_child(&self, test: &str) -> bool {
        in_child(test, &self.variables)
    }
}

/// The hash of cache entries.
fn sha_256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

const NO_DRIVER: (&str, &str) = ("OCL_ICD_VENDORS", "/nonexistent");

fn pocl() -> Device {
    let choice = DeviceChoice::Name("Portable Computing Language".to_owned());
    Device::open(&choice)
        .unwrap_or_else(|error| panic!("these tests need PoCL, package pocl-opencl-icd: {error}"))
}

fn on_pocl() -> Sorter {
    Sorter::new().engine(Engine::OpenCl).device(DeviceChoice::Index(pocl().info().index))
}

fn random_keys(len: usize) -> Vec<u32> {
    Pattern::Random.generate(len, 1)
}

/// Calls every sort there is with keys that are not in order, and returns their errors. All arrays must be as they were.
fn every_error(sorter: &Sorter) -> [Error; 5] {
    let before = random_keys(1000);
    let indices: Vec<u32> = (0..1000).collect();
    let (mut keys, mut values) = (before.clone(), indices.clone());
    let errors = [
        sorter.sort(&mut keys).unwrap_err(),
        sorter.sort_rows(&mut keys, 100).unwrap_err(),
        sorter.sort_pairs(&mut keys, &mut values).unwrap_err(),
        sorter.clone().stable(true).sort_pairs(&mut keys, &mut values).unwrap_err(),
        sorter.argsort(&keys).unwrap_err(),
    ];
    assert!(keys == before && values == indices, "the caller's data was touched");
    errors
}

/// Calls every sort there is with [`Engine::Auto`], and returns the reports of those that have one. All must sort.
fn every_report() -> [Report; 4] {
    let sorter = Sorter::new();
    let before = random_keys(1000);
    let mut sorted = before.clone();
    sorted.sort_unstable();

    let mut keys = before.clone();
    let of_keys = sorter.sort(&mut keys).unwrap();
    assert_eq!(keys, sorted);

    keys.copy_from_slice(&before);
    let of_rows = sorter.sort_rows(&mut keys, 500).unwrap();
    assert!(keys[..500].is_sorted() && keys[500..].is_sorted());

    let [of_pairs, of_stable_pairs] = [false, true].map(|stable| {
        let (mut keys, mut values) = (before.clone(), before.clone());
        let report = sorter.clone().stable(stable).sort_pairs(&mut keys, &mut values).unwrap();
        assert!(keys == sorted && values == sorted);
        report
    });

    let indices = sorter.argsort(&before).unwrap();
    assert!(indices.iter().map(|&index| before[index]).eq(sorted.iter().copied()));

    keys.copy_from_slice(&before);
    bitonic::sort(&mut keys);
    assert_eq!(keys, sorted);
    [of_keys, of_rows, of_pairs, of_stable_pairs]
}

#[test]
fn without_a_driver_the_engine_says_what_to_install_and_auto_sorts() {
    let test = "without_a_driver_the_engine_says_what_to_install_and_auto_sorts";
    if Settings::new(test).with(NO_DRIVER.0, NO_DRIVER.1).in_child(test) {
        return;
    }
    for error in every_error(&Sorter::new().engine(Engine::OpenCl)) {
        let Error::EngineUnavailable { engine: Engine::OpenCl, advice, .. } = error else {
            panic!("{error}")
        };
        assert!(advice.contains("pocl-opencl-icd"), "{advice}");
    }
    for report in every_report() {
        assert_eq!((report.engine(), report.fallback), (Engine::Cpu, None), "nothing was tuned");
    }
}

#[test]
fn auto_goes_on_with_the_cpu_when_the_driver_is_gone() {
    let test = "auto_goes_on_with_the_cpu_when_the_driver_is_gone";
    if Settings::new(test).with(NO_DRIVER.0, NO_DRIVER.1).tuned("A device of the past", 1000).in_child(test) {
        return;
    }
    assert_fallback("pocl-opencl-icd");
    assert_eq!(Sorter::new().plan::<u32>(1000).unwrap().engine, Engine::Cpu);
}

#[test]
fn auto_goes_on_with_the_cpu_when_the_device_is_gone() {
    let test = "auto_goes_on_with_the_cpu_when_the_device_is_gone";
    if Settings::new(test).tuned("A device of the past", 1000).in_child(test) {
        return;
    }
    assert_fallback("A device of the past");
    assert_eq!(Sorter::new().plan::<u32>(1000).unwrap().engine, Engine::Cpu);
}

/// Every sort is done by the CPU and says why.
fn assert_fallback(reason: &str) {
    for report in every_report() {
        assert_eq!(report.engine(), Engine::Cpu);
        let fallback = report.fallback.as_deref().expect("a device was to be used");
        assert!(fallback.contains(reason), "{fallback}");
        assert!(report.to_string().contains("fell back"), "{report}");
    }
}

#[test]
fn auto_uses_the_tuned_device_from_the_measured_length_on() {
    let test = "auto_uses_the_tuned_device_from_the_measured_length_on";
    if Settings::new(test).tuned(&pocl().info().name, 1000).in_child(test) {
        return;
    }
    for (len, engine) in
        [(0, Engine::Cpu), (999, Engine::Cpu), (1000, Engine::OpenCl), (1001, Engine::OpenCl)]
    {
        let mut keys = random_keys(len);
        let report = Sorter::new().sort(&mut keys).unwrap();
        assert_eq!((report.engine(), report.fallback), (engine, None), "{len} keys");
        assert_eq!(Sorter::new().plan::<u32>(len).unwrap().engine, engine, "{len} keys");
        assert!(keys.is_sorted());
    }
    for report in every_report() {
        assert_eq!((report.engine(), report.fallback), (Engine::OpenCl, None));
    }
    // What the device does not do obliviously is no failure: the CPU does it.
    let report =
        Sorter::new().oblivious(true).stable(true).sort_pairs(&mut random_keys(2000), &mut [(); 2000]);
    assert_eq!(report.map(|report| (report.engine(), report.fallback)), Ok((Engine::Cpu, None)));
    // And an engine that is named is used at any length.
    let report = Sorter::new().engine(Engine::Cpu).sort(&mut random_keys(2000)).unwrap();
    assert_eq!(report.engine(), Engine::Cpu);
}

/// Definitions that take away the name of a function that every kernel calls, and of the kernels.
const NO_BUILD: &str = "-Dget_local_id=a_function_that_no_driver_has";
const NO_KERNEL: &str = "-Dtile_sort=another_name";

#[test]
fn a_kernel_that_does_not_build_leaves_the_data_alone() {
    let test = "a_kernel_that_does_not_build_leaves_the_data_alone";
    let settings = Settings::new(test).with("POCL_EXTRA_BUILD_FLAGS", NO_BUILD);
    if settings.tuned(&pocl().info().name, 1000).in_child(test) {
        return;
    }
    for error in every_error(&on_pocl()) {
        let Error::KernelBuild { kernel, log, .. } = error else { panic!("{error}") };
        assert_eq!(kernel, "tile_sort");
        assert!(log.contains("a_function_that_no_driver_has"), "{log}");
    }
    assert_fallback("tile_sort");
}

#[test]
fn a_kernel_that_is_missing_leaves_the_data_alone() {
    let test = "a_kernel_that_is_missing_leaves_the_data_alone";
    let settings = Settings::new(test).with("POCL_EXTRA_BUILD_FLAGS", NO_KERNEL);
    if settings.tuned(&pocl().info().name, 1000).in_child(test) {
        return;
    }
    for error in every_error(&on_pocl()) {
        assert!(matches!(&error, Error::KernelMissing { kernel, .. } if kernel == "tile_sort"), "{error}");
    }
    assert_fallback("no kernel 'tile_sort'");
}

/// A definition with which no work-item waits for another: it reads elements that are not there yet.
const NO_BARRIERS: &str = "-Dbarrier(flags)=";

#[test]
fn a_kernel_that_sorts_wrongly_is_noticed_and_the_cpu_sorts_whatever_engine_was_asked_for() {
    let test = "a_kernel_that_sorts_wrongly_is_noticed_and_the_cpu_sorts_whatever_engine_was_asked_for";
    let settings = Settings::new(test).with("POCL_EXTRA_BUILD_FLAGS", NO_BARRIERS);
    if settings.tuned(&pocl().info().name, 1000).in_child(test) {
        return;
    }
    let info = pocl().info().clone();
    for named in [&info.name, &info.driver, "tile_sort", "wrong result"] {
        assert_fallback(named);
    }
    let before = random_keys(1000);
    let mut sorted = before.clone();
    sorted.sort_unstable();
    // As a whole, and in chunks.
    for sorter in [on_pocl(), on_pocl().device_memory(2000)] {
        let (mut keys, mut values) = (before.clone(), before.clone());
        let report = sorter.sort_pairs(&mut keys, &mut values).unwrap();
        assert_eq!(report.engine(), Engine::Cpu);
        assert!(report.fallback.is_some_and(|reason| reason.contains("wrong result")));
        assert!(keys == sorted && values == sorted);
        let indices = sorter.argsort(&before).unwrap();
        assert!(indices.iter().map(|&index| before[index]).eq(sorted.iter().copied()));
    }
}

/// Definitions with which kernels build for several rows in a tile, and not for one.
const NO_SINGLE_ROW: &str = "-DJOIN_(a,b)=a##b -DJOIN(a,b)=JOIN_(a,b) -Dget_local_id(d)=JOIN(item_,SHORT_ROWS)(d) \
                             -Ditem_1(d)=get_local_id(d)";

#[test]
fn a_second_chunk_that_fails_leaves_the_first_as_it_was() {
    let test = "a_second_chunk_that_fails_leaves_the_first_as_it_was";
    if Settings::new(test).with("POCL_EXTRA_BUILD_FLAGS", NO_SINGLE_ROW).in_child(test) {
        return;
    }
    // Two rows fit.
    let sorter = on_pocl().device_memory(2 * 4 * 256);
    let before = random_keys(3 * 256);
    let mut keys = before.clone();
    assert!(sorter.sort_rows(&mut keys[..2 * 256], 256).is_ok(), "the first chunk alone");
    keys.copy_from_slice(&before);
    let error = sorter.sort_rows(&mut keys, 256).unwrap_err();
    assert!(matches!(&error, Error::KernelBuild { log, .. } if log.contains("item_0")), "{error}");
    assert_eq!(keys, before);
}

#[test]
fn more_than_one_buffer_holds_is_an_error_where_it_must_not_be_cut_and_auto_goes_on_with_the_cpu() {
    let test =
        "more_than_one_buffer_holds_is_an_error_where_it_must_not_be_cut_and_auto_goes_on_with_the_cpu";
    // In GiB: the least there is. One buffer has a part of it.
    let settings = Settings::new(test).with("POCL_MEMORY_LIMIT", "1");
    if settings.tuned(&pocl().info().name, 1000).in_child(test) {
        return;
    }
    let most = pocl().info().max_allocation_bytes as usize;
    assert!(most < 1 << 30, "{most}");

    // Too many keys for one buffer, and to be sorted as a whole.
    let whole = on_pocl().chunks(false);
    let before: Vec<u8> = (0..=most).map(|index| (index % 251) as u8).collect();
    let mut keys = before.clone();
    assert_too_large(whole.sort(&mut keys), most + 1, most);
    assert_too_large(whole.sort_rows(&mut keys, 1), most + 1, most);
    assert!(keys == before, "the keys were touched");
    let mut few = random_keys(10_000);
    let report = Sorter::new().chunks(false).device_memory(4096).sort(&mut few).unwrap();
    assert_eq!(report.engine(), Engine::Cpu);
    assert!(report.fallback.as_ref().is_some_and(|reason| reason.contains("4096")), "{report}");
    assert!(few.is_sorted());
    let report = Sorter::new().chunks(false).sort(&mut keys).unwrap();
    assert_eq!((report.engine(), report.fallback), (Engine::Cpu, None), "keys of 8 bits are the CPU's");
    assert!(keys.is_sorted());
    assert!(on_pocl().plan::<u8>(most + 1).unwrap().chunks.is_some_and(|chunks| chunks.count == 2));

    // Keys that fit, but no place for their values or indices.
    let len = most / 4 + 1;
    let mut keys = before[..len].to_vec();
    let mut values: Vec<u32> = (0..len as u32).collect();
    assert_too_large(whole.sort_pairs(&mut keys, &mut values), 4 * len, most);
    assert_too_large(whole.clone().stable(true).sort_pairs(&mut keys, &mut values), 4 * len, most);
    assert_too_large(whole.argsort(&keys), 4 * len, most);
    assert!(keys == before[..len] && values.iter().copied().eq(0..len as u32), "the data was touched");

    // The device is still of use.
    assert!(on_pocl().sort(&mut random_keys(1000)).is_ok());
}

fn assert_too_large<T>(result: Result<T, Error>, needed: usize, most: usize) {
    match result {
        Err(Error::LargerThanDevice { bytes, limit, part, .. }) => {
            assert_eq!((bytes, limit, part), (needed as u64, most as u64, "in one buffer"));
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{needed} bytes were granted"),
    }
}

const MEMORY_VARIABLE: &str = "BITONIC_DEVICE_MEMORY";

#[test]
fn the_user_limits_the_memory_of_a_device() {
    let test = "the_user_limits_the_memory_of_a_device";
    if Settings::new(test).with(MEMORY_VARIABLE, "2K").tuned(&pocl().info().name, 1000).in_child(test) {
        return;
    }
    let chunks = |report: Report| report.times.map(|times| times.chunks);
    let mut keys = random_keys(1000);
    assert_eq!(chunks(on_pocl().sort(&mut keys).unwrap()), Some(2));
    assert!(keys.is_sorted());
    assert_eq!(
        chunks(on_pocl().device_memory(1 << 20).sort(&mut keys).unwrap()),
        Some(1),
        "a program decides"
    );
    for report in every_report() {
        assert_eq!((report.engine(), report.fallback), (Engine::OpenCl, None));
    }

    // Not on the device, then on the CPU.
    let refusing = Sorter::new().chunks(false);
    let mut keys = random_keys(1000);
    let report = refusing.sort(&mut keys).unwrap();
    assert!(keys.is_sorted() && report.engine() == Engine::Cpu);
    assert!(report.fallback.is_some_and(|reason| reason.contains("may have 2048")));
    assert_eq!(refusing.plan::<u32>(1000).unwrap().engine, Engine::Cpu);
    assert!(matches!(
        on_pocl().chunks(false).sort(&mut keys),
        Err(Error::LargerThanDevice { bytes: 4000, limit: 2048, .. })
    ));
}

#[test]
fn a_limit_that_is_no_number_is_an_error_and_auto_goes_on_with_the_cpu() {
    let test = "a_limit_that_is_no_number_is_an_error_and_auto_goes_on_with_the_cpu";
    if Settings::new(test).with(MEMORY_VARIABLE, "much").tuned(&pocl().info().name, 1000).in_child(test) {
        return;
    }
    for error in every_error(&on_pocl()) {
        let text = error.to_string();
        assert!(matches!(error, Error::Setting { variable: MEMORY_VARIABLE, .. }), "{text}");
        assert!(text.contains("'much'") && text.contains("512M"), "{text}");
    }
    assert_fallback(MEMORY_VARIABLE);
    assert!(on_pocl().device_memory(1 << 20).sort(&mut random_keys(1000)).is_ok(), "a program decides");
}

#[test]
fn a_cache_that_cannot_be_written_changes_nothing() {
    let test = "a_cache_that_cannot_be_written_changes_nothing";
    let mut settings = Settings::new(test);
    let file = settings.cache.join("file");
    if !is_child() {
        fs::write(&file, "in the way").expect("the folder is this test's own");
    }
    settings.variables[0].1 = file.clone().into();
    if settings.in_child(test) {
        assert_eq!(fs::read_to_string(file).expect("the file is still there"), "in the way");
        return;
    }
    assert_sorts_on_pocl();
}

#[test]
fn a_cache_full_of_garbage_changes_nothing() {
    let test = "a_cache_full_of_garbage_changes_nothing";
    let settings = Settings::new(test).tuned("A device of the past", 1000);
    if is_child() {
        return assert_sorts_on_pocl();
    }
    settings.in_child(test);
    let names: Vec<PathBuf> =
        fs::read_dir(&settings.cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.len() > 2, "kernels are kept: {names:?}");
    for (number, path) in names.iter().enumerate() {
        let whole = fs::read(path).unwrap();
        match number % 3 {
            0 => fs::write(path, &whole[..whole.len() - 1]).unwrap(),
            1 => fs::write(path, [0xff; 100]).unwrap(),
            _ => {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            }
        }
    }
    settings.in_child(test);
}

#[test]
fn a_device_is_opened_when_that_pays_and_serves_from_then_on() {
    let test = "a_device_is_opened_when_that_pays_and_serves_from_then_on";
    // 2000 keys gain 1000 ns, opening takes 5000: the fifth sort makes up for it.
    if Settings::new(test).tuned_with_opening(&pocl().info().name, 1000, 5).in_child(test) {
        return;
    }
    let engine_of = |len| Sorter::new().sort(&mut random_keys(len)).unwrap().engine();
    let plan = |len| Sorter::new().plan::<u32>(len).unwrap().engine;
    assert_eq!([2000, 1000, 500, 2000, 2000].map(plan), [Engine::Cpu; 5], "plans gain nothing");
    assert_eq!([2000; 4].map(engine_of), [Engine::Cpu; 4]);
    assert_eq!([2000, 1000, 999].map(engine_of), [Engine::OpenCl, Engine::OpenCl, Engine::Cpu]);
    let choice = bitonic::device::auto_choice(&bitonic::Request::keys::<u32>(bitonic::Segments::one(1000)));
    assert_eq!((choice.engine, choice.device), (Engine::OpenCl, Some(pocl().info().name.clone())));
}

#[test]
fn a_device_that_the_process_has_used_is_used_again() {
    let test = "a_device_that_the_process_has_used_is_used_again";
    // Opening it for a sort would take an hour.
    if Settings::new(test).tuned_with_opening(&pocl().info().name, 1000, 3_600_000_000).in_child(test) {
        return;
    }
    let engine_of = |len| Sorter::new().sort(&mut random_keys(len)).unwrap().engine();
    assert_eq!(engine_of(5000), Engine::Cpu);
    on_pocl().sort(&mut random_keys(100)).unwrap();
    assert_eq!([5000, 999].map(engine_of), [Engine::OpenCl, Engine::Cpu]);
    let bytes: Vec<u8> = vec![7; 5000];
    assert_eq!(
        Sorter::new().sort(&mut bytes.clone()).unwrap().engine(),
        Engine::Cpu,
        "not a kind that was compared"
    );
}

/// Every sort works on the device, and with [`Engine::Auto`].
fn assert_sorts_on_pocl() {
    let mut keys = random_keys(10_000);
    on_pocl().sort(&mut keys).unwrap();
    assert!(keys.is_sorted());
    let (mut keys, mut values) = (random_keys(1000), random_keys(1000));
    on_pocl().sort_pairs(&mut keys, &mut values).unwrap();
    assert!(keys.is_sorted() && values == keys);
    every_report();
}

#[test]
fn pairs_that_are_put_in_place_by_index_are_refused_obliviously() {
    let sorter = on_pocl().oblivious(true);
    let before = random_keys(100);
    let mut keys = before.clone();
    let mut numbers: Vec<u32> = (0..100).collect();
    let mut others: Vec<[u8; 3]> = (0..100).map(|index| [index, 0, 1]).collect();
    let stable = sorter.clone().stable(true).sort_pairs(&mut keys, &mut numbers);
    let by_index = sorter.sort_pairs(&mut keys, &mut others);
    for result in [stable, by_index] {
        let Err(Error::EngineUnavailable { engine: Engine::OpenCl, advice, .. }) = result else {
            panic!("{result:?}");
        };
        assert!(advice.contains("cpu"), "{advice}");
    }
    assert!(keys == before && numbers.is_sorted() && others.is_sorted());

    // What travels with its key is moved by the network alone.
    sorter.sort_pairs(&mut keys, &mut numbers).unwrap();
    assert!(keys.is_sorted());
}

#[test]
fn values_that_are_too_few_are_refused() {
    let mut keys = [3_u32, 1, 2];
    let error = on_pocl().sort_pairs(&mut keys, &mut [1_u32]).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { keys: 3, values: 1 });
    assert_eq!(keys, [3, 1, 2]);
}

#[test]
fn a_device_that_does_not_exist_is_an_error_that_lists_those_that_do() {
    let known = pocl().info().name.clone();
    let sorter = Sorter::new().engine(Engine::OpenCl).device(DeviceChoice::Index(1000));
    for error in every_error(&sorter) {
        assert!(
            matches!(&error, Error::NoSuchDevice { .. }) && error.to_string().contains(&known),
            "{error}"
        );
    }
}
