//! Tables: a run's tables as flat Parquet files with their keys inside.
//!
//! In: a session with one run or several, a table's description. Out: `data/TABLE.parquet`, or parts where it is large.
//! Rows are sorted by the key and cut into batches of one size, so that the same rows give the same bytes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::compute::BatchCoalescer;
use arrow::datatypes::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::index::IndexedTable;
use super::sources::Sources;
use crate::query::{Session, Statement, TableDoc, plain, plain_schema, quoted};
use crate::store::schema::SCHEMA_VERSION;
use crate::{Error, Result};

/// Folder of a release for its tables.
pub(super) const FOLDER: &str = "data";
/// The one view that is released, for the scale that summaries are on; the table normalized_wide has all scales.
pub(super) const NORMALIZED: &str = "normalized";
/// The scale of [`NORMALIZED`].
pub(super) const FIXED: &str = "fixed";
/// Rows that are written at once.
const BATCH: usize = 8_192;
/// A row group holds at most this many bytes before compression.
const ROW_GROUP: usize = 64 << 20;
/// A table is cut where a file reaches this size: hubs take larger ones less well.
const PART: usize = 512 << 20;
/// By table: the columns from which the words of a prompt can be read.
const TEXTS: [(&str, &[&str]); 4] = [
    ("prompts", &["text", "answers"]),
    ("variants", &["text"]),
    ("generations", &["prompt_token_ids"]),
    ("judgements", &["rendered_prompt"]),
];

/// Writes a table; None where it has no rows.
pub(super) fn write(
    session: &Session,
    table: &TableDoc,
    sources: &Sources,
    folder: &Path,
) -> Result<Option<IndexedTable>> {
    let statement = Statement::from(query(table, sources).as_str());
    let rows = session.rows(&statement).map_err(Error::table(&table.name))?;
    let schema = plain_schema(rows.schema());
    let below = folder.join(FOLDER);
    let mut parts = Parts::new(&table.name, &below, properties(table, &schema)?, &schema);
    let mut even = BatchCoalescer::new(schema.clone(), BATCH);
    let failed = Error::table(&table.name);
    for batch in rows {
        even.push_batch(plain(&batch?, &schema).map_err(Error::table(&table.name))?).map_err(&failed)?;
        while let Some(batch) = even.next_completed_batch() {
            parts.write(&batch)?;
        }
    }
    even.finish_buffered_batch().map_err(&failed)?;
    while let Some(batch) = even.next_completed_batch() {
        parts.write(&batch)?;
    }
    let rows = parts.rows;
    let files = parts.finish()?;
    let name_of = |file: &PathBuf| file.strip_prefix(folder).unwrap_or(file).to_string_lossy().into_owned();
    let files: Vec<String> = files.iter().map(name_of).collect();
    let written = IndexedTable { name: table.name.clone(), key: table.key.clone(), rows, files };
    Ok(if written.files.is_empty() { None } else { Some(written) })
}

/// The columns of a release's table: the key, then the others in their order.
pub(super) fn columns(table: &TableDoc) -> impl Iterator<Item = &str> {
    let others = table.columns.iter().map(|column| column.name.as_str());
    let others = others.filter(|name| !table.key.iter().any(|key| key == name));
    table.key.iter().map(String::as_str).chain(others)
}

fn query(table: &TableDoc, sources: &Sources) -> String {
    let hidden = TEXTS.iter().find(|(name, _)| *name == table.name).map_or(&[][..], |(_, columns)| columns);
    let left_out = sources.is_left_out();
    let shown = columns(table).map(|name| match &left_out {
        Some(rows) if hidden.contains(&name) => {
            format!("case when {rows} then null else {column} end as {column}", column = quoted(name))
        }
        _ => quoted(name),
    });
    // Without a key every column that has an order.
    let has_order = |name: &&str| !table.columns.iter().any(|c| c.name == *name && c.kind.starts_with("list"));
    let order: Vec<String> = match table.key.is_empty() {
        true => columns(table).filter(has_order).map(quoted).collect(),
        false => table.key.iter().map(|name| quoted(name)).collect(),
    };
    let only = if table.name == NORMALIZED { format!("where normalization = '{FIXED}'") } else { String::new() };
    format!(
        "select {} from {} {only} order by {}",
        shown.collect::<Vec<_>>().join(", "),
        quoted(&table.name),
        order.join(", ")
    )
}

