//! `bitonic sort`.

mod arguments;
mod benchmark;
mod formats;
mod input;
mod output;
mod progress;
mod report;

pub(crate) use arguments::Arguments;

use crate::failure::Failure;
use bitonic::key::{KeyType, Order};
use formats::{FileKey, Format, first_out_of_order, show};
use input::Input;
use progress::Progress;
use report::{Lines, rate};
use std::io::{self, Write};
use std::time::Instant;

/// Sorts, checks or measures, as the arguments ask.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.random {
        Some(len) => {
            let key_type = arguments.key_type.unwrap_or(KeyType::U32);
            bitonic::with_key_type!(key_type, K => run_random::<K>(len, &arguments))
        }
        None => run_input(&arguments),
    }
}

fn run_random<K: FileKey>(len: usize, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.output.is_none() && arguments.output_format.is_some() {
        return Err(Failure::new(
            "--output-format has nothing to write: add -o FILE, or -o - for standard output",
        ));
    }
    let format = output_format(arguments, Format::Text);
    format.accept(K::TYPE).map_err(Failure::new)?;
    check_memory::<K>(len)?;
    let started = Instant::now();
    let progress = Progress::spinner("making keys");
    let keys: Vec<K> = arguments.distribution.generate(len, arguments.seed);
    drop(progress);
    let what = format!(
        "{}, {}, seed {}",
        keys_in_words::<K>(len, arguments.order()),
        arguments.distribution,
        arguments.seed
    );
    match arguments.output {
        Some(_) => sort_and_write(&what, keys, started, format, arguments),
        None => benchmark::run(&what, &keys, &arguments.sorter(), arguments.order()),
    }
}

/// Refuses what this machine cannot hold, before it is asked for key by key.
fn check_memory<K>(len: usize) -> Result<(), Failure> {
    // The keys, and a copy for each of the sorts that are compared.
    let bytes = len.saturating_mul(size_of::<K>()).saturating_mul(3);
    match Vec::<u8>::new().try_reserve_exact(bytes) {
        Ok(()) => Ok(()),
        Err(_) => {
            Err(Failure::new(format!("no memory for {len} keys, which take {bytes} bytes: ask for fewer")))
        }
    }
}

fn run_input(arguments: &Arguments) -> Result<(), Failure> {
    let started = Instant::now();
    let input = input::read(arguments.file.as_deref())?;
    let by_name = || arguments.file.as_deref().and_then(Format::of_name);
    let format = arguments.format.or_else(by_name).unwrap_or_else(|| Format::of_content(&input.bytes));
    let key_type =
        format.key_type(&input.bytes, arguments.key_type).map_err(|reason| input.refused(reason))?;
    bitonic::with_key_type!(key_type, K => run_keys::<K>(input, format, started, arguments))
}

fn run_keys<K: FileKey>(
    input: Input,
    format: Format,
    started: Instant,
    arguments: &Arguments,
) -> Result<(), Failure> {
    if arguments.check {
        return check::<K>(&input, format, arguments.order());
    }
    let output_format = output_format(arguments, format);
    output_format.accept(K::TYPE).map_err(Failure::new)?;
    let keys = decode::<K>(&input, format)?;
    drop(input);
    sort_and_write(
        &keys_in_words::<K>(keys.len(), arguments.order()),
        keys,
        started,
        output_format,
        arguments,
    )
}

fn output_format(arguments: &Arguments, input_format: Format) -> Format {
    let by_name = || arguments.output.as_deref().and_then(Format::of_name);
    arguments.output_format.or_else(by_name).unwrap_or(input_format)
}

fn decode<K: FileKey>(input: &Input, format: Format) -> Result<Vec<K>, Failure> {
    let _progress = Progress::spinner("parsing");
    format.decode(&input.bytes).map_err(|reason| input.refused(reason))
}

fn check<K: FileKey>(input: &Input, format: Format, order: Order) -> Result<(), Failure> {
    let keys = decode::<K>(input, format)?;
    match first_out_of_order(&keys, order) {
        Some(index) => Err(Failure::No(format!(
            "{}: {}: {} comes after {}, so the keys are not {}",
            input.name,
            format.place::<K>(&input.bytes, index),
            show(keys[index]),
            show(keys[index - 1]),
            order_in_words(order)
        ))),
        None => {
            let mut output = io::stdout().lock();
            writeln!(output, "{}: sorted: {}", input.name, keys_in_words::<K>(keys.len(), order))
                .and_then(|()| output.flush())
                .map_err(Failure::output)
        }
    }
}

fn sort_and_write<K: FileKey>(
    what: &str,
    mut keys: Vec<K>,
    started: Instant,
    format: Format,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let before = started.elapsed();
    let progress = Progress::spinner("sorting");
    let report = arguments.sorter().sort(&mut keys)?;
    drop(progress);
    let writing = Instant::now();
    output::write(arguments.output.as_deref(), |out| {
        format.encode(&keys, out, &Progress::bar("writing", keys.len()))
    })?;
    if arguments.report {
        let mut lines = Lines::default();
        lines.add("keys", what);
        lines.add("engine", report.engine);
        lines.add("device", report.device);
        lines.add("plan", report.plan);
        if let Some(reason) = &report.fallback {
            lines.add("fallback", reason);
        }
        lines.add(if arguments.random.is_some() { "make" } else { "read" }, format_args!("{before:.2?}"));
        lines.add("sort", format_args!("{:.2?}, {}", report.elapsed, rate(keys.len(), report.elapsed)));
        lines.add("write", format_args!("{:.2?}", writing.elapsed()));
        // Nobody is left to tell if standard error is closed.
        let _ = write!(io::stderr().lock(), "{lines}");
    }
    Ok(())
}

fn keys_in_words<K: FileKey>(len: usize, order: Order) -> String {
    let plural = if len == 1 { "" } else { "s" };
    format!("{len} {} key{plural}, {}", K::TYPE, order_in_words(order))
}

fn order_in_words(order: Order) -> &'static str {
    match order {
        Order::Ascending => "ascending",
        Order::Descending => "descending",
    }
}
