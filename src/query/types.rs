//! Types: those of files, and those in which a session computes.
//!
//! In: columns as they come from a file or a query. Out: the same values in types that every reader opens (no views, no
//! dictionaries), or texts as views, which groups and joins compare faster.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::file_format::parquet::transform_schema_to_view;

/// The schema in plain types; every column may hold NULL.
pub(crate) fn plain_schema(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|f| Field::new(f.name(), plain_type(f.data_type()), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The type that every Parquet reader opens the same way.
fn plain_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8View | DataType::LargeUtf8 => DataType::Utf8,
        DataType::BinaryView | DataType::LargeBinary => DataType::Binary,
        DataType::UInt64 => DataType::Int64,
        DataType::Dictionary(_, value) => plain_type(value),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            DataType::List(Arc::new(Field::new("item", plain_type(item.data_type()), true)))
        }
        other => with_inner(other, plain_type),
    }
}

/// The rows in the types of a schema.
pub(crate) fn plain(batch: &RecordBatch, schema: &SchemaRef) -> datafusion::error::Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| cast(column, field.data_type()));
    let columns: Vec<ArrayRef> = columns.collect::<Result<_, _>>()?;
    // Rows without columns are counted.
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &rows)?)
}

/// The schema with its texts and bytes as views.
pub(super) fn with_views(schema: &Schema) -> SchemaRef {
    Arc::new(transform_schema_to_view(schema))
}

/// The rows without views: what leaves a session.
pub(super) fn without_views(batch: &RecordBatch) -> datafusion::error::Result<RecordBatch> {
    plain(batch, &schema_without_views(batch.schema_ref()))
}

/// The schema of rows without views.
pub(super) fn schema_without_views(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|f| f.as_ref().clone().with_data_type(without_view(f.data_type())));
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}

fn without_view(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(item) => DataType::List(with_type(item, without_view)),
        DataType::LargeList(item) => DataType::LargeList(with_type(item, without_view)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(with_type(item, without_view), *size),
        other => with_inner(other, without_view),
    }
}

/// A struct or map with the types within it changed; others as they are.
fn with_inner(data_type: &DataType, change: fn(&DataType) -> DataType) -> DataType {
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| with_type(field, change)).collect()),
        DataType::Map(entries, sorted) => DataType::Map(with_type(entries, change), *sorted),
        other => other.clone(),
    }
}

fn with_type(field: &Field, change: fn(&DataType) -> DataType) -> Arc<Field> {
    Arc::new(field.clone().with_data_type(change(field.data_type())))
}

#[cfg(test)]
mod tests {
    use crate::query::Session;

    #[test]
    fn rows_without_columns_are_counted() {
        let batches = Session::new(Some(1)).unwrap().query("select from generate_series(1, 3)").unwrap();
        assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 3);
    }

    #[test]
    fn no_view_leaves_a_session() {
        let text = "arrow_cast('a', 'Utf8View')";
        let sql = format!(
            "select {text} as t, [{text}] as l, named_struct('x', {text}) as s, map([{text}], [[{text}]]) as m,
             [named_struct('x', {text})] as ls, arrow_cast([{text}], 'LargeList(Utf8View)') as ll,
             arrow_cast([{text}], 'FixedSizeList(1, Utf8View)') as fl"
        );
        for batch in Session::new(Some(1)).unwrap().query(&sql).unwrap() {
            for column in batch.columns() {
                let kind = column.data_type().to_string();
                assert!(kind.contains("Utf8") && !kind.contains("View"), "{kind}");
            }
        }
    }
}
