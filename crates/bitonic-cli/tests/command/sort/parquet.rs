//! Parquet files. `pyarrow.parquet` beside this file was written by pyarrow 26: 120 rows in three groups, compressed with Snappy, with
//! numbers, times, decimals, words, lists and structures, and holes; its column `row` has the number of each row. `zstandard.parquet` has that column alone, compressed with Zstandard.

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_it() {
    let message = super::refused(["table.parquet", "--key", "price", "-o", "out.parquet"], "");
    assert_eq!(
        message,
        "this build of the command has no Parquet: install it with 'cargo install bitonic-cli --features parquet'"
    );
}

#[test]
fn keys_alone_are_not_written_as_parquet() {
    let message = crate::refused(super::sort(["--random", "10", "-o", "out.parquet"]));
    assert!(
        message.starts_with("keys alone are not written as Parquet, and out.parquet is named so"),
        "{message}"
    );
}

#[cfg(feature = "parquet")]
mod tables {
    use crate::Folder;
    use crate::sort::{refused, sort};
    use arrow_array::cast::AsArray;
    use arrow_array::types::*;
    use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
    use arrow_row::{RowConverter, SortField};
    use arrow_select::concat::concat_batches;
    use bitonic::Key;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
    use parquet::basic::Compression;
    use parquet::file::metadata::ParquetMetaData;
    use parquet::file::properties::WriterProperties;
    use std::fs::File;
    use std::path::Path;
    use std::sync::Arc;

    const PYARROW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command/sort/pyarrow.parquet");

    fn read(path: impl AsRef<Path>) -> RecordBatch {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        let schema = builder.schema().clone();
        let batches: Vec<RecordBatch> = builder.build().unwrap().map(Result::unwrap).collect();
        concat_batches(&schema, &batches).unwrap()
    }

    fn about(path: impl AsRef<Path>) -> Arc<ParquetMetaData> {
        let metadata = ArrowReaderMetadata::load(&File::open(path).unwrap(), Default::default()).unwrap();
        metadata.metadata().clone()
    }

