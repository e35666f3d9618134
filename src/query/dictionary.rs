//! Dictionary: the page that says what every table and column is.
//!
//! In: nothing. Out: Markdown, from the raw tables' schemas, the models' headers and their contracts.
//! Types of derived columns are those that the SQL has, found by planning it without rows.

use datafusion::arrow::datatypes::DataType;

use super::contract::{Column, Kind};
use super::graph::{Graph, Model};
use super::header::Header;
use super::making::register_view;
use super::models::{STAGES, built_in};
use super::session::Session;
use super::{function_page, promises, raw};
use crate::store::schema::{TABLES, Table};
use crate::{Error, Result};

/// The pages that are made from the sources: path in the repository, and Markdown.
///
/// # Errors
/// A built-in model can't be planned.
pub fn dictionary() -> Result<Vec<(&'static str, String)>> {
    Ok(vec![("docs/tables.md", tables()?), ("docs/functions.md", function_page::functions())])
}

fn tables() -> Result<String> {
    let session = Session::new(Some(1))?;
    raw::register_empty(&session)?;
    let graph = Graph::new(&built_in(), &raw::names())?;
    for model in graph.models() {
        register_view(&session, model)?;
    }
    let mut page = String::from(
        "# Tables\n\nMade by `make dictionary` from the schemas in `src/store/schema.rs` and the headers and contracts in \
         `sql/`: change\nthose, not this page. NULL means \"not available\", never 0.\n\n## What a run measures\n\n\
         Files of a run. Where a key starts with model and dataset and the table has parts, these two are in the path\n\
         of a part and columns in SQL all the same.\n",
    );
    TABLES.iter().for_each(|table| page.push_str(&raw_table(table)));
    for (stage, names) in STAGES {
        page.push_str(&format!("\n## Derived: {stage}\n\nSQL and contracts in `sql/{stage}/`.\n"));
        for name in *names {
            let model = graph.model(name).ok_or_else(|| Error::table(name)("it is not in the graph"))?;
            page.push_str(&derived_table(&session, stage, model)?);
        }
    }
    Ok(page)
}

fn raw_table(table: &Table) -> String {
    let parts = if table.partitioned { "In parts by model and dataset. " } else { "" };
    let mut text = format!("\n### {}\n\n{}. {parts}Key: {}.\n\n", table.name, capital(table.doc), table.key.join(", "));
    text.push_str("| column | type | NULL | meaning |\n|---|---|---|---|\n");
    for column in table.columns {
        let null = if column.nullable { "yes" } else { "" };
        let kind = type_name(&column.kind.data_type());
        text.push_str(&format!("| {} | {kind} | {null} | {} |\n", column.name, cell(column.doc)));
    }
    text
}

fn derived_table(session: &Session, stage: &str, model: &Model) -> Result<String> {
    let header = Header::of(&model.name, &model.sql);
    let kind = match model.contract.kind {
        Kind::Table => format!("`analysis/{}.parquet`", model.name),
        Kind::View => "A view: computed where it is read".to_string(),
    };
    let mut text = format!("\n### {}\n\n{}\n", model.name, capital(&header.sentence));
    text.push_str(&format!("{kind}; [{stage}/{name}.sql](../sql/{stage}/{name}.sql).\n", name = model.name));
    text.push_str(&format!("Key: {}.\n", model.contract.unique.join(", ")));
    for (entry, lines) in header.entries.iter().filter(|(entry, _)| entry != "grain") {
        if entry == "formula" {
            text.push_str(&format!("\n```text\n{}\n```\n", lines.join("\n")));
        } else {
            text.push_str(&format!("\n{}: {}\n", capital(entry), cell(&lines.join(" "))));
        }
    }
    header.remarks.iter().for_each(|remark| text.push_str(&format!("\n{}\n", cell(remark))));
    text.push_str("\n| column | type | NULL | meaning | promise |\n|---|---|---|---|---|\n");
    // In the order of the SQL, as a reader of the rows sees them.
    for (name, data_type) in promises::columns(session, &model.name)? {
        let column = model.contract.columns.get(&name);
        let doc = column.map_or("", |column| column.doc.as_str());
        let null = if column.is_some_and(|c| c.not_null) { "" } else { "yes" };
        let promise = column.map_or(String::new(), promise);
        text.push_str(&format!("| {name} | {} | {null} | {} | {promise} |\n", type_name(&data_type), cell(doc)));
    }
    Ok(text)
}

fn promise(column: &Column) -> String {
    let mut all = Vec::new();
    match (column.min, column.max) {
        (Some(min), Some(max)) => all.push(format!("{min} to {max}")),
        (Some(min), None) => all.push(format!("at least {min}")),
        (None, Some(max)) => all.push(format!("at most {max}")),
        (None, None) => {}
    }
    if column.finite {
        all.push("finite".to_string());
    }
    all.extend(column.one_of.iter().map(|values| format!("one of {}", cell(&values.join(", ")))));
    all.extend(column.references.iter().map(|other| format!("a value of {other}")));
    all.join("; ")
}

/// The words of the pages for a type.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => "text".to_string(),
        DataType::Float64 => "double".to_string(),
        DataType::Float32 => "float".to_string(),
        DataType::Boolean => "true or false".to_string(),
        DataType::Int32 => "32-bit integer".to_string(),
        other if other.is_integer() => "integer".to_string(),
        DataType::Dictionary(_, value) => type_name(value),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            format!("list of {}", type_name(item.data_type()))
        }
        other => other.to_string(),
    }
}

/// Text that Markdown takes literally.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
