//! The column by which rows are sorted: its values as ordered bits, and the order of the rows by them.

use super::super::lines::Column;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, Schema, TimeUnit};
use bitonic::{Error, Key, Order, Sorter};

/// The column by which rows are sorted.
pub(super) struct KeyColumn {
    /// From 0.
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) data_type: DataType,
}

impl KeyColumn {
    /// Finds the column in a schema. The error says why it is none to sort by.
    pub(super) fn find(schema: &Schema, column: &Column) -> Result<Self, String> {
        let fields = schema.fields();
        let index = match column {
            Column::Number(number) => Some(number - 1).filter(|&index| index < fields.len()),
            Column::Name(name) => fields.iter().position(|field| field.name() == name),
        };
        let Some(index) = index else {
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            let asked = match column {
                Column::Number(number) => format!("there is no column {number}"),
                Column::Name(name) => format!("there is no column '{name}'"),
            };
            return Err(format!("{asked}: choose one of {}", names.join(", ")));
        };
        let (name, data_type) = (fields[index].name().clone(), fields[index].data_type().clone());
        if !is_sortable(&data_type) {
            return Err(format!(
                "column {name} has {data_type}, and rows are sorted by numbers, dates and times: choose another column, or sort it \
                 with 'bitonic-sql' of bitonic-datafusion"
            ));
        }
        Ok(Self { index, name, data_type })
    }
}

/// Whether a column of this type has ordered bits.
fn is_sortable(data_type: &DataType) -> bool {
    data_type.is_integer()
        || data_type.is_floating()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Date32
                | DataType::Date64
                | DataType::Time32(_)
                | DataType::Time64(_)
                | DataType::Timestamp(..)
                | DataType::Duration(_)
                | DataType::Decimal32(..)
                | DataType::Decimal64(..)
                | DataType::Decimal128(..)
        )
}

/// The keys of all rows so far.
#[derive(Default)]
pub(super) struct Keys {
    /// Ordered bits of the keys that are there.
    bits: Bits,
    /// Their rows.
    rows: Vec<usize>,
    /// The rows without a key.
    nulls: Vec<usize>,
    all: usize,
}

/// Ordered bits, of as many bits as there must be.
enum Bits {
    Narrow(Vec<u64>),
    Wide(Vec<u128>),
}

impl Default for Bits {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl Keys {
    /// Adds the keys of a column that [`KeyColumn::find`] accepts.
    pub(super) fn add(&mut self, column: &dyn Array) {
        let first = self.all;
        self.all += column.len();
        for row in 0..column.len() {
            if column.is_null(row) { &mut self.nulls } else { &mut self.rows }.push(first + row);
        }
        if let DataType::Decimal128(..) = column.data_type() {
            if let Bits::Narrow(_) = self.bits {
                self.bits = Bits::Wide(Vec::new());
            }
            if let Bits::Wide(bits) = &mut self.bits {
                bits.extend(
                    column.as_primitive::<Decimal128Type>().iter().flatten().map(Key::to_ordered_bits),
                );
            }
        } else if let Bits::Narrow(bits) = &mut self.bits {
            bits.extend(narrow_bits(column).into_iter().flatten());
        }
    }

    /// The rows in order, those without a key last.
    pub(super) fn order(&self, ascending: &Sorter, order: Order) -> Result<Vec<usize>, Error> {
        let indices = match (&self.bits, order) {
            (Bits::Narrow(bits), Order::Ascending) => ascending.argsort(bits)?,
            (Bits::Narrow(bits), Order::Descending) => {
                ascending.argsort(&bits.iter().map(|bits| !bits).collect::<Vec<u64>>())?
            }
            (Bits::Wide(bits), Order::Ascending) => ascending.argsort(bits)?,
            (Bits::Wide(bits), Order::Descending) => {
                ascending.argsort(&bits.iter().map(|bits| !bits).collect::<Vec<u128>>())?
            }
        };
        Ok(indices.into_iter().map(|index| self.rows[index]).chain(self.nulls.iter().copied()).collect())
    }

    /// The first row, from 0, that belongs before the one above it.
    pub(super) fn first_out_of_order(&self, order: Order) -> Option<usize> {
        // A key below a null.
        let after_null =
            self.nulls.first().and_then(|&null| self.rows.iter().copied().find(|&row| row > null));
        let is_wrong = |turned: std::cmp::Ordering| match order {
            Order::Ascending => turned.is_gt(),
            Order::Descending => turned.is_lt(),
        };
        let pair = match &self.bits {
            Bits::Narrow(bits) => bits.windows(2).position(|pair| is_wrong(pair[0].cmp(&pair[1]))),
            Bits::Wide(bits) => bits.windows(2).position(|pair| is_wrong(pair[0].cmp(&pair[1]))),
        };
        let among_keys = pair.map(|place| self.rows[place + 1]);
        after_null.into_iter().chain(among_keys).min()
    }
}

/// The ordered bits of a column's values, of up to 64 bits each; `None` for those that are not there.
pub(super) fn narrow_bits(column: &dyn Array) -> Vec<Option<u64>> {
    fn of<T: ArrowPrimitiveType>(column: &dyn Array) -> Vec<Option<u64>>
    where
        T::Native: Key,
        u64: From<<T::Native as Key>::Bits>,
    {
        column.as_primitive::<T>().iter().map(|value| Some(u64::from(value?.to_ordered_bits()))).collect()
    }
    match column.data_type() {
        DataType::Int8 => of::<Int8Type>(column),
        DataType::Int16 => of::<Int16Type>(column),
        DataType::Int32 => of::<Int32Type>(column),
        DataType::Int64 => of::<Int64Type>(column),
        DataType::UInt8 => of::<UInt8Type>(column),
        DataType::UInt16 => of::<UInt16Type>(column),
        DataType::UInt32 => of::<UInt32Type>(column),
        DataType::UInt64 => of::<UInt64Type>(column),
        DataType::Float16 => of::<Float16Type>(column),
        DataType::Float32 => of::<Float32Type>(column),
        DataType::Float64 => of::<Float64Type>(column),
        DataType::Boolean => column.as_boolean().iter().map(|value| Some(u64::from(value?))).collect(),
        DataType::Date32 => of::<Date32Type>(column),
        DataType::Date64 => of::<Date64Type>(column),
        DataType::Time32(TimeUnit::Second) => of::<Time32SecondType>(column),
        DataType::Time32(_) => of::<Time32MillisecondType>(column),
        DataType::Time64(TimeUnit::Microsecond) => of::<Time64MicrosecondType>(column),
        DataType::Time64(_) => of::<Time64NanosecondType>(column),
        DataType::Timestamp(TimeUnit::Second, _) => of::<TimestampSecondType>(column),
        DataType::Timestamp(TimeUnit::Millisecond, _) => of::<TimestampMillisecondType>(column),
        DataType::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(column),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => of::<TimestampNanosecondType>(column),
        DataType::Duration(TimeUnit::Second) => of::<DurationSecondType>(column),
        DataType::Duration(TimeUnit::Millisecond) => of::<DurationMillisecondType>(column),
        DataType::Duration(TimeUnit::Microsecond) => of::<DurationMicrosecondType>(column),
        DataType::Duration(TimeUnit::Nanosecond) => of::<DurationNanosecondType>(column),
        DataType::Decimal32(..) => of::<Decimal32Type>(column),
        DataType::Decimal64(..) => of::<Decimal64Type>(column),
        // `KeyColumn::find` lets no others through.
        _ => vec![None; column.len()],
    }
}
