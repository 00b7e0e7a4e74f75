//! `bitonic sort`.

mod arguments;
mod benchmark;
mod external;
mod formats;
mod grouping;
mod keys;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod report;
mod sources;

pub(crate) use arguments::{Arguments, TopArguments};

use crate::failure::Failure;
use crate::figures::{counted, million_keys_per_second, time};
use crate::output;
use crate::progress::Progress;
use crate::random;
use bitonic::key::{KeyType, Order};
use bitonic::{Instructions, Report, with_key_type};
use formats::{Format, Layout};
use grouping::Grouping;
use keys::AnyKeys;
use sources::{Decoded, Sources};
use std::path::Path;
use std::time::{Duration, Instant};

/// Sorts, checks or measures, as the arguments ask.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    // Options that contradict each other do so before anything is read or made.
    arguments.sorter().map(drop)?;
    match arguments.random {
        Some(len) => run_random(arguments.key_type.unwrap_or(KeyType::U32), len, &arguments),
        None => run_input(&arguments),
    }
}

fn run_random(key_type: KeyType, len: usize, arguments: &Arguments) -> Result<(), Failure> {
    if let (None, Some(option)) = (&arguments.output, arguments.option_for_output()) {
        return Err(Failure::new(format!(
            "{option} has nothing to write: add -o FILE, or -o - for standard output"
        )));
    }
    let format = output_format(arguments, Format::Text, None)?;
    format.accept(written_type(key_type, arguments)).map_err(Failure::new)?;
    let grouping = Grouping::of(arguments.rows, None, None).map_err(Failure::new)?;
    let &Arguments { distribution, seed, .. } = arguments;
    let what = format!("{}, {distribution}, seed {seed}", keys_in_words(key_type, len, grouping, arguments)?);
    if arguments.output.is_none() {
        return benchmark::run(&what, key_type, len, grouping, arguments);
    }
    let started = Instant::now();
    let keys: Box<dyn AnyKeys> =
        with_key_type!(key_type, K => Box::new(random::make::<K>(len, distribution, seed, 1)?));
    let to_write = ToWrite { what, keys, grouping, format, layout: Layout::flat(len) };
    sort_and_write(to_write, started, arguments)
}

fn run_input(arguments: &Arguments) -> Result<(), Failure> {
    let started = Instant::now();
    if arguments.files.iter().chain(&arguments.output).any(|path| is_parquet(path)) {
        return parquet::run(started, arguments);
    }
    let inputs = external::gather(arguments)?;
    if external::is_larger(&inputs, arguments)? {
        return external::run(inputs, started, arguments);
    }
    let sources = Sources::read(inputs, arguments)?;
    if let Some(column) = &arguments.key {
        return lines::run(&sources, column, started, arguments);
    }
    let key_type = sources.key_type(arguments)?;
    if arguments.check {
        return check(&sources, key_type, arguments);
    }
    let format = output_format(arguments, sources.format(), sources.extension())?;
    format.accept(written_type(key_type, arguments)).map_err(Failure::new)?;
    refuse_bytes_on_terminal(format, arguments)?;
    if formats::text::comments(key_type) == formats::text::Comments::LeftOut {
        sources.keep_comments(arguments.output.as_deref())?;
    }
    let Decoded { mut keys, ends } = sources.decode(key_type, arguments.digits())?;
    let (grouping, layout) = arrangement(&sources, keys.len(), arguments)?;
    if arguments.merge {
        merge(&sources, &mut *keys, &ends, arguments)?;
        return write(&mut *keys, grouping, format, layout, arguments);
    }
    drop(sources);
    let what = keys_in_words(key_type, keys.len(), grouping, arguments)?;
    sort_and_write(ToWrite { what, keys, grouping, format, layout }, started, arguments)
}

/// Whether a name speaks of a Parquet file.
fn is_parquet(path: &Path) -> bool {
    formats::extension(path).is_some_and(|extension| extension == "parquet")
}

