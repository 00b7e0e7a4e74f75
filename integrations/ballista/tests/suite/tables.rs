//! Tables in files, and their comparison.

use crate::cluster::Cluster;
use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of this test process, empty.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bitonic-ballista-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) fn start(name: &str, executors: usize) -> Cluster {
    let programs = Path::new(env!("CARGO_BIN_EXE_bitonic-scheduler")).parent().unwrap();
    Cluster::start(programs, folder(&format!("cluster-{name}")), executors, 256)
}

/// What the keys of a table are like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    Random,
    Few,
    /// Nine of ten rows have the same key.
    Hot,
    Equal,
    Null,
    Sorted,
}

/// Writes a table as some files: a key, a number, a truth, a text, and the row's own number.
pub(crate) fn write(folder: &Path, rows: usize, files: usize, keys: Keys) {
    let mut random = StdRng::seed_from_u64(rows as u64);
    for file in 0..files {
        let numbers = (file * rows / files)..((file + 1) * rows / files);
        let mut key = |row: usize| match keys {
            Keys::Random => random.random_bool(0.98).then(|| random.random()),
            Keys::Few => random.random_bool(0.8).then(|| random.random_range(-3..3)),
            Keys::Hot => Some(if random.random_bool(0.9) { 7 } else { random.random() }),
            Keys::Equal => Some(1),
            Keys::Null => None,
            Keys::Sorted => Some(row as i64),
        };
        let key: Int64Array = numbers.clone().map(&mut key).collect();
        let number: Float64Array = numbers
            .clone()
            .map(|row| match row % 50 {
                0 => None,
                1 => Some(f64::NAN),
                2 => Some(-0.0),
                3 => Some(0.0),
                _ => Some(random.random_range(-100.0_f64..100.0).round()),
            })
            .collect();
        let truth: BooleanArray = numbers.clone().map(|row| (row % 7 != 0).then_some(row % 3 == 0)).collect();
        let text = StringArray::from_iter_values(numbers.clone().map(|row| format!("text {}", row % 1013)));
        let own = Int64Array::from_iter_values(numbers.map(|row| row as i64));
        let columns: [(&str, ArrayRef, bool); 5] = [
            ("k", Arc::new(key), true),
            ("f", Arc::new(number), true),
            ("b", Arc::new(truth), true),
            ("s", Arc::new(text), true),
            ("id", Arc::new(own), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let out = File::create(folder.join(format!("in-{file}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(out, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
}

/// The files of a sorted folder, one after another; `None` where it is not marked as a success.
pub(crate) fn read_parts(folder: &Path) -> Option<RecordBatch> {
    let success = fs::read_to_string(folder.join("_SUCCESS")).ok()?;
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "_SUCCESS")
        .collect();
    names.sort();
    let listed: Vec<&str> = success.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(names, listed);
    let mut batches = vec![];
    let mut schema: Option<SchemaRef> = None;
    for name in names {
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(File::open(folder.join(name)).unwrap()).unwrap();
        schema = Some(Arc::clone(reader.schema()));
        batches.extend(reader.build().unwrap().map(Result::unwrap));
    }
    let schema = schema.unwrap_or_else(|| Arc::new(Schema::empty()));
    Some(concat_batches(&schema, &batches).unwrap())
}

/// Compares with DataFusion's own sort on one machine: the keys row by row, and rows with equal keys as sets.
pub(crate) async fn assert_sorted(input: &Path, order: &str, sorted: &RecordBatch) {
    let mut config = datafusion::prelude::SessionConfig::new().with_target_partitions(2);
    config.options_mut().execution.parquet.schema_force_view_types = false;
    let context = SessionContext::new_with_config(config);
    context.register_parquet("t", input.to_str().unwrap(), ParquetReadOptions::default()).await.unwrap();
    let keys: Vec<&str> = order.split(',').map(|key| key.split_whitespace().next().unwrap()).collect();
    let batches =
        context.sql(&format!("select * from t order by {order}")).await.unwrap().collect().await.unwrap();
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, sorted.num_rows());
    if rows == 0 {
        return;
    }
    let expected = concat_batches(&batches[0].schema(), &batches).unwrap();
    assert_eq!(expected.schema().fields(), sorted.schema().fields());
    for key in keys {
        let (left, right) = (expected.column_by_name(key).unwrap(), sorted.column_by_name(key).unwrap());
        // Bits are compared, so that a NaN equals itself, and zeros differ by their signs.
        assert!(
            left.to_data() == right.to_data() || same_bits(left, right),
            "{key} differs, order by {order}"
        );
    }
    // The row's own number is in no key: rows as a whole are compared in its order.
    let whole = |batch: &RecordBatch| {
        let own = batch.column_by_name("id").unwrap();
        let places = datafusion::arrow::compute::sort_to_indices(own, None, None).unwrap();
        datafusion::arrow::compute::take_record_batch(batch, &places).unwrap()
    };
    let (left, right) = (whole(&expected), whole(sorted));
    for (left, right) in left.columns().iter().zip(right.columns()) {
        assert!(left.to_data() == right.to_data() || same_bits(left, right), "rows differ, order by {order}");
    }
}

fn same_bits(left: &ArrayRef, right: &ArrayRef) -> bool {
    let bits = |array: &ArrayRef| -> Option<Vec<Option<u64>>> {
        let floats = array.as_any().downcast_ref::<Float64Array>()?;
        Some(floats.iter().map(|float| float.map(f64::to_bits)).collect())
    };
    bits(left).is_some() && bits(left) == bits(right)
}