fn properties(table: &TableDoc, schema: &SchemaRef) -> Result<WriterProperties> {
    let level = ZstdLevel::try_new(9).map_err(Error::table(&table.name))?;
    let metadata = [
        ("sago.schema_version", SCHEMA_VERSION.to_string()),
        ("sago.table", table.name.clone()),
        ("sago.key", table.key.join(" ")),
    ];
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_string(), value));
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_bytes(Some(ROW_GROUP))
        .set_key_value_metadata(Some(metadata.to_vec()));
    for field in schema.fields() {
        if let DataType::List(item) = field.data_type()
            && item.data_type().is_floating()
        {
            // Exponents and mantissas compress far better apart than together.
            let leaf = ColumnPath::new(vec![field.name().clone(), "list".to_string(), "item".to_string()]);
            properties = properties
                .set_column_dictionary_enabled(leaf.clone(), false)
                .set_column_encoding(leaf, Encoding::BYTE_STREAM_SPLIT);
        }
    }
    Ok(properties.build())
}

/// The files of one table.
struct Parts<'a> {
    table: &'a str,
    folder: &'a Path,
    properties: WriterProperties,
    schema: &'a SchemaRef,
    writer: Option<ArrowWriter<File>>,
    files: Vec<PathBuf>,
    rows: u64,
    /// Size at which a file ends.
    most: usize,
}

impl<'a> Parts<'a> {
    fn new(table: &'a str, folder: &'a Path, properties: WriterProperties, schema: &'a SchemaRef) -> Self {
        Parts { table, folder, properties, schema, writer: None, files: Vec::new(), rows: 0, most: PART }
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.begin()?,
        };
        writer.write(batch).map_err(Error::table(self.table))?;
        self.rows += batch.num_rows() as u64;
        if writer.bytes_written() + writer.in_progress_size() < self.most {
            self.writer = Some(writer);
            return Ok(());
        }
        end(writer, self.table)
    }

    /// Begins the next file: `TABLE.parquet`; a second makes parts of both.
    fn begin(&mut self) -> Result<ArrowWriter<File>> {
        let part = |number: usize| self.folder.join(self.table).join(format!("part-{number:05}.parquet"));
        let path = match self.files.as_slice() {
            [] => self.folder.join(format!("{}.parquet", self.table)),
            [only] => {
                let first = part(0);
                create_folder_of(&first)?;
                fs::rename(only, &first).map_err(Error::io("rename", only))?;
                self.files = vec![first];
                part(1)
            }
            more => part(more.len()),
        };
        create_folder_of(&path)?;
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        self.files.push(path);
        ArrowWriter::try_new(file, self.schema.clone(), Some(self.properties.clone())).map_err(Error::table(self.table))
    }

    fn finish(mut self) -> Result<Vec<PathBuf>> {
        if let Some(writer) = self.writer.take() {
            end(writer, self.table)?;
        }
        Ok(self.files)
    }
}

fn create_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(Error::io("create", folder))
}

fn end(writer: ArrowWriter<File>, table: &str) -> Result<()> {
    let file = writer.into_inner().map_err(Error::table(table))?;
    file.sync_all().map_err(Error::table(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Resources, first_row, open_released};
    use std::sync::Arc;

    #[test]
    fn a_large_table_is_cut_into_parts_that_are_one_table() {
        let dir = tempfile::tempdir().unwrap();
        let numbers: arrow::array::ArrayRef = Arc::new(arrow::array::Int64Array::from_iter_values(0..10));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let schema = batch.schema();
        let write = |most: usize, batches: usize| {
            let properties = WriterProperties::builder().build();
            let mut parts = Parts { most, ..Parts::new("t", dir.path(), properties, &schema) };
            (0..batches).for_each(|_| parts.write(&batch).unwrap());
            let names = parts.finish().unwrap();
            names.iter().map(|file| file.strip_prefix(dir.path()).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(write(PART, 0), [""; 0]);
        assert_eq!(write(1, 1), ["t.parquet"]);
        let files = write(1, 3);
        assert_eq!(files, ["t/part-00000.parquet", "t/part-00001.parquet", "t/part-00002.parquet"]);
        assert!(!dir.path().join("t.parquet").exists());
        let files = files.iter().map(|name| dir.path().join(name)).collect();
        let session = open_released(Resources::default(), &[("t".to_string(), files)]).unwrap();
        let sum = first_row(&session.query("select sum(n) as sum from t").unwrap());
        assert_eq!(sum, [("sum".to_string(), "135".to_string())]);
    }
}
