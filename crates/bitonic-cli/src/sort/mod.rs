//! `bitonic sort`.

mod arguments;
mod benchmark;
mod formats;
mod report;

pub(crate) use arguments::Arguments;

use crate::failure::Failure;
use crate::figures::{counted, million_keys_per_second, time};
use crate::input::Input;
use crate::output;
use crate::progress::Progress;
use crate::random;
use bitonic::key::{KeyType, Order};
use formats::{FileKey, Format, first_out_of_order, show};
use std::time::Instant;

/// Sorts, checks or measures, as the arguments ask.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    // Options that contradict each other do so before anything is read or made.
    arguments.sorter().map(drop)?;
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
    let &Arguments { distribution, seed, .. } = arguments;
    let what = format!("{}, {distribution}, seed {seed}", keys_in_words::<K>(len, arguments)?);
    if arguments.output.is_none() {
        return benchmark::run::<K>(&what, len, arguments);
    }
    let started = Instant::now();
    let keys: Vec<K> = random::make(len, distribution, seed, 1)?;
    sort_and_write(&what, keys, started, format, arguments)
}

fn run_input(arguments: &Arguments) -> Result<(), Failure> {
    let started = Instant::now();
    let input = Input::read(arguments.file.as_deref())?;
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
        return check::<K>(&input, format, arguments);
    }
    let output_format = output_format(arguments, format);
    output_format.accept(K::TYPE).map_err(Failure::new)?;
    let keys = decode::<K>(&input, format)?;
    drop(input);
    let what = keys_in_words::<K>(keys.len(), arguments)?;
    sort_and_write(&what, keys, started, output_format, arguments)
}

fn output_format(arguments: &Arguments, input_format: Format) -> Format {
    let by_name = || arguments.output.as_deref().and_then(Format::of_name);
    arguments.output_format.or_else(by_name).unwrap_or(input_format)
}

fn decode<K: FileKey>(input: &Input, format: Format) -> Result<Vec<K>, Failure> {
    let _progress = Progress::spinner("parsing");
    format.decode(&input.bytes).map_err(|reason| input.refused(reason))
}

fn check<K: FileKey>(input: &Input, format: Format, arguments: &Arguments) -> Result<(), Failure> {
    let order = arguments.options.order();
    let keys = decode::<K>(input, format)?;
    let what = keys_in_words::<K>(keys.len(), arguments)?;
    let row_length = arguments.row_length(keys.len())?;
    let wrong_in_row =
        |(row, keys): (usize, &[K])| first_out_of_order(keys, order).map(|index| row * row_length + index);
    match keys.chunks(row_length.max(1)).enumerate().find_map(wrong_in_row) {
        Some(index) => Err(Failure::No(format!(
            "{}: {}: {} comes after {}, so the {} not {}",
            input.name,
            format.position_of_key::<K>(&input.bytes, index),
            show(keys[index]),
            show(keys[index - 1]),
            if arguments.rows.is_some() { "row is" } else { "keys are" },
            order_in_words(order)
        ))),
        None => output::print(|out| writeln!(out, "{}: sorted: {what}", input.name)),
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
    let sorter = arguments.sorter()?;
    let plan = arguments.plan::<K>(&sorter, keys.len())?;
    let progress = Progress::spinner("sorting");
    let sorting = Instant::now();
    let report = arguments.sort(&sorter, &mut keys)?;
    let elapsed = sorting.elapsed();
    drop(progress);
    let writing = Instant::now();
    output::write(arguments.output.as_deref(), |out| {
        format.encode(&keys, out, &Progress::bar("writing", keys.len()))
    })?;
    if arguments.report {
        let mut lines = report::lines(what, &report, plan.instructions);
        lines.add(if arguments.random.is_some() { "make" } else { "read" }, time(before));
        let rate = million_keys_per_second(keys.len(), elapsed);
        lines.add("sort", format_args!("{}, {rate} million keys/s", time(elapsed)));
        lines.add("write", time(writing.elapsed()));
        output::note(lines);
    }
    Ok(())
}

/// Which keys are sorted, and how: `4096 u32 keys in 4 rows of 1024, ascending`.
fn keys_in_words<K: FileKey>(len: usize, arguments: &Arguments) -> Result<String, Failure> {
    let mut words = counted(len, &format!("{} key", K::TYPE));
    if arguments.rows.is_some() {
        let row_length = arguments.row_length(len)?;
        let rows = counted(len.checked_div(row_length).unwrap_or(0), "row");
        words += &format!(" in {rows} of {row_length}");
    }
    Ok(format!("{words}, {}", order_in_words(arguments.options.order())))
}

fn order_in_words(order: Order) -> &'static str {
    match order {
        Order::Ascending => "ascending",
        Order::Descending => "descending",
    }
}
