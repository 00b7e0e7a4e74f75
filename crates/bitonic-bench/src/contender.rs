//! How each sort takes its turn: in this process on keys or pairs, or in the program that has numpy.

use crate::error::Error;
use crate::peers::{Mode, PeerKey, Sort};
use bitonic::key::Bits;
use bitonic_lab::measure::{Contender, Failed, Gauge, HostInput, HostSort, Timed, Told};
use bitonic_lab::peer::{Exchanged, Peer};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::borrow::Cow;
use std::sync::Arc;

/// The threads that sorts in this process use.
#[derive(Clone, Debug)]
pub struct Threads {
    one: Arc<ThreadPool>,
    all: Arc<ThreadPool>,
}

impl Threads {
    /// Starts them.
    ///
    /// # Errors
    ///
    /// If the system does not allow it.
    pub fn start() -> Result<Self, Error> {
        let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build().map(Arc::new);
        // For rayon, 0 means all cores.
        Ok(Self { one: pool(1)?, all: pool(0)? })
    }

    fn of(&self, sort: Sort) -> Arc<ThreadPool> {
        if sort.mode() == Mode::Threads { self.all.clone() } else { self.one.clone() }
    }
}

/// A sort of keys in this process.
pub(crate) struct KeySort {
    sort: Sort,
    pool: Arc<ThreadPool>,
}

impl KeySort {
    pub(crate) fn new(sort: Sort, threads: &Threads) -> Self {
        Self { sort, pool: threads.of(sort) }
    }
}

impl<K: PeerKey> HostSort<K> for KeySort {
    fn name(&self) -> Cow<'_, str> {
        self.sort.name().into()
    }

    fn sort(&mut self, keys: &mut [K], row_length: usize) -> Result<Told, String> {
        self.sort.sort_rows(keys, row_length).map_err(|error| error.to_string())?;
        Ok(Told::default())
    }

    fn pool(&self) -> Option<Arc<ThreadPool>> {
        Some(self.pool.clone())
    }
}

/// One of our sorts of `u32` keys with `u32` values in two slices. Peers have no such sort: they are given the same pairs packed
/// into `u64`s, and pay for no packing.
pub(crate) struct PairSort {
    sort: Sort,
    pool: Arc<ThreadPool>,
    keys: Vec<u32>,
    values: Vec<u32>,
}

impl PairSort {
    pub(crate) fn new(sort: Sort, threads: &Threads) -> Self {
        Self { sort, pool: threads.of(sort), keys: Vec::new(), values: Vec::new() }
    }

    /// The key above, the value below.
    pub(crate) fn pack(key: u32, value: u32) -> u64 {
        u64::from(key) << 32 | u64::from(value)
    }
}

impl Contender<HostInput<u64>> for PairSort {
    fn name(&self) -> Cow<'_, str> {
        self.sort.name().into()
    }

    fn run(&mut self, input: &mut HostInput<u64>, gauge: &mut Gauge<'_>) -> Result<Timed, Failed> {
        let (sort, row_length) = (self.sort, input.row_length());
        let (keys, values) = (&mut self.keys, &mut self.values);
        self.pool.install(|| {
            gauge.last_of(|sample, clock| {
                input.restore(sample);
                keys.clear();
                keys.extend(input.result().iter().map(|&pair| (pair >> 32) as u32));
                values.clear();
                values.extend(input.result().iter().map(|&pair| pair as u32));
                let (sorted, seconds, counts) = clock.time(|| sort.sort_pair_rows(keys, values, row_length));
                sorted.map_err(|error| Failed::LeftOut(error.to_string()))?;
                Ok(Timed { seconds, counts, ..Timed::default() })
            })
        })
    }

    fn verify(&mut self, input: &mut HostInput<u64>) -> Result<(), Failed> {
        let row_length = input.row_length();
        for (row, keys) in self.keys.chunks_exact(row_length).enumerate() {
            if let Some(index) = keys.windows(2).position(|pair| pair[0] > pair[1]) {
                let place = format!("at index {} of row {row} a smaller key follows", index + 1);
                return Err(Failed::Wrong(place));
            }
        }
        // Values of equal keys may stand in any order: bring them into the one that is expected.
        let pairs = self.keys.iter().zip(&self.values);
        for (to, (&key, &value)) in input.work().iter_mut().zip(pairs) {
            *to = Self::pack(key, value);
        }
        input.work().chunks_exact_mut(row_length).for_each(|row| row.sort());
        input.verify()
    }
}

