//! The best known networks: proved, and as good as published.

use bitonic_network::{BEST_KNOWN_MAX_WIRES, Kind, Network};

/// Comparators and stages of the best networks known, from 2 wires on, as published.
const SIZES: [usize; 19] = [1, 3, 5, 9, 12, 16, 19, 25, 29, 35, 39, 45, 51, 56, 60, 71, 77, 85, 91];
const DEPTHS: [usize; 19] = [1, 3, 3, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9, 9, 10, 11, 11, 11];

#[test]
fn the_smallest_networks_sort_and_have_the_published_sizes() {
    for (wires, size) in (2..=BEST_KNOWN_MAX_WIRES).zip(SIZES) {
        let network = Kind::Smallest.generate(wires).unwrap();
        assert_eq!((network.wires(), network.size()), (wires, size));
        network.prove().unwrap_or_else(|error| panic!("{wires} wires: {error}"));
    }
}

#[test]
fn the_shallowest_networks_sort_and_have_the_published_depths() {
    for (wires, depth) in (2..=BEST_KNOWN_MAX_WIRES).zip(DEPTHS) {
        let network = Kind::Shallowest.generate(wires).unwrap();
        assert_eq!((network.wires(), network.depth()), (wires, depth));
        network.prove().unwrap_or_else(|error| panic!("{wires} wires: {error}"));
    }
}

#[test]
fn every_kept_file_is_well_formed_names_its_source_and_holds_what_its_name_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/networks");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let network = Network::from_list(&text).unwrap();
        let name = format!(
            "{:02}_wires_{}_comparators_depth_{}.txt",
            network.wires(),
            network.size(),
            network.depth()
        );
        assert_eq!(path.file_name().unwrap(), &*name);
        assert!(text.lines().filter(|line| line.starts_with('#')).count() >= 3, "{name} names no source");
        files += 1;
    }
    assert!(files >= BEST_KNOWN_MAX_WIRES - 1);
}

#[test]
fn descriptions_name_the_limit() {
    for kind in [Kind::Smallest, Kind::Shallowest] {
        assert!(kind.description().ends_with(&format!("up to {BEST_KNOWN_MAX_WIRES} wires")));
        assert!(kind.generate(BEST_KNOWN_MAX_WIRES).is_ok());
        assert!(kind.generate(BEST_KNOWN_MAX_WIRES + 1).is_err());
    }
}
