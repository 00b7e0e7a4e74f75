//! How the keys of two rows are arranged in two registers while lanes are compared with lanes.
//!
//! A comparison of lanes within one register computes every minimum and maximum twice, once for each of the two lanes, and then picks. Two
//! rows in two registers can be arranged so that one register holds the keys with the lower place of every comparator and the
//! other register holds those with the higher place:
//!
//! ```text
//!   rows          a0 a1 a2 a3    b0 b1 b2 b3
//!   distance 2    a0 a1 b0 b1    a2 a3 b2 b3      a0 with a2, a1 with a3, b0 with b2, b1 with b3
//!   distance 1    a0 b0 a2 b2    a1 b1 a3 b3
//! ```
//!
//! Then a step is one comparator of whole registers, and two permutations of both registers lead to the next arrangement. What these
//! permutations are is computed here, by the compiler.

/// Where the keys of two rows are.
#[derive(Clone, Copy)]
pub(super) enum Arrangement {
    /// Each row in its register.
    Rows,
    /// For comparators between lanes whose numbers differ in this bit.
    Distance(usize),
    /// After the comparators between lane i of the first row and lane i xor `mask` of the second: the first register has the keys of
    /// the lower lanes.
    Flipped { mask: usize },
}

impl Arrangement {
    /// The row and lane of the key at a place.
    const fn key_at(self, register: usize, lane: usize) -> (usize, usize) {
        match self {
            Self::Rows => (register, lane),
            Self::Distance(bit) => {
                let row = if lane & bit == 0 { 0 } else { 1 };
                (row, if register == 0 { lane & !bit } else { lane | bit })
            }
            Self::Flipped { mask } => {
                let is_lower_lane = lane & mask.div_ceil(2) == 0;
                if is_lower_lane == (register == 0) { (0, lane) } else { (1, lane ^ mask) }
            }
        }
    }

    /// The index for a permutation of two registers: for every lane of `register` in the arrangement `to`, where its key is in this
    /// one. Lanes of the second register count on from those of the first.
    pub(super) const fn index<const LANES: usize>(self, to: Self, register: usize) -> [usize; LANES] {
        let mut index = [0; LANES];
        let mut lane = 0;
        while lane < LANES {
            let (row, place) = to.key_at(register, lane);
            let mut from = 0;
            while from < 2 * LANES {
                let (other_row, other_place) = self.key_at(from / LANES, from % LANES);
                if other_row == row && other_place == place {
                    index[lane] = from;
                }
                from += 1;
            }
            lane += 1;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANES: usize = 16;

    fn arrangements() -> Vec<Arrangement> {
        let distances = [1, 2, 4, 8].map(Arrangement::Distance);
        let flips = [1, 3, 7, 15].map(|mask| Arrangement::Flipped { mask });
        [Arrangement::Rows].into_iter().chain(distances).chain(flips).collect()
    }

    #[test]
    fn every_arrangement_has_every_key_once() {
        for arrangement in arrangements() {
            let mut keys: Vec<_> =
                (0..2 * LANES).map(|place| arrangement.key_at(place / LANES, place % LANES)).collect();
            keys.sort_unstable();
            assert!(keys.into_iter().eq((0..2 * LANES).map(|key| (key / LANES, key % LANES))));
        }
    }

    #[test]
    fn permutations_lead_from_one_arrangement_to_another() {
        for from in arrangements() {
            for to in arrangements() {
                for register in 0..2 {
                    for (lane, place) in from.index::<LANES>(to, register).into_iter().enumerate() {
                        assert_eq!(from.key_at(place / LANES, place % LANES), to.key_at(register, lane));
                    }
                }
            }
        }
    }

    #[test]
    fn comparators_stand_in_the_same_lane_the_lower_place_first() {
        for bit in [1, 2, 4, 8] {
            for lane in 0..LANES {
                let (first, second) =
                    (Arrangement::Distance(bit).key_at(0, lane), Arrangement::Distance(bit).key_at(1, lane));
                assert_eq!(second, (first.0, first.1 + bit));
            }
        }
    }
}
