//! The best networks known for few wires: fewest comparators, and fewest stages.
//!
//! They are kept as text in the folder `networks`, in the list form in which they are published, each with its
//! source. The tests prove every one of them and hold it against the published numbers below.

use crate::Network;

/// The greatest number of wires for which [`Kind::Smallest`](crate::Kind::Smallest) and
/// [`Kind::Shallowest`](crate::Kind::Shallowest) exist.
pub const MAX_WIRES: usize = 20;

/// The smallest number of comparators known, by the number of wires. Proved to be the least possible for up to
/// 12 wires.
pub(crate) const SMALLEST_SIZES: [usize; MAX_WIRES + 1] =
    [0, 0, 1, 3, 5, 9, 12, 16, 19, 25, 29, 35, 39, 45, 51, 56, 60, 71, 77, 85, 91];

/// The smallest number of stages known, by the number of wires. Proved to be the least possible for up to 17
/// wires.
pub(crate) const SMALLEST_DEPTHS: [usize; MAX_WIRES + 1] =
    [0, 0, 1, 3, 3, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9, 9, 10, 11, 11, 11];

/// The network with the fewest comparators known; `None` beyond [`MAX_WIRES`].
pub(crate) fn smallest(wires: usize) -> Option<Network> {
    find(wires, &SMALLEST)
}

/// The network with the fewest stages known; `None` beyond [`MAX_WIRES`].
pub(crate) fn shallowest(wires: usize) -> Option<Network> {
    find(wires, &SHALLOWEST)
}

fn find(wires: usize, texts: &[&str; MAX_WIRES - 1]) -> Option<Network> {
    match wires {
        0 | 1 => Some(Network::new(wires, Vec::new()).expect("nothing is out of range")),
        _ => {
            let text = texts.get(wires - 2)?;
            Some(Network::from_list(text).expect("the kept networks are well formed, as the tests show"))
        }
    }
}

/// The networks with the fewest comparators known, from 2 wires on.
const SMALLEST: [&str; MAX_WIRES - 1] = [
    include_str!("../networks/02_wires_1_comparators_depth_1.txt"),
    include_str!("../networks/03_wires_3_comparators_depth_3.txt"),
    include_str!("../networks/04_wires_5_comparators_depth_3.txt"),
    include_str!("../networks/05_wires_9_comparators_depth_5.txt"),
    include_str!("../networks/06_wires_12_comparators_depth_5.txt"),
    include_str!("../networks/07_wires_16_comparators_depth_6.txt"),
    include_str!("../networks/08_wires_19_comparators_depth_6.txt"),
    include_str!("../networks/09_wires_25_comparators_depth_7.txt"),
    include_str!("../networks/10_wires_29_comparators_depth_8.txt"),
    include_str!("../networks/11_wires_35_comparators_depth_8.txt"),
    include_str!("../networks/12_wires_39_comparators_depth_9.txt"),
    include_str!("../networks/13_wires_45_comparators_depth_10.txt"),
    include_str!("../networks/14_wires_51_comparators_depth_10.txt"),
    include_str!("../networks/15_wires_56_comparators_depth_10.txt"),
    include_str!("../networks/16_wires_60_comparators_depth_10.txt"),
    include_str!("../networks/17_wires_71_comparators_depth_12.txt"),
    include_str!("../networks/18_wires_77_comparators_depth_12.txt"),
    include_str!("../networks/19_wires_85_comparators_depth_12.txt"),
    include_str!("../networks/20_wires_91_comparators_depth_12.txt"),
];

/// The networks with the fewest stages known, from 2 wires on.
const SHALLOWEST: [&str; MAX_WIRES - 1] = [
    include_str!("../networks/02_wires_1_comparators_depth_1.txt"),
    include_str!("../networks/03_wires_3_comparators_depth_3.txt"),
    include_str!("../networks/04_wires_5_comparators_depth_3.txt"),
    include_str!("../networks/05_wires_9_comparators_depth_5.txt"),
    include_str!("../networks/06_wires_12_comparators_depth_5.txt"),
    include_str!("../networks/07_wires_16_comparators_depth_6.txt"),
    include_str!("../networks/08_wires_19_comparators_depth_6.txt"),
    include_str!("../networks/09_wires_25_comparators_depth_7.txt"),
    include_str!("../networks/10_wires_31_comparators_depth_7.txt"),
    include_str!("../networks/11_wires_35_comparators_depth_8.txt"),
    include_str!("../networks/12_wires_40_comparators_depth_8.txt"),
    include_str!("../networks/13_wires_46_comparators_depth_9.txt"),
    include_str!("../networks/14_wires_52_comparators_depth_9.txt"),
    include_str!("../networks/15_wires_57_comparators_depth_9.txt"),
    include_str!("../networks/16_wires_61_comparators_depth_9.txt"),
    include_str!("../networks/17_wires_74_comparators_depth_10.txt"),
    include_str!("../networks/18_wires_78_comparators_depth_11.txt"),
    include_str!("../networks/19_wires_87_comparators_depth_11.txt"),
    include_str!("../networks/20_wires_93_comparators_depth_11.txt"),
];
