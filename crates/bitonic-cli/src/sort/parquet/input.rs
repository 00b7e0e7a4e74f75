//! The files that are read.

use super::super::Arguments;
use crate::failure::Failure;
use crate::input::cannot_read;
use crate::output::is_standard_stream;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Files with the same columns.
pub(super) struct Files {
    files: Vec<(PathBuf, ArrowReaderMetadata)>,
    schema: SchemaRef,
}

impl Files {
    /// Reads what the files say of themselves.
    pub(super) fn open(arguments: &Arguments) -> Result<Self, Failure> {
        let mut files: Vec<(PathBuf, ArrowReaderMetadata)> = Vec::new();
        for path in &arguments.files {
            let metadata = open(path)?;
            if let Some((first, known)) = files.first()
                && known.schema().fields() != metadata.schema().fields()
            {
                return Err(refused(path, format_args!("its columns are not those of {}", first.display())));
            }
            files.push((path.clone(), metadata));
        }
        let Some((_, first)) = files.first() else {
            return Err(Failure::new("only rows of Parquet files are written as Parquet: name one to read"));
        };
        expect_name(arguments.output.as_deref())?;
        let schema = first.schema().clone();
        Ok(Self { files, schema })
    }

    /// The columns.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What the first file says of itself: the result says the same.
    pub(super) fn first(&self) -> &ParquetMetaData {
        self.files[0].1.metadata()
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.files.iter().map(|(_, metadata)| rows(metadata)).sum()
    }

    /// The file that has the row of this number, and its number there, from 1.
    pub(super) fn place_of(&self, mut row: usize) -> (String, usize) {
        for (path, metadata) in &self.files {
            if row < rows(metadata) {
                return (path.display().to_string(), row + 1);
            }
            row -= rows(metadata);
        }
        (self.names(), row + 1)
    }

    /// For messages.
    pub(super) fn names(&self) -> String {
        let names: Vec<String> = self.files.iter().map(|(path, _)| path.display().to_string()).collect();
        names.join(", ")
    }

    /// A failure because of what all files hold.
    pub(super) fn refused(&self, reason: impl fmt::Display) -> Failure {
        Failure::new(format!("{}: {reason}", self.names()))
    }

    /// All rows of all files, so many at a time.
    pub(super) fn read(&self, batch_rows: usize) -> Result<Reader<'_>, Failure> {
        let mut readers: Vec<_> = Vec::new();
        for (path, metadata) in &self.files {
            let file = open_file(path)?;
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                .with_batch_size(batch_rows)
                .build()
                .map_err(|error| refused(path, error))?;
            readers.push(reader.map(move |batch| batch.map_err(|error| refused(path, error))));
        }
        Ok(Box::new(readers.into_iter().flatten()))
    }
}

/// Rows on their way in.
pub(super) type Reader<'a> = Box<dyn Iterator<Item = Result<RecordBatch, Failure>> + 'a>;

fn rows(metadata: &ArrowReaderMetadata) -> usize {
    usize::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
}

fn refused(path: &Path, reason: impl fmt::Display) -> Failure {
    Failure::new(format!("{}: {reason}", path.display()))
}

fn open_file(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| cannot_read(&path.display().to_string(), &error))
}

fn open(path: &Path) -> Result<ArrowReaderMetadata, Failure> {
    if is_standard_stream(path) {
        return Err(Failure::new(
            "a Parquet file is read from its end, and standard input has none: name the file",
        ));
    }
    let metadata = ArrowReaderMetadata::load(&open_file(path)?, ArrowReaderOptions::new())
        .map_err(|error| refused(path, format_args!("is not a Parquet file that can be read: {error}")))?;
    let columns = metadata.metadata().row_groups().iter().flat_map(|group| group.columns());
    for column in columns {
        let name = match column.compression() {
            Compression::ZSTD(_) => "Zstandard",
            Compression::LZO => "LZO",
            _ => continue,
        };
        return Err(refused(
            path,
            format_args!(
                "it is compressed with {name}, which is not read without a C library: write it with Snappy, LZ4, gzip or Brotli, \
                 or sort it with 'bitonic-sql' of bitonic-datafusion"
            ),
        ));
    }
    Ok(metadata)
}

/// What is written is Parquet, so its name must say so.
fn expect_name(output: Option<&Path>) -> Result<(), Failure> {
    match output {
        Some(path)
            if !is_standard_stream(path)
                && !super::super::is_parquet(path)
                && super::super::is_named(path) =>
        {
            Err(Failure::new(format!(
                "rows of Parquet files are written as Parquet, and {} is not named so: name it .parquet",
                path.display()
            )))
        }
        None if crate::output::is_terminal() => Err(Failure::new(
            "a Parquet file would disturb the terminal: add -o FILE.parquet, or -o - to send it there all the same",
        )),
        _ => Ok(()),
    }
}
