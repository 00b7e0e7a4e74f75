//! Memory for items: bytes that begin where a key of any width may.

use crate::Error;

/// Bytes. Those that were there stay where they are when there are more, and what was once made zero is not made zero again.
#[derive(Default)]
pub(super) struct Buffer {
    /// As long as there ever were bytes.
    words: Vec<u128>,
    len: usize,
}

const WORD: usize = size_of::<u128>();

impl Buffer {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// For how many bytes there is memory.
    pub(super) fn capacity(&self) -> usize {
        self.words.capacity() * WORD
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }

    /// Asks for the memory of so many bytes in all.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<(), Error> {
        let more = bytes.div_ceil(WORD).saturating_sub(self.words.len());
        self.words.try_reserve_exact(more).map_err(|_| Error::OutOfMemory { bytes })
    }

    /// Makes it so long. New bytes have any value.
    pub(super) fn resize(&mut self, len: usize) {
        let words = len.div_ceil(WORD);
        if words > self.words.len() {
            self.words.resize(words, 0);
        }
        self.len = len;
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn extend(&mut self, more: &[u8]) {
        let start = self.len;
        self.resize(start + more.len());
        self.bytes_mut()[start..].copy_from_slice(more);
    }

    /// Puts bytes before those that are there, and takes no more memory than they need.
    pub(super) fn prepend(&mut self, before: &[u8]) -> Result<(), Error> {
        if before.is_empty() {
            return Ok(());
        }
        let old = self.len;
        self.reserve(old + before.len())?;
        self.resize(old + before.len());
        let bytes = self.bytes_mut();
        bytes.copy_within(..old, before.len());
        bytes[..before.len()].copy_from_slice(before);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_what_they_are() {
        let mut buffer = Buffer::default();
        buffer.extend(b"abc");
        buffer.extend(b"");
        buffer.extend(b"defghijklmnopqrst");
        assert_eq!(buffer.bytes(), b"abcdefghijklmnopqrst");
        buffer.prepend(b"123").unwrap();
        assert_eq!(buffer.bytes(), b"123abcdefghijklmnopqrst");
        buffer.clear();
        assert!(buffer.is_empty() && buffer.capacity() >= 23);
        buffer.extend(b"z");
        assert_eq!((buffer.bytes(), buffer.len()), (&b"z"[..], 1));
        assert_eq!(buffer.bytes().as_ptr().align_offset(16), 0);
    }
}
