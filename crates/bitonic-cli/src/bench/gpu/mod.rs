//! `bitonic bench gpu`: keys on a device, sorted there by the engine, by the ladder's rungs and by other libraries.

mod arena;
mod arguments;
mod contender;
mod csv;
mod ground;
mod job;
mod keys;
mod machine;
mod measure;
mod peers;
mod table;

pub(super) use arguments::Arguments;

use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use bitonic::Engine;
use bitonic_lab::foresight::{Foresight, Look};
use contender::Cell;
use ground::{Cuda, Ground, OpenCl};
use measure::Bench;
use peers::{Library, Peer, Wanted};
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
                let opencl = OpenCl::open(choice)
                    .map_err(|error| Failure::new(format!("{error}; and {without_cuda}")))?;
                run_on(&opencl, &arguments, format!(", because {without_cuda}"))
            }
        },
    }
}

/// Measures on this device. `engine_note` says why it is one of this engine.
fn run_on<G: Ground>(ground: &G, arguments: &Arguments, engine_note: String) -> Result<(), Failure> {
    let jobs = arguments.jobs(G::ENGINE)?;
    let rungs = arguments.rungs::<G>()?;
    let (repetitions, warm_up) = (arguments.repetitions()?, arguments.warm_up());
    let libraries = arguments.libraries(G::ENGINE)?;
    let wanted = Wanted {
        key_types: arguments.key_types.clone(),
        ordinal: ground.ordinal(),
        patience: arguments.patience(),
    };
    let machine = ground.machine();
    let (started, peers) = start(&libraries, &wanted);

    let progress = Progress::bar("sorting", jobs.len() * (1 + repetitions.get()));
    let (foresight, longest) = (Foresight::new(Look::Closely), arguments.longest);
    let mut bench = Bench {
        ground,
        rungs,
        peers: started,
        repetitions,
        warm_up,
        foresight,
        longest,
        progress: &progress,
    };
    let mut cells = Vec::new();
    for job in jobs {
        cells.extend(bitonic::with_key_type!(job.key_type, K => bench.measure::<K>(job))?);
    }
    drop(bench);
    drop(progress);
    report(&cells, &Circumstances { machine, engine_note, peers, warm_up }, arguments)
}

/// The peers that start, and of every one what it is or why it does not.
fn start(libraries: &[Library], wanted: &Wanted) -> (Vec<Peer>, Vec<(&'static str, String)>) {
    let mut started = Vec::new();
    let mut states = Vec::new();
    for library in libraries {
        match library.start(wanted) {
            Ok(peer) => {
                states.push((library.name(), peer.description.clone()));
                started.push(peer);
            }
            Err(reason) => states.push((library.name(), format!("left out: {reason}"))),
        }
    }
    (started, states)
}

fn report(cells: &[Cell], circumstances: &Circumstances, arguments: &Arguments) -> Result<(), Failure> {
    let to_file = arguments.csv.as_deref();
    if to_file.is_some_and(output::is_standard_stream) {
        // There is no table that would tell what is missing.
        for (name, state) in circumstances.peers.iter().filter(|(_, state)| state.starts_with("left out")) {
            output::note(format_args!("bitonic: {name}: {state}\n"));
        }
    } else {
        output::print(|out| out.write_all(table::render(cells, circumstances).as_bytes()))?;
    }
    match to_file {
        Some(path) => {
            let text = csv::render(cells, &circumstances.machine, &circumstances.peers);
            output::write(Some(path), |out| out.write_all(text.as_bytes()))
        }
        None => Ok(()),
    }
}
