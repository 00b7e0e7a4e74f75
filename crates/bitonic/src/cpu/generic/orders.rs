//! How the lanes of a register are permuted when its keys are partitioned.

/// The lanes of a set, then the others. Bit i of the set is lane i.
pub(crate) const fn set_first<const LANES: usize>(set: usize) -> [usize; LANES] {
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

/// For every set of the lanes of 16 bytes, the order of bytes that puts those lanes first and the others last.
pub(crate) const fn bytes_of_sets<const LANES: usize, const SETS: usize>() -> [[u8; 16]; SETS] {
    let bytes = 16 / LANES;
    let mut table = [[0; 16]; SETS];
    let mut set = 0;
    while set < SETS {
        let lanes = set_first::<LANES>(set);
        let mut byte = 0;
        while byte < 16 {
            table[set][byte] = (lanes[byte / bytes] * bytes + byte % bytes) as u8;
            byte += 1;
        }
        set += 1;
    }
    table
}
