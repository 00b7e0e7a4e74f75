//! The 0-1 principle by exhaustion: does a network sort every 0-1 input, or select the k largest keys of it?
//!
//! Sorting is selecting all keys, so there is one search for both.
//!
//! The first stages leave groups of wires with few states each ([`super::reachable`]). What is left is
//! to send every combination of those states through the remaining stages. Combinations are numbered like the
//! readings of an odometer, a digit for each group. The low digits make a *tile*:
//!
//! ```text
//!                   combination  0   1   2   3 .. 511 | 512 ..          one chunk: a [u64; 8] for each wire
//!   wires of the tile's groups   0   1   1   0 ..   1 |  0  ..          the same bits in every tile
//!   wires of all other groups    c   c   c   c ..   c |  c  ..          one key throughout a tile
//! ```
//!
//! So the bits of the tile are laid out once, and a tile is checked by copying chunks of them, filling the other
//! wires with constants, and running the stages: all in the first-level cache. Tiles are spread over the cores.

use super::parallel::first_failure;
use super::reachable::{self, Bits, Group};
use crate::evaluate::apply_stages_zero_one;
use crate::{Network, Stage};

/// The most wires of a network whose states are kept as [`Bits`].
pub(super) const MAX_WIRES: usize = Bits::BITS as usize;

/// The most combinations that are tried: minutes of work on a few cores. It admits 34 wires of any network, and 44
/// whose first stage pairs them all (3^22 combinations).
pub(super) const MAX_COMBINATIONS: u128 = 1 << 35;

/// A tile has at least so many combinations where there are as many: enough that starting one costs nothing.
const TILE: usize = 1 << 12;

/// The most combinations of a tile, to bound its memory to 32 KiB a wire.
const MAX_TILE: usize = 1 << 18;

/// As many 0-1 inputs as are evaluated at once: 32 wires of them take 2 KiB.
type Chunk = [u64; 8];
const CHUNK: usize = 512;

/// What became of the attempt to select from every 0-1 input.
pub(super) enum Outcome {
    /// It succeeds with all inputs; so many combinations were tried for it.
    Selects { combinations: u128 },
    /// It fails with this input.
    Fails { input: Vec<bool> },
    /// So many combinations are too many to try.
    TooMany { combinations: u128 },
}

/// Tries for all 0-1 inputs of a network with at most [`MAX_WIRES`] wires whether the k largest keys come out on the last
/// k wires, in ascending order. k is at most the number of wires.
pub(super) fn exhaust(network: &Network, k: usize) -> Outcome {
    let unselected = (0..network.wires() - k).fold(0, |wires: Bits, wire| wires | 1 << wire);
    let (mut groups, stages_done) =
        reachable::after_first_stages(network.wires(), network.stages(), unselected);
    let combinations = reachable::combinations(&groups);
    if combinations > MAX_COMBINATIONS {
        return Outcome::TooMany { combinations };
    }
    // The largest groups first: their product then reaches the size of a tile before it can pass MAX_TILE.
    groups.sort_by_key(|group| std::cmp::Reverse(group.states.len()));
    let tile_groups = tile_groups(&groups);
    let (low, high) = groups.split_at(tile_groups);
    let search = Search {
        wires: network.wires(),
        k,
        stages: &network.stages()[stages_done..],
        tile: Tile::new(low),
        high,
    };
    let tiles = u64::try_from(reachable::combinations(high)).expect("the limit is below 2^64");
    match first_failure(tiles, || search.worker()) {
        Some(input) => {
            Outcome::Fails { input: (0..network.wires()).map(|wire| input >> wire & 1 == 1).collect() }
        }
        None => Outcome::Selects { combinations },
    }
}

/// How many of the groups, from the first on, make the tile.
fn tile_groups(groups: &[Group]) -> usize {
    let mut size = 1;
    let more = groups.iter().take_while(|group| {
        let take = size < TILE && size * group.states.len() <= MAX_TILE;
        size *= group.states.len();
        take
    });
    more.count()
}

