//! How to sort: the options that every sub-command with a sort in it has.

use crate::failure::Failure;
use crate::word::Word;
use bitonic::DeviceChoice;
use bitonic::{Engine, Instructions, Order, Sorter};

/// The environment variable that the library reads, too: it chooses the instruction set where the option does not.
pub(crate) const INSTRUCTIONS_VARIABLE: &str = "BITONIC_INSTRUCTIONS";

/// How the library shall sort.
#[derive(clap::Args)]
#[command(next_help_heading = "Sort")]
pub(crate) struct SortOptions {
    /// Largest key first
    #[arg(short, long)]
    reverse: bool,

    /// Let no branch and no memory address depend on a key, so that timing tells nothing about secret keys
    #[arg(long)]
    oblivious: bool,

    /// What sorts; `bitonic devices` lists what is here
    #[arg(
        long,
        value_name = "NAME",
        value_parser = Word::one_of("engine", Engine::ALL, Engine::name),
        default_value = "auto"
    )]
    pub(crate) engine: Engine,

    /// The device of the opencl or cuda engine: an index, `cpu`, `gpu`, a part of its name, or `best`; `bitonic devices`
    /// lists what is here [default: best]
    #[arg(long, value_name = "DEVICE", value_parser = Word::device())]
    device: Option<DeviceChoice>,

    /// Use at most this many bytes of a device's memory, such as 1000000, 512M or 4G (4 x 2^30); what needs more is sorted
    /// in chunks and merged on the host [default: BITONIC_DEVICE_MEMORY, else almost all]
    #[arg(long, value_name = "BYTES", value_parser = Word::count(), allow_negative_numbers = true)]
    device_memory: Option<usize>,

    /// Refuse what a device's memory does not hold, instead of sorting it in chunks
    #[arg(long)]
    no_chunks: bool,

    /// The instruction set of the cpu engine; `bitonic devices` lists what is here [default: the fastest here]
    #[arg(
        long,
        value_name = "NAME",
        value_parser = Word::one_of("instruction set", Instructions::ALL, Instructions::name),
        env = INSTRUCTIONS_VARIABLE
    )]
    instructions: Option<Instructions>,

    /// Use at most this many processor threads; 0 is one for every core
    #[arg(
        long,
        value_name = "N",
        value_parser = Word::threads(),
        allow_negative_numbers = true,
        default_value = "0"
    )]
    pub(crate) threads: usize,
}

impl SortOptions {
    /// The direction asked for.
    pub(crate) fn order(&self) -> Order {
        if self.reverse { Order::Descending } else { Order::Ascending }
    }

    /// Asks for the other direction.
    pub(crate) fn turn_around(&mut self) {
        self.reverse = !self.reverse;
    }

    /// Whether time and addresses shall tell nothing about keys.
    pub(crate) fn is_oblivious(&self) -> bool {
        self.oblivious
    }

    /// The device asked for, or the best.
    pub(crate) fn device(&self) -> DeviceChoice {
        self.device.clone().unwrap_or_default()
    }

    /// The sort asked for. A device for an engine that has none to choose from is a mistake.
    pub(crate) fn sorter(&self) -> Result<Sorter, Failure> {
        match (&self.device, self.engine) {
            (None, _) | (Some(_), Engine::OpenCl | Engine::Cuda) => Ok(self.sorter_beside_rungs()),
            (Some(device), engine) => Err(Failure::new(format!(
                "--device {device} is for the opencl and cuda engines, and the engine is {engine}: add --engine opencl, or \
                 leave --device out"
            ))),
        }
    }

    /// The sort asked for, where others use the device, too, so that one with any engine makes sense.
    pub(crate) fn sorter_beside_rungs(&self) -> Sorter {
        let sorter = Sorter::new()
            .engine(self.engine)
            .device(self.device())
            .order(self.order())
            .threads(self.threads)
            .oblivious(self.oblivious)
            .chunks(!self.no_chunks);
        let sorter = match self.instructions {
            Some(instructions) => sorter.instructions(instructions),
            None => sorter,
        };
        match self.device_memory {
            Some(bytes) => sorter.device_memory(bytes as u64),
            None => sorter,
        }
    }
}
