//! Loading: a data set of the plan becomes all its prompts.
//!
//! In: a [`Spec`] (a name, a file or none, a column mapping or none). Out: [`Loaded`] prompts in file order and their origin.
//! A mapping given by the user goes before the descriptor's layouts; without a file the starter prompts are taken.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::rows::{self, has_field};
use super::table::{self, Format, Table, Wanted, name};
use super::{AnswerColumn, Descriptor, Layout, ListForm, Prompt, descriptor, descriptors, fields, starter};
use crate::Error;
use crate::error::Result;

/// Which fields of a user's file hold what. A field is a column or a dotted path into one (`question.text`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Columns {
    /// The prompt.
    pub prompt: Option<String>,
    /// What follows the prompt after a blank line, where it is not blank.
    pub input: Option<String>,
    /// The reference answers, the best first: one text, or a list.
    pub answers: Option<String>,
    /// How a list stands in an answers field that is text; None means [`ListForm::Auto`].
    pub answers_as: Option<ListForm>,
    /// The row's own id, unique in the file; None means that rows are numbered from 0.
    pub id: Option<String>,
    /// The category.
    pub category: Option<String>,
}

/// A data set as the plan asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spec {
    /// A descriptor's name, or one of the user's own, which then needs a path.
    pub name: String,
    /// The file; None means the starter prompts of a built-in data set.
    pub path: Option<PathBuf>,
    /// The user's mapping; empty for the layouts of a built-in data set.
    pub columns: Columns,
}

/// Where prompts come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// The starter prompts that are compiled in: written for this project, none of the data set's own.
    Starter {
        /// SHA-256 of their text, hexadecimal.
        sha256: String,
    },
    /// A file.
    File {
        /// Its path, as given.
        path: PathBuf,
        /// SHA-256 of the file, hexadecimal.
        sha256: String,
        /// Name of the layout it is in: a descriptor's, or `mapped` for a user's mapping.
        layout: String,
    },
}

/// A data set with all its prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The prompts of all rows, in file order; [`sample`](super::sample()) draws from them.
    pub prompts: Vec<Prompt>,
    /// Where they come from.
    pub origin: Origin,
    /// Rows left out because they repeat the id and the text of an earlier row.
    pub repeated: u64,
    /// What is known of the data set; None for a user's own.
    pub descriptor: Option<&'static Descriptor>,
}

/// Names under which a prompt column is recognized when a user's mapping does not name it.
const PROMPT_NAMES: &[&str] = &["prompt", "question", "instruction", "problem", "query", "text"];
/// Names that are suggested for the other fields.
const ANSWER_NAMES: &[&str] = &["answers", "answer", "aliases", "output", "best_answer"];
const ID_NAMES: &[&str] = &["id", "_id", "question_id", "prompt_id"];
const CATEGORY_NAMES: &[&str] = &["category", "topic", "type"];

/// Loads all prompts of a data set.
///
/// A file of a built-in data set may be in any layout of its descriptor. A user's own file may be CSV, TSV, JSON,
/// JSONL or Parquet; where `columns.prompt` is not given and just one column has a name that says that it is the
/// prompt, that column is taken (with `input` beside an `instruction`); answers, id and category are never guessed.
///
/// # Errors
/// [`Error::Io`] where the file can't be read; [`Error::Input`] where there is no such data set, where the file is
/// broken, empty or lacks a column, and where a row has no usable prompt, id or answers: each names file and line.
pub fn load(spec: &Spec) -> Result<Loaded> {
    let known = descriptors()?.iter().find(|d| d.name == spec.name);
    let (columns, path) = match (&spec.path, known) {
        (Some(path), _) => (&spec.columns, path),
        (None, None) => return Err(descriptor(&spec.name).err().unwrap_or_else(|| needs_path(&spec.name))),
        (None, Some(_)) if spec.columns != Columns::default() => {
            return Err(Error::input(format!("data set {} maps columns of no file", spec.name))
                .key("path")
                .fix("give the file: `path = ...`")
                .into());
        }
        (None, Some(_)) => {
            let (prompts, sha256) = starter::load(&spec.name)?.ok_or_else(|| needs_path(&spec.name))?;
            return Ok(Loaded { prompts, origin: Origin::Starter { sha256 }, repeated: 0, descriptor: known });
        }
    };
    if columns.answers_as.is_some() && columns.answers.is_none() {
        let e =
            Error::input(format!("data set {} says how its answers stand, but not where", spec.name)).key("answers");
        return Err(e.fix("say `answers = \"COLUMN\"` beside `answers_as`").into());
    }
    let (format, layouts) = candidates(path, columns, known)?;
    let wanted: Vec<&str> =
        layouts.iter().flat_map(Layout::fields).chain(given(columns).map(|(_, field)| field)).collect();
    let guessing = layouts.is_empty();
    let extra = PROMPT_NAMES.iter().chain(&["input"]).copied().filter(|_| guessing);
    let table = table::read(path, &format, &Wanted::by(wanted.into_iter().chain(extra)))?;
    for (key, field) in given(columns) {
        if !has_field(&table, field) {
            return Err(no_field(path, &table, key, field));
        }
    }
    let layout = match known {
        _ if guessing => guess(path, &table, columns)?,
        Some(d) if columns.prompt.is_none() => fitting(path, &table, &layouts, d)?,
        _ => layouts.into_iter().next().ok_or_else(|| needs_path(&spec.name))?,
    };
    let (prompts, repeated) = rows::prompts(&spec.name, path, &table, &layout)?;
    let origin = Origin::File { path: path.clone(), sha256: table.sha256, layout: layout.name };
    Ok(Loaded { prompts, origin, repeated, descriptor: known })
}

