//! How the lanes of a register are permuted when its keys are partitioned.

/// For every set of 8 lanes, the order that puts them first and the others last, a byte a lane.
pub(super) static PARTITION_8: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < table.len() {
        let lanes = set_first::<8>(set);
        let mut place = 0;
        while place < lanes.len() {
            table[set] |= (lanes[place] as u64) << (8 * place);
            place += 1;
        }
        set += 1;
    }
    table
};

/// The same for 4 lanes of 64 bits, as the order of their halves.
pub(super) static PARTITION_4: [[u32; 8]; 16] = {
    let mut table = [[0; 8]; 16];
    let mut set = 0;
    while set < table.len() {
        let lanes = set_first::<4>(set);
        let mut half = 0;
        while half < table[set].len() {
            table[set][half] = 2 * lanes[half / 2] as u32 + half as u32 % 2;
            half += 1;
        }
        set += 1;
    }
    table
};

/// The lanes of a set, then the others.
const fn set_first<const LANES: usize>(set: usize) -> [usize; LANES] {
    let mut order = [0; LANES];
    let mut place = 0;
    let mut turn = 0;
    while turn < 2 * LANES {
        let lane = turn % LANES;
        if (set >> lane & 1 == 1) == (turn < LANES) {
            order[place] = lane;
            place += 1;
        }
        turn += 1;
    }
    order
}
