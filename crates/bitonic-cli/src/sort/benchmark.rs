//! `--random` without an output: how fast is a sort here, on every engine, beside the standard library's?

use super::grouping::Grouping;
use super::{Arguments, report};
use crate::failure::Failure;
use crate::figures::{counted, time};
use crate::flags::in_flags;
use crate::output;
use crate::progress::Progress;
use crate::race::{self, Contender, LeftOut, Race, RaceKeys, Repeat};
use bitonic::device::{self, AutoChoice};
use bitonic::key::KeyType;
use bitonic::{Engine, Error, Request, Segments, Sorter, with_key_type};
use std::time::{Duration, Instant};

/// Sorts the same keys with the library and with the standard library, by turns, compares the results bit for bit, and
/// prints what was measured. Where the engine is `auto`, all that are here take part, and it says which one is taken and why. `what`
/// says how the keys were made.
pub(super) fn run(
    what: &str,
    key_type: KeyType,
    len: usize,
    grouping: Grouping,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let sorter = arguments.sorter()?;
    let plan = grouping.plan(&sorter, key_type, len)?;
    let order = arguments.options.order();
    let row_length = grouping.length(len)?;
    let &Arguments { distribution, seed, .. } = arguments;
    let keys = RaceKeys { key_type, len, row_length, distribution, seed, order };
    // Before any device is open: then it may pay more.
    let choice = match arguments.options.engine {
        Engine::Auto => Some(auto_choice(&keys, arguments)?),
        _ => None,
    };
    let mut race = Race::new(keys)?;

    let mut contenders = vec![Contender::bitonic("bitonic", sorter.clone())];
    if plan.threads > 1 {
        contenders.push(Contender::bitonic("bitonic, 1 thread", sorter.clone().threads(1)));
    }
    let mut left_out = Vec::new();
    for (engine, name) in others(choice.as_ref()) {
        let sorter = sorter.clone().engine(engine);
        match too_slow(&sorter, len, key_type.bytes()) {
            Ok(None) => contenders.push(Contender::bitonic(name, sorter)),
            Ok(Some(reason)) => left_out.push(LeftOut { name, reason }),
            // An engine that has no device here is none that is here.
            Err(Error::EngineUnavailable { .. }) => {}
            Err(error) => left_out.push(LeftOut { name, reason: in_flags(error) }),
        }
    }
    contenders.push(Contender::standard(order));
    let times = race.run(&contenders, Repeat::ForSomeSeconds)?;

    output::print(|out| {
        if let Some(report) = &times[0].report {
            let mut lines = report::lines(what, report, plan.instructions);
            if let Some(choice) = &choice {
                lines.add("auto", format_args!("takes {choice}"));
            }
            writeln!(out, "{lines}")?;
        }
        write!(out, "{}", race::render(len, &times, &left_out))?;
        let runs = counted(times[0].runs(), "run");
        writeln!(
            out,
            "verified: {runs} each, and every result has the same keys in the same order, bit for bit"
        )
    })
}

/// Which engine `auto` takes for these keys.
fn auto_choice(keys: &RaceKeys, arguments: &Arguments) -> Result<AutoChoice, Failure> {
    let &RaceKeys { key_type, len, row_length, order, .. } = keys;
    let segments = match row_length == len {
        true => Segments::one(len),
        false => Segments::rows(len, row_length)?,
    };
    let request = with_key_type!(key_type, K => Request::keys::<K>(segments));
    let oblivious = arguments.options.is_oblivious();
    Ok(device::auto_choice(&Request { order, oblivious, ..request }))
}

/// The engines beside the one that is taken, and their names in the table. None where an engine was asked for.
fn others(choice: Option<&AutoChoice>) -> impl Iterator<Item = (Engine, &'static str)> {
    let rows =
        [(Engine::Cpu, "bitonic, cpu"), (Engine::OpenCl, "bitonic, opencl"), (Engine::Cuda, "bitonic, cuda")];
    let taken = choice.map(|choice| choice.engine);
    rows.into_iter().filter(move |(engine, _)| taken.is_some_and(|taken| taken != *engine))
}

/// Keys of 32 bits that a device is tried with, before it takes part.
const FEW: usize = 1 << 16;

/// Why a device should not be waited for, if it should not.
fn too_slow(sorter: &Sorter, len: usize, key_bytes: usize) -> Result<Option<String>, Error> {
    if sorter.plan::<u32>(FEW)?.engine == Engine::Cpu {
        return Ok(None);
    }
    let _progress = Progress::spinner("trying a device");
    let mut keys: Vec<u32> = (0..FEW as u32).map(|number| number.wrapping_mul(0x9E37_79B9)).collect();
    // The first sort builds kernels.
    sorter.sort(&mut keys)?;
    let started = Instant::now();
    sorter.sort(&mut keys)?;
    Ok(reason_to_leave_out(started.elapsed(), len, key_bytes))
}

/// The same of a device that takes this long for a few keys.
fn reason_to_leave_out(few: Duration, len: usize, key_bytes: usize) -> Option<String> {
    /// Others take turns meanwhile, up to nine times.
    const LONGEST: Duration = Duration::from_secs(1);

    let more = len as f64 / FEW as f64 * (key_bytes as f64 / size_of::<u32>() as f64).max(1.0);
    let expected = few.mul_f64(more);
    (expected > LONGEST)
        .then(|| format!("would take about {} each time; --engine measures it alone", time(expected)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_would_take_long_is_left_out() {
        let reason =
            |milliseconds, len, bytes| reason_to_leave_out(Duration::from_millis(milliseconds), len, bytes);
        assert_eq!(reason(3, 1 << 20, 4), None);
        assert_eq!(reason(3, 1 << 24, 1), None);
        assert!(reason(3, 1 << 25, 4).is_some_and(|reason| reason.starts_with("would take about 1.54 s ")));
        assert!(reason(3, 1 << 24, 8).is_some());
        assert_eq!(reason(2000, 1000, 4), None, "kernels that take long to start sort few keys, too");
    }
}
