//! The exchange of two values that may be of any type, or not, with the same instructions at the same addresses either way.
//!
//! A selection between two values will not do: for a value that lives in memory the compiler selects its address. So the
//! values are exchanged word by word, each word by masks:
//!
//! ```text
//!   difference = (first ^ second) & mask        mask: all ones to exchange, zero to leave
//!   first ^= difference, second ^= difference
//! ```
//!
//! Values may hold padding and references. Integers cannot carry those, so the words are made where the language sees
//! memory only: in assembly. On processors without it here, and under Miri, words that need not be initialised are selected in
//! registers.

/// Exchanges the values if `exchange`; which of the two is done shows neither in the instructions nor in the addresses.
#[inline(always)]
pub(super) fn exchange_if<V: Copy>(exchange: bool, first: &mut V, second: &mut V) {
    let (first, second) = (std::ptr::from_mut(first), std::ptr::from_mut(second));
    // SAFETY: both come from exclusive references to values of one type, so that they are valid, aligned and apart.
    unsafe { words::exchange_if(exchange, first, second) }
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod words {
    /// See [`super::exchange_if`].
    ///
    /// # Safety
    /// Both pointers must be valid for reads and writes of a V, and the values must not overlap.
    #[inline(always)]
    pub(super) unsafe fn exchange_if<V>(exchange: bool, first: *mut V, second: *mut V) {
        let mask = u64::from(exchange).wrapping_neg();
        let (first, second) = (first.cast::<u8>(), second.cast::<u8>());
        let size = size_of::<V>();
        let whole = size & !7;
        // SAFETY: `whole` bytes, then 4, 2 and 1 where the size has that bit, are the bytes of the value: each word lies within
        // both values, which are valid and apart. What the assembly does is to swap the bytes of the two words or to
        // leave them, as a swap of `[MaybeUninit<u8>; N]` would: any bytes of values are values again.
        unsafe {
            for at in (0..whole).step_by(8) {
                exchange_8(mask, first.add(at), second.add(at));
            }
            if size & 4 != 0 {
                exchange_4(mask, first.add(whole), second.add(whole));
            }
            if size & 2 != 0 {
                let at = whole + (size & 4);
                exchange_2(mask, first.add(at), second.add(at));
            }
            if size & 1 != 0 {
                exchange_1(mask, first.add(size - 1), second.add(size - 1));
            }
        }
    }

    /// A function that exchanges two words where `mask` is all ones, and leaves them where it is zero.
    ///
    /// Its safety: the words must be valid for reads and writes, and apart. They may be unaligned.
    #[cfg(target_arch = "x86_64")]
    macro_rules! exchange_word {
        ($name:ident, $load:literal, $loaded:literal, $size:literal, $stored:literal) => {
            #[inline(always)]
            unsafe fn $name(mask: u64, first: *mut u8, second: *mut u8) {
                // SAFETY: the instructions access the two words alone, which are valid.
                unsafe {
                    std::arch::asm!(
                        concat!($load, " {one:", $loaded, "}, ", $size, " ptr [{first}]"),
                        concat!($load, " {two:", $loaded, "}, ", $size, " ptr [{second}]"),
                        "mov {difference}, {one}",
                        "xor {difference}, {two}",
                        "and {difference}, {mask}",
                        "xor {one}, {difference}",
                        "xor {two}, {difference}",
                        concat!("mov ", $size, " ptr [{first}], {one:", $stored, "}"),
                        concat!("mov ", $size, " ptr [{second}], {two:", $stored, "}"),
                        first = in(reg) first,
                        second = in(reg) second,
                        mask = in(reg) mask,
                        one = out(reg) _,
                        two = out(reg) _,
                        difference = out(reg) _,
                        options(nostack),
                    );
                }
            }
        };
    }
    #[cfg(target_arch = "x86_64")]
    exchange_word!(exchange_8, "mov", "r", "qword", "r");
    #[cfg(target_arch = "x86_64")]
    exchange_word!(exchange_4, "mov", "e", "dword", "e");
    #[cfg(target_arch = "x86_64")]
    exchange_word!(exchange_2, "movzx", "e", "word", "x");
    #[cfg(target_arch = "x86_64")]
    exchange_word!(exchange_1, "movzx", "e", "byte", "l");

    /// As above.
    #[cfg(target_arch = "aarch64")]
    macro_rules! exchange_word {
        ($name:ident, $size:literal, $register:literal) => {
            #[inline(always)]
            unsafe fn $name(mask: u64, first: *mut u8, second: *mut u8) {
                // SAFETY: the instructions access the two words alone, which are valid.
                unsafe {
                    std::arch::asm!(
                        concat!("ldr", $size, " {one:", $register, "}, [{first}]"),
                        concat!("ldr", $size, " {two:", $register, "}, [{second}]"),
                        "eor {difference}, {one}, {two}",
                        "and {difference}, {difference}, {mask}",
                        "eor {one}, {one}, {difference}",
                        "eor {two}, {two}, {difference}",
                        concat!("str", $size, " {one:", $register, "}, [{first}]"),
                        concat!("str", $size, " {two:", $register, "}, [{second}]"),
                        first = in(reg) first,
                        second = in(reg) second,
                        mask = in(reg) mask,
                        one = out(reg) _,
                        two = out(reg) _,
                        difference = out(reg) _,
                        options(nostack, preserves_flags),
                    );
                }
            }
        };
    }
    #[cfg(target_arch = "aarch64")]
    exchange_word!(exchange_8, "", "x");
    #[cfg(target_arch = "aarch64")]
    exchange_word!(exchange_4, "", "w");
    #[cfg(target_arch = "aarch64")]
    exchange_word!(exchange_2, "h", "w");
    #[cfg(target_arch = "aarch64")]
    exchange_word!(exchange_1, "b", "w");
}

#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
mod words {
    use std::hint::select_unpredictable;
    use std::mem::MaybeUninit;

    /// See [`super::exchange_if`].
    ///
    /// # Safety
    /// Both pointers must be valid for reads and writes of a V and aligned, and the values must not overlap.
    #[inline(always)]
    pub(super) unsafe fn exchange_if<V>(exchange: bool, first: *mut V, second: *mut V) {
        // SAFETY: passed on; a value begins at a multiple of its alignment and has a multiple of it as its size.
        unsafe {
            match align_of::<V>() {
                1 => exchange_words::<u8>(exchange, first.cast(), second.cast(), size_of::<V>()),
                2 => exchange_words::<u16>(exchange, first.cast(), second.cast(), size_of::<V>() / 2),
                4 => exchange_words::<u32>(exchange, first.cast(), second.cast(), size_of::<V>() / 4),
                _ => exchange_words::<u64>(exchange, first.cast(), second.cast(), size_of::<V>() / 8),
            }
        }
    }

    /// Exchanges so many words.
    ///
    /// # Safety
    /// They must be valid for reads and writes, aligned, and apart.
    #[inline(always)]
    unsafe fn exchange_words<W: Copy>(
        exchange: bool,
        first: *mut MaybeUninit<W>,
        second: *mut MaybeUninit<W>,
        count: usize,
    ) {
        for at in 0..count {
            // SAFETY: the words are valid and aligned. Volatile, so that the loads come before the selection: the compiler may
            // not turn them into one load from a selected address.
            unsafe {
                let (one, two) = (first.add(at).read_volatile(), second.add(at).read_volatile());
                first.add(at).write(select_unpredictable(exchange, two, one));
                second.add(at).write(select_unpredictable(exchange, one, two));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<V: Copy + PartialEq + std::fmt::Debug>(first: V, second: V) {
        let mut values = [first, second];
        let [one, two] = &mut values;
        exchange_if(false, one, two);
        assert_eq!(values, [first, second]);
        let [one, two] = &mut values;
        exchange_if(true, one, two);
        assert_eq!(values, [second, first]);
    }

    fn check_bytes<const BYTES: usize>() {
        check(std::array::from_fn::<u8, BYTES, _>(|at| at as u8), [0xA5; BYTES]);
    }

    #[test]
    fn every_size_is_exchanged_whole() {
        macro_rules! sizes {
            ($($size:literal)+) => { $(check_bytes::<$size>();)+ };
        }
        sizes!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 31 32 33 63 64 100);
    }

    #[test]
    fn numbers_padding_and_references_survive() {
        check((), ());
        check(1_u16, 2);
        check(1.5_f64, -2.5);
        check(u128::MAX, 1);
        check((1_u8, 2_u32), (3, 4));
        check((1_u8, [5_u16; 3], 2_u64), (3, [6; 3], 4));
        check(&1, &2);
        check("one", "another");
        check(Some(&7), None);
    }
}
