//! What a call costs beyond the network: 16 `u32` keys through the free function, which makes no report, and through `Sorter`.
//!
//! Run it with `cargo run --release --example call_cost`. Each line is the least mean of many rounds, in nanoseconds a sort.

use bitonic::{Order, Sorter};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 200;
const CALLS: usize = 2000;

fn main() {
    let network = cost(bitonic::sort::<u32>);
    println!("{:32}{network:8.1} ns", "bitonic::sort");
    for order in [Order::Ascending, Order::Descending] {
        for oblivious in [false, true] {
            for stable in [false, true] {
                let sorter = Sorter::new().order(order).oblivious(oblivious).stable(stable);
                let nanoseconds = cost(|keys| {
                    black_box(&sorter.sort(keys));
                });
                let options = format!(
                    "{order:?}{}{}",
                    if oblivious { ", oblivious" } else { "" },
                    if stable { ", stable" } else { "" }
                );
                println!("{options:32}{nanoseconds:8.1} ns, {:6.1} more", nanoseconds - network);
            }
        }
    }
    println!("{:32}{:8.1} ns", "slice::sort_unstable", cost(|keys| keys.sort_unstable()));
}

/// Keys in one line of a cache: in two, every load waits longer for the store before it, and where they lie would be chance.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Keys([u32; 16]);

/// The least mean time of a sort of 16 keys in no order.
fn cost(mut sort: impl FnMut(&mut [u32])) -> f64 {
    let unsorted = Keys(std::array::from_fn(|index| (index as u32).wrapping_mul(0x9e37_79b9)));
    let mut least = f64::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for _ in 0..CALLS {
            let mut keys = black_box(unsorted);
            sort(&mut keys.0);
            black_box(&keys);
        }
        least = least.min(started.elapsed().as_secs_f64() * 1e9 / CALLS as f64);
    }
    least
}
