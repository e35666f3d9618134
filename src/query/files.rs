//! Files: a plain file as a table.
//!
//! In: the path of a Parquet, CSV, TSV, JSON, JSONL or NDJSON file, or of a folder of Parquet. Out: a table provider.
//! Columns are made out from the whole file, not from its first rows: a text in row 2,000 does not fail the query.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, absolute};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::datasource::TableProvider;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::prelude::SessionContext;

use super::types::with_views;
use super::{damage, text_files};
use crate::{Error, Result};

const ENDINGS: [&str; 6] = ["parquet", "csv", "tsv", "json", "jsonl", "ndjson"];

/// The ending of a file name, in lower case, where it is one that can be read.
fn ending(path: &Path) -> Option<&'static str> {
    let found = path.extension().and_then(OsStr::to_str)?;
    ENDINGS.into_iter().find(|ending| found.eq_ignore_ascii_case(ending))
}

/// Whether a table's name in SQL is meant as a file.
pub(super) fn is_file_name(name: &str) -> bool {
    ending(Path::new(name)).is_some()
}

/// Whether a file is Parquet by its ending.
pub(super) fn is_parquet(path: &Path) -> bool {
    ending(path) == Some("parquet")
}

/// Opens a file by its ending.
pub(super) async fn open(ctx: &SessionContext, path: &Path) -> Result<Arc<dyn TableProvider>> {
    let Some(ending) = ending(path) else {
        return Err(Error::input(format!("{} has an ending that can't be read as a table", path.display()))
            .expected(ENDINGS.map(|ending| format!(".{ending}")).join(", "))
            .into());
    };
    // Opening it says why it can't be read in the words of the operating system.
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    if file.metadata().map_err(Error::io("open", path))?.is_dir() {
        return Err(Error::input(format!("{} is a folder, not a file", path.display())).into());
    }
    let by_line = !starts_as_array(&mut file).map_err(Error::io("read", path))?;
    let format: Arc<dyn FileFormat> = match ending {
        "parquet" => {
            damage::footer(path).map_err(|found| damage::damaged(path, found, damage::ELSEWHERE))?;
            Arc::new(parquet(ctx))
        }
        "csv" | "tsv" => {
            let delimiter = if ending == "csv" { b',' } else { b'\t' };
            text_files::check_delimited(path, delimiter)?;
            let format = CsvFormat::default().with_has_header(true).with_delimiter(delimiter);
            Arc::new(format.with_newlines_in_values(true).with_schema_infer_max_rec(usize::MAX))
        }
        _ => {
            // The engine's reader takes an array that ends too early, or that something follows, for a whole one.
            if !by_line && let Some(fault) = text_files::fault_of_array(path) {
                return Err(fault);
            }
            let format = JsonFormat::default().with_newline_delimited(by_line);
            Arc::new(format.with_schema_infer_max_rec(usize::MAX))
        }
    };
    let unreadable = |e: datafusion::error::DataFusionError| -> Error {
        if matches!(ending, "json" | "jsonl" | "ndjson")
            && by_line
            && let Some(placed) = text_files::fault_of_lines(path)
        {
            return placed;
        }
        Error::input(format!("{} can't be read as {ending}", path.display())).found(e.strip_backtrace()).into()
    };
    log::info!("reading {}", path.display());
    let url = location(path, false)?;
    let options = ListingOptions::new(format).with_file_extension("");
    let schema = options.infer_schema(&ctx.state(), &url).await.map_err(unreadable)?;
    if schema.fields().is_empty() {
        return Err(Error::input(format!("{} has no rows", path.display())).into());
    }
    listing(url, options, schema).map_err(unreadable)
}

/// A folder of Parquet parts `COLUMN=VALUE/.../*.parquet` with the schema that its files are held to.
pub(super) fn open_parts(
    ctx: &SessionContext,
    folder: &Path,
    columns: &[&str],
    schema: SchemaRef,
) -> Result<Arc<dyn TableProvider>> {
    let format = parquet(ctx);
    let partitions = columns.iter().map(|c| ((*c).to_string(), DataType::Utf8)).collect();
    let schema = if format.force_view_types() { with_views(&schema) } else { schema };
    let options =
        ListingOptions::new(Arc::new(format)).with_file_extension(".parquet").with_table_partition_cols(partitions);
    listing(location(folder, true)?, options, schema).map_err(super::session::failed)
}

/// One Parquet file with the schema that it is held to.
pub(super) fn open_part(ctx: &SessionContext, file: &Path, schema: SchemaRef) -> Result<Arc<dyn TableProvider>> {
    let format = parquet(ctx);
    let schema = if format.force_view_types() { with_views(&schema) } else { schema };
    let options = ListingOptions::new(Arc::new(format)).with_file_extension(".parquet");
    listing(location(file, false)?, options, schema).map_err(super::session::failed)
}

/// The format of Parquet files, with texts as views where the session has them so.
fn parquet(ctx: &SessionContext) -> ParquetFormat {
    ParquetFormat::default()
        .with_force_view_types(ctx.copied_config().options().execution.parquet.schema_force_view_types)
}

fn listing(
    url: ListingTableUrl,
    options: ListingOptions,
    schema: SchemaRef,
) -> datafusion::error::Result<Arc<dyn TableProvider>> {
    let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema);
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// A path as a URL with every character escaped that could mean something: `*`, `?` and `[` are parts of names here.
fn location(path: &Path, folder: bool) -> Result<ListingTableUrl> {
    let path = absolute(path).map_err(Error::io("find", path))?;
    let mut url = String::from("file://");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'=' => url.push(byte as char),
            _ if byte.is_ascii_alphanumeric() => url.push(byte as char),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    if folder && !url.ends_with('/') {
        url.push('/');
    }
    ListingTableUrl::parse(url).map_err(super::session::failed)
}

/// Whether a JSON file is one array; else it holds one object a line.
fn starts_as_array(file: &mut File) -> std::io::Result<bool> {
    let mut start = [0u8; 4096];
    let read = file.read(&mut start)?;
    let start = start.get(..read).unwrap_or_default();
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    Ok(start.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'['))
}
