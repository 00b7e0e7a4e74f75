//! Uses every public function of the library once, by its full name, so that the test `public_surface` finds it.
//!
//! What the functions do is tested in the library. This program shows that strangers can call them as they are packaged, and that
//! what they promise in a word holds: keys come out in order, plans and reports speak of the keys that were given.

mod cuda;
mod device;
mod external;
mod host;
mod keys;
mod opencl;
mod operations;
mod plan;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    host::functions()?;
    host::sorter()?;
    operations::functions()?;
    operations::sorter()?;
    external::keys()?;
    external::records()?;
    keys::keys();
    plan::requests()?;
    plan::plans()?;
    device::devices()?;
    opencl::opencl()?;
    cuda::cuda()
}

/// Keys that are in no order.
fn unordered(len: u32) -> Vec<u32> {
    (0..len).map(|index| index.wrapping_mul(0x9e37_79b9)).collect()
}
