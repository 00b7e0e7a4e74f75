//! Where rows are while they are not in registers: among the caller's keys, or in a buffer on the stack.

use super::unrolled::unrolled;
use super::vector::Vector;
use std::mem::MaybeUninit;

/// Rows that lie one behind the other.
///
/// # Safety
///
/// Every function may only be called where [`Vector`]'s may; reading and writing, for rows that are there.
pub(super) trait Rows<V: Vector>: Copy {
    /// These rows without the first `count`.
    unsafe fn after(self, count: usize) -> Self;

    /// The same rows, to write what was made of them.
    unsafe fn written_back(self) -> Self;

    /// Reads a row.
    unsafe fn read(self, row: usize) -> V;

    /// Writes a row.
    unsafe fn write(self, row: usize, register: V);
}

/// Rows of keys as memory has them.
#[derive(Clone, Copy)]
pub(super) struct Keys<V: Vector>(pub(super) *mut V::Lane);

impl<V: Vector> Rows<V> for Keys<V> {
    #[inline(always)]
    unsafe fn after(self, count: usize) -> Self {
        // SAFETY: the rows are there, as the caller vouches.
        Self(unsafe { self.0.add(count * V::LANES) })
    }

    #[inline(always)]
    unsafe fn written_back(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn read(self, row: usize) -> V {
        // SAFETY: the row is there, as the caller vouches.
        unsafe { V::load(self.0.add(row * V::LANES)) }
    }

    #[inline(always)]
    unsafe fn write(self, row: usize, register: V) {
        // SAFETY: as above.
        unsafe { register.store(self.0.add(row * V::LANES)) }
    }
}

/// Rows of a buffer, as the registers have them: where a register's keys lie otherwise in memory, nothing is rearranged.
impl<V: Vector> Rows<V> for *mut V {
    #[inline(always)]
    unsafe fn after(self, count: usize) -> Self {
        // SAFETY: the rows are there, as the caller vouches.
        unsafe { self.add(count) }
    }

    #[inline(always)]
    unsafe fn written_back(self) -> Self {
        // SAFETY: the caller vouches for V's instructions.
        unsafe { V::written_back(self) }
    }

    #[inline(always)]
    unsafe fn read(self, row: usize) -> V {
        // SAFETY: the row is there, as the caller vouches.
        unsafe { self.add(row).read() }
    }

    #[inline(always)]
    unsafe fn write(self, row: usize, register: V) {
        // SAFETY: as above.
        unsafe { self.add(row).write(register) }
    }
}

/// Every `stride`-th row from the first on.
#[inline(always)]
pub(super) unsafe fn read_rows<V: Vector, const P: usize>(rows: impl Rows<V>, stride: usize) -> [V; P] {
    // SAFETY: the caller vouches for V's instructions, and for all of these rows.
    unsafe {
        let mut registers = [rows.read(0); P];
        unrolled!(index below P => {
            registers[index] = rows.read(index * stride);
        });
        registers
    }
}

/// The inverse of [`read_rows`].
#[inline(always)]
pub(super) unsafe fn write_rows<V: Vector, const P: usize>(
    registers: [V; P],
    rows: impl Rows<V>,
    stride: usize,
) {
    // SAFETY: the caller vouches for V's instructions, and for room for all of these rows.
    unsafe {
        let rows = rows.written_back();
        unrolled!(index below P => {
            rows.write(index * stride, registers[index]);
        });
    }
}

/// The most rows of a tile: 256, of which shorter registers do not fill the buffer, or as many as it has room for. 256 registers of 64 bytes are
/// 16 KiB, a third of a first-level data cache, so that the keys themselves fit beside it.
pub(crate) const fn max_rows<V: Vector>() -> usize {
    let fitting = TILE_BYTES / size_of::<V>();
    if fitting < 256 { fitting } else { 256 }
}

/// The most bytes of a tile's rows.
///
/// Twice as many were not clearly slower, but LLVM 22 compiles frames of 32 KiB and more wrongly on x86-64 (`docs/compiler-fault.md`
/// has a program of 30 lines that shows it): such a frame is probed by a loop that uses register r11, and where the prologue is
/// moved behind an early return, r11 may hold a value by then, here the number of rows. Smaller frames are probed without a loop, and
/// this leaves 16 KiB for everything else that a function keeps.
const TILE_BYTES: usize = 16 << 10;

/// Room for the rows of a tile, aligned to a register.
#[repr(align(64))]
pub(super) struct TileBuffer(MaybeUninit<[u8; TILE_BYTES]>);

impl TileBuffer {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// Room for [`max_rows`] rows. Nothing is there yet.
    #[inline(always)]
    pub(super) fn rows<V: Vector>(&mut self) -> *mut V {
        const { assert!(align_of::<V>() <= align_of::<Self>()) };
        self.0.as_mut_ptr().cast()
    }
}
