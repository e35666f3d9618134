//! Croissant: a release in the words that machines for data sets read.
//!
//! In: the index, table docs and files of a release. Out: croissant.json, Croissant 1.0: every Parquet file with its
//! SHA-256, a record set a table, a field a column.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::Options;
use super::checksums::Sums;
use super::index::{Index, IndexedTable};
use super::sources::Sources;
use crate::query::TableDoc;
use crate::store::files::write_json;
use crate::store::run_dir::read_json;
use crate::{Result, hash};

/// Name of the file in a release.
pub(super) const FILE: &str = "croissant.json";
/// Who made it, where its maker has not said so; the citation file has the same words.
pub(super) const NOBODY: &str = "not stated";
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
    let with_rows = || index.tables.iter().filter(|table| !table.files.is_empty());
    for table in with_rows().filter(|table| table.files.len() > 1) {
        distribution.push(json!({
            "@type": "cr:FileSet",
            "@id": table.pattern(),
            "name": table.pattern(),
            "encodingFormat": PARQUET,
            "includes": table.pattern(),
        }));
    }
    let described =
        |table: &IndexedTable| docs.iter().find(|doc| doc.name == table.name).map(|doc| (table.clone(), doc));
    let records = with_rows().filter_map(described).map(|(table, doc)| record_set(&table, doc));
    // Of the results, then of the texts of their sources.
    let own = options.license.as_deref();
    let of_texts: BTreeSet<&str> = sources.datasets().filter_map(|(_, set)| set.licence.as_deref()).collect();
    let licences: Vec<&str> = own.into_iter().chain(of_texts.into_iter().filter(|of| Some(*of) != own)).collect();
    let creator = |name: &str| json!({"@type": "sc:Person", "name": name});
    let mut creators: Vec<Value> = options.authors.iter().map(|author| creator(author)).collect();
    if creators.is_empty() {
        creators.push(json!({"@type": "sc:Organization", "name": NOBODY}));
    }
    let mut all = json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": index.title,
        "description": format!(
            "Responses of language models to the same requests worded differently, and how far their behaviour moved: \
             {} long tables and {} wide delta matrices, made with sago {}.",
            with_rows().count(), index.matrices.len(), index.version
        ),
        "creator": creators,
        "citeAs": "See CITATION.cff, and the sources in README.md.",
        "datePublished": sources.date(),
        "version": format!("{}.0.0", index.format),
        "distribution": distribution,
        "recordSet": records.collect::<Vec<_>>(),
    });
    if !licences.is_empty() {
        all["license"] = json!(licences);
    }
    if let Some(url) = &options.url {
        all["url"] = json!(url);
    }
    write_json(&folder.join(FILE), &all)
}

/// The checksums that croissant.json has, by file; none where it can't be read.
pub(super) fn sums(folder: &Path) -> Option<Sums> {
    let all = read_json(&folder.join(FILE)).ok()?;
    let of = |file: &Value| Some((file["contentUrl"].as_str()?.to_string(), file["sha256"].as_str()?.to_string()));
    Some(all["distribution"].as_array()?.iter().filter_map(of).collect())
}

/// The first file whose checksum in croissant.json is another than its own, which is in `there`.
pub(super) fn difference(folder: &Path, there: &Sums) -> Option<String> {
    let Some(sums) = sums(folder) else { return Some(format!("{FILE} is missing, damaged, or names no files")) };
    // What is missing is told elsewhere.
    let other = sums.iter().find(|(name, sum)| there.get(*name).is_some_and(|own| own != *sum));
    other.map(|(name, _)| format!("{name} has another SHA-256 than {FILE} says"))
}

fn record_set(table: &IndexedTable, doc: &TableDoc) -> Value {
    let id = |column: &str| format!("{}/{column}", table.name);
    let source = match table.files.as_slice() {
        [file] => json!({"fileObject": {"@id": file}}),
        _ => json!({"fileSet": {"@id": table.pattern()}}),
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
        "field": table.columns.iter().map(|column| column.name.as_str()).filter_map(field).collect::<Vec<_>>(),
    });
    if !table.contract.unique.is_empty() {
        set["key"] = table.contract.unique.iter().map(|column| json!({"@id": id(column)})).collect();
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
