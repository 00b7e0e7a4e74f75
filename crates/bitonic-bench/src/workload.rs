//! Keys to sort: made anew for every repetition, put into place before every sort, verified after it.

use crate::element::Element;
use crate::error::Error;
use crate::measure::{Arena, Place};
use crate::peers::{Contender, PeerKey};
use bitonic_testkit::Pattern;
use rayon::slice::ParallelSliceMut;
use std::time::{Duration, Instant};

/// Rows of keys or pairs that contenders sort one after the other.
pub trait Workload {
    /// Makes keys that no contender has seen, and what must come out.
    fn renew(&mut self, arena: &Arena);

    /// Puts the keys into place, lets the contender sort them, verifies the result, and returns the time of the sort alone. The
    /// contender sorts them twice, and the second time counts: a core that has just been woken, or has had no wide vectors to
    /// add for a while, is slower for some microseconds, which would be a tenth of the time of 2^16 keys.
    fn run(&mut self, contender: Contender, arena: &mut Arena) -> Result<Duration, Error>;
}

/// What the rows of a workload are.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What is sorted.
    pub element: Element,
    /// In which state it is before.
    pub pattern: Pattern,
    /// How many in a row.
    pub size: usize,
    /// How many rows.
    pub rows: usize,
    /// Where the random keys start.
    pub seed: u64,
}

impl Shape {
    /// The workload of this shape.
    pub fn workload(self) -> Box<dyn Workload> {
        match self.element {
            Element::U32 => Box::new(Keys::<u32>::new(self)),
            Element::I32 => Box::new(Keys::<i32>::new(self)),
            Element::F32 => Box::new(Keys::<f32>::new(self)),
            Element::U64 => Box::new(Keys::<u64>::new(self)),
            Element::I64 => Box::new(Keys::<i64>::new(self)),
            Element::F64 => Box::new(Keys::<f64>::new(self)),
            Element::U8 => Box::new(Keys::<u8>::new(self)),
            Element::U16 => Box::new(Keys::<u16>::new(self)),
            Element::U128 => Box::new(Keys::<u128>::new(self)),
            Element::Pairs => Box::new(Pairs::new(self)),
        }
    }

    fn place(&self, contender: Contender) -> Place {
        Place { contender, element: self.element, pattern: self.pattern, size: self.size }
    }
}

/// Rows of keys alone.
struct Keys<K> {
    shape: Shape,
    /// How many rows have been made so far; every row has its own seed.
    rows_made: u64,
    input: Vec<K>,
    expected: Vec<K>,
    work: Vec<K>,
}

impl<K: PeerKey> Keys<K> {
    fn new(shape: Shape) -> Self {
        Self { shape, rows_made: 0, input: Vec::new(), expected: Vec::new(), work: Vec::new() }
    }

    /// Makes new rows; `make` gets the seed of each.
    fn renew_with(&mut self, arena: &Arena, make: impl Fn(u64) -> Vec<K>) {
        self.input.clear();
        for _ in 0..self.shape.rows {
            // Seeds of different experiments start far apart.
            self.input.extend(make((self.shape.seed << 32).wrapping_add(self.rows_made)));
            self.rows_made += 1;
        }
        self.work.clone_from(&self.input);
        self.expected.clone_from(&self.input);
        let Self { expected, shape, .. } = self;
        // rayon's sort is code of its own: the standard library's, whose turn comes later, learns no branches from it.
        arena.all().install(|| {
            for row in expected.chunks_exact_mut(shape.size) {
                row.par_sort_unstable_by_key(|key| key.to_ordered_bits());
            }
        });
    }

    fn verify(&self, contender: Contender) -> Result<(), Error> {
        let differs = |(sorted, expected): (&K, &K)| sorted.to_raw_bits() != expected.to_raw_bits();
        match self.work.iter().zip(&self.expected).position(differs) {
            None => Ok(()),
            Some(place) => Err(wrong(&self.shape, contender, place)),
        }
    }
}

impl<K: PeerKey> Workload for Keys<K> {
    fn renew(&mut self, arena: &Arena) {
        let Shape { pattern, size, .. } = self.shape;
        self.renew_with(arena, |seed| pattern.generate(size, seed));
    }

    fn run(&mut self, contender: Contender, arena: &mut Arena) -> Result<Duration, Error> {
        let size = self.shape.size;
        let Self { input, work, .. } = self;
        let time = match (contender, arena.numpy()) {
            (Contender::Numpy, Some(numpy)) => numpy.sort_rows(input, size, work)?,
            _ => arena.pool(contender).install(|| {
                let mut sort = || {
                    work.copy_from_slice(input);
                    timed(|| contender.sort_rows(work, size))
                };
                sort()?;
                sort()
            })?,
        };
        self.verify(contender)?;
        Ok(time)
    }
}

