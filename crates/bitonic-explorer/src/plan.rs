//! The passes in which a device does the network: planned by the library itself.

use bitonic::plan::{Limits, Pass, Place, Step, passes};
use serde::{Deserialize, Serialize};

/// The most keys that the page plans for: its program counts with 32 bits.
const MAX_KEYS: u64 = 1 << 31;

/// What is to be planned.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Shape {
    /// How many keys.
    n: u64,
    /// The bytes of a key.
    key_bytes: u32,
    /// The base-2 logarithm of the keys in a tile.
    tile_log2: u32,
    /// The most steps of a pass over memory.
    fused_steps: u32,
}

/// The steps of the network and the passes they are done in.
#[derive(Serialize)]
pub(crate) struct Passes {
    merges: u32,
    steps: Vec<DrawnStep>,
    passes: Vec<DrawnPass>,
    /// What a pass reads and writes.
    bytes_of_pass: u64,
}

#[derive(Serialize)]
struct DrawnStep {
    merge: u32,
    /// Whether it is the flip that begins the merge.
    flip: bool,
    /// The number of low index bits in which partners can differ.
    span: u32,
}

#[derive(Serialize)]
struct DrawnPass {
    place: String,
    /// Its first step, counted from 0, and the one after its last.
    steps: [u32; 2],
    what: String,
}

/// Plans.
pub(crate) fn plan(shape: Shape) -> Result<Passes, String> {
    let Shape { n, key_bytes, tile_log2, fused_steps } = shape;
    if n > MAX_KEYS {
        return Err(format!("the page plans for up to {MAX_KEYS} keys"));
    }
    let keys = n as usize;
    let drawn_step = |number| {
        let step = Step::new(number);
        let flip = Step::first_of_merge(step.merge()) == step;
        DrawnStep { merge: step.merge(), flip, span: step.span() }
    };
    let tile = tile_log2.min(Step::merges(keys));
    let drawn_pass = |pass: Pass| {
        let what = match pass.place {
            // The page shows the steps themselves: no need to list their partners.
            Place::Memory => {
                let (merge, steps) = (Step::new(pass.steps.start).merge(), pass.steps.len());
                let plural = if steps == 1 { "" } else { "s" };
                format!("merge {merge}: {steps} step{plural} between tiles")
            }
            _ => pass.words(tile),
        };
        DrawnPass { place: pass.place.to_string(), steps: [pass.steps.start, pass.steps.end], what }
    };
    Ok(Passes {
        merges: Step::merges(keys),
        steps: (0..Step::count(keys)).map(drawn_step).collect(),
        passes: passes(keys, Limits { tile_log2, fused_steps }).map(drawn_pass).collect(),
        bytes_of_pass: 2 * n * u64::from(key_bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_keys_take_16_passes_on_a_large_device() {
        let plan = plan(Shape { n: 1 << 20, key_bytes: 4, tile_log2: 13, fused_steps: 6 }).unwrap();
        assert_eq!((plan.steps.len(), plan.passes.len(), plan.bytes_of_pass), (210, 16, 8 << 20));
        assert_eq!(plan.passes[0].what, "sort every tile of 2^13 keys");
        assert!(super::plan(Shape { n: 1 << 32, key_bytes: 4, tile_log2: 13, fused_steps: 6 }).is_err());
    }
}