/// numpy's sort, in a program of its own.
pub(crate) struct NumpySort<'a> {
    peer: &'a mut Peer,
    /// Which of the input's keys the program has.
    offered: Option<u64>,
}

impl<'a> NumpySort<'a> {
    pub(crate) fn boxed<K: PeerKey>(peer: &'a mut Peer) -> Box<dyn Contender<HostInput<K>> + 'a> {
        Box::new(Self { peer, offered: None })
    }
}

impl<K: PeerKey> Contender<HostInput<K>> for NumpySort<'_> {
    fn name(&self) -> Cow<'_, str> {
        Sort::Numpy.name().into()
    }

    fn run(&mut self, input: &mut HostInput<K>, gauge: &mut Gauge<'_>) -> Result<Timed, Failed> {
        if self.offered != Some(input.renewals()) {
            let (rows, row_length) = (input.len() / input.row_length(), input.row_length());
            let keys = to_bytes(input.unsorted());
            let offered = Exchanged { key_type: K::TYPE, rows, row_length, keys: &keys, values: &[] };
            self.peer.offer(offered).map_err(Failed::LeftOut)?;
            self.offered = Some(input.renewals());
        }
        self.peer.run("sort", gauge.warm_up()).map_err(Failed::LeftOut)
    }

    fn verify(&mut self, input: &mut HostInput<K>) -> Result<(), Failed> {
        let fetched = self.peer.fetch(false).map_err(Failed::LeftOut)?;
        if fetched.keys.len() != size_of_val(input.result()) {
            return Err(Failed::Wrong(format!("{} bytes came back", fetched.keys.len())));
        }
        from_bytes(&fetched.keys, input.work());
        input.verify()
    }
}

/// The keys' bits, least significant byte first.
fn to_bytes<K: PeerKey>(keys: &[K]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(keys));
    for key in keys {
        bytes.extend_from_slice(&key.to_raw_bits().widen().to_le_bytes()[..size_of::<K>()]);
    }
    bytes
}

/// The inverse of [`to_bytes`].
fn from_bytes<K: PeerKey>(bytes: &[u8], keys: &mut [K]) {
    for (bytes, key) in bytes.chunks_exact(size_of::<K>()).zip(keys) {
        let mut wide = [0; size_of::<u128>()];
        wide[..size_of::<K>()].copy_from_slice(bytes);
        *key = K::from_raw_bits(Bits::truncate(u128::from_le_bytes(wide)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic::Order;
    use bitonic_lab::measure::WarmUp;

    #[test]
    fn keys_come_back_from_their_bytes_bit_for_bit() {
        let keys = [0.5_f32, -0.0, f32::NAN, -f32::NAN];
        let mut back = [0.0_f32; 4];
        from_bytes(&to_bytes(&keys), &mut back);
        assert_eq!(back.map(f32::to_bits), keys.map(f32::to_bits));
        assert_eq!(to_bytes(&[0x0102_u16]), [2, 1]);
    }

    #[test]
    fn pairs_are_verified_with_their_values() {
        let pairs = vec![PairSort::pack(7, 0), PairSort::pack(1, 1), PairSort::pack(7, 2)];
        let mut input = HostInput::new(pairs, None, 3, Order::Ascending);
        let mut sort = PairSort::new(Sort::Bitonic, &Threads::start().unwrap());
        sort.run(&mut input, &mut Gauge::new(WarmUp::DEFAULT, None)).unwrap();
        assert_eq!(sort.verify(&mut input), Ok(()));
        assert_eq!(sort.keys, [1, 7, 7]);
        sort.values.swap(1, 2);
        assert_eq!(sort.verify(&mut input), Ok(()), "equal keys have no order");
        sort.values.swap(0, 1);
        assert!(matches!(sort.verify(&mut input), Err(Failed::Wrong(_))));
        sort.keys.swap(0, 1);
        assert!(matches!(sort.verify(&mut input), Err(Failed::Wrong(_))));
    }
}
