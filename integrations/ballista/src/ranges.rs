//! Ranges of keys: bounds from a sample, the number of a row's range, and the shuffle that brings a range together.
//!
//! ```text
//! sample, sorted   3 3 5 8 | 9 9 9 12 | 13 20 21 22      3 ranges asked for
//! bounds                     9          13               a bound is the first key of its range
//! range of a key   0 below 9, 1 from 9 on, 2 from 13 on
//! ```
//!
//! Invariant: the number of a range depends on the key alone and never falls as the key rises. So equal keys, and nulls among them,
//! are in one range, and the ranges, each sorted, are the sorted whole. It holds for any bounds; a bad sample costs balance only.
//!
//! Ballista shuffles by hash and by nothing else. So every range gets a *ticket*: a number whose hash falls on the partition that
//! has the range's number. Tickets are found by trial with DataFusion's own partitioner. A cluster that hashes in another way
//! would put two ranges into one partition and none into another, which costs balance, too, and no more:
//! [`PartFilesExec`](crate::PartFilesExec) cuts a partition where the range changes.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array, UInt64Array};
use datafusion::arrow::compute::{SortOptions, concat_batches, take};
use datafusion::arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use datafusion::arrow::row::{Row, RowConverter, Rows, SortField};
use datafusion::common::config::ConfigOptions;
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::expressions::{Column, lit};
use datafusion::physical_expr::{LexOrdering, Partitioning, PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::metrics::Time;
use datafusion::physical_plan::repartition::BatchPartitioner;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// The function by which executors find the range of a row. It must be known to the scheduler and to every executor.
pub const RANGE_FUNCTION: &str = "bitonic_range";

/// Ranges of keys, in the order of a sort.
#[derive(Clone, Debug)]
pub struct Ranges {
    order: LexOrdering,
    /// For each key of the order, the first of every range but the lowest.
    bounds: Vec<ArrayRef>,
}

impl Ranges {
    /// At most `count` ranges with about as many rows of the sample in each. `sample` has the values of the keys as its columns.
    ///
    /// One key that is in the sample more often than a range is long takes a range of its own length, and ranges that would be
    /// empty are left out.
    ///
    /// # Errors
    /// The keys cannot be compared, such as those of a map.
    pub fn from_sample(order: LexOrdering, sample: &[RecordBatch], count: usize) -> Result<Self> {
        let Some(first) = sample.first() else {
            return Err(DataFusionError::Plan("a sample without a schema has no ranges".into()));
        };
        let sample = concat_batches(&first.schema(), sample)?;
        let keys = Keys::new(&options_of(&order), sample.columns())?;
        let rows = keys.rows(sample.columns())?;
        let mut sorted: Vec<u32> = (0..sample.num_rows() as u32).collect();
        sorted.sort_unstable_by_key(|&row| rows.row(row as usize));
        let mut chosen: Vec<u32> = (1..count.min(sorted.len()))
            .map(|range| sorted[(range as u128 * sorted.len() as u128 / count as u128) as usize])
            .collect();
        chosen.dedup_by_key(|row| rows.row(*row as usize));
        // The lowest key of the sample as a bound would leave the first range to what the sample missed.
        if chosen.first().is_some_and(|&row| rows.row(row as usize) == rows.row(sorted[0] as usize)) {
            chosen.remove(0);
        }
        let chosen = UInt32Array::from(chosen);
        let bounds = sample.columns().iter().map(|column| take(column, &chosen, None));
        Ok(Self { order, bounds: bounds.collect::<Result<_, _>>()? })
    }

    /// How many ranges there are.
    pub fn count(&self) -> usize {
        1 + self.bounds.first().map_or(0, |bounds| bounds.len())
    }

    /// The keys and their directions.
    pub fn order(&self) -> &LexOrdering {
        &self.order
    }

    /// The number of a row's range, from 0 on, for rows of this schema.
    ///
    /// # Errors
    /// The schema has no such keys.
    pub fn number(&self, schema: &Schema) -> Result<Arc<dyn PhysicalExpr>> {
        self.expression((0..self.count() as u64).collect(), schema)
    }

    /// The partitioning that makes the engine's shuffle bring range `r` to partition `r`.
    ///
    /// # Errors
    /// The schema has no such keys.
    pub fn partitioning(&self, schema: &Schema) -> Result<Partitioning> {
        Ok(Partitioning::Hash(vec![self.expression(tickets(self.count())?, schema)?], self.count()))
    }

    fn expression(&self, results: Vec<u64>, schema: &Schema) -> Result<Arc<dyn PhysicalExpr>> {
        let list = |array: ArrayRef| lit(SingleRowListArrayBuilder::new(array).build_list_scalar());
        let mut arguments =
            vec![lit(written(&options_of(&self.order))), list(Arc::new(UInt64Array::from(results)))];
        for (key, bounds) in self.order.iter().zip(&self.bounds) {
            arguments.extend([Arc::clone(&key.expr), list(Arc::clone(bounds))]);
        }
        let function = ScalarFunctionExpr::try_new(
            Arc::new(range_function()),
            arguments,
            schema,
            Arc::new(ConfigOptions::default()),
        )?;
        Ok(Arc::new(function))
    }
}

/// For every partition of `count`, a number that a shuffle by hash sends there.
fn tickets(count: usize) -> Result<Vec<u64>> {
    let schema = Arc::new(Schema::new(vec![Field::new("ticket", DataType::UInt64, false)]));
    let mut partitioner =
        BatchPartitioner::new_hash_partitioner(vec![Arc::new(Column::new("ticket", 0))], count, Time::new())?;
    let mut tickets: Vec<Option<u64>> = vec![None; count];
    // Every partition is hit once in about count * ln(count) trials; 2^32 bound what a broken hash could cost.
    let step = 16 * count as u64;
    for start in (0..1 << 32).step_by(step as usize) {
        let tried: ArrayRef = Arc::new(UInt64Array::from_iter_values(start..start + step));
        partitioner.partition(
            RecordBatch::try_new(Arc::clone(&schema), vec![tried])?,
            |partition, batch| {
                if let (None, Some(&ticket)) =
                    (tickets[partition], batch.column(0).as_primitive::<UInt64Type>().values().first())
                {
                    tickets[partition] = Some(ticket);
                }
                Ok(())
            },
        )?;
        if let Some(tickets) = tickets.iter().copied().collect() {
            return Ok(tickets);
        }
    }
    Err(DataFusionError::Internal(format!("no number hashes to some of {count} partitions")))
}

/// Keys as bytes whose order is that of the sort.
#[derive(Debug)]
pub(crate) struct Keys(RowConverter);

impl Keys {
    pub(crate) fn new(options: &[SortOptions], columns: &[ArrayRef]) -> Result<Self> {
        let fields = options
            .iter()
            .zip(columns)
            .map(|(options, column)| SortField::new_with_options(column.data_type().clone(), *options));
        Ok(Self(RowConverter::new(fields.collect())?))
    }

    pub(crate) fn rows(&self, columns: &[ArrayRef]) -> Result<Rows> {
        Ok(self.0.convert_columns(columns)?)
    }
}

pub(crate) fn options_of(order: &LexOrdering) -> Vec<SortOptions> {
    order.iter().map(|key| key.options).collect()
}

/// Directions as text, since they travel as an argument of the function: `asc last` or `desc first`, with commas between.
fn written(options: &[SortOptions]) -> String {
    let key = |options: &SortOptions| {
        format!(
            "{} {}",
            if options.descending { "desc" } else { "asc" },
            if options.nulls_first { "first" } else { "last" }
        )
    };
    options.iter().map(key).collect::<Vec<_>>().join(",")
}

fn read(text: &str) -> Result<Vec<SortOptions>> {
    let key = |text: &str| match text.split_once(' ') {
        Some((direction @ ("asc" | "desc"), nulls @ ("first" | "last"))) => {
            Ok(SortOptions { descending: direction == "desc", nulls_first: nulls == "first" })
        }
        _ => Err(wrong(&format!("\"{text}\" is no direction such as \"asc last\""))),
    };
    text.split(',').map(key).collect()
}

/// The function [`RANGE_FUNCTION`], for a session or a registry.
pub fn range_function() -> ScalarUDF {
    ScalarUDF::from(RangeFunction { signature: Signature::variadic_any(Volatility::Immutable) })
}

/// `bitonic_range(directions, results, key, bounds, ..)`: the result that belongs to the range of the keys.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RangeFunction {
    signature: Signature,
}

