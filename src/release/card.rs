//! Card: the words of a release.
//!
//! In: its index, sources and table docs. Out: README.md (a data card with the YAML that hubs read) and CITATION.cff.
//! Every figure and column line comes from the tables and from where columns are declared; the templates hold the rest.

use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value as Shown};
use serde_json::{Value, json};

use super::index::Index;
use super::sources::Sources;
use super::{Options, matrices, tables};
use crate::query::{RUN, Session, TableDoc, cell, sgs_markdown};
use crate::store::files::write_text;
use crate::store::manifest::Manifest;
use crate::{Error, Result};

const CARD: (&str, &str) = ("README.md", include_str!("templates/README.md.jinja"));
const CITATION: (&str, &str) = ("CITATION.cff", include_str!("templates/CITATION.cff.jinja"));
/// What hubs are told about the kind of data.
const TAGS: [&str; 5] = ["language-models", "evaluation", "robustness", "prompt-sensitivity", "sago"];
/// The table that a hub shows first.
const FIRST: &str = "deltas";

/// Writes README.md and CITATION.cff; `docs` describe the tables of `index`, `empty` are those without rows.
pub(super) fn write(
    session: &Session,
    sources: &Sources,
    options: &Options,
    index: &Index,
    docs: &[TableDoc],
    empty: &[String],
    folder: &Path,
) -> Result<()> {
    let several = sources.runs.len() > 1;
    let keys = |more: &[&'static str]| -> Vec<&'static str> {
        several.then_some(RUN).into_iter().chain(["model"]).chain(more.iter().copied()).collect()
    };
    let has_scores = index.tables.iter().any(|table| table.name == "sgs_model");
    let scores = |keys: &[&str]| if has_scores { sgs_markdown(session, keys) } else { Ok(String::new()) };
    let context = shown(&json!({
        "title": index.title,
        "license": options.license,
        "authors": options.authors,
        "date": sources.date(),
        "tags": TAGS,
        "first": FIRST,
        "several": several,
        "version": index.version,
        "index": index,
        "scales": scales(index),
        "has_csv": options.csv,
        "runs": sources.runs.iter().map(|run| of_run(&run.name, &run.plan, &run.manifest)).collect::<Vec<_>>(),
        "datasets": sources.datasets().map(|(run, set)| json!({"run": run.name, "set": set})).collect::<Vec<_>>(),
        "sgs": scores(&keys(&[]))?,
        "sgs_by_dataset": scores(&keys(&["dataset"]))?,
        "tables": docs.iter().map(of_table).collect::<Vec<_>>(),
        "empty": empty,
        "has_activations": index.tables.iter().any(|table| table.name == super::ACTIVATIONS),
        "tables_folder": tables::FOLDER,
        "matrices_folder": matrices::FOLDER,
    }));
    for (name, template) in [CARD, CITATION] {
        write_text(&folder.join(name), &render(name, template, &context)?)?;
    }
    Ok(())
}

/// JSON as the templates see it.
fn shown(value: &Value) -> Shown {
    match value {
        Value::Null => Shown::from(()),
        Value::Bool(flag) => Shown::from(*flag),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => Shown::from(whole),
            (None, Some(whole)) => Shown::from(whole),
            (None, None) => Shown::from(number.as_f64()),
        },
        Value::String(text) => Shown::from(text.as_str()),
        Value::Array(all) => Shown::from(all.iter().map(shown).collect::<Vec<_>>()),
        Value::Object(all) => Shown::from_pairs(all.iter().map(|(name, value)| (name.as_str(), shown(value)))),
    }
}

fn render(name: &str, template: &str, context: &Shown) -> Result<String> {
    let wrong = |e: minijinja::Error| Error::table(name)(format!("{e:#}"));
    let mut environment = Environment::new();
    let mut blocks = SyntaxConfig::builder();
    let blocks = blocks.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(blocks.map_err(wrong)?);
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    // JSON is YAML: a text in quotes, with what must be escaped.
    environment.add_filter("yaml", |text: String| json!(text).to_string());
    environment.add_filter("cell", |text: String| cell(&text.replace('\n', " ")));
    environment.add_template(name, template).map_err(wrong)?;
    environment.get_template(name).and_then(|template| template.render(context)).map_err(wrong)
}

/// The scales of which there are matrices.
fn scales(index: &Index) -> Vec<&str> {
    let mut all: Vec<&str> = index.matrices.iter().map(|matrix| matrix.scale.as_str()).collect();
    all.dedup();
    all
}

fn of_run(name: &str, plan: &Value, manifest: &Manifest) -> Value {
    // Numbers and lists as they stand in the plan.
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let pairs = |key: &str| -> Vec<(&String, String)> {
        let settled = plan[key].as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        settled.map(|(name, value)| (name, text(value))).collect()
    };
    let models = plan["models"].as_array().into_iter().flatten();
    // Of an import's models nothing but the name is known.
    let model = |model: &Value| if model.is_object() { model.clone() } else { json!({"name": model}) };
    json!({
        "name": name,
        "id": manifest.run_id,
        "version": manifest.version,
        "commit": manifest.commit,
        "finished": manifest.finished,
        "failed_rows": manifest.failed_rows,
        "seed": plan["seed"],
        "import": plan["import"]["layout"],
        "files": plan["import"]["sources"],
        "models": models.map(model).collect::<Vec<_>>(),
        "generation": pairs("generation"),
        "variants": pairs("variants"),
        "measures": pairs("measures"),
    })
}

fn of_table(table: &TableDoc) -> Value {
    let column = |name: &str| {
        let column = table.columns.iter().find(|column| column.name == name)?;
        Some(json!({"name": column.name, "kind": column.kind, "doc": column.doc, "nullable": column.nullable}))
    };
    json!({
        "name": table.name,
        "doc": table.doc,
        "key": table.key,
        "columns": tables::columns(table).filter_map(column).collect::<Vec<_>>(),
    })
}
