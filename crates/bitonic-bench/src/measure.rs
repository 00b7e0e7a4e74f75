//! What the benchmark shows of the laboratory's measurement: every contender on the same fresh keys, turn by turn.

use crate::contender::{KeySort, NumpySort, PairSort, Threads};
use crate::element::Element;
use crate::error::Error;
use crate::experiment::{Effort, Experiment};
use crate::peers::{PeerKey, Sort};
use bitonic::Order;
use bitonic_lab::measure::{Contender, Failed, HostInput, InProcess, Rounds, Timed, View, WarmUp};
use bitonic_lab::peer::Peer;
use bitonic_lab::quantity;
use bitonic_lab::record::{self, CellKey, CsvFile, Record};
use bitonic_lab::statistics::Summary;
use bitonic_testkit::Pattern;
use std::fmt;
use std::time::Instant;

/// What was measured: one cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellId {
    /// The sort.
    pub sort: Sort,
    /// What was sorted.
    pub element: Element,
    /// In which state it was before.
    pub pattern: Pattern,
    /// How many at a time.
    pub size: usize,
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sort, element, pattern, size } = self;
        let keys = if *element == Element::Pairs { "" } else { " keys" };
        write!(f, "{sort}, {} {element}{keys}, {pattern}", quantity::name(*size))
    }
}

/// A measurement: of what, and the nanoseconds per key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// What was measured.
    pub id: CellId,
    /// How many arrays were sorted within one time.
    pub rows: usize,
    /// Nanoseconds per key.
    pub nanoseconds: Summary,
}

/// The cell of this identity, if it was measured.
pub fn find(cells: &[Cell], id: CellId) -> Option<&Cell> {
    cells.iter().find(|cell| cell.id == id)
}

/// What sorts run on, and where every run is recorded.
#[derive(Debug)]
pub struct Bench {
    /// The threads of sorts in this process.
    pub threads: Threads,
    /// The program that sorts with numpy; without it numpy cannot take part.
    pub numpy: Option<Peer>,
    /// The file of runs, if one is wanted.
    pub runs: Option<CsvFile<Record>>,
}

/// Somebody who is told what was measured as soon as it is.
pub trait Watch {
    /// These keys are being sorted from now on.
    fn begins(&mut self, element: Element, pattern: Pattern, size: usize);

    /// All sorts of one size are measured.
    ///
    /// # Errors
    ///
    /// Why the benchmark cannot go on.
    fn size_done(&mut self, cells: &[Cell]) -> Result<(), Error>;

    /// All sizes of one element and pattern are measured.
    fn group_done(&mut self, cells: &[Cell]);
}

/// Measures the whole experiment.
///
/// # Errors
///
/// The first wrong result, or why a sort did not sort.
pub fn measure(
    experiment: &Experiment,
    bench: &mut Bench,
    watch: &mut dyn Watch,
) -> Result<Vec<Cell>, Error> {
    let Experiment { elements, patterns, sizes, sorts, effort, seed } = experiment;
    let mut results = Vec::new();
    for &element in elements {
        for &pattern in patterns {
            let start = results.len();
            for &size in sizes {
                watch.begins(element, pattern, size);
                let takes_part = |sort: &Sort| sort.left_out(element, pattern, size).is_none();
                let sorts: Vec<Sort> = sorts.iter().copied().filter(takes_part).collect();
                let workload =
                    Workload { element, pattern, size, rows: effort.keys.div_ceil(size), seed: *seed };
                let cells = workload.measure(&sorts, *effort, bench)?;
                watch.size_done(&cells)?;
                results.extend(cells);
            }
            watch.group_done(&results[start..]);
        }
    }
    Ok(results)
}

/// Rows of keys or pairs that contenders sort in turns.
#[derive(Clone, Copy, Debug)]
struct Workload {
    element: Element,
    pattern: Pattern,
    /// How many in a row.
    size: usize,
    rows: usize,
    /// Where the random keys start.
    seed: u64,
}

impl Workload {
    fn measure(self, sorts: &[Sort], effort: Effort, bench: &mut Bench) -> Result<Vec<Cell>, Error> {
        match self.element {
            Element::U32 => self.measure_keys::<u32>(sorts, effort, bench),
            Element::I32 => self.measure_keys::<i32>(sorts, effort, bench),
            Element::F32 => self.measure_keys::<f32>(sorts, effort, bench),
            Element::U64 => self.measure_keys::<u64>(sorts, effort, bench),
            Element::I64 => self.measure_keys::<i64>(sorts, effort, bench),
            Element::F64 => self.measure_keys::<f64>(sorts, effort, bench),
            Element::U8 => self.measure_keys::<u8>(sorts, effort, bench),
            Element::U16 => self.measure_keys::<u16>(sorts, effort, bench),
            Element::U128 => self.measure_keys::<u128>(sorts, effort, bench),
            Element::Pairs => self.measure_pairs(sorts, effort, bench),
        }
    }

    fn measure_keys<K: PeerKey>(
        self,
        sorts: &[Sort],
        effort: Effort,
        bench: &mut Bench,
    ) -> Result<Vec<Cell>, Error> {
        let make = |seed| self.pattern.generate::<K>(self.size, seed);
        let Bench { threads, numpy, runs } = bench;
        let mut contenders: Vec<Box<dyn Contender<HostInput<K>> + '_>> = Vec::new();
        let mut numpy = numpy.as_mut();
        for &sort in sorts {
            match (sort, &mut numpy) {
                (Sort::Numpy, numpy) => contenders.extend(numpy.take().map(NumpySort::boxed)),
                _ => contenders.push(Box::new(InProcess(KeySort::new(sort, threads)))),
            }
        }
        self.run(sorts, contenders, effort, make, runs)
    }

