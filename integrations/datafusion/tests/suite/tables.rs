//! Random tables: keys of every type, and columns that travel with them.

use datafusion::arrow::array::*;
use datafusion::arrow::datatypes::*;
use rand::rngs::StdRng;
use rand::{Rng, RngExt};
use std::sync::Arc;

/// Every key type, with its parameters.
pub(crate) fn key_types() -> Vec<DataType> {
    use DataType::*;
    use TimeUnit::*;
    vec![
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Decimal32(9, 2),
        Decimal64(18, 4),
        Decimal128(38, 10),
        Decimal128(12, 2),
        Date32,
        Date64,
        Time32(Second),
        Time32(Millisecond),
        Time64(Microsecond),
        Time64(Nanosecond),
        Timestamp(Second, None),
        Timestamp(Millisecond, Some("+02:00".into())),
        Timestamp(Microsecond, None),
        Timestamp(Nanosecond, Some("UTC".into())),
        Duration(Second),
        Duration(Millisecond),
        Duration(Microsecond),
        Duration(Nanosecond),
        Boolean,
    ]
}

/// How the values of a key column lie.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spread {
    /// Any bits: all of a type's range, every kind of NaN.
    Bits,
    /// Few different values, from both sides of zero.
    Few,
    /// Close together, with one far away: codes are long and begin alike.
    Outlier,
    /// In order already.
    Sorted,
}

pub(crate) const SPREADS: [Spread; 4] = [Spread::Bits, Spread::Few, Spread::Outlier, Spread::Sorted];

/// A key column; `nulls` of 10 values are null, on average.
pub(crate) fn key_column(
    data_type: &DataType,
    rows: usize,
    spread: Spread,
    nulls: u32,
    random: &mut StdRng,
) -> ArrayRef {
    let wide: Vec<i128> = (0..rows)
        .map(|row| match spread {
            Spread::Bits => i128::from(random.next_u64() as i64) << 64 | i128::from(random.next_u64()),
            Spread::Few => random.random_range(-3..=3),
            Spread::Outlier if row == rows / 2 => i128::MAX / 3,
            Spread::Outlier => random.random_range(0..1000),
            Spread::Sorted => row as i128 / 3,
        })
        .collect();
    let is_null: Vec<bool> = (0..rows).map(|_| random.random_range(0..10) < nulls).collect();

    macro_rules! integers {
        ($type:ty) => {{
            let values = wide.iter().zip(&is_null).map(|(&value, &null)| (!null).then_some(value as _));
            let array: PrimitiveArray<$type> = values.collect();
            Arc::new(array.with_data_type(data_type.clone())) as ArrayRef
        }};
    }
    macro_rules! floats {
        ($type:ty, $bits:ty, $native:ty) => {{
            // Small whole numbers are bits of tiny floats, and their negatives those of NaNs.
            let values = wide
                .iter()
                .zip(&is_null)
                .map(|(&value, &null)| (!null).then_some(<$native>::from_bits(value as $bits)));
            Arc::new(values.collect::<PrimitiveArray<$type>>()) as ArrayRef
        }};
    }
    type F16 = <Float16Type as ArrowPrimitiveType>::Native;
    use DataType::*;
    match data_type {
        Int8 => integers!(Int8Type),
        Int16 => integers!(Int16Type),
        Int32 => integers!(Int32Type),
        Int64 => integers!(Int64Type),
        UInt8 => integers!(UInt8Type),
        UInt16 => integers!(UInt16Type),
        UInt32 => integers!(UInt32Type),
        UInt64 => integers!(UInt64Type),
        Float16 => floats!(Float16Type, u16, F16),
        Float32 => floats!(Float32Type, u32, f32),
        Float64 => floats!(Float64Type, u64, f64),
        Decimal32(..) => integers!(Decimal32Type),
        Decimal64(..) => integers!(Decimal64Type),
        Decimal128(..) => integers!(Decimal128Type),
        Date32 => integers!(Date32Type),
        Date64 => integers!(Date64Type),
        Time32(TimeUnit::Second) => integers!(Time32SecondType),
        Time32(_) => integers!(Time32MillisecondType),
        Time64(TimeUnit::Microsecond) => integers!(Time64MicrosecondType),
        Time64(_) => integers!(Time64NanosecondType),
        Timestamp(TimeUnit::Second, _) => integers!(TimestampSecondType),
        Timestamp(TimeUnit::Millisecond, _) => integers!(TimestampMillisecondType),
        Timestamp(TimeUnit::Microsecond, _) => integers!(TimestampMicrosecondType),
        Timestamp(TimeUnit::Nanosecond, _) => integers!(TimestampNanosecondType),
        Duration(TimeUnit::Second) => integers!(DurationSecondType),
        Duration(TimeUnit::Millisecond) => integers!(DurationMillisecondType),
        Duration(TimeUnit::Microsecond) => integers!(DurationMicrosecondType),
        Duration(TimeUnit::Nanosecond) => integers!(DurationNanosecondType),
        Boolean => {
            let values = wide.iter().zip(&is_null).map(|(&value, &null)| (!null).then_some(value & 1 == 1));
            Arc::new(values.collect::<BooleanArray>())
        }
        other => panic!("{other} is not a key type"),
    }
}

/// What travels with the keys.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload {
    None,
    Integers,
    Strings,
    Views,
    Dictionary,
    Lists,
}

pub(crate) const PAYLOADS: [Payload; 6] =
    [Payload::None, Payload::Integers, Payload::Strings, Payload::Views, Payload::Dictionary, Payload::Lists];

/// The columns of a payload; the first has the numbers of the rows, in the order of the input.
pub(crate) fn payload_columns(payload: Payload, rows: usize, random: &mut StdRng) -> Vec<ArrayRef> {
    let mut text = |row: usize| {
        let length = random.random_range(0..40);
        (!row.is_multiple_of(7)).then(|| format!("{row}-{}", "x".repeat(length)))
    };
    let other: ArrayRef = match payload {
        Payload::None => return vec![],
        Payload::Integers => {
            Arc::new((0..rows).map(|row| (row % 5 != 0).then_some(row as i16)).collect::<Int16Array>())
        }
        Payload::Strings => Arc::new((0..rows).map(text).collect::<StringArray>()),
        Payload::Views => Arc::new((0..rows).map(text).collect::<StringViewArray>()),
        Payload::Dictionary => {
            let values: Vec<_> =
                (0..rows).map(|row| (row % 6 != 0).then(|| ["a", "b", "c"][row % 3])).collect();
            Arc::new(values.into_iter().collect::<DictionaryArray<Int8Type>>())
        }
        Payload::Lists => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for row in 0..rows {
                for _ in 0..row % 3 {
                    lists.values().append_option(text(row));
                }
                lists.append(row % 4 != 0);
            }
            Arc::new(lists.finish())
        }
    };
    vec![Arc::new((0..rows as u32).collect::<UInt32Array>()), other]
}

/// A table cut into partitions and batches of random lengths.
pub(crate) fn cut(
    table: &RecordBatch,
    partitions: usize,
    longest: usize,
    random: &mut StdRng,
) -> Vec<Vec<RecordBatch>> {
    let mut parts = vec![vec![]; partitions];
    let mut row = 0;
    for (number, part) in parts.iter_mut().enumerate() {
        let end = table.num_rows() * (number + 1) / partitions;
        while row < end {
            let length = random.random_range(0..=longest).min(end - row);
            part.push(table.slice(row, length));
            row += length;
        }
    }
    parts
}