impl ScalarUDFImpl for RangeFunction {
    fn name(&self) -> &str {
        RANGE_FUNCTION
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::UInt64)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (directions, results, pairs) = match arguments.args.as_slice() {
            [ColumnarValue::Scalar(directions), ColumnarValue::Scalar(results), pairs @ ..]
                if !pairs.is_empty() && pairs.len() % 2 == 0 =>
            {
                (directions, results, pairs)
            }
            _ => {
                return Err(wrong(
                    "it takes directions, results, and a key and its bounds for every direction",
                ));
            }
        };
        let Some(Some(directions)) = directions.try_as_str() else {
            return Err(wrong("its directions are no text"));
        };
        let options = read(directions)?;
        let results = list(results)?;
        let results = results
            .as_primitive_opt::<UInt64Type>()
            .ok_or_else(|| wrong("its results are no list of UInt64"))?;
        let mut keys = vec![];
        let mut bounds = vec![];
        for pair in pairs.chunks_exact(2) {
            keys.push(pair[0].to_array(arguments.number_rows)?);
            match &pair[1] {
                ColumnarValue::Scalar(scalar) => bounds.push(list(scalar)?),
                ColumnarValue::Array(_) => return Err(wrong("its bounds differ from row to row")),
            }
        }
        let fits = keys.len() == options.len()
            && bounds.iter().all(|bounds| bounds.len() + 1 == results.len())
            && keys.iter().zip(&bounds).all(|(key, bounds)| key.data_type() == bounds.data_type());
        if !fits {
            return Err(wrong("numbers or types of its directions, results, keys and bounds do not agree"));
        }
        let converter = Keys::new(&options, &keys)?;
        let (keys, bounds) = (converter.rows(&keys)?, converter.rows(&bounds)?);
        let bounds: Vec<Row> = bounds.iter().collect();
        let found = keys.iter().map(|key| results.value(bounds.partition_point(|bound| *bound <= key)));
        Ok(ColumnarValue::Array(Arc::new(UInt64Array::from_iter_values(found))))
    }
}