fn needs_path(name: &str) -> Error {
    Error::input(format!("data set {name} has no starter prompts"))
        .key("path")
        .fix("give its file: `path = ...` under [[dataset]]")
        .into()
}

/// The format of the file, and the layouts it may be in: the user's mapping, else the descriptor's; none to guess.
fn candidates(path: &Path, columns: &Columns, known: Option<&Descriptor>) -> Result<(Format, Vec<Layout>)> {
    let file = name(path);
    let layouts = known.map_or(&[][..], |d| &d.layouts);
    let own = layouts.iter().find(|l| l.suffixes.iter().any(|ending| file.ends_with(ending.as_str())));
    let format = match own {
        Some(layout) if !layout.headerless.is_empty() => Format::Headerless(layout.headerless.clone()),
        _ => Format::of(path)?,
    };
    if columns.prompt.is_some() {
        return Ok((format, vec![mapped(columns, None)]));
    }
    let fitting = layouts.iter().filter(|l| own.map_or(l.suffixes.is_empty(), |own| own.name == l.name));
    Ok((format, fitting.map(|l| mapped(columns, Some(l))).collect()))
}

/// A layout as the user's mapping makes it, upon a descriptor's where the mapping names no prompt.
fn mapped(columns: &Columns, base: Option<&Layout>) -> Layout {
    let mut layout = base.cloned().unwrap_or_else(|| Layout {
        name: "mapped".to_string(),
        suffixes: Vec::new(),
        headerless: Vec::new(),
        prompt: columns.prompt.clone().unwrap_or_default(),
        input: None,
        answers: Vec::new(),
        id: Vec::new(),
        category: None,
    });
    if let Some(column) = &columns.answers {
        layout.answers = vec![AnswerColumn { column: column.clone(), list: columns.answers_as.unwrap_or_default() }];
    }
    if let Some(id) = &columns.id {
        layout.id = vec![id.clone()];
    }
    layout.input = columns.input.clone().or(layout.input);
    layout.category = columns.category.clone().or(layout.category);
    layout
}

/// The fields that the user named, with the keys that name them.
fn given(columns: &Columns) -> impl Iterator<Item = (&'static str, &str)> {
    let Columns { prompt, input, answers, answers_as: _, id, category } = columns;
    let all = [("prompt", prompt), ("input", input), ("answers", answers), ("id", id), ("category", category)];
    all.into_iter().filter_map(|(key, field)| Some((key, field.as_deref()?)))
}

/// The first layout whose required fields are all there.
fn fitting(path: &Path, table: &Table, layouts: &[Layout], d: &Descriptor) -> Result<Layout> {
    let fits = |layout: &&Layout| layout.required().all(|field| has_field(table, field));
    layouts.iter().find(fits).cloned().ok_or_else(|| {
        let listed: Vec<String> = layouts.iter().map(|l| l.required().collect::<Vec<_>>().join(", ")).collect();
        let e = Error::input(format!("{} is in no layout of {}", name(path), d.name))
            .file(path)
            .found(table.columns.join(", "));
        let e = e.expected(listed.join("; or ")).fix(say("prompt", &table.columns));
        table.header_line.map_or(e.clone(), |line| e.line(line)).into()
    })
}

/// The layout of a user's file whose mapping does not name the prompt.
fn guess(path: &Path, table: &Table, columns: &Columns) -> Result<Layout> {
    let candidates: Vec<&String> =
        table.columns.iter().filter(|c| PROMPT_NAMES.iter().any(|n| c.eq_ignore_ascii_case(n))).collect();
    let [prompt] = candidates.as_slice() else {
        let e = Error::input(format!("which column of {} holds the prompts?", name(path))).file(path);
        let e = e.key("prompt").found(table.columns.join(", ")).fix(say("prompt", &table.columns));
        return Err(table.header_line.map_or(e.clone(), |line| e.line(line)).into());
    };
    let input =
        table.columns.iter().find(|c| prompt.eq_ignore_ascii_case("instruction") && c.eq_ignore_ascii_case("input"));
    let columns =
        Columns { prompt: Some((*prompt).clone()), input: columns.input.clone().or(input.cloned()), ..columns.clone() };
    Ok(mapped(&columns, None))
}

/// A field that the user named is not in the file.
fn no_field(path: &Path, table: &Table, key: &str, field: &str) -> Error {
    let column = table.columns.iter().find(|column| fields::starts_in(field, column));
    let what = match column {
        Some(column) => format!("column \"{column}\" of {} has no field \"{field}\"", name(path)),
        None => format!("{} has no column \"{field}\"", name(path)),
    };
    let e = Error::input(what).file(path).found(table.columns.join(", ")).fix(say(key, &table.columns));
    table.header_line.map_or(e.clone(), |line| e.line(line)).into()
}

/// What to write in the plan: a column whose name fits the key, else a placeholder.
fn say(key: &str, columns: &[String]) -> String {
    let names = match key {
        "prompt" => PROMPT_NAMES,
        "answers" => ANSWER_NAMES,
        "id" => ID_NAMES,
        "category" => CATEGORY_NAMES,
        _ => &["input"],
    };
    let column = names.iter().find_map(|n| columns.iter().find(|c| c.eq_ignore_ascii_case(n)));
    format!("say `{key} = \"{}\"` under [[dataset]]", column.map_or("COLUMN", String::as_str))
}
