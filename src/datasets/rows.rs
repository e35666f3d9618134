//! Rows: a table and a layout become prompts.
//!
//! In: rows as JSON objects and which fields hold what. Out: [`Prompt`]s in the order of the rows.
//! Texts of prompts are kept exactly as they stand; nothing is trimmed, corrected or put in another case.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::answers::{self, excerpt};
use super::fields::lookup;
use super::table::{Row, Table, name};
use super::{Layout, Prompt, source_hash};
use crate::Error;
use crate::error::{InputError, Result};

/// Whether any row has the field.
pub(super) fn has_field(table: &Table, field: &str) -> bool {
    table.rows.iter().any(|row| lookup(&row.fields, field).is_some())
}

/// The prompts of all rows, and how many rows were left out because they repeat the id and text of an earlier one
/// (TriviaQA's `rc` files do, once for each source of evidence).
///
/// # Errors
/// An [`Error::Input`] with file, row and line: a prompt that is blank or no text, an answer that is none, an id that
/// is blank or stands at two different prompts.
pub(super) fn prompts(dataset: &str, path: &Path, table: &Table, layout: &Layout) -> Result<(Vec<Prompt>, u64)> {
    let id_field = layout.id.iter().find(|field| has_field(table, field));
    let mut first_of_id: HashMap<String, usize> = HashMap::new();
    let mut prompts: Vec<Prompt> = Vec::with_capacity(table.rows.len());
    let mut repeated = 0;
    for (number, row) in (0u64..).zip(&table.rows) {
        let place = Place { path, number, row };
        let text = place.prompt(layout)?;
        let prompt_id = match id_field {
            Some(field) => place.id(field)?,
            None => number.to_string(),
        };
        match first_of_id.get(&prompt_id).and_then(|&at| prompts.get(at)) {
            Some(first) if first.text == text => {
                repeated += 1;
                continue;
            }
            Some(first) => return Err(place.id_twice(&prompt_id, first, &text, id_field)),
            None => first_of_id.insert(prompt_id.clone(), prompts.len()),
        };
        let answers = place.answers(layout)?;
        let source_hash = source_hash(&text, &answers);
        let category = place.category(layout)?;
        prompts.push(Prompt {
            dataset: dataset.to_string(),
            prompt_id,
            text,
            answers,
            category,
            source_row: number,
            source_hash,
        });
    }
    Ok((prompts, repeated))
}

/// A row and where it stands, for values and for messages about them.
struct Place<'a> {
    path: &'a Path,
    number: u64,
    row: &'a Row,
}

impl Place<'_> {
    /// Starts a message about this row.
    fn fault(&self, what: &str) -> InputError {
        let e =
            Error::input(format!("{}: row {} (counted from 0) {what}", name(self.path), self.number)).file(self.path);
        match self.row.line {
            Some(line) => e.line(line),
            None => e,
        }
    }

    /// The text at `field`, as it stands; None where the field is missing, null or blank.
    fn text(&self, field: &str) -> Result<Option<String>> {
        match lookup(&self.row.fields, field).as_deref() {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|t| !t.trim().is_empty())),
            Some(other) => {
                let e = self.fault(&format!("has {} where text is wanted", kind(other)));
                Err(e.key(field).found(excerpt(&other.to_string())).expected("text").into())
            }
        }
    }

    fn prompt(&self, layout: &Layout) -> Result<String> {
        let blank = || {
            self.fault("has a blank prompt").key(&layout.prompt).expected("text").fix("fill it in or remove the row")
        };
        let text = self.text(&layout.prompt)?.ok_or_else(blank)?;
        let input = layout.input.as_deref().map(|field| self.text(field)).transpose()?.flatten();
        Ok(match input {
            Some(input) => format!("{text}\n\n{input}"),
            None => text,
        })
    }

    fn id(&self, field: &str) -> Result<String> {
        let id = match lookup(&self.row.fields, field).as_deref() {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => match number.as_f64() {
                // pandas makes whole numbers beside missing ones floats
                Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
                _ => number.to_string(),
            },
            Some(other) => {
                let e = self.fault(&format!("has {} for an id", kind(other)));
                return Err(e.key(field).expected("text or a number").into());
            }
        };
        if id.trim().is_empty() {
            return Err(self
                .fault("has no id")
                .key(field)
                .fix("fill it in, or map no id: rows are then numbered")
                .into());
        }
        Ok(id)
    }

    fn id_twice(&self, id: &str, first: &Prompt, text: &str, field: Option<&String>) -> Error {
        let e = self.fault(&format!("has the id {id:?} of row {}, but another prompt", first.source_row));
        e.key(field.map_or("id", String::as_str))
            .found(format!("{} and {}", excerpt(&first.text), excerpt(text)))
            .expected("one id for one prompt")
            .fix("make the ids unique, or map no id: rows are then numbered")
            .into()
    }

    fn answers(&self, layout: &Layout) -> Result<Vec<String>> {
        let mut all: Vec<String> = Vec::new();
        for column in &layout.answers {
            let Some(value) = lookup(&self.row.fields, &column.column) else { continue };
            let found = answers::read(&value, column.list).map_err(|found| {
                self.fault("has answers that can't be read")
                    .key(&column.column)
                    .found(found)
                    .expected("text or a list of texts")
            })?;
            for answer in found {
                if !all.contains(&answer) {
                    all.push(answer);
                }
            }
        }
        Ok(all)
    }

    fn category(&self, layout: &Layout) -> Result<Option<String>> {
        let Some(field) = &layout.category else { return Ok(None) };
        match lookup(&self.row.fields, field).as_deref() {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(Value::Bool(yes)) => Ok(Some(yes.to_string())),
            _ => self.text(field),
        }
    }
}

