//! Arrow's key types as numbers in memory.
//!
//! A timestamp is an `i64`, a date an `i32`, a decimal an `i32`, `i64` or `i128`. What the type means does not change its
//! order, so codes know only these forms.

use bitonic::Key;
use bitonic::key::f16;
use datafusion::arrow::array::{Array, ArrayData, ArrayRef, BooleanArray, make_array};
use datafusion::arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::{ArrowNativeType, DataType};
use datafusion::arrow::error::ArrowError;
use std::sync::Arc;

/// A number that Arrow keeps, as ordered bits.
pub(crate) trait Native: ArrowNativeType + Key {
    /// An unsigned integer whose order is the order of the numbers.
    fn ordered(self) -> u128;

    /// The inverse of [`Native::ordered`].
    fn from_ordered(bits: u128) -> Self;

    /// The values, if they are of this type; otherwise none.
    fn of(values: &Values) -> &[Self];
}

macro_rules! native {
    ($($type:ty: $variant:ident),*) => {$(
        impl From<ScalarBuffer<$type>> for Values {
            fn from(values: ScalarBuffer<$type>) -> Self {
                Self::$variant(values)
            }
        }

        impl Native for $type {
            #[inline(always)]
            fn ordered(self) -> u128 {
                u128::from(self.to_ordered_bits())
            }

            #[inline(always)]
            fn from_ordered(bits: u128) -> Self {
                <$type as Key>::from_ordered_bits(bits as <$type as Key>::Bits)
            }

            fn of(values: &Values) -> &[Self] {
                match values {
                    Values::$variant(values) => values,
                    _ => &[],
                }
            }
        }
    )*};
}

native!(
    i8: I8, i16: I16, i32: I32, i64: I64, i128: I128,
    u8: U8, u16: U16, u32: U32, u64: U64,
    f16: F16, f32: F32, f64: F64
);

/// The values of a key column, without its nulls.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    I8(ScalarBuffer<i8>),
    I16(ScalarBuffer<i16>),
    I32(ScalarBuffer<i32>),
    I64(ScalarBuffer<i64>),
    I128(ScalarBuffer<i128>),
    U8(ScalarBuffer<u8>),
    U16(ScalarBuffer<u16>),
    U32(ScalarBuffer<u32>),
    U64(ScalarBuffer<u64>),
    F16(ScalarBuffer<f16>),
    F32(ScalarBuffer<f32>),
    F64(ScalarBuffer<f64>),
}

/// Calls generic code with the values as a slice, whatever their type.
macro_rules! with_values {
    ($values:expr, $slice:ident => $body:expr) => {
        match $values {
            $crate::form::Values::I8($slice) => $body,
            $crate::form::Values::I16($slice) => $body,
            $crate::form::Values::I32($slice) => $body,
            $crate::form::Values::I64($slice) => $body,
            $crate::form::Values::I128($slice) => $body,
            $crate::form::Values::U8($slice) => $body,
            $crate::form::Values::U16($slice) => $body,
            $crate::form::Values::U32($slice) => $body,
            $crate::form::Values::U64($slice) => $body,
            $crate::form::Values::F16($slice) => $body,
            $crate::form::Values::F32($slice) => $body,
            $crate::form::Values::F64($slice) => $body,
        }
    };
}
pub(crate) use with_values;

/// Calls generic code with the number `T` that a type of Arrow is in memory; booleans and what is not a key go to `_`.
macro_rules! with_native {
    ($data_type:expr, $T:ident => $body:expr, _ => $otherwise:expr) => {{
        use DataType::*;
        macro_rules! numbers {
            ($type:ty) => {{
                type $T = $type;
                $body
            }};
        }
        match $data_type {
            Int8 => numbers!(i8),
            Int16 => numbers!(i16),
            Int32 | Date32 | Time32(_) | Decimal32(..) => numbers!(i32),
            Int64 | Date64 | Time64(_) | Timestamp(..) | Duration(_) | Decimal64(..) => numbers!(i64),
            Decimal128(..) => numbers!(i128),
            UInt8 => numbers!(u8),
            UInt16 => numbers!(u16),
            UInt32 => numbers!(u32),
            UInt64 => numbers!(u64),
            Float16 => numbers!(f16),
            Float32 => numbers!(f32),
            Float64 => numbers!(f64),
            _ => $otherwise,
        }
    }};
}

/// Whether columns of this type can be keys.
pub(crate) fn is_key(data_type: &DataType) -> bool {
    with_native!(data_type, T => size_of::<T>() > 0, _ => *data_type == Boolean)
}

/// Whether columns of this type are one number a row in memory, so that their values can be put elsewhere one by one.
pub(crate) fn is_number(data_type: &DataType) -> bool {
    is_key(data_type) && *data_type != DataType::Boolean
}

/// A key column, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct KeyArray {
    pub(crate) values: Values,
    pub(crate) nulls: Option<NullBuffer>,
}

impl KeyArray {
    /// `None` if the type is not a key's.
    pub(crate) fn new(array: &dyn Array) -> Option<Self> {
        // Without nulls the loops need not look for them.
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        Some(Self { values: values(array)?, nulls })
    }

    /// The bits of a value.
    pub(crate) fn value_bits(&self) -> u32 {
        fn bits<T>(_: &[T]) -> u32 {
            8 * size_of::<T>() as u32
        }
        with_values!(&self.values, values => bits(values))
    }

    /// How many rows are null.
    pub(crate) fn null_count(&self) -> usize {
        self.nulls.as_ref().map_or(0, NullBuffer::null_count)
    }

    /// How many rows are not.
    pub(crate) fn valid_count(&self) -> usize {
        with_values!(&self.values, values => values.len()) - self.null_count()
    }

    /// The column of a type for which [`is_number`] holds.
    pub(crate) fn to_column(&self, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
        let (buffer, len) = with_values!(&self.values, values => (values.inner().clone(), values.len()));
        let data = ArrayData::builder(data_type.clone()).len(len).nulls(self.nulls.clone());
        data.add_buffer(buffer).build().map(make_array)
    }
}

fn values(array: &dyn Array) -> Option<Values> {
    with_native!(
        array.data_type(),
        T => {
            let data = array.to_data();
            Some(ScalarBuffer::<T>::new(data.buffers()[0].clone(), data.offset(), data.len()).into())
        },
        _ => {
            let bits = array.as_any().downcast_ref::<BooleanArray>()?.values();
            Some(ScalarBuffer::from(bits.iter().map(u8::from).collect::<Vec<_>>()).into())
        }
    )
}

/// A column of this type: `ordered` gives the ordered bits of a value from its word. Nulls may have any.
pub(crate) fn column(
    data_type: &DataType,
    words: &[u64],
    ordered: impl Fn(u64) -> u128,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    with_native!(
        data_type,
        T => {
            let values: Vec<T> = words.iter().map(|&word| T::from_ordered(ordered(word))).collect();
            let data = ArrayData::builder(data_type.clone()).len(values.len()).nulls(nulls);
            Ok(make_array(data.add_buffer(Buffer::from_vec(values)).build()?))
        },
        _ => {
            let bits = BooleanBuffer::collect_bool(words.len(), |place| ordered(words[place]) == 1);
            Ok(Arc::new(BooleanArray::new(bits, nulls)))
        }
    )
}
