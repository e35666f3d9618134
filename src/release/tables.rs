//! Tables: a run's tables as flat Parquet files with their keys inside.
//!
//! In: a session with one run or several, a table's description. Out: `data/TABLE.parquet`, or parts where it is large.
//! Rows are sorted by the key and cut into batches of one size, so that the same rows give the same bytes. What is keyed
//! by model and data set is sorted one of these at a time: a run may be larger than memory.

use std::path::{Path, PathBuf};

use arrow::compute::BatchCoalescer;
use arrow::datatypes::{DataType, SchemaRef};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::index::{IndexedColumn, IndexedTable};
use super::parts::Parts;
use super::sources::Sources;
use crate::query::{
    Column, Contract, RUN, Session, Statement, Stop, TableDoc, built_in, first_row, literal, plain, plain_schema,
    quoted, sql_type, texts,
};
use crate::store::schema::{SCHEMA_VERSION, Table};
use crate::{Error, Result};

/// Folder of a release for its tables.
pub(super) const FOLDER: &str = "data";
/// The one view that is released, for the scale that summaries are on; the table normalized_wide has all scales.
pub(super) const NORMALIZED: &str = "normalized";
/// The scale of [`NORMALIZED`].
pub(super) const FIXED: &str = "fixed";
/// What a key begins with where its table is written a slice at a time.
const SLICED: [&str; 3] = [RUN, "model", "dataset"];
/// Rows that are written at once.
const BATCH: usize = 8_192;
/// A row group holds at most this many bytes before compression.
const ROW_GROUP: usize = 64 << 20;
/// A table is cut where a file reaches this size, where no other is asked for: hubs take larger ones less well.
pub(super) const PART: usize = 512 << 20;
/// Rows above which a derived table is written a slice at a time; raw rows may hold long lists.
const MANY: u64 = 1_000_000;
/// By table: the columns from which the words of a prompt can be read.
pub(super) const TEXTS: [(&str, &[&str]); 4] = [
    ("prompts", &["text", "answers"]),
    ("variants", &["text"]),
    ("generations", &["prompt_token_ids"]),
    ("judgements", &["rendered_prompt"]),
];

/// What tables are written of.
pub(super) struct From<'a> {
    pub(super) session: &'a Session,
    pub(super) sources: &'a Sources,
    pub(super) stop: &'a Stop,
    /// Bytes at which a file of a table ends.
    pub(super) part_bytes: usize,
}

