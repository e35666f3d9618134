//! Croissant: a release in the words that machines for data sets read.
//!
//! In: the index, table docs and files of a release. Out: croissant.json, Croissant 1.0: every Parquet file with its
//! SHA-256, a record set a table, a field a column.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::index::{Index, IndexedTable};
use super::sources::Sources;
use super::{Options, tables};
use crate::query::TableDoc;
use crate::store::files::write_json;
use crate::store::run_dir::read_json;
use crate::{Result, hash};

/// Name of the file in a release.
pub(super) const FILE: &str = "croissant.json";
const PARQUET: &str = "application/x-parquet";

/// Writes croissant.json; `docs` describe the tables of `index`.
pub(super) fn write(
    sources: &Sources,
    options: &Options,
    index: &Index,
    docs: &[TableDoc],
    folder: &Path,
) -> Result<()> {
    let mut distribution = Vec::new();
    let files = index.tables.iter().flat_map(|table| &table.files);
    for name in files.chain(index.matrices.iter().map(|matrix| &matrix.file)) {
        distribution.push(json!({
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            "contentSize": format!("{} B", folder.join(name).metadata().map_or(0, |file| file.len())),
            "encodingFormat": PARQUET,
            "sha256": hash::of_file(&folder.join(name))?,
        }));
    }
    for table in index.tables.iter().filter(|table| table.files.len() > 1) {
        distribution.push(json!({
            "@type": "cr:FileSet",
            "@id": parts_of(table),
            "name": parts_of(table),
            "encodingFormat": PARQUET,
            "includes": parts_of(table),
        }));
    }
    let described =
        |table: &IndexedTable| docs.iter().find(|doc| doc.name == table.name).map(|doc| (table.clone(), doc));
    let records = index.tables.iter().filter_map(described).map(|(table, doc)| record_set(&table, doc));
    // Of the results, then of the texts of their sources.
    let own = options.license.as_deref();
    let of_texts: BTreeSet<&str> = sources.datasets().filter_map(|(_, set)| set.licence.as_deref()).collect();
    let licences: Vec<&str> = own.into_iter().chain(of_texts.into_iter().filter(|of| Some(*of) != own)).collect();
    let mut all = json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": index.title,
        "description": format!(
            "Responses of language models to the same requests worded differently, and how far their behaviour moved: \
             {} long tables and {} wide delta matrices, made with sago {}.",
            index.tables.len(), index.matrices.len(), index.version
        ),
        "citeAs": "See CITATION.cff, and the sources in README.md.",
        "datePublished": sources.date(),
        "version": format!("{}.0.0", index.format),
        "distribution": distribution,
        "recordSet": records.collect::<Vec<_>>(),
    });
    if !licences.is_empty() {
        all["license"] = json!(licences);
    }
    write_json(&folder.join(FILE), &all)
}

/// The first file whose checksum in croissant.json is another than its own.
pub(super) fn difference(folder: &Path) -> Result<Option<String>> {
    if !folder.join(FILE).is_file() {
        return Ok(Some(format!("{FILE} is missing")));
    }
    let all = read_json(&folder.join(FILE))?;
    let Some(files) = all["distribution"].as_array() else { return Ok(Some(format!("{FILE} names no files"))) };
    for file in files.iter().filter(|file| file["sha256"].is_string()) {
        let name = file["contentUrl"].as_str().unwrap_or_default();
        let path = folder.join(name);
        // What is missing is told elsewhere.
        if path.is_file() && file["sha256"].as_str() != Some(hash::of_file(&path)?.as_str()) {
            return Ok(Some(format!("{name} has another SHA-256 than {FILE} says")));
        }
    }
    Ok(None)
}

/// The files of a table in parts; its record set has the table's name already.
fn parts_of(table: &IndexedTable) -> String {
    format!("{}/{}/*.parquet", tables::FOLDER, table.name)
}

fn record_set(table: &IndexedTable, doc: &TableDoc) -> Value {
    let id = |column: &str| format!("{}/{column}", table.name);
    let source = match table.files.as_slice() {
        [file] => json!({"fileObject": {"@id": file}}),
        _ => json!({"fileSet": {"@id": parts_of(table)}}),
    };
    let field = |name: &str| {
        let column = doc.columns.iter().find(|column| column.name == name)?;
        let (kind, repeated) = match column.kind.strip_prefix("list of ") {
            Some(item) => (item, true),
            None => (column.kind.as_str(), false),
        };
        let mut source = source.clone();
        source["extract"] = json!({"column": name});
        let mut field = json!({
            "@type": "cr:Field",
            "@id": id(name),
            "name": name,
            "description": column.doc,
            "dataType": data_type(kind),
            "source": source,
        });
        if repeated {
            field["repeated"] = json!(true);
        }
        Some(field)
    };
    let mut set = json!({
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": doc.doc,
        "field": tables::columns(doc).filter_map(field).collect::<Vec<_>>(),
    });
    if !table.key.is_empty() {
        set["key"] = table.key.iter().map(|column| json!({"@id": id(column)})).collect();
    }
    set
}

/// The Croissant type of a column, from its type in SQL.
fn data_type(kind: &str) -> &'static str {
    match kind {
        "double" | "float" => "sc:Float",
        "boolean" => "sc:Boolean",
        "bigint" | "int" => "sc:Integer",
        _ => "sc:Text",
    }
}

/// The context that Croissant 1.0 prescribes.
fn context() -> Value {
    let mut all = Map::new();
    let mut add = |name: &str, value: Value| all.insert(name.to_string(), value);
    add("@language", json!("en"));
    add("@vocab", json!("https://schema.org/"));
    for (name, short) in [("cr", "http://mlcommons.org/croissant/"), ("rai", "http://mlcommons.org/croissant/RAI/")] {
        add(name, json!(short));
    }
    add("dct", json!("http://purl.org/dc/terms/"));
    add("sc", json!("https://schema.org/"));
    add("citeAs", json!("cr:citeAs"));
    add("conformsTo", json!("dct:conformsTo"));
    add("data", json!({"@id": "cr:data", "@type": "@json"}));
    add("dataType", json!({"@id": "cr:dataType", "@type": "@vocab"}));
    add("examples", json!({"@id": "cr:examples", "@type": "@json"}));
    for name in [
        "column",
        "equivalentProperty",
        "extract",
        "field",
        "fileObject",
        "fileProperty",
        "fileSet",
        "format",
        "includes",
        "isLiveDataset",
        "jsonPath",
        "key",
        "md5",
        "parentField",
        "path",
        "recordSet",
        "references",
        "regex",
        "repeated",
        "replace",
        "samplingRate",
        "separator",
        "source",
        "subField",
        "transform",
    ] {
        add(name, json!(format!("cr:{name}")));
    }
    Value::Object(all)
}
