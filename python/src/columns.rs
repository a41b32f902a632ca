//! Columns of rows as Arrow arrays, which take over their memory.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, Int16Array, Int64Array, ListArray, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use rdblens::rows::{Column, ColumnChoice, ColumnType, Columns, Values};

/// Returns the schema of the chosen columns.
pub fn schema(choice: &ColumnChoice) -> SchemaRef {
    Arc::new(Schema::new(choice.columns().map(field).collect::<Vec<_>>()))
}

fn field(column: &Column) -> Field {
    Field::new(column.name, data_type(column.holds), !column.required)
}

fn data_type(holds: ColumnType) -> DataType {
    match holds {
        ColumnType::Small => DataType::Int16,
        ColumnType::Number => DataType::Int64,
        ColumnType::Time => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        ColumnType::Text => DataType::Utf8,
        ColumnType::Texts => DataType::List(item()),
        ColumnType::Binary => DataType::Binary,
        // No row of keys has another type.
        _ => DataType::Null,
    }
}

fn item() -> FieldRef {
    Arc::new(Field::new("element", DataType::Utf8, false))
}

/// Returns the rows as a record batch.
pub fn batch(columns: Columns, choice: &ColumnChoice, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let rows = columns.len();
    let arrays = columns.chosen(choice).into_iter().map(|(column, values)| array(column.holds, values));
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays.collect::<Result<_, _>>()?, &options)
}

fn array(holds: ColumnType, values: Values) -> Result<ArrayRef, ArrowError> {
    let rows = values.rows();
    let Values { numbers, bytes, offsets, lists, present, .. } = values;
    let nulls = (!present.is_empty()).then(|| NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(present), 0, rows)));
    let ends = |ends: Vec<i32>| OffsetBuffer::new(ScalarBuffer::from(ends));
    Ok(match holds {
        ColumnType::Small => {
            let numbers = numbers.into_iter().map(|number| i16::try_from(number).unwrap_or(i16::MAX));
            Arc::new(Int16Array::try_new(numbers.collect(), nulls)?)
        }
        ColumnType::Number => Arc::new(Int64Array::try_new(numbers.into(), nulls)?),
        ColumnType::Time => Arc::new(TimestampMillisecondArray::try_new(numbers.into(), nulls)?.with_timezone("UTC")),
        ColumnType::Text => Arc::new(StringArray::try_new(ends(offsets), Buffer::from_vec(bytes), nulls)?),
        ColumnType::Binary => Arc::new(BinaryArray::try_new(ends(offsets), Buffer::from_vec(bytes), nulls)?),
        ColumnType::Texts => {
            let texts = StringArray::try_new(ends(offsets), Buffer::from_vec(bytes), None)?;
            Arc::new(ListArray::try_new(item(), ends(lists), Arc::new(texts), nulls)?)
        }
        other => return Err(ArrowError::NotYetImplemented(format!("a column of {other:?}"))),
    })
}