/// The type of what is written: keys or indices.
fn written_type(key_type: KeyType, arguments: &Arguments) -> KeyType {
    if arguments.argsort { KeyType::I64 } else { key_type }
}

/// Puts the keys of all inputs in order, each of which is in order.
fn merge(
    sources: &Sources,
    keys: &mut dyn AnyKeys,
    ends: &[usize],
    arguments: &Arguments,
) -> Result<(), Failure> {
    let order = arguments.options.order();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    for (start, &end) in starts.zip(ends) {
        if let Some(index) = keys.first_out_of_order(start..end, order) {
            let position = sources.position_of_key(keys.key_type(), ends, index);
            let [before, key] = [index - 1, index].map(|index| keys.show(index));
            let order = order_in_words(order);
            return Err(Failure::new(format!(
                "{position}: {key} comes after {before}, so this input is not {order}: leave out --merge to sort it"
            )));
        }
    }
    let _progress = Progress::spinner("merging");
    keys.merge(ends, &arguments.sorter()?)
}

/// What is sorted for itself, and how the result is stored.
fn arrangement(sources: &Sources, len: usize, arguments: &Arguments) -> Result<(Grouping, Layout), Failure> {
    let layout = sources.layout(len)?;
    let grouping = Grouping::of(arguments.rows, arguments.axis, layout.as_ref())
        .map_err(|reason| Failure::new(format!("{}: {reason}", sources.names())))?;
    Ok((grouping, layout.unwrap_or_else(|| Layout::flat(len))))
}

/// The format to write: the one asked for, or the one that the output's name speaks of, or the input's. Bytes go to no name
/// that speaks of something else.
fn output_format(
    arguments: &Arguments,
    input_format: Format,
    input_extension: Option<String>,
) -> Result<Format, Failure> {
    let Some(path) = arguments.output.as_deref() else {
        return Ok(arguments.output_format.unwrap_or(input_format));
    };
    let extension = formats::extension(path);
    let known = arguments.output_format.or_else(|| Format::of_name(path));
    match (known, &extension) {
        (Some(format), _) => Ok(format),
        (None, Some(extension)) if extension == "npz" => Err(Failure::new(format!(
            "archives are not written, and {} is named as one: name it .npy for one array",
            path.display()
        ))),
        (None, Some(extension)) if extension == "parquet" => Err(Failure::new(format!(
            "keys alone are not written as Parquet, and {} is named so: name it .npy, .bin or .txt",
            path.display()
        ))),
        (None, Some(_)) if !input_format.is_text() && extension != input_extension && is_named(path) => {
            Err(Failure::new(format!(
                "{} does not say by its name what it is to hold: name it .npy, .bin or .txt, or say --output-format npy, raw \
                 or text",
                path.display()
            )))
        }
        (None, _) => Ok(input_format),
    }
}

/// Whether the path names a file, and not a device or a stream.
fn is_named(path: &Path) -> bool {
    path.metadata().map_or(true, |about| about.is_file())
}

/// Bytes would leave a terminal in disorder. Who names standard output wants it so.
fn refuse_bytes_on_terminal(format: Format, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.output.is_none() && !format.is_text() && output::is_terminal() {
        return Err(Failure::new(
            "the sorted keys are bytes and would disturb the terminal: add -o FILE, or --output-format text to read them; -o \
             - sends them to the terminal all the same",
        ));
    }
    Ok(())
}

