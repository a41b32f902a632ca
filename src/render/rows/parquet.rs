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
use super::column_list::{Column, ColumnChoice, ColumnType, DIFFERING, columns};
use super::columns::{Columns, Values};

/// Rows of a group. Readers work on groups in parallel and skip those whose statistics exclude what they look for.
const GROUP_ROWS: usize = 128 << 10;

/// Bytes of text after which a group ends with fewer rows: a name may take half a gigabyte.
const GROUP_BYTES: usize = 64 << 20;

/// Writer of a Parquet file.
pub struct ParquetFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    /// All columns of rows of keys; `None` for rows of differing keys.
    choice: Option<ColumnChoice>,
    group: Columns,
}

impl<W: Write + Send> ParquetFile<W> {
    /// Begins the file.
    pub fn new(out: W, of: RowColumns) -> io::Result<Self> {
        ParquetFile::with(out, columns(of), Some(ColumnChoice::all(of)))
    }

    /// Begins a file of differing keys.
    pub fn of_differing(out: W) -> io::Result<Self> {
        ParquetFile::with(out, &DIFFERING, None)
    }

    fn with(out: W, columns: &[Column], choice: Option<ColumnChoice>) -> io::Result<Self> {
        let file =
            SerializedFileWriter::new(out, schema(columns).map_err(into_io)?, Arc::new(properties().map_err(into_io)?));
        let group = empty(choice.as_ref());
        Ok(ParquetFile { file: file.map_err(into_io)?, choice, group })
    }

    /// Appends these rows.
    pub fn add(&mut self, rows: Columns) -> io::Result<()> {
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
        let rows = std::mem::replace(&mut self.group, empty(self.choice.as_ref()));
        let count = rows.len();
        let encoded: Vec<(Bytes, ColumnCloseResult)> = columns
            .into_par_iter()
            .zip(rows.into_values().collect::<Vec<_>>())
            .map(|(column, values)| encode(column, properties, values, count))
            .collect::<Result<_>>()?;
        let mut group = self.file.next_row_group()?;
        for (bytes, closed) in encoded {
            group.append_column(&bytes, closed)?;
        }
        group.close().map(|_| ())
    }
}

/// Encodes one column of a group of `count` rows as its bytes in the file.
fn encode(
    column: ColumnDescPtr,
    properties: &Arc<WriterProperties>,
    values: Values,
    count: usize,
) -> Result<(Bytes, ColumnCloseResult)> {
    let rows = values.rows();
    let (present, repeated) = if column.max_rep_level() > 0 {
        let (present, repeated) = list_levels(&values);
        (Some(present), Some(repeated))
    } else if column.max_def_level() > 0 {
        let mut present: Vec<i16> = (0..rows).map(|row| i16::from(values.has(row))).collect();
        // Nothing if no row has a value.
        present.resize(count, 0);
        (Some(present), None)
    } else {
        (None, None)
    };
    let (present, repeated) = (present.as_deref(), repeated.as_deref());
    let with_value = || (0..rows).filter(|row| values.has(*row));
    let numbers = || with_value().filter_map(|row| values.numbers.get(row).copied());
    let mut sink = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut sink));
    let mut writer = get_column_writer(column, Arc::clone(properties), pages);
    match &mut writer {
        ColumnWriter::BoolColumnWriter(writer) => {
            let flags: Vec<bool> = numbers().map(|number| number != 0).collect();
            writer.write_batch(&flags, present, None)?;
        }
        ColumnWriter::Int32ColumnWriter(writer) => {
            let numbers: Vec<i32> = numbers().map(|number| i32::try_from(number).unwrap_or(i32::MAX)).collect();
            writer.write_batch(&numbers, present, None)?;
        }
        ColumnWriter::Int64ColumnWriter(writer) if values.present.is_empty() => {
            writer.write_batch(&values.numbers, present, None)?;
        }
        ColumnWriter::Int64ColumnWriter(writer) => {
            writer.write_batch(&numbers().collect::<Vec<_>>(), present, None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let texts: Vec<usize> =
                if repeated.is_some() { (0..values.texts()).collect() } else { with_value().collect() };
            let ranges: Vec<_> = texts.into_iter().map(|number| values.range(number)).collect();
            let all = Bytes::from(values.bytes);
            let texts: Vec<ByteArray> = ranges.into_iter().map(|range| ByteArray::from(all.slice(range))).collect();
            writer.write_batch(&texts, present, repeated)?;
        }
        _ => return Err(ParquetError::NYI("a column of a type that no row has".to_owned())),
    }
    let closed = writer.close()?;
    Ok((sink.into_inner()?.into(), closed))
}

/// Returns the definition and repetition levels of a list: one for each text, and one for each row without any.
fn list_levels(values: &Values) -> (Vec<i16>, Vec<i16>) {
    let (mut present, mut repeated) = (Vec::new(), Vec::new());
    for ends in values.lists.windows(2) {
        let texts = ends.iter().copied().reduce(|start, end| end - start).unwrap_or_default();
        present.push(i16::from(texts > 0));
        repeated.push(0);
        for _ in 1..texts {
            present.push(1);
            repeated.push(1);
        }
    }
    (present, repeated)
}

/// Returns the columns of a choice, or those of differing keys, without rows.
fn empty(choice: Option<&ColumnChoice>) -> Columns {
    choice.map_or_else(Columns::of_differing, Columns::new)
}

fn schema(columns: &[Column]) -> Result<TypePtr> {
    let columns = columns.iter().map(|column| column_schema(column).map(Arc::new)).collect::<Result<_>>()?;
    Schema::group_type_builder("keys").with_fields(columns).build().map(Arc::new)
}

fn column_schema(column: &Column) -> Result<Schema> {
    use parquet::basic::Type as Physical;
    let (physical, logical) = match column.holds {
        ColumnType::Bool => (Physical::BOOLEAN, None),
        ColumnType::Small => (Physical::INT32, Some(LogicalType::integer(16, true))),
        ColumnType::Number => (Physical::INT64, None),
        ColumnType::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
        ColumnType::Texts => return list_schema(column),
        ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnType::Binary => (Physical::BYTE_ARRAY, None),
    };
    let repetition = if column.required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    Schema::primitive_type_builder(column.name, physical).with_repetition(repetition).with_logical_type(logical).build()
}

/// Returns the schema of a list of texts, which may be empty but is never null, in the three levels that readers expect.
fn list_schema(column: &Column) -> Result<Schema> {
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