/// Writes a table below `folder`; without rows it has no file.
pub(super) fn write(of: &From, table: &TableDoc, contract: Contract, folder: &Path) -> Result<IndexedTable> {
    let ask = |slice: &str| {
        let statement = Statement::from(query(table, of.sources, slice).as_str());
        of.session.rows(&statement).map(|rows| rows.with_stop(of.stop)).map_err(Error::table(&table.name))
    };
    let schema = plain_schema(ask("false")?.schema());
    let below = folder.join(FOLDER);
    let mut parts = Parts::new(&table.name, &below, properties(table, &schema)?, &schema, of.part_bytes);
    let mut even = BatchCoalescer::new(schema.clone(), BATCH);
    let failed = Error::table(&table.name);
    for slice in slices(of.session, table)? {
        for batch in ask(&slice)? {
            even.push_batch(plain(&batch?, &schema).map_err(Error::table(&table.name))?).map_err(&failed)?;
            while let Some(batch) = even.next_completed_batch() {
                parts.write(&batch)?;
            }
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
    let kind = |field: &arrow::datatypes::FieldRef| sql_type(field.data_type());
    let columns = schema.fields().iter().map(|field| IndexedColumn { name: field.name().clone(), kind: kind(field) });
    Ok(IndexedTable { name: table.name.clone(), rows, files, columns: columns.collect(), contract })
}

/// What a table keeps to: a raw one its key and where NULL may stand, a derived one what its model promises. Of several
/// runs the run is of the key.
pub(super) fn contract(table: &TableDoc, promised: Option<&Contract>, sources: &Sources) -> Result<Contract> {
    let mut contract = match promised {
        Some(promised) => promised.clone(),
        None if table.name == NORMALIZED => built_in_contract(NORMALIZED)?,
        None => {
            let of = |column: &crate::query::ColumnDoc| {
                let is = Column { doc: column.doc.clone(), not_null: !column.nullable, ..Column::default() };
                (column.name.clone(), is)
            };
            Contract { columns: table.columns.iter().map(of).collect(), ..Contract::default() }
        }
    };
    contract.unique.clone_from(&table.key);
    if let Some(run) = table.columns.iter().find(|column| column.name == RUN)
        && !contract.columns.is_empty()
    {
        let is = Column { doc: run.doc.clone(), not_null: true, ..Column::default() };
        contract.columns.entry(RUN.to_string()).or_insert(is);
    }
    if sources.is_left_out().is_some() {
        for name in hidden(&table.name) {
            contract.columns.entry((*name).to_string()).and_modify(|column| column.not_null = false);
        }
    }
    Ok(contract)
}

/// The rows of a table.
pub(super) fn rows(session: &Session, table: &str) -> Result<u64> {
    let first = first_row(&session.query(&format!("select count(*) from {}", quoted(table)))?);
    let count = first.first().and_then(|(_, count)| count.parse().ok());
    count.ok_or_else(|| Error::table(table)("its rows can't be counted"))
}

/// The contract of a built-in model.
fn built_in_contract(name: &str) -> Result<Contract> {
    let source = built_in().into_iter().find(|source| source.name == name);
    source.map_or_else(|| Ok(Contract::default()), |source| Contract::of(&source))
}

/// The columns of a table from which the words of a prompt can be read.
pub(super) fn hidden(table: &str) -> &'static [&'static str] {
    TEXTS.iter().find(|(name, _)| *name == table).map_or(&[], |(_, columns)| columns)
}

/// Conditions that cut a table into slices, in the order of its key: by model and data set where these begin it, and
/// it is large.
fn slices(session: &Session, table: &TableDoc) -> Result<Vec<String>> {
    let first: Vec<&str> = table.key.iter().map(String::as_str).take_while(|name| SLICED.contains(name)).collect();
    let is_known = |name: &&str| table.columns.iter().any(|c| c.name == **name && c.kind == "text" && !c.nullable);
    let is_raw = Table::named(&table.name).is_some_and(|table| table.partitioned);
    let is_large = || Ok::<_, Error>(is_raw || rows(session, &table.name)? > MANY);
    if !first.contains(&"dataset") || !first.iter().all(is_known) || !is_large()? {
        return Ok(vec!["true".to_string()]);
    }
    let names = first.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let found = session.query(&format!("select distinct {names} from {} order by {names}", quoted(&table.name)))?;
    let values = (0..first.len()).map(|column| texts(&found, column)).collect::<Result<Vec<_>>>()?;
    let slice = |row: usize| {
        let of = first.iter().zip(&values).filter_map(|(name, values)| values.get(row).map(|value| (name, value)));
        of.map(|(name, value)| format!("{} = {}", quoted(name), literal(value))).collect::<Vec<_>>().join(" and ")
    };
    Ok((0..values.first().map_or(0, Vec::len)).map(slice).collect())
}

/// The columns of a release's table: the key, then the others in their order.
pub(super) fn columns(table: &TableDoc) -> impl Iterator<Item = &str> {
    let others = table.columns.iter().map(|column| column.name.as_str());
    let others = others.filter(|name| !table.key.iter().any(|key| key == name));
    table.key.iter().map(String::as_str).chain(others)
}

fn query(table: &TableDoc, sources: &Sources, slice: &str) -> String {
    let hidden = hidden(&table.name);
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
    let only = if table.name == NORMALIZED { format!("and normalization = '{FIXED}'") } else { String::new() };
    format!(
        "select {} from {} where {slice} {only} order by {}",
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