    /// The values count from 0 in every row, so that no two pairs are equal. Peers sort a `u64` with the key above and the value
    /// below.
    fn measure_pairs(self, sorts: &[Sort], effort: Effort, bench: &mut Bench) -> Result<Vec<Cell>, Error> {
        let make = |seed| {
            let keys = self.pattern.generate::<u32>(self.size, seed);
            keys.into_iter().zip(0..).map(|(key, value)| PairSort::pack(key, value)).collect()
        };
        let Bench { threads, numpy, runs } = bench;
        let mut contenders: Vec<Box<dyn Contender<HostInput<u64>> + '_>> = Vec::new();
        let mut numpy = numpy.as_mut();
        for &sort in sorts {
            match (sort, &mut numpy) {
                (Sort::Numpy, numpy) => contenders.extend(numpy.take().map(NumpySort::boxed)),
                _ if sort.is_ours() => contenders.push(Box::new(PairSort::new(sort, threads))),
                _ => contenders.push(Box::new(InProcess(KeySort::new(sort, threads)))),
            }
        }
        self.run(sorts, contenders, effort, make, runs)
    }

    /// Lets the contenders sort rows that `make` makes anew for every round.
    fn run<K: PeerKey>(
        self,
        sorts: &[Sort],
        mut contenders: Vec<Box<dyn Contender<HostInput<K>> + '_>>,
        effort: Effort,
        make: impl Fn(u64) -> Vec<K>,
        runs: &mut Option<CsvFile<Record>>,
    ) -> Result<Vec<Cell>, Error> {
        let mut view = WorkloadView {
            workload: self,
            sorts,
            effort,
            make,
            started: Instant::now(),
            records: vec![Vec::new(); sorts.len()],
            runs,
        };
        let mut input = HostInput::new(Vec::new(), None, self.size, Order::Ascending);
        Rounds::new(WarmUp::DEFAULT).run(&mut input, &mut contenders, &mut view)?;
        let keys = (self.rows * self.size) as f64;
        let cell = |(&sort, records): (&Sort, &Vec<Record>)| {
            let nanoseconds = record::summary(records)?.scaled(1e9 / keys);
            Some(Cell { id: self.id(sort), rows: self.rows, nanoseconds })
        };
        Ok(sorts.iter().zip(&view.records).filter_map(cell).collect())
    }

    fn id(&self, sort: Sort) -> CellId {
        CellId { sort, element: self.element, pattern: self.pattern, size: self.size }
    }

    fn cell_key(&self, sort: Sort) -> CellKey {
        CellKey {
            implementation: sort.to_string(),
            key_type: self.element.key_type().to_string(),
            distribution: self.pattern.to_string(),
            size: self.rows * self.size,
            row_length: (self.rows > 1).then_some(self.size),
            values: (self.element == Element::Pairs).then(|| "u32".to_owned()),
        }
    }
}

/// A workload on its way through the rounds.
struct WorkloadView<'a, Make> {
    workload: Workload,
    sorts: &'a [Sort],
    effort: Effort,
    /// Makes a row from a seed.
    make: Make,
    started: Instant,
    /// What every sort took.
    records: Vec<Vec<Record>>,
    runs: &'a mut Option<CsvFile<Record>>,
}

impl<K: PeerKey, Make: Fn(u64) -> Vec<K>> View<HostInput<K>> for WorkloadView<'_, Make> {
    type Error = Error;

    /// Every round has keys that no contender has seen.
    fn starts_round(&mut self, round: usize, input: &mut HostInput<K>) -> Result<bool, Error> {
        let budget = self.effort.time * self.sorts.len() as u32;
        if round > self.effort.repetitions && self.started.elapsed() >= budget {
            return Ok(false);
        }
        // Seeds of different experiments start far apart, and every row has its own.
        let Workload { rows, seed, .. } = self.workload;
        let first = (seed << 32).wrapping_add(((round - 1) * rows) as u64);
        let row = |row: usize| (self.make)(first.wrapping_add(row as u64));
        input.renew((0..rows).flat_map(row).collect());
        Ok(true)
    }

    fn keeps(
        &mut self,
        contender: usize,
        round: usize,
        outcome: Result<Timed, Failed>,
        _: &HostInput<K>,
    ) -> Result<(), Error> {
        let sort = self.sorts[contender];
        let id = self.workload.id(sort);
        match outcome {
            Ok(timed) => {
                let record = Record::measured(&self.workload.cell_key(sort), 1, round, &timed);
                if let Some(runs) = self.runs {
                    let written = runs.append(std::slice::from_ref(&record));
                    written.map_err(|reason| Error::Output { path: runs.path().to_owned(), reason })?;
                }
                self.records[contender].push(record);
                Ok(())
            }
            Err(Failed::LeftOut(reason)) => Err(Error::Failed { id, reason }),
            Err(Failed::Wrong(mistake)) => Err(Error::Wrong { id, mistake, seed: self.workload.seed }),
        }
    }
}