fn list(scalar: &ScalarValue) -> Result<ArrayRef> {
    match scalar {
        ScalarValue::List(list) if list.len() == 1 && list.is_valid(0) => Ok(list.value(0)),
        _ => Err(wrong("results and bounds are lists")),
    }
}

fn wrong(reason: &str) -> DataFusionError {
    DataFusionError::Plan(format!("{RANGE_FUNCTION}: {reason}. It is made for plans, by Ranges."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Float64Array, Int64Array};
    use datafusion::physical_expr::PhysicalSortExpr;
    use datafusion::physical_expr::expressions::col;
    use rand::{RngExt, SeedableRng};

    fn table(keys: Vec<Option<i64>>, floats: Vec<Option<f64>>) -> RecordBatch {
        let schema = Schema::new(vec![
            Field::new("a", DataType::Int64, true),
            Field::new("b", DataType::Float64, true),
        ]);
        let columns: Vec<ArrayRef> =
            vec![Arc::new(Int64Array::from(keys)), Arc::new(Float64Array::from(floats))];
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    fn order(schema: &Schema, options: [SortOptions; 2]) -> LexOrdering {
        let key = |(name, options)| PhysicalSortExpr { expr: col(name, schema).unwrap(), options };
        LexOrdering::new(["a", "b"].into_iter().zip(options).map(key)).unwrap()
    }

    fn evaluate(expression: &Arc<dyn PhysicalExpr>, batch: &RecordBatch) -> Vec<u64> {
        let values = expression.evaluate(batch).unwrap().into_array(batch.num_rows()).unwrap();
        values.as_primitive::<UInt64Type>().values().to_vec()
    }

    #[test]
    fn ranges_never_fall_as_keys_rise() {
        let mut random = rand::rngs::StdRng::seed_from_u64(1);
        for case in 0..200 {
            let few = [3, 50, i64::MAX][case % 3];
            let rows = random.random_range(1..400);
            let mut number = || random.random_bool(0.9).then(|| random.random_range(-few..few));
            let keys: Vec<_> = (0..rows).map(|_| number()).collect();
            let floats = (0..rows).map(|_| number().map(|n| [n as f64, f64::NAN, -0.0, 0.0][n as usize % 4]));
            let batch = table(keys, floats.collect());
            let option = |bits: usize| SortOptions { descending: bits & 1 == 1, nulls_first: bits & 2 == 2 };
            let order = order(&batch.schema(), [option(case), option(case / 4)]);
            let count = case % 40 + 1;
            let sample = batch.slice(0, (rows as usize).div_ceil(3));
            let ranges = Ranges::from_sample(order.clone(), &[sample], count).unwrap();
            assert!((1..=count).contains(&ranges.count()));
            let numbers = evaluate(&ranges.number(&batch.schema()).unwrap(), &batch);
            let converter = Keys::new(&options_of(&order), batch.columns()).unwrap();
            let rows = converter.rows(batch.columns()).unwrap();
            let mut sorted: Vec<usize> = (0..batch.num_rows()).collect();
            sorted.sort_by_key(|&row| rows.row(row));
            for pair in sorted.windows(2) {
                assert!(numbers[pair[0]] <= numbers[pair[1]]);
                let equal = rows.row(pair[0]) == rows.row(pair[1]);
                assert!(!equal || numbers[pair[0]] == numbers[pair[1]]);
            }
            assert!(numbers.iter().all(|&number| number < ranges.count() as u64));
        }
    }

    #[test]
    fn a_sample_of_distinct_keys_gives_even_ranges() {
        let batch = table((0..1000).map(Some).collect(), vec![None; 1000]);
        let order = order(&batch.schema(), [SortOptions::default(); 2]);
        let ranges = Ranges::from_sample(order, std::slice::from_ref(&batch), 10).unwrap();
        let numbers = evaluate(&ranges.number(&batch.schema()).unwrap(), &batch);
        let lengths: Vec<usize> =
            (0..10).map(|range| numbers.iter().filter(|&&number| number == range).count()).collect();
        assert_eq!(lengths, [100; 10]);
    }

    #[test]
    fn one_hot_key_is_one_range() {
        let keys = (0..1000).map(|row| Some(if row % 10 == 0 { row } else { 500 }));
        let batch = table(keys.collect(), vec![None; 1000]);
        let order = order(&batch.schema(), [SortOptions::default(); 2]);
        let ranges = Ranges::from_sample(order, std::slice::from_ref(&batch), 10).unwrap();
        assert!(ranges.count() < 10);
        let numbers = evaluate(&ranges.number(&batch.schema()).unwrap(), &batch);
        let hot: Vec<u64> = (0..1000).filter(|row| row % 10 != 0).map(|row| numbers[row]).collect();
        assert!(hot.iter().all(|number| *number == hot[0]));
    }

    #[test]
    fn the_shuffle_sends_every_range_to_its_partition() {
        for count in [1, 2, 3, 7, 24, 64, 1000] {
            let batch = table((0..5000).map(Some).collect(), vec![None; 5000]);
            let order = order(&batch.schema(), [SortOptions::default(); 2]);
            let ranges = Ranges::from_sample(order, std::slice::from_ref(&batch), count).unwrap();
            assert_eq!(ranges.count(), count);
            let Partitioning::Hash(expressions, partitions) = ranges.partitioning(&batch.schema()).unwrap()
            else {
                panic!("the shuffle is by hash")
            };
            let number = ranges.number(&batch.schema()).unwrap();
            let mut partitioner =
                BatchPartitioner::new_hash_partitioner(expressions, partitions, Time::new()).unwrap();
            let mut rows = 0;
            partitioner
                .partition(batch, |partition, batch| {
                    rows += batch.num_rows();
                    assert!(evaluate(&number, &batch).iter().all(|&range| range == partition as u64));
                    Ok(())
                })
                .unwrap();
            assert_eq!(rows, 5000);
        }
    }

    #[test]
    fn directions_are_read_as_they_are_written() {
        for bits in 0..16 {
            let option = |bits: usize| SortOptions { descending: bits & 1 == 1, nulls_first: bits & 2 == 2 };
            let options = [option(bits), option(bits / 4)];
            assert_eq!(read(&written(&options)).unwrap(), options);
        }
        assert!(read("up last").is_err());
    }
}
