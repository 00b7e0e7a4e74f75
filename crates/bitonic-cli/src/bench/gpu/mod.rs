//! `bitonic bench gpu`: keys on a device, sorted there by the engine, by the ladder's rungs and by other libraries.

mod arguments;
mod contender;
mod csv;
mod device;
mod input;
mod job;
mod keys;
mod measure;
mod plot;
mod table;

pub(super) use arguments::Arguments;

use crate::failure::Failure;
use crate::flags::in_flags;
use crate::output;
use crate::progress::Progress;
use bitonic::Engine;
use bitonic::device::Driver;
use bitonic_lab::forecast::{Forecast, Probes};
use bitonic_lab::peer::{Library, Peer, Wanted};
use bitonic_lab::record::Program;
use contender::Cell;
use csv::Files;
use device::MeasuredDevice;
use measure::Bench;
use table::Circumstances;

/// Measures, and prints what was found.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let choice = &arguments.device;
    match arguments.engine {
        Engine::OpenCl => run_on(&OpenCl::open(choice)?, &arguments, String::new()),
        Engine::Cuda => run_on(&Cuda::open(choice)?, &arguments, String::new()),
        _ => match Cuda::open(choice) {
            Ok(cuda) => run_on(&cuda, &arguments, String::new()),
            Err(without_cuda) => {
                let without_cuda = in_flags(without_cuda);
                let opencl = OpenCl::open(choice)
                    .map_err(|error| Failure::new(format!("{}; and {without_cuda}", in_flags(error))))?;
                run_on(&opencl, &arguments, format!(", because {without_cuda}"))
            }
        },
    }
}

type OpenCl = MeasuredDevice<bitonic::opencl::Device>;
type Cuda = MeasuredDevice<bitonic::cuda::Device>;

/// Measures on this device. `engine_note` says why it is one of this engine.
fn run_on<D: Driver>(
    device: &MeasuredDevice<D>,
    arguments: &Arguments,
    engine_note: String,
) -> Result<(), Failure> {
    let jobs = arguments.jobs(D::ENGINE)?;
    let rungs = arguments.rungs::<D>()?;
    let (repetitions, warm_up) = (arguments.repetitions()?, arguments.warm_up());
    let libraries = arguments.libraries(D::ENGINE)?;
    let wanted = Wanted {
        key_types: arguments.key_types.clone(),
        ordinal: device.ordinal(),
        python: "python3".into(),
        patience: arguments.patience(),
    };
    let description = device.description();
    let (started, peers) = start(&libraries, &wanted);
    let circumstances = Circumstances {
        engine: D::ENGINE,
        engine_note,
        device: description,
        program: Program::of_today(),
        peers,
        warm_up: warm_up.time,
    };

    let progress = Progress::bar("sorting", jobs.len() * repetitions.get());
    let mut files = Files::new(arguments.csv.as_deref());
    let mut cells = Vec::new();
    let mut bench = Bench {
        device,
        rungs,
        peers: started,
        repetitions,
        warm_up,
        forecast: Forecast::new(Probes::Many),
        longest: arguments.longest,
        progress: &progress,
        files: &mut files,
    };
    for job in jobs {
        let of_job = bench.measure(job)?;
        progress.aside(|| bench.files.keep(&of_job, &circumstances))?;
        cells.extend(of_job);
        // Again and again: who is killed leaves what is known.
        if let Some(path) = &arguments.plot {
            plot::write(path, &cells, &circumstances)?;
        }
    }
    drop(bench);
    drop(progress);
    report(&cells, &circumstances, &files)
}

/// The peers that start, and of every one what it is or why it does not.
fn start(libraries: &[Library], wanted: &Wanted) -> (Vec<Peer>, Vec<(&'static str, String)>) {
    let progress = Progress::spinner("starting the program of another library");
    let mut started = Vec::new();
    let mut states = Vec::new();
    for library in libraries {
        match library.start(wanted, &mut |doing| progress.name(doing)) {
            Ok(peer) => {
                states.push((library.name(), peer.description.clone()));
                started.push(peer);
            }
            Err(reason) => states.push((library.name(), format!("left out: {reason}"))),
        }
    }
    (started, states)
}

/// Prints the table, unless standard output has the lines for programs.
fn report(cells: &[Cell], circumstances: &Circumstances, files: &Files) -> Result<(), Failure> {
    if let Files::StandardOutput { .. } = files {
        // There is no table that would tell what is missing.
        for (name, state) in circumstances.peers.iter().filter(|(_, state)| state.starts_with("left out")) {
            output::note(format_args!("bitonic: {name}: {state}\n"));
        }
        return Ok(());
    }
    output::print(|out| out.write_all(table::render(cells, circumstances).as_bytes()))
}