    fn write(path: &Path, batch: &RecordBatch, properties: Option<WriterProperties>) {
        let mut writer =
            ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), properties).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }

    /// Every row as bytes that are equal where rows are.
    fn rows(batch: &RecordBatch) -> Vec<Vec<u8>> {
        let fields =
            batch.schema().fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
        let rows = RowConverter::new(fields).unwrap().convert_columns(batch.columns()).unwrap();
        rows.iter().map(|row| row.data().to_vec()).collect()
    }

    /// The rows that a stable sort by a column gives, nulls last.
    fn expected(batch: &RecordBatch, column: &str, descending: bool) -> Vec<Vec<u8>> {
        fn of<T: arrow_array::ArrowPrimitiveType>(column: &dyn Array, row: usize) -> i128
        where
            T::Native: Into<i128>,
        {
            column.as_primitive::<T>().value(row).into()
        }
        let array = batch.column_by_name(column).unwrap().as_ref();
        let key = |row: usize| {
            array.is_valid(row).then(|| match column {
                "i8" => of::<Int8Type>(array, row),
                "u64" => of::<UInt64Type>(array, row),
                "f64" => i128::from(array.as_primitive::<Float64Type>().value(row).to_ordered_bits()),
                "when" => of::<TimestampMicrosecondType>(array, row),
                "day" => of::<Date32Type>(array, row),
                "price" => of::<Decimal128Type>(array, row),
                _ => of::<Int64Type>(array, row),
            })
        };
        let mut order: Vec<usize> = (0..batch.num_rows()).collect();
        order.sort_by_key(|&row| {
            let key = key(row).map(|key| if descending { -key } else { key });
            (key.is_none(), key)
        });
        let rows = rows(batch);
        order.into_iter().map(|row| rows[row].clone()).collect()
    }

    #[test]
    fn rows_of_a_file_of_pyarrow_are_sorted_by_every_kind_of_column() {
        let folder = Folder::new();
        let (out, before) = (folder.argument("out.parquet"), read(PYARROW));
        for column in ["i8", "u64", "f64", "when", "day", "price", "row"] {
            sort([PYARROW, "--key", column, "-o", &out]).assert().success().stdout("").stderr("");
            let after = read(&out);
            assert_eq!(after.schema(), before.schema(), "{column}");
            assert!(rows(&after) == expected(&before, column, false), "{column}");
            sort([PYARROW, "--key", column, "-o", &out, "--reverse"]).assert().success();
            assert!(rows(&read(&out)) == expected(&before, column, true), "{column}, descending");
        }
        assert_eq!(folder.names(), ["out.parquet"], "nothing is left over");
    }

    #[test]
    fn the_result_says_how_it_is_sorted_and_what_the_input_said_of_itself() {
        let folder = Folder::new();
        let out = folder.argument("out.parquet");
        // The twelfth column of the file: a structure has two.
        sort([PYARROW, "--key", "row", "-r", "-o", &out]).assert().success();
        let about = about(&out);
        let sorting = about.row_group(0).sorting_columns().unwrap();
        let [by] = &sorting[..] else { panic!("{sorting:?}") };
        assert_eq!((by.column_idx, by.descending, by.nulls_first), (11, true, false));
        assert_eq!(about.row_group(0).column(0).compression(), Compression::SNAPPY);
        let said = about.file_metadata().key_value_metadata().unwrap();
        assert!(said.iter().any(|pair| pair.key == "made by" && pair.value.as_deref() == Some("a test")));
    }

    #[test]
    fn a_file_is_checked_cut_and_sorted_in_place() {
        let folder = Folder::new();
        let table = folder.argument("table.parquet");
        std::fs::copy(PYARROW, &table).unwrap();
        let unsorted = sort([&table, "--key", "day", "--check"]).assert().code(1);
        let message = crate::one_line(&unsorted.get_output().stderr);
        assert!(message.contains("table.parquet: row 2: it belongs before the row above it"), "{message}");
        sort([&table, "--key", "day", "-o", &table]).assert().success();
        let said = crate::printed(sort([&table, "--key", "day", "--check"]));
        assert!(
            said.ends_with("table.parquet: sorted: 120 rows by day (Date32), ascending, nulls last\n"),
            "{said}"
        );
        let out = folder.argument("top.parquet");
        crate::bitonic(["top", "5", &table, "--key", "u64", "-o", &out]).assert().success();
        assert!(rows(&read(&out))[..] == expected(&read(PYARROW), "u64", true)[..5]);
        sort([&table, &table, "--key", "1", "-o", &out]).assert().success();
        assert_eq!(read(&out).num_rows(), 240, "several files are one table");
    }

    /// A table with long words, in a file.
    fn large(folder: &Folder) -> (String, RecordBatch) {
        let len = 40_000;
        let keys = Int64Array::from_iter((0..len).map(|row| (row % 97 != 0).then_some(row * 7919 % 10_007)));
        let words = StringArray::from_iter_values((0..len).map(|row| format!("{row:0>90}")));
        let columns = [("row", Arc::new(keys) as ArrayRef), ("word", Arc::new(words))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        write(&folder.path("large.parquet"), &batch, None);
        (folder.argument("large.parquet"), batch)
    }

    #[test]
    fn more_rows_than_memory_holds_are_sorted_in_parts_and_merged() {
        let folder = Folder::new();
        let (table, before) = large(&folder);
        let out = folder.argument("out.parquet");
        for (order, descending) in [("--report", false), ("--reverse", true)] {
            let arguments =
                [&table, "--key", "row", "--memory", "8M", "-o", &out, "--stable", order, "--temp"];
            let mut command = sort(arguments);
            let done = command.arg(folder.path("")).assert().success();
            let report = String::from_utf8(done.get_output().stderr.clone()).unwrap();
            assert_eq!(report.contains("kept in a temporary file and merged"), !descending, "{report}");
            assert!(rows(&read(&out)) == expected(&before, "row", descending));
        }
        assert_eq!(folder.names(), ["large.parquet", "out.parquet"], "nothing is left over");
    }

    #[test]
    fn an_empty_table_stays_one() {
        let folder = Folder::new();
        let (_, batch) = large(&folder);
        write(&folder.path("empty.parquet"), &batch.slice(0, 0), None);
        let out = folder.argument("out.parquet");
        sort([&folder.argument("empty.parquet"), "--key", "row", "-o", &out]).assert().success();
        assert_eq!((read(&out).num_rows(), read(&out).schema()), (0, batch.schema()));
    }

    #[test]
    fn what_cannot_be_sorted_is_refused_with_the_way_out() {
        let folder = Folder::new();
        let out = folder.argument("out.parquet");
        let of_key = |key| refused([PYARROW, "--key", key, "-o", &out], "");
        assert!(
            of_key("name")
                .contains("column name has Utf8, and rows are sorted by numbers, dates and times: ")
        );
        assert!(of_key("list").contains("'bitonic-sql' of bitonic-datafusion"));
        assert!(of_key("none").contains("there is no column 'none': choose one of i8, u64, f64, when, "));
        assert!(of_key("12").contains("there is no column 12: choose one of "));
        assert!(
            refused([PYARROW, "-o", &out], "").starts_with("a Parquet file has columns: say with --key ")
        );
        let type_given = refused([PYARROW, "--key", "row", "-t", "u8", "-o", &out], "");
        assert_eq!(type_given, "--type is not for Parquet files: leave it out");
        assert!(
            refused([PYARROW, "--key", "row", "--oblivious", "-o", &out], "")
                .starts_with("--oblivious is not")
        );
        assert!(refused([PYARROW, "--key", "row", "-o", "out.csv"], "").ends_with("name it .parquet"));
        let text = folder.file("text.parquet", "1\n2\n");
        assert!(
            refused([&text, "--key", "row", "-o", &out], "")
                .contains("is not a Parquet file that can be read")
        );
        assert!(refused(["none.parquet", "--key", "row", "-o", &out], "").ends_with(": check the name"));
        let (table, _) = large(&folder);
        assert!(
            refused([PYARROW, &table, "--key", "row", "-o", &out], "")
                .contains("its columns are not those of ")
        );
        let few = refused([&table, "--key", "row", "--memory", "64K", "-o", &out], "");
        assert!(few.contains("allow more with --memory"), "{few}");
        assert_eq!(folder.names(), ["large.parquet", "text.parquet"], "nothing is left over");
    }

    #[test]
    fn a_compression_that_needs_a_c_library_is_refused_by_name() {
        let folder = Folder::new();
        let table = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command/sort/zstandard.parquet");
        let message = refused([table, "--key", "row", "-o", &folder.argument("out.parquet")], "");
        assert!(
            message.contains("it is compressed with Zstandard, which is not read without a C library: "),
            "{message}"
        );
    }
}