/// The combinations of the low groups, laid out as bits.
struct Tile<'a> {
    groups: &'a [Group],
    combinations: usize,
    /// The bits of every wire in the tile, chunk after chunk.
    wires: Vec<(usize, Vec<Chunk>)>,
}

impl<'a> Tile<'a> {
    fn new(groups: &'a [Group]) -> Self {
        let combinations = groups.iter().map(|group| group.states.len()).product();
        let mut wires = Vec::new();
        // How many neighbouring combinations share a group's state: the worth of its digit.
        let mut worth = 1;
        for group in groups {
            for wire in (0..MAX_WIRES).filter(|wire| group.wires >> wire & 1 == 1) {
                let mut chunks = vec![[0; 8]; usize::div_ceil(combinations, CHUNK)];
                for combination in 0..combinations {
                    let state = group.states[combination / worth % group.states.len()];
                    let bit = (state.keys >> wire & 1) as u64;
                    chunks[combination / CHUNK][combination % CHUNK / 64] |= bit << (combination % 64);
                }
                wires.push((wire, chunks));
            }
            worth *= group.states.len();
        }
        Self { groups, combinations, wires }
    }

    fn chunks(&self) -> usize {
        self.combinations.div_ceil(CHUNK)
    }
}

/// What the workers share.
struct Search<'a> {
    wires: usize,
    k: usize,
    /// The stages that are not behind the groups' states.
    stages: &'a [Stage],
    tile: Tile<'a>,
    /// The groups that are constant throughout a tile.
    high: &'a [Group],
}

impl Search<'_> {
    /// A worker that tries all combinations of the tile with the given number, and returns the input behind the
    /// first one that comes out wrong.
    fn worker(&self) -> impl FnMut(u64) -> Option<Bits> {
        let mut wires: Vec<Chunk> = vec![[0; 8]; self.wires];
        move |number| {
            let constants = decode(self.high, number);
            (0..self.tile.chunks()).find_map(|chunk| {
                for (wire, keys) in wires.iter_mut().enumerate() {
                    *keys = if constants.keys >> wire & 1 == 1 { [!0; 8] } else { [0; 8] };
                }
                for (wire, chunks) in &self.tile.wires {
                    wires[*wire] = chunks[chunk];
                }
                apply_stages_zero_one(self.stages, &mut wires);
                // Behind the last combination the tile's wires are zero, as in combination 0: had that failed, the
                // search had ended with it.
                let combination = chunk * CHUNK + first_wrong(&wires, self.k)?;
                Some(constants.input | decode(self.tile.groups, combination as u64).input)
            })
        }
    }
}

/// The states that the digits of `number` select, put together.
fn decode(groups: &[Group], mut number: u64) -> reachable::State {
    let mut all = reachable::State { keys: 0, input: 0 };
    for group in groups {
        let states = group.states.len() as u64;
        let state = group.states[(number % states) as usize];
        number /= states;
        all.keys |= state.keys;
        all.input |= state.input;
    }
    all
}

/// The first of the evaluated inputs in which the last k wires do not carry what they would carry if all were sorted:
/// one of them has a one and the next a zero, or the first of them has a zero and a one is left on another wire.
fn first_wrong(wires: &[Chunk], k: usize) -> Option<usize> {
    let (others, selected) = wires.split_at(wires.len() - k);
    let pairs = selected.windows(2).map(|pair| (&pair[0], &pair[1]));
    let left_out = others.iter().zip(selected.first().into_iter().cycle());
    let mut wrong = [0; 8];
    for (low, high) in pairs.chain(left_out) {
        for (word, wrong) in wrong.iter_mut().enumerate() {
            *wrong |= low[word] & !high[word];
        }
    }
    first_bit(&wrong)
}

/// The position of the first bit that is set.
pub(super) fn first_bit(words: &Chunk) -> Option<usize> {
    let word = words.iter().position(|&word| word != 0)?;
    Some(64 * word + words[word].trailing_zeros() as usize)
}
