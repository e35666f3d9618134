//! Card: the words of a release.
//!
//! In: its index, sources and table docs. Out: README.md (a data card with the YAML that hubs read) and CITATION.cff.
//! Every figure and column line comes from the tables and from where columns are declared; the templates hold the rest.

use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value as Shown};
use serde_json::{Map, Value, json};

use super::croissant::NOBODY;
use super::index::{Index, IndexedColumn, IndexedTable};
use super::sources::Sources;
use super::{Options, licences, matrices, tables};
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

/// Writes README.md and CITATION.cff; `docs` describe the tables of `index`.
pub(super) fn write(
    session: &Session,
    sources: &Sources,
    options: &Options,
    index: &Index,
    docs: &[TableDoc],
    folder: &Path,
) -> Result<()> {
    let several = sources.runs.len() > 1;
    let keys = |more: &[&'static str]| -> Vec<&'static str> {
        several.then_some(RUN).into_iter().chain(["model"]).chain(more.iter().copied()).collect()
    };
    let scores = |keys: &[&str]| if index.has("sgs_model") { sgs_markdown(session, keys) } else { Ok(String::new()) };
    let with_rows = || index.tables.iter().filter(|table| table.rows > 0);
    let empty = index.tables.iter().filter(|table| table.rows == 0).map(|table| &table.name);
    let has: Map<String, Value> = with_rows().map(|table| (table.name.clone(), json!(true))).collect();
    let context = shown(&json!({
        "title": index.title,
        "license": options.license,
        "authors": options.authors,
        "nobody": NOBODY,
        "url": options.url,
        "date": sources.date(),
        "tags": TAGS,
        "first": first(index).map(|table| json!({
            "name": table.name,
            "pattern": table.pattern(),
            "in_parts": table.files.len() > 1,
            "folder": format!("{}/{}", tables::FOLDER, table.name),
        })),
        "several": several,
        "version": index.version,
        "index": index,
        "configs": with_rows().map(|table| json!({"name": table.name, "pattern": table.pattern()})).collect::<Vec<_>>(),
        "scales": scales(index),
        "has_csv": options.csv,
        "runs": sources.runs.iter().map(|run| of_run(&run.name, &run.plan, &run.manifest)).collect::<Vec<_>>(),
        "datasets": sources.datasets().map(|(run, set)| json!({"run": run.name, "set": set})).collect::<Vec<_>>(),
        "citations": citations(sources),
        "licence_texts": licences::texts(sources, options).into_keys().collect::<Vec<_>>(),
        "sgs": scores(&keys(&[]))?,
        "sgs_by_dataset": scores(&keys(&["dataset"]))?,
        "tables": with_rows().filter_map(|table| of_table(table, docs)).collect::<Vec<_>>(),
        "empty": empty.collect::<Vec<_>>(),
        "has": has,
        "tables_folder": tables::FOLDER,
        "matrices_folder": matrices::FOLDER,
    }));
    for (name, template) in [CARD, CITATION] {
        write_text(&folder.join(name), &render(name, template, &context)?)?;
    }
    Ok(())
}

/// The table that a reader sees first.
fn first(index: &Index) -> Option<&IndexedTable> {
    let with_rows = || index.tables.iter().filter(|table| table.rows > 0);
    with_rows().find(|table| table.name == FIRST).or_else(|| with_rows().next())
}

/// The works that the sources ask to be cited by, each once: several runs may draw on one data set.
fn citations(sources: &Sources) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for (_, set) in sources.datasets().filter(|(_, set)| set.citation.is_some()) {
        let one = json!({"title": set.title, "homepage": set.homepage, "citation": set.citation});
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
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
    let pairs = |key: &str| -> Vec<(String, String)> {
        let settled = plan[key].as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        settled.map(|(name, value)| (name.clone(), text(value))).collect()
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
        "measured_again": manifest.measured_again,
        "failed_rows": manifest.failed_rows,
        "seed": plan["seed"],
        "import": plan["import"]["layout"],
        "files": plan["import"]["sources"],
        "models": models.map(model).collect::<Vec<_>>(),
        "generation": pairs("generation"),
        "variants": pairs("variants"),
        "measures": measures(pairs("measures"), manifest),
    })
}

/// The measures of the plan, and where the scores say what they are, that: they may have been measured again since.
fn measures(planned: Vec<(String, String)>, manifest: &Manifest) -> Vec<(String, String)> {
    let mut all = planned;
    for (measure, signatures) in manifest.signatures.iter().filter(|(_, found)| !found.is_empty()) {
        let signature = signatures.iter().cloned().collect::<Vec<_>>().join(" and ");
        match all.iter_mut().find(|(name, _)| name == measure) {
            Some((_, said)) => *said = signature,
            None => all.push((measure.clone(), signature)),
        }
    }
    all
}

fn of_table(table: &IndexedTable, docs: &[TableDoc]) -> Option<Value> {
    let doc = docs.iter().find(|doc| doc.name == table.name)?;
    let column = |column: &IndexedColumn| {
        let doc = doc.columns.iter().find(|doc| doc.name == column.name)?;
        let nullable = table.contract.columns.get(&column.name).map_or(doc.nullable, |promised| !promised.not_null);
        Some(json!({"name": column.name, "kind": column.kind, "doc": doc.doc, "nullable": nullable}))
    };
    Some(json!({
        "name": table.name,
        "doc": doc.doc,
        "key": table.contract.unique,
        "columns": table.columns.iter().filter_map(column).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_the_one_that_the_scores_are_of() {
        let manifest = json!({
            "run_id": "", "schema_version": 1, "version": "", "commit": null, "hosts": [], "started": "", "finished": "",
            "rows": {}, "failed_rows": 0, "parts": {}, "signatures": {"bertscore": ["other"], "bleu": [], "chrf": ["c"]},
        });
        let manifest: Manifest = serde_json::from_value(manifest).unwrap();
        let text = |name: &str, said: &str| (name.to_string(), said.to_string());
        let planned = vec![text("bertscore", "minilm"), text("bleu", "b"), text("judges", "rules")];
        let expected = [text("bertscore", "other"), text("bleu", "b"), text("judges", "rules"), text("chrf", "c")];
        assert_eq!(measures(planned, &manifest), expected);
    }
}
