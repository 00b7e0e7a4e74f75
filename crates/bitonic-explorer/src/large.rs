//! How large arrays are sorted, as pictures of the data: columnsort, and partition before the network.

use serde::Serialize;

/// The keys of the pictures, in columns as long as columnsort demands: at least twice the square of one column less.
const COLUMNS: usize = 4;
const COLUMN: usize = 32;
const KEYS: usize = COLUMNS * COLUMN;

/// Parts of at most so many keys are left to the network.
const TILE: usize = 16;

/// The data of an array between two passes.
#[derive(Serialize)]
pub(crate) struct Picture {
    /// What was done last.
    done: String,
    keys: Vec<usize>,
    /// Where parts begin that are treated apart; columns, or what a partition has made.
    parts: Vec<usize>,
}

/// The pictures of both.
#[derive(Serialize)]
pub(crate) struct Pictures {
    columnsort: Vec<Picture>,
    partition: Vec<Picture>,
}

pub(crate) fn pictures() -> Pictures {
    Pictures { columnsort: columnsort(scattered()), partition: partition(scattered()) }
}

/// A permutation without order, the same every time.
fn scattered() -> Vec<usize> {
    let mut keys: Vec<usize> = (0..KEYS).collect();
    // The generator of Park and Miller.
    let mut state = 12345_u64;
    for last in (1..KEYS).rev() {
        state = state * 16807 % 2_147_483_647;
        keys.swap(last, state as usize % (last + 1));
    }
    keys
}

fn columnsort(mut keys: Vec<usize>) -> Vec<Picture> {
    let columns: Vec<usize> = (0..KEYS).step_by(COLUMN).collect();
    let mut pictures = Vec::new();
    let mut show = |done: &str, keys: &[usize], parts: &[usize]| {
        pictures.push(Picture { done: done.to_owned(), keys: keys.to_vec(), parts: parts.to_vec() });
    };
    let sort_all = |keys: &mut [usize]| keys.chunks_mut(COLUMN).for_each(<[usize]>::sort_unstable);
    show("no order", &keys, &columns);
    sort_all(&mut keys);
    show("every column sorted", &keys, &columns);
    keys = (0..KEYS).map(|place| keys[place % COLUMN * COLUMNS + place / COLUMN]).collect();
    show("dealt to all columns", &keys, &columns);
    sort_all(&mut keys);
    show("every column sorted", &keys, &columns);
    keys = (0..KEYS).map(|place| keys[place % COLUMNS * COLUMN + place / COLUMNS]).collect();
    show("collected again", &keys, &columns);
    sort_all(&mut keys);
    show("every column sorted", &keys, &columns);
    // Halves of neighbouring columns together: what is still out of place is near a border.
    let shifted: Vec<usize> = [0].into_iter().chain((COLUMN / 2..KEYS).step_by(COLUMN)).collect();
    sort_all(&mut keys[COLUMN / 2..KEYS - COLUMN / 2]);
    show("halves of neighbours sorted", &keys, &shifted);
    pictures
}

fn partition(mut keys: Vec<usize>) -> Vec<Picture> {
    let mut parts = vec![0];
    let mut pictures =
        vec![Picture { done: "no order".to_owned(), keys: keys.clone(), parts: parts.clone() }];
    let end_of = |parts: &[usize], index: usize| parts.get(index + 1).copied().unwrap_or(KEYS);
    while (0..parts.len()).any(|index| end_of(&parts, index) - parts[index] > TILE) {
        let mut next = Vec::new();
        for index in 0..parts.len() {
            let (start, end) = (parts[index], end_of(&parts, index));
            next.push(start);
            if end - start > TILE {
                let part = &mut keys[start..end];
                let pivot = median_of_sample(part);
                let smaller = part.iter().filter(|&&key| key < pivot).count();
                let (low, high): (Vec<usize>, Vec<usize>) = part.iter().partition(|&&key| key < pivot);
                part.copy_from_slice(&[low, high].concat());
                next.push(start + smaller);
            }
        }
        parts = next;
        pictures.push(Picture {
            done: format!("split around pivots: {} parts", parts.len()),
            keys: keys.clone(),
            parts: parts.clone(),
        });
    }
    for index in 0..parts.len() {
        keys[parts[index]..end_of(&parts, index)].sort_unstable();
    }
    pictures.push(Picture { done: "the network in every part".to_owned(), keys, parts });
    pictures
}

/// The middle of nine keys taken from all over the part; never the smallest of the part, so that it gets smaller.
fn median_of_sample(part: &[usize]) -> usize {
    let mut sample: Vec<usize> = (0..9).map(|at| part[at * (part.len() - 1) / 8]).collect();
    sample.sort_unstable();
    sample[4]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_end_in_order_and_keep_every_key_on_the_way() {
        let Pictures { columnsort, partition } = pictures();
        let sorted: Vec<usize> = (0..KEYS).collect();
        for pictures in [&columnsort, &partition] {
            assert_eq!(pictures.last().unwrap().keys, sorted);
            for picture in pictures {
                let mut keys = picture.keys.clone();
                keys.sort_unstable();
                assert_eq!(keys, sorted, "{}", picture.done);
            }
        }
        assert!(columnsort[5].keys != sorted, "the last pass has something to do");
    }
}
