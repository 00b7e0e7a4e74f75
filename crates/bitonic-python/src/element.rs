//! From a NumPy dtype to a key type.

use crate::order::Missing;
use bitonic::key::KeyType;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// What an array holds.
#[derive(Clone, Copy)]
pub(crate) struct Element {
    pub(crate) key: KeyType,
    /// What comes last in NumPy's order.
    pub(crate) missing: Missing,
}

impl Element {
    /// The element of a dtype in the machine's byte order.
    pub(crate) fn of(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<Self> {
        let refuse = |what: &str, way_out: &str| {
            Err(PyTypeError::new_err(format!("arrays of dtype {dtype} {what}: {way_out}")))
        };
        if dtype.is_native_byteorder() == Some(false) {
            return refuse(
                "have the bytes of another machine",
                "convert with a.astype(a.dtype.newbyteorder('='))",
            );
        }
        let of = |key, missing| Ok(Self { key, missing });
        match (dtype.kind(), dtype.itemsize()) {
            (b'b', 1) | (b'u', 1) => of(KeyType::U8, Missing::Nothing),
            (b'u', 2) => of(KeyType::U16, Missing::Nothing),
            (b'u', 4) => of(KeyType::U32, Missing::Nothing),
            (b'u', 8) => of(KeyType::U64, Missing::Nothing),
            (b'i', 1) => of(KeyType::I8, Missing::Nothing),
            (b'i', 2) => of(KeyType::I16, Missing::Nothing),
            (b'i', 4) => of(KeyType::I32, Missing::Nothing),
            (b'i', 8) => of(KeyType::I64, Missing::Nothing),
            (b'f', 2) => of(KeyType::F16, Missing::Nan),
            (b'f', 4) => of(KeyType::F32, Missing::Nan),
            (b'f', 8) => of(KeyType::F64, Missing::Nan),
            (b'M' | b'm', 8) => of(KeyType::I64, Missing::Nat),
            (kind, _) => match (name_of(dtype)?.as_str(), kind) {
                ("float8_e4m3fn", _) => of(KeyType::F8E4M3, Missing::Nan),
                ("float8_e5m2", _) => of(KeyType::F8E5M2, Missing::Nan),
                ("bfloat16", _) => of(KeyType::Bf16, Missing::Nan),
                (_, b'f') => refuse("are not sorted here", "use numpy's function, or a.astype('float64')"),
                _ => refuse(
                    "are not sorted here",
                    "give bool, integers, float16 to float64, float8_e4m3fn, float8_e5m2, bfloat16, complex, datetime64 or timedelta64, or \
                     use numpy's function",
                ),
            },
        }
    }
}

/// What a dtype is called that NumPy does not have itself: as ml_dtypes calls it, or the one field that `_arrays.py` gives it.
fn name_of(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<String> {
    match dtype.names() {
        Some(names) if names.len() == 1 => Ok(names[0].clone()),
        _ => dtype.getattr("name")?.extract(),
    }
}

/// Runs code with the key type of an element: fewer types than the library has, because `bool` sorts as `u8` does.
macro_rules! with_key {
    ($element:expr, $K:ident => $body:expr) => {
        $crate::element::with_key!(@ $element, $K => $body;
            U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64, F16 half::f16, F32 f32, F64 f64,
            F8E4M3 bitonic::key::F8E4M3, F8E5M2 bitonic::key::F8E5M2, Bf16 half::bf16)
    };
    (@ $element:expr, $K:ident => $body:expr; $($variant:ident $type:ty),+) => {
        match $element.key {
            $(bitonic::key::KeyType::$variant => {
                type $K = $type;
                $body
            })+
            other => unreachable!("no dtype is {}", other.name()),
        }
    };
}
pub(crate) use with_key;
