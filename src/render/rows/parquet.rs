//! Parquet file of rows, for DuckDB, pandas and other columnar readers.
//!
//! Row groups are cut from the rows in file order, so the bytes are the same whatever the number of threads. The columns of
//! a group are encoded in parallel, each into memory, and written in order: nothing seeks, so the output may be a pipe.
//! Memory holds one group at a time.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type as Schema, TypePtr};
use rayon::prelude::*;

use super::RowColumns;
use super::columns::{Columns, DIFFERING, ParquetColumn, ParquetType, Values, columns};

/// Rows of a group. Readers work on groups in parallel and skip those whose statistics exclude what they look for.
const GROUP_ROWS: usize = 128 << 10;

/// Bytes of text after which a group ends with fewer rows: a name may take half a gigabyte.
const GROUP_BYTES: usize = 64 << 20;

/// Writer of a Parquet file.
pub struct ParquetFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: &'static [ParquetColumn],
    group: Columns,
}

impl<W: Write + Send> ParquetFile<W> {
    /// Begins the file.
    pub fn new(out: W, of: RowColumns) -> io::Result<Self> {
        ParquetFile::with(out, columns(of), Columns::default())
    }

    /// Begins a file of differing keys.
    pub fn of_differing(out: W) -> io::Result<Self> {
        ParquetFile::with(out, &DIFFERING, Columns::of_differing())
    }

    fn with(out: W, columns: &'static [ParquetColumn], group: Columns) -> io::Result<Self> {
        let file =
            SerializedFileWriter::new(out, schema(columns).map_err(into_io)?, Arc::new(properties().map_err(into_io)?));
        Ok(ParquetFile { file: file.map_err(into_io)?, columns, group })
    }

    /// Appends the first rows of these.
    pub fn add(&mut self, mut rows: Columns, count: usize) -> io::Result<()> {
        rows.truncate(count);
        self.group.append(rows);
        if self.group.len() < GROUP_ROWS && self.group.bytes() < GROUP_BYTES {
            return Ok(());
        }
        self.end_group().map_err(into_io)
    }

    /// Writes the footer, without which no reader accepts the file.
    pub fn finish(self) -> io::Result<()> {
        self.into_inner().map(|_| ())
    }

    /// Writes the footer, and returns the output.
    pub fn into_inner(mut self) -> io::Result<W> {
        if !self.group.is_empty() {
            self.end_group().map_err(into_io)?;
        }
        self.file.into_inner().map_err(into_io)
    }

    fn end_group(&mut self) -> Result<()> {
        let (columns, properties) = (self.file.schema_descr().columns().to_vec(), self.file.properties());
        let encoded: Vec<(Bytes, ColumnCloseResult)> = columns
            .into_par_iter()
            .zip(std::mem::replace(&mut self.group, Columns::of(self.columns)).into_values())
            .map(|(column, values)| encode(column, properties, values))
            .collect::<Result<_>>()?;
        let mut group = self.file.next_row_group()?;
        for (bytes, closed) in encoded {
            group.append_column(&bytes, closed)?;
        }
        group.close().map(|_| ())
    }
}

/// Encodes one column of a group as its bytes in the file.
fn encode(
    column: ColumnDescPtr,
    properties: &Arc<WriterProperties>,
    values: Values,
) -> Result<(Bytes, ColumnCloseResult)> {
    let present = (column.max_def_level() > 0).then_some(values.present.as_slice());
    let repeated = (column.max_rep_level() > 0).then_some(values.repeated.as_slice());
    let mut sink = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut sink));
    let mut writer = get_column_writer(column, Arc::clone(properties), pages);
    match &mut writer {
        ColumnWriter::BoolColumnWriter(writer) => {
            let flags: Vec<bool> = values.numbers.iter().map(|number| *number != 0).collect();
            writer.write_batch(&flags, present, None)?;
        }
        ColumnWriter::Int32ColumnWriter(writer) => {
            let numbers: Vec<i32> = values.numbers.iter().map(|n| i32::try_from(*n).unwrap_or(i32::MAX)).collect();
            writer.write_batch(&numbers, present, None)?;
        }
        ColumnWriter::Int64ColumnWriter(writer) => {
            writer.write_batch(&values.numbers, present, None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let (all, mut start) = (Bytes::from(values.bytes), 0);
            let texts: Vec<ByteArray> = values
                .ends
                .iter()
                .map(|end| ByteArray::from(all.slice(std::mem::replace(&mut start, *end)..*end)))
                .collect();
            writer.write_batch(&texts, present, repeated)?;
        }
        _ => return Err(ParquetError::NYI("a column of a type that no row has".to_owned())),
    }
    let closed = writer.close()?;
    Ok((sink.into_inner()?.into(), closed))
}

fn schema(columns: &[ParquetColumn]) -> Result<TypePtr> {
    let columns = columns.iter().map(|column| column_schema(column).map(Arc::new)).collect::<Result<_>>()?;
    Schema::group_type_builder("keys").with_fields(columns).build().map(Arc::new)
}

fn column_schema(column: &ParquetColumn) -> Result<Schema> {
    use parquet::basic::Type as Physical;
    let (physical, logical) = match column.holds {
        ParquetType::Bool => (Physical::BOOLEAN, None),
        ParquetType::Small => (Physical::INT32, Some(LogicalType::integer(16, true))),
        ParquetType::Number => (Physical::INT64, None),
        ParquetType::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
        ParquetType::Texts => return list_schema(column),
        ParquetType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ParquetType::Binary => (Physical::BYTE_ARRAY, None),
    };
    let repetition = if column.required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    Schema::primitive_type_builder(column.name, physical).with_repetition(repetition).with_logical_type(logical).build()
}

/// Returns the schema of a list of texts, which may be empty but is never null, in the three levels that readers expect.
fn list_schema(column: &ParquetColumn) -> Result<Schema> {
    let text = Schema::primitive_type_builder("element", parquet::basic::Type::BYTE_ARRAY)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::String));
    let list = Schema::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(text.build()?)]);
    Schema::group_type_builder(column.name)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list.build()?)])
        .build()
}

fn properties() -> Result<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("rdblens version {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        // Statistics and offsets of single pages would help only if rows were sorted.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    // Key names are nearly unique, so a dictionary would cost time and save nothing.
    for name in ["key", "key_bytes"] {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), false);
    }
    Ok(properties.build())
}

/// Returns the original I/O error: the caller treats a closed pipe differently.
fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(cause) => io::Error::other(cause),
        },
        error => io::Error::other(error),
    }
}
