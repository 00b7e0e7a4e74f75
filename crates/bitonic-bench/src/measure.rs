//! The measurement: every contender on the same fresh keys, turn by turn, over and over.

use crate::element::Element;
use crate::error::Error;
use crate::experiment::{Effort, Experiment};
use crate::numpy::Numpy;
use crate::peers::{Contender, Mode};
use crate::quantity;
use crate::statistics::Summary;
use crate::workload::{Shape, Workload};
use bitonic_testkit::Pattern;
use indicatif::{ProgressBar, ProgressStyle};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt;
use std::time::{Duration, Instant};

/// What was measured: one cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The sort.
    pub contender: Contender,
    /// What was sorted.
    pub element: Element,
    /// In which state it was before.
    pub pattern: Pattern,
    /// How many at a time.
    pub size: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { contender, element, pattern, size } = self;
        let keys = if *element == Element::Pairs { "" } else { " keys" };
        write!(f, "{contender}, {} {element}{keys}, {pattern}", quantity::name(*size))
    }
}

/// A measurement: where, and the nanoseconds per key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// What was measured.
    pub place: Place,
    /// How many arrays were sorted within one time.
    pub rows: usize,
    /// Nanoseconds per key.
    pub nanoseconds: Summary,
}

/// The cell of a place, if it was measured.
pub fn find(cells: &[Cell], place: Place) -> Option<&Cell> {
    cells.iter().find(|cell| cell.place == place)
}

/// What contenders run on.
#[derive(Debug)]
pub struct Arena {
    one: ThreadPool,
    all: ThreadPool,
    numpy: Option<Numpy>,
}

impl Arena {
    /// Starts the threads. Without a numpy process, numpy cannot take part.
    pub fn new(numpy: Option<Numpy>) -> Result<Self, Error> {
        let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build();
        // For rayon, 0 means all cores.
        Ok(Self { one: pool(1)?, all: pool(0)?, numpy })
    }

    /// All cores.
    pub(crate) fn all(&self) -> &ThreadPool {
        &self.all
    }

    /// The threads that a contender may use.
    pub(crate) fn pool(&self, contender: Contender) -> &ThreadPool {
        if contender.mode() == Mode::Threads { &self.all } else { &self.one }
    }

    pub(crate) fn numpy(&mut self) -> Option<&mut Numpy> {
        self.numpy.as_mut()
    }
}

/// Measures the whole experiment. Calls `finished` with the cells of every element and pattern as soon as it has them.
///
/// Fails on the first wrong result. Progress is shown on standard error if that is a terminal.
pub fn measure(
    experiment: &Experiment,
    arena: &mut Arena,
    mut finished: impl FnMut(&[Cell]),
) -> Result<Vec<Cell>, Error> {
    let Experiment { elements, patterns, sizes, contenders, effort, seed } = experiment;
    let progress = progress(elements.len() * patterns.len() * sizes.len());
    let mut results = Vec::new();
    for &element in elements {
        for &pattern in patterns {
            let start = results.len();
            for &size in sizes {
                progress.set_message(format!("{element}, {pattern}, {}", quantity::name(size)));
                let takes_part = |contender: &Contender| contender.left_out(element, pattern, size).is_none();
                let contenders: Vec<Contender> = contenders.iter().copied().filter(takes_part).collect();
                let shape = Shape { element, pattern, size, rows: effort.keys.div_ceil(size), seed: *seed };
                results.extend(measure_shape(shape, &contenders, *effort, arena)?);
                progress.inc(1);
            }
            progress.suspend(|| finished(&results[start..]));
        }
    }
    progress.finish_and_clear();
    Ok(results)
}

fn measure_shape(
    shape: Shape,
    contenders: &[Contender],
    effort: Effort,
    arena: &mut Arena,
) -> Result<Vec<Cell>, Error> {
    let Shape { element, pattern, size, rows, seed } = shape;
    let times = measure_workload(&mut *shape.workload(), contenders, effort, seed, arena)?;
    let keys = (rows * size) as f64;
    let cells = contenders.iter().zip(times).filter_map(|(&contender, times)| {
        let nanoseconds: Vec<f64> = times.iter().map(|time| time.as_nanos() as f64 / keys).collect();
        let place = Place { contender, element, pattern, size };
        Summary::of(&nanoseconds).map(|nanoseconds| Cell { place, rows, nanoseconds })
    });
    Ok(cells.collect())
}

/// The times of every contender. The first turn of each warms up code, caches and clock rate, and is not counted.
fn measure_workload(
    workload: &mut dyn Workload,
    contenders: &[Contender],
    effort: Effort,
    seed: u64,
    arena: &mut Arena,
) -> Result<Vec<Vec<Duration>>, Error> {
    let mut times = vec![Vec::new(); contenders.len()];
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut turn = |order: &mut [usize], arena: &mut Arena, count: bool| {
        workload.renew(arena);
        // What a contender leaves behind in the caches must not always meet the same successor.
        order.shuffle(&mut random);
        for &index in &*order {
            let time = workload.run(contenders[index], arena)?;
            if count {
                times[index].push(time);
            }
        }
        Ok::<(), Error>(())
    };
    turn(&mut order, arena, false)?;
    let budget = effort.time * contenders.len() as u32;
    let started = Instant::now();
    let mut repetitions = 0;
    while repetitions < effort.repetitions || started.elapsed() < budget {
        turn(&mut order, arena, true)?;
        repetitions += 1;
    }
    Ok(times)
}

/// A bar on standard error, if that is a terminal.
fn progress(lengths: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg:30}");
    ProgressBar::new(lengths as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
