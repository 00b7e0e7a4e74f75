//! Sorts an array by key where it is, on the GPU, for a program that uses cudarc: no copy to the host and back.
//!
//! Run it with `cargo run --example cuda_resident`.

use bitonic::Order;
use bitonic::cuda::cudarc::driver::CudaContext;
use bitonic::cuda::{Device, DeviceChoice, ResidentSorter};

const PARTICLES: u32 = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // cudarc itself panics where there is no driver, so ask first.
    let device = match Device::open(&DeviceChoice::Best) {
        Ok(device) => device,
        Err(error) => {
            println!("nothing to show here: {error}");
            return Ok(());
        }
    };

    // Context, stream and arrays of the program's own.
    let context = CudaContext::new(device.info().index)?;
    let stream = context.new_stream()?;
    let distances: Vec<f32> = (0..PARTICLES).map(distance).collect();
    let mut keys = stream.clone_htod(&distances)?;
    let mut particles = stream.clone_htod(&(0..PARTICLES).collect::<Vec<_>>())?;

    // Farthest first, as a renderer wants it. The particles travel with their distances. A workspace, which can be used again
    // and again, makes the sort faster; without it, `sorter.sort_pairs(..)` sorts in place.
    let sorter = ResidentSorter::new(&context)?.order(Order::Descending);
    let bytes = sorter.workspace_size_pairs::<f32, u32>(keys.len())?;
    let mut workspace = stream.alloc_zeros::<u8>(bytes)?;
    sorter.with_workspace(&mut workspace).sort_pairs(&stream, &mut keys, &mut particles)?;

    // What follows on the stream sees the result: here, a copy to the host.
    let nearest_last = stream.clone_dtoh(&particles)?;
    let sorted_distances = stream.clone_dtoh(&keys)?;
    assert!(bitonic::is_sorted(&sorted_distances, Order::Descending));
    let (first, last) = (nearest_last[0], nearest_last[nearest_last.len() - 1]);
    println!(
        "{}: of {PARTICLES} particles, {first} is the farthest at {:.3} and {last} the nearest at {:.3}",
        device.info().name,
        distances[first as usize],
        distances[last as usize],
    );
    Ok(())
}

/// A number from 0 to 1 that looks random.
fn distance(particle: u32) -> f32 {
    particle.wrapping_mul(0x9e37_79b9) as f32 / u32::MAX as f32
}
