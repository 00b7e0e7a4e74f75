//! NumPy arrays as slices.
//!
//! `bitonic/_arrays.py` makes arrays ready: in memory one key after the other, aligned, in the machine's byte order. What is not so is
//! refused here, because slices depend on it.

use crate::element::Element;
use numpy::npyffi::{_PyArray_GET_ITEM_DATA, NPY_ARRAY_WRITEABLE};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::ops::Range;

/// An array that is ready.
#[derive(Clone, Copy)]
pub(crate) struct Ready {
    pub(crate) element: Element,
    memory: Memory,
    /// The length of the last axis.
    pub(crate) row: usize,
}

// SAFETY: an address and numbers; what they mean is promised where slices are made of them.
unsafe impl Send for Ready {}
// SAFETY: the same.
unsafe impl Sync for Ready {}

/// Where an array is.
#[derive(Clone, Copy)]
struct Memory {
    data: *mut u8,
    len: usize,
    bytes: usize,
}

impl Memory {
    fn of(array: &Bound<'_, PyUntypedArray>, is_written: bool) -> PyResult<Self> {
        if !array.is_c_contiguous() || !array.is_aligned() {
            return Err(PyValueError::new_err(
                "the array is not contiguous or not aligned: pass np.ascontiguousarray(a)",
            ));
        }
        // SAFETY: the array is alive, and its fields are read under the interpreter's lock.
        let (data, flags) = unsafe {
            let fields = _PyArray_GET_ITEM_DATA(array.as_array_ptr());
            ((*fields).data, (*fields).flags)
        };
        if is_written && flags & NPY_ARRAY_WRITEABLE == 0 {
            return Err(PyValueError::new_err(
                "the array is read-only: sort a copy with bitonic.sort(a), or set a.flags.writeable",
            ));
        }
        let len = array.len();
        Ok(Self { data: data.cast(), len, bytes: len * array.dtype().itemsize() })
    }

    fn range(&self) -> Range<usize> {
        self.data as usize..self.data as usize + self.bytes
    }

    /// NumPy may give arrays without elements any address.
    fn start<T>(&self) -> *mut T {
        if self.len == 0 { std::ptr::dangling_mut() } else { self.data.cast() }
    }
}

impl Ready {
    /// An array of keys that are read.
    pub(crate) fn read(array: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        Self::of(array, false)
    }

    /// An array of keys that are written.
    pub(crate) fn written(array: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        Self::of(array, true)
    }

    fn of(array: &Bound<'_, PyUntypedArray>, is_written: bool) -> PyResult<Self> {
        let element = Element::of(&array.dtype())?;
        let memory = Memory::of(array, is_written)?;
        let row = array.shape().last().copied().unwrap_or(1);
        Ok(Self { element, memory, row })
    }

    pub(crate) fn len(&self) -> usize {
        self.memory.len
    }

    /// The keys.
    ///
    /// # Safety
    ///
    /// K must be the type of the element, and the array must live and not be written as long as the slice is used.
    pub(crate) unsafe fn keys<'a, K>(self) -> &'a [K] {
        // SAFETY: contiguous, aligned and of the element's size, which was checked; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.memory.start(), self.memory.len) }
    }

    /// The keys, to write.
    ///
    /// # Safety
    ///
    /// As for [`Ready::keys`]; the array must have been made ready by [`Ready::written`], and nobody else may use its memory.
    pub(crate) unsafe fn keys_mut<'a, K>(self) -> &'a mut [K] {
        // SAFETY: as in `keys`.
        unsafe { std::slice::from_raw_parts_mut(self.memory.start(), self.memory.len) }
    }
}

/// Places of 4 or 8 bytes to write to: indices, or values of pairs.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    memory: Memory,
    is_wide: bool,
    is_signed: bool,
}

// SAFETY: as for `Ready`.
unsafe impl Send for Words {}
// SAFETY: the same.
unsafe impl Sync for Words {}