/// Rows of `u32` keys with `u32` values. The values count from 0 in every row, so that no two pairs are equal.
struct Pairs {
    /// What the peers sort: the key above, the value below.
    packed: Keys<u64>,
    keys: Vec<u32>,
    values: Vec<u32>,
}

impl Pairs {
    fn new(shape: Shape) -> Self {
        Self { packed: Keys::new(shape), keys: Vec::new(), values: Vec::new() }
    }
}

impl Workload for Pairs {
    fn renew(&mut self, arena: &Arena) {
        let Shape { pattern, size, .. } = self.packed.shape;
        self.packed.renew_with(arena, |seed| {
            let keys = pattern.generate::<u32>(size, seed);
            keys.into_iter().zip(0..).map(|(key, value)| pack(key, value)).collect()
        });
        self.keys.resize(self.packed.input.len(), 0);
        self.values.resize(self.packed.input.len(), 0);
    }

    fn run(&mut self, contender: Contender, arena: &mut Arena) -> Result<Duration, Error> {
        if !contender.is_ours() {
            return self.packed.run(contender, arena);
        }
        let shape = self.packed.shape;
        let Self { packed, keys, values } = self;
        let time = arena.pool(contender).install(|| {
            let mut sort = || {
                for ((key, value), &pair) in keys.iter_mut().zip(&mut *values).zip(&packed.input) {
                    (*key, *value) = ((pair >> 32) as u32, pair as u32);
                }
                timed(|| contender.sort_pair_rows(keys, values, shape.size))
            };
            sort()?;
            sort()
        })?;
        for (row, keys) in keys.chunks_exact(shape.size).enumerate() {
            if let Some(index) = keys.windows(2).position(|pair| pair[0] > pair[1]) {
                return Err(wrong(&shape, contender, row * shape.size + index + 1));
            }
        }
        // Values of equal keys may stand in any order: bring them into the one that is expected.
        packed.work.clear();
        packed.work.extend(keys.iter().zip(values).map(|(&key, &mut value)| pack(key, value)));
        packed.work.chunks_exact_mut(shape.size).for_each(|row| row.sort());
        packed.verify(contender)?;
        Ok(time)
    }
}

fn pack(key: u32, value: u32) -> u64 {
    u64::from(key) << 32 | u64::from(value)
}

fn timed(sort: impl FnOnce() -> Result<(), bitonic::Error>) -> Result<Duration, Error> {
    let started = Instant::now();
    sort()?;
    Ok(started.elapsed())
}

fn wrong(shape: &Shape, contender: Contender, place: usize) -> Error {
    let (row, index) = (place / shape.size, place % shape.size);
    Error::Wrong { place: shape.place(contender), row, index, seed: shape.seed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(element: Element) -> Shape {
        Shape { element, pattern: Pattern::Random, size: 10, rows: 3, seed: 1 }
    }

    #[test]
    fn every_renewal_makes_other_keys_and_every_row_differs() {
        let arena = Arena::new(None).unwrap();
        let mut keys = Keys::<u64>::new(shape(Element::U64));
        keys.renew(&arena);
        let first = keys.input.clone();
        assert_ne!(first[..10], first[10..20]);
        keys.renew(&arena);
        assert!(keys.input.iter().all(|key| !first.contains(key)));
    }

    #[test]
    fn a_wrong_key_is_found_with_its_row_and_index() {
        let arena = Arena::new(None).unwrap();
        let mut keys = Keys::<f32>::new(shape(Element::F32));
        keys.renew(&arena);
        keys.work.clone_from(&keys.expected);
        assert!(keys.verify(Contender::Radsort).is_ok());
        keys.work.swap(21, 22);
        let error = keys.verify(Contender::Radsort).unwrap_err();
        assert!(matches!(error, Error::Wrong { row: 2, index: 1, .. }), "{error}");
        assert!(
            error.to_string().starts_with("radsort, 10 f32 keys, random: wrong from index 1 of row 2 on"),
            "{error}"
        );
    }

    #[test]
    fn the_sign_of_zero_counts() {
        let mut keys = Keys::<f32>::new(shape(Element::F32));
        keys.expected = vec![-0.0, 0.0];
        keys.work = vec![0.0, -0.0];
        assert!(keys.verify(Contender::Bitonic).is_err());
    }
}