fn check(sources: &Sources, key_type: KeyType, arguments: &Arguments) -> Result<(), Failure> {
    let order = arguments.options.order();
    let Decoded { mut keys, ends } = sources.decode(key_type, arguments.digits())?;
    let len = keys.len();
    let (grouping, _) = arrangement(sources, len, arguments)?;
    let what = keys_in_words(key_type, len, grouping, arguments)?;
    let row_length = grouping.length(len)?.max(1);
    keys.put_in_rows(grouping).map_err(Failure::new)?;
    let mut rows = (0..len).step_by(row_length).map(|start| start..len.min(start + row_length));
    match rows.find_map(|row| keys.first_out_of_order(row, order)) {
        Some(index) => {
            let position = sources.position_of_key(key_type, &ends, grouping.stored(index));
            let unsorted = if grouping == Grouping::All { "keys are" } else { "row is" };
            Err(not_in_order(&position, &keys.show(index), &keys.show(index - 1), unsorted, order))
        }
        None => output::print(|out| writeln!(out, "{}: sorted: {what}", sources.names())),
    }
}

/// The answer to `--check` if it is no.
fn not_in_order(position: &str, key: &str, before: &str, unsorted: &str, order: Order) -> Failure {
    let order = order_in_words(order);
    Failure::No(format!("{position}: {key} comes after {before}, so the {unsorted} not {order}"))
}

/// Keys that are to be sorted and written.
struct ToWrite {
    /// For people.
    what: String,
    keys: Box<dyn AnyKeys>,
    grouping: Grouping,
    format: Format,
    layout: Layout,
}

fn sort_and_write(to_write: ToWrite, started: Instant, arguments: &Arguments) -> Result<(), Failure> {
    let ToWrite { what, mut keys, grouping, format, layout } = to_write;
    let before = started.elapsed();
    let sorter = arguments.sorter()?;
    let plan = grouping.plan(&sorter, keys.key_type(), keys.len())?;
    let progress = Progress::spinner("sorting");
    if arguments.argsort {
        let mut indices = keys.argsort(grouping, &sorter)?;
        drop(progress);
        return write(&mut indices, grouping, format, layout, arguments);
    }
    let sorting = Instant::now();
    let report = keys.sort(grouping, &sorter)?;
    let sorting = sorting.elapsed();
    drop(progress);
    let writing = Instant::now();
    write(&mut *keys, grouping, format, layout, arguments)?;
    if arguments.report {
        let times = Times { before, sorting, writing: writing.elapsed() };
        print_report(&what, &report, plan.instructions, times, arguments);
    }
    Ok(())
}

/// Writes what is asked for of keys that are in order.
fn write(
    keys: &mut dyn AnyKeys,
    grouping: Grouping,
    format: Format,
    mut layout: Layout,
    arguments: &Arguments,
) -> Result<(), Failure> {
    if arguments.unique {
        keys.keep_different();
        layout = layout.flattened(keys.len());
    }
    if let Some(most) = arguments.top {
        layout = keys.cut(grouping, most, layout)?;
    }
    output::write(arguments.output.as_deref(), |out| {
        format.encode(keys, &layout, out, &Progress::bar("writing", keys.len()))
    })
}

/// How long each part of a command took.
struct Times {
    /// Reading or making the keys.
    before: Duration,
    sorting: Duration,
    writing: Duration,
}

/// Tells what was done and how long it took.
fn print_report(
    what: &str,
    report: &Report,
    instructions: Option<Instructions>,
    times: Times,
    arguments: &Arguments,
) {
    let mut lines = report::lines(what, report, instructions);
    lines.add(if arguments.random.is_some() { "make" } else { "read" }, time(times.before));
    let rate = million_keys_per_second(report.len(), times.sorting);
    lines.add("sort", format_args!("{}, {rate} million keys/s", time(times.sorting)));
    lines.add("write", time(times.writing));
    output::note(lines);
}

/// Which keys are sorted, and how: `4096 u32 keys in 4 rows of 1024, ascending`.
fn keys_in_words(
    key_type: KeyType,
    len: usize,
    grouping: Grouping,
    arguments: &Arguments,
) -> Result<String, Failure> {
    let mut words = counted(len, &format!("{key_type} key"));
    let row_length = grouping.length(len)?;
    if grouping != Grouping::All {
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
