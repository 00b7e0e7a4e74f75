//! How the lanes of a register are permuted when its keys are partitioned.

/// For every set of 8 lanes, the order that puts them first and the others last, a byte a lane.
pub(super) static PARTITION_8: [u64; 256] = {
    let mut table = [0; 256];
    let mut below = 0;
    while below < 256 {
        let mut place = 0;
        let mut lane = 0;
        // First the lanes in the set, then the others.
        while lane < 16 {
            if (below >> (lane % 8) & 1 == 1) == (lane < 8) {
                table[below] |= (lane as u64 % 8) << (8 * place);
                place += 1;
            }
            lane += 1;
        }
        below += 1;
    }
    table
};