/// What a value is, for a message.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::datasets::{AnswerColumn, ListForm};

    fn layout() -> Layout {
        let column = |column: &str, list| AnswerColumn { column: column.into(), list };
        Layout {
            name: "test".into(),
            suffixes: vec![],
            headerless: vec![],
            prompt: "q".into(),
            input: Some("input".into()),
            answers: vec![column("best", ListForm::Text), column("more", ListForm::Joined)],
            id: vec!["id".into(), "_id".into()],
            category: Some("type".into()),
        }
    }

    fn load(rows: Value) -> Result<(Vec<Prompt>, u64)> {
        let rows = rows.as_array().unwrap().iter().enumerate();
        let rows =
            rows.map(|(n, r)| Row { line: Some(n as u64 + 2), fields: r.as_object().unwrap().clone() }).collect();
        let table = Table { sha256: String::new(), columns: vec![], header_line: None, rows };
        prompts("mine", Path::new("dir/a.csv"), &table, &layout())
    }

    #[test]
    fn texts_are_kept_exactly_and_answers_are_best_first_without_repeats() {
        let (prompts, _) = load(json!([
            {"q": " who is it ", "best": "B; b", "more": "A; B; b; A;", "type": "t"},
            {"q": "Add.", "input": "1 and 2", "best": null},
            {"q": "Add.", "input": " ", "type": null},
        ]))
        .unwrap();
        assert_eq!(prompts[0].text, " who is it ");
        assert_eq!(prompts[0].answers, ["B; b", "A", "B", "b"]);
        assert_eq!(prompts[0].category.as_deref(), Some("t"));
        assert_eq!(prompts[1].text, "Add.\n\n1 and 2");
        assert_eq!(prompts[2].text, "Add.");
        assert!(prompts[1].answers.is_empty() && prompts[2].category.is_none());
        assert_eq!(prompts.iter().map(|p| p.prompt_id.as_str()).collect::<Vec<_>>(), ["0", "1", "2"]);
        assert_eq!(prompts[1].source_row, 1);
        assert_eq!(prompts[1].source_hash, source_hash("Add.\n\n1 and 2", &[]));
    }

    #[test]
    fn own_ids_may_be_numbers_and_repeats_of_a_prompt_are_left_out() {
        let (prompts, repeated) = load(
            json!([{"_id": "x1", "q": "a"}, {"_id": 7, "q": "b"}, {"_id": 8.0, "q": "c"}, {"_id": "x1", "q": "a"}]),
        )
        .unwrap();
        assert_eq!(prompts.iter().map(|p| p.prompt_id.as_str()).collect::<Vec<_>>(), ["x1", "7", "8"]);
        assert_eq!(repeated, 1);
    }

    fn fault(rows: Value) -> String {
        load(rows).unwrap_err().to_string()
    }

    #[test]
    fn one_id_for_two_prompts_names_both_rows() {
        let message = fault(json!([{"id": "a", "q": "x"}, {"id": "b", "q": "y"}, {"id": "a", "q": "z"}]));
        assert!(
            message.contains("row 2 (counted from 0) has the id \"a\" of row 0") && message.contains("line 4"),
            "{message}"
        );
        assert!(message.contains("\"x\" and \"z\""), "{message}");
        let message = fault(json!([{"id": "a", "q": "x"}, {"id": null, "q": "y"}]));
        assert!(message.contains("row 1 (counted from 0) has no id") && message.contains("line 3"), "{message}");
    }

    #[test]
    fn a_blank_prompt_names_its_row() {
        for blank in [json!(" \n"), json!(""), Value::Null] {
            let message = fault(json!([{"q": "x"}, {"q": blank}]));
            assert!(
                message.contains("a.csv: row 1 (counted from 0) has a blank prompt") && message.contains("line 3"),
                "{message}"
            );
        }
        assert!(fault(json!([{"q": "x"}, {"input": "y"}])).contains("row 1"));
    }

    #[test]
    fn text_of_the_wrong_type_says_what_stands_there() {
        for (value, found) in [
            (json!(5), "a number"),
            (json!(["a"]), "a list"),
            (json!({"text": "a"}), "an object"),
            (json!(true), "true or false"),
        ] {
            let message = fault(json!([{"q": value}]));
            assert!(message.contains(found) && message.contains("key: q") && message.contains("row 0"), "{message}");
        }
        let message = fault(json!([{"q": "x", "best": {"value": 1}}]));
        assert!(message.contains("key: best") && message.contains("an object with value"), "{message}");
        let message = fault(json!([{"q": "x", "id": ["a"]}]));
        assert!(message.contains("a list for an id"), "{message}");
    }
}