impl Words {
    /// Memory of any dtype with elements of 4 or 8 bytes.
    pub(crate) fn written(array: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        let memory = Memory::of(array, true)?;
        let dtype = array.dtype();
        if dtype.has_object() || dtype.has_fields() || dtype.has_subarray() {
            return Err(PyTypeError::new_err(format!("values of dtype {dtype} are no plain numbers")));
        }
        match dtype.itemsize() {
            size @ (4 | 8) if dtype.alignment() == size => {
                Ok(Self { memory, is_wide: size == 8, is_signed: dtype.kind() == b'i' })
            }
            _ => Err(PyTypeError::new_err(format!("values of dtype {dtype} do not have 4 or 8 bytes"))),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.memory.len
    }

    /// The words by their width.
    ///
    /// # Safety
    ///
    /// The array must live as long as the slice is used, and nobody else may use its memory.
    pub(crate) unsafe fn slice<'a>(self) -> WordSlice<'a> {
        let (start, len) = (self.memory.start::<u32>(), self.memory.len);
        // SAFETY: contiguous, aligned, of this width, and plain numbers, which was checked; the rest is the caller's promise.
        unsafe {
            match self.is_wide {
                false => WordSlice::Narrow(std::slice::from_raw_parts_mut(start, len)),
                true => WordSlice::Wide(std::slice::from_raw_parts_mut(self.memory.start(), len)),
            }
        }
    }

    /// Whether indices of so many keys can be written here.
    pub(crate) fn check_indices(&self, keys: usize) -> PyResult<()> {
        let bits = if self.is_wide { 64 } else { 32 } - u32::from(self.is_signed);
        if keys as u128 <= 1 << bits {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "indices of {keys} keys do not fit {bits} bits: ask for index_dtype='int64'"
        )))
    }
}

/// Words of one width.
pub(crate) enum WordSlice<'a> {
    Narrow(&'a mut [u32]),
    Wide(&'a mut [u64]),
}

/// Runs code on words of either width.
macro_rules! with_words {
    ($words:expr, $slice:ident => $body:expr) => {
        match $words {
            $crate::array::WordSlice::Narrow($slice) => $body,
            $crate::array::WordSlice::Wide($slice) => $body,
        }
    };
}
pub(crate) use with_words;

/// Refuses arrays that share memory where one of them is written.
pub(crate) fn check_apart(ranges: &[Range<usize>]) -> PyResult<()> {
    let overlap = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
    let is_shared = |number: usize| ranges[..number].iter().any(|other| overlap(other, &ranges[number]));
    if (0..ranges.len()).any(is_shared) {
        return Err(PyValueError::new_err("two of the arrays share memory: pass a copy of one of them"));
    }
    Ok(())
}

impl Ready {
    /// The addresses of the array.
    pub(crate) fn range(&self) -> Range<usize> {
        self.memory.range()
    }
}

impl Words {
    /// The addresses of the array.
    pub(crate) fn range(&self) -> Range<usize> {
        self.memory.range()
    }
}

/// What is sorted for itself: rows of one length, or segments between offsets.
#[derive(Clone, Copy)]
pub(crate) enum Parts<'a> {
    Rows { len: usize, row: usize },
    Offsets(&'a [usize]),
}

impl Parts<'_> {
    /// Whether all keys are one part.
    pub(crate) fn is_one(&self) -> bool {
        matches!(self, Self::Rows { len, row } if len == row)
    }

    pub(crate) fn count(&self) -> usize {
        match *self {
            Self::Rows { len, row } => len.checked_div(row).unwrap_or(0),
            Self::Offsets(offsets) => offsets.len().saturating_sub(1),
        }
    }

    pub(crate) fn ranges(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.count()).map(move |number| match self {
            Self::Rows { row, .. } => number * row..(number + 1) * row,
            Self::Offsets(offsets) => offsets[number]..offsets[number + 1],
        })
    }
}
