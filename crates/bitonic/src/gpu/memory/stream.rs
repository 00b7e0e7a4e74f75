//! Copies to memory that is not read again soon.

/// Copies bytes past the caches where the processor can. Lines that are written whole are not read first, and push nothing out that
/// is needed. Both have the same length.
#[cfg(target_arch = "x86_64")]
pub(crate) fn copy_past_caches(from: &[u8], to: &mut [u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    assert_eq!(from.len(), to.len(), "both have the same length");
    // SAFETY: any bytes make a number.
    let (before, numbers, after) = unsafe { to.align_to_mut::<__m128i>() };
    let (first, rest) = from.split_at(before.len());
    let (middle, last) = rest.split_at(size_of_val(numbers));
    before.copy_from_slice(first);
    after.copy_from_slice(last);
    for (number, bytes) in numbers.iter_mut().zip(middle.as_chunks::<16>().0) {
        // SAFETY: there are 16 bytes to read; the number is aligned, and every x86-64 has these instructions.
        unsafe { _mm_stream_si128(number, _mm_loadu_si128(bytes.as_ptr().cast())) };
    }
    // SAFETY: every x86-64 has this instruction. After it, the stores are seen in their order, as Rust needs.
    unsafe { _mm_sfence() };
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn copy_past_caches(from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_wherever_the_array_begins_and_ends() {
        let from: Vec<u8> = (0..200).collect();
        for start in 0..33 {
            for end in start..from.len() {
                let mut to = [255; 200];
                copy_past_caches(&from[start..end], &mut to[start..end]);
                assert!(to[start..end] == from[start..end]);
                assert!(to[..start].iter().chain(&to[end..]).all(|&byte| byte == 255), "{start}..{end}");
            }
        }
    }
}
