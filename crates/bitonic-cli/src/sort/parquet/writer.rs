//! The file that is written.

use super::input::Files;
use super::key::KeyColumn;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bitonic::Order;
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, SortingColumn};
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows on their way to a file.
pub(super) struct Writer<'a> {
    writer: ArrowWriter<Buffer>,
    buffer: Buffer,
    out: &'a mut dyn Write,
    /// The most bytes of rows that are held back for a group of them.
    most: usize,
}

/// As large as readers like groups of rows, where there is memory for it.
const GROUP_BYTES: usize = 128 << 20;

impl<'a> Writer<'a> {
    /// A file as the first one that is read: with its compression, and with what it says of itself. It says by which column it is sorted.
    /// What is on its way takes a part of this memory.
    pub(super) fn new(
        files: &Files,
        column: &KeyColumn,
        order: Order,
        schema: SchemaRef,
        memory: usize,
        out: &'a mut dyn Write,
    ) -> io::Result<Self> {
        let about = files.first();
        let said = about.file_metadata().key_value_metadata().cloned().unwrap_or_default();
        let said = said.into_iter().filter(|pair| pair.key != ARROW_SCHEMA_META_KEY).collect();
        let properties = WriterProperties::builder()
            .set_compression(compression(about))
            .set_key_value_metadata(Some(said))
            .set_sorting_columns(sorting_column(about, column, order).map(|column| vec![column]))
            .build();
        let buffer = Buffer::default();
        let writer = ArrowWriter::try_new(buffer.clone(), schema, Some(properties)).map_err(failed)?;
        Ok(Self { writer, buffer, out, most: GROUP_BYTES.min(memory / 4) })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.writer.write(batch).map_err(failed)?;
        if self.writer.in_progress_size() > self.most {
            self.writer.flush().map_err(failed)?;
        }
        self.buffer.empty_into(self.out)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.writer.finish().map_err(failed)?;
        self.buffer.empty_into(self.out)
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

/// The compression of a file's first column.
fn compression(about: &ParquetMetaData) -> Compression {
    let first = about.row_groups().first().and_then(|group| group.columns().first());
    first.map_or(Compression::SNAPPY, |column| column.compression())
}

/// What the file says of its order. Columns with columns inside make other columns of the file have higher numbers.
fn sorting_column(about: &ParquetMetaData, column: &KeyColumn, order: Order) -> Option<SortingColumn> {
    let columns = about.file_metadata().schema_descr().columns();
    let place = columns.iter().position(|leaf| leaf.path().parts() == [column.name.as_str()])?;
    Some(SortingColumn {
        column_idx: place.try_into().ok()?,
        descending: order == Order::Descending,
        nulls_first: false,
    })
}

/// Bytes between Parquet's writer, which may be used by any thread, and the output, which belongs to one.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn empty_into(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(&bytes)?;
        bytes.clear();
        Ok(())
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
