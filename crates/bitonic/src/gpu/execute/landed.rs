//! Chunks that have landed, merged into the caller's arrays.
//!
//! Arrays are bytes here as elsewhere in this folder. Only the merge itself knows numbers: it is compiled for every width of a key and
//! every size of a value, once for all devices.

use crate::Error;
use crate::cpu::merge::{Elements, merge_runs};
use crate::cpu::with_threads_for;
use crate::gpu::cut::Cut;
use crate::key::Bits;
use crate::request::Request;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Keys, which are aligned, and what goes with each of them.
pub(super) struct ByteElements<'a> {
    pub(super) keys: &'a mut [u8],
    pub(super) values: &'a mut [MaybeUninit<u8>],
    /// The bytes of a value; 0 for none.
    pub(super) value_bytes: usize,
}

/// Whether values of so many bytes can go with keys.
pub(super) fn moves_values_of(bytes: usize) -> bool {
    matches!(bytes, 1 | 2 | 4 | 8 | 16)
}

/// A merge of the chunks of every row.
pub(super) struct Merging<'a> {
    pub(super) request: &'a Request,
    pub(super) cut: &'a Cut<'a>,
    pub(super) chunks: &'a [Range<usize>],
    pub(super) threads: Option<usize>,
}

impl Merging<'_> {
    pub(super) fn run(&self, from: ByteElements<'_>, to: ByteElements<'_>) -> Result<(), Error> {
        match self.request.key.bytes() {
            1 => self.run_width::<u8>(from, to),
            2 => self.run_width::<u16>(from, to),
            4 => self.run_width::<u32>(from, to),
            8 => self.run_width::<u64>(from, to),
            _ => self.run_width::<u128>(from, to),
        }
    }

    fn run_width<B: Bits + bytemuck::Pod>(
        &self,
        from: ByteElements<'_>,
        to: ByteElements<'_>,
    ) -> Result<(), Error> {
        match from.value_bytes {
            0 => {
                let keys: [&mut [B]; 2] = [from.keys, to.keys].map(bytemuck::cast_slice_mut);
                // Vectors of `()` take no memory.
                let mut nothing = [keys[0].len(), keys[1].len()].map(|len| vec![(); len]);
                let [of_from, of_to] = &mut nothing;
                let [from, to] = keys;
                self.merge(Elements::new(from, of_from), Elements::new(to, of_to))
            }
            1 => self.merge(elements::<B, 1>(from), elements(to)),
            2 => self.merge(elements::<B, 2>(from), elements(to)),
            4 => self.merge(elements::<B, 4>(from), elements(to)),
            8 => self.merge(elements::<B, 8>(from), elements(to)),
            16 => self.merge(elements::<B, 16>(from), elements(to)),
            bytes => unreachable!("values of {bytes} bytes are moved by the indices of their keys"),
        }
    }

    fn merge<B: Bits, V: Copy + Send + Sync>(
        &self,
        mut from: Elements<'_, B, V>,
        mut to: Elements<'_, B, V>,
    ) -> Result<(), Error> {
        let map = self.request.map();
        with_threads_for(from.len(), self.threads, |parallel| {
            for row in in_rows(self.chunks, self.cut) {
                let lengths: Vec<usize> = row.iter().map(ExactSizeIterator::len).collect();
                let (row_from, later_from) = from.split_at(lengths.iter().sum());
                let (row_to, later_to) = to.split_at(lengths.iter().sum());
                merge_runs(row_from, row_to, lengths, map, parallel);
                (from, to) = (later_from, later_to);
            }
        })
    }
}

/// The chunks of every row, or of several where these are whole: a chunk that does not end where a row does goes on in the next.
pub(super) fn in_rows<'a>(
    chunks: &'a [Range<usize>],
    cut: &'a Cut<'a>,
) -> impl Iterator<Item = &'a [Range<usize>]> {
    chunks.chunk_by(|chunk, _| !cut.is_end_of_row(chunk.end))
}

/// Keys as numbers, and values of this size.
fn elements<B: Bits + bytemuck::Pod, const SIZE: usize>(
    elements: ByteElements<'_>,
) -> Elements<'_, B, [MaybeUninit<u8>; SIZE]> {
    Elements::new(bytemuck::cast_slice_mut(elements.keys), elements.values.as_chunks_mut().0)
}
