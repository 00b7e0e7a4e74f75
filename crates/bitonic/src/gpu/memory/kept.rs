//! What an array was like before results landed in it.

use super::copy::BLOCK_BYTES;
use super::stream::copy_past_caches;
use crate::gpu::lock::lock;
use std::sync::Mutex;

/// A copy of an array, made block by block while the array is sent.
pub(crate) struct Kept<'a> {
    blocks: Vec<Mutex<&'a mut [u8]>>,
}

impl<'a> Kept<'a> {
    /// A copy in this memory, which is as long as the array; or none, in no memory at all.
    pub(crate) fn new(memory: &'a mut [u8]) -> Self {
        Self { blocks: memory.chunks_mut(BLOCK_BYTES).map(Mutex::new).collect() }
    }

    /// Copies what a transfer shows. Several threads may call it.
    pub(crate) fn keep(&self, offset: usize, block: &[u8]) {
        if let Some(memory) = self.blocks.get(offset / BLOCK_BYTES) {
            copy_past_caches(block, &mut lock(memory));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::memory::show;

    #[test]
    fn what_is_shown_is_kept_or_nothing_is() {
        for bytes in [0, 1, BLOCK_BYTES, 40 * BLOCK_BYTES + 17] {
            let array: Vec<u8> = (0..bytes).map(|index| (index * 7 % 251) as u8).collect();
            let mut memory = vec![0; bytes];
            for kept in [Kept::new(&mut memory), Kept::new(&mut [])] {
                show(&array, &|offset, block| kept.keep(offset, block));
            }
            assert!(memory == array, "{bytes} bytes");
        }
    }
}
