//! JSON: an array of objects, an object that holds one, or one object a line.
//!
//! In: JSON text. Out: rows; columns that are not wanted are skipped while parsing, never held. A field that stands twice
//! in an object is refused: parsers differ in which of the two they take.

use std::fmt;
use std::path::Path;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{Head, Row, Sink, Wanted, name};
use crate::Error;
use crate::error::Result;

/// Reads one JSON document; or lines, where the first line is an object by itself and more follows.
pub(super) fn read(path: &Path, text: &str, sha256: String, wanted: &Wanted, sink: &mut Sink) -> Result<Head> {
    let content = text.trim_start();
    if content.is_empty() {
        return Ok(Head { sha256, columns: Vec::new(), header_line: None });
    }
    if let Some((first, rest)) = content.split_once('\n')
        && !rest.trim().is_empty()
        && serde_json::from_str::<Map<String, Value>>(first).is_ok()
    {
        return read_lines(path, text, sha256, wanted, sink);
    }
    let mut columns = Vec::new();
    let mut parser = serde_json::Deserializer::from_str(text);
    let found = Document { wanted, columns: &mut columns }.deserialize(&mut parser);
    let rows = match found.and_then(|rows| parser.end().map(|()| rows)) {
        Ok(Found::Rows(rows)) => rows,
        Ok(Found::Several(keys)) => {
            let e = Error::input(format!("{} holds more than one list of objects", name(path)));
            return Err(e.file(path).found(keys.join(", ")).expected("one list of rows").into());
        }
        Ok(Found::Nothing) => {
            let e = Error::input(format!("{} holds no list of objects", name(path)));
            return Err(e.file(path).expected("an array of objects, or an object with one inside").into());
        }
        Err(e) => return Err(broken(path, &e, e.line() as u64)),
    };
    for fields in rows {
        sink(&columns, Row { line: None, fields })?;
    }
    Ok(Head { sha256, columns, header_line: None })
}

/// Reads one object a line; blank lines are skipped. An array in a file of this name is read as one.
pub(super) fn read_lines(path: &Path, text: &str, sha256: String, wanted: &Wanted, sink: &mut Sink) -> Result<Head> {
    if text.trim_start().starts_with('[') {
        return read(path, text, sha256, wanted, sink);
    }
    let mut columns = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut parser = serde_json::Deserializer::from_str(line);
        let parsed = Object { wanted, columns: &mut columns }.deserialize(&mut parser);
        let fields = parsed.and_then(|fields| parser.end().map(|()| fields)).map_err(|e| broken(path, &e, number))?;
        sink(&columns, Row { line: Some(number), fields })?;
    }
    Ok(Head { sha256, columns, header_line: None })
}

fn broken(path: &Path, e: &serde_json::Error, line: u64) -> Error {
    let place = format!(" at line {} column {}", e.line(), e.column());
    let said = e.to_string();
    let said = said.strip_suffix(&place).unwrap_or(&said);
    if let Some(key) = said.strip_prefix(TWICE) {
        let error = Error::input(format!("{} has a row with two fields \"{key}\"", name(path)));
        return error.file(path).line(line).found(format!("the second ends at column {}", e.column())).into();
    }
    let what = if e.is_data() { "a row is not a JSON object" } else { "broken JSON" };
    Error::input(format!("{}: {what}", name(path)))
        .file(path)
        .line(line)
        .found(format!("column {}: {said}", e.column()))
        .into()
}

/// What a parser's message begins with where an object has two fields of one name, which follows.
const TWICE: &str = "two fields ";

/// Adds a field to an object.
fn insert<E: de::Error>(fields: &mut Map<String, Value>, key: String, value: Value) -> std::result::Result<(), E> {
    if fields.contains_key(&key) {
        return Err(E::custom(format!("{TWICE}{key}")));
    }
    fields.insert(key, value);
    Ok(())
}

/// What a document holds.
enum Found {
    Rows(Vec<Map<String, Value>>),
    /// Keys of several lists, any of which could be the rows.
    Several(Vec<String>),
    Nothing,
}

struct Document<'a> {
    wanted: &'a Wanted,
    columns: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = Found;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects, or an object with one inside")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> std::result::Result<Found, A::Error> {
        rows(seq, self.wanted, self.columns).map(Found::Rows)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Found, A::Error> {
        let (mut keys, mut found) = (Vec::new(), Found::Nothing);
        while let Some(key) = map.next_key::<String>()? {
            if let Some(list) = map.next_value_seed(List { wanted: self.wanted, columns: &mut *self.columns })? {
                keys.push(key);
                found = Found::Rows(list);
            }
        }
        Ok(if keys.len() > 1 { Found::Several(keys) } else { found })
    }
}

/// The value of a document's key: its rows where it is an array, None where it is anything else.
struct List<'a> {
    wanted: &'a Wanted,
    columns: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = Option<Vec<Map<String, Value>>>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! none_for {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method<E>(self, _: $kind) -> std::result::Result<Self::Value, E> { Ok(None) })*
    };
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = Option<Vec<Map<String, Value>>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> std::result::Result<Self::Value, A::Error> {
        rows(seq, self.wanted, self.columns).map(Some)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    none_for!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }
}

fn rows<'de, A: SeqAccess<'de>>(
    mut seq: A,
    wanted: &Wanted,
    columns: &mut Vec<String>,
) -> std::result::Result<Vec<Map<String, Value>>, A::Error> {
    let mut rows = Vec::new();
    while let Some(row) = seq.next_element_seed(Object { wanted, columns: &mut *columns })? {
        rows.push(row);
    }
    Ok(rows)
}

/// A row: keeps the wanted keys, notes the names of all.
struct Object<'a> {
    wanted: &'a Wanted,
    columns: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Map<String, Value>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with named fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if self.wanted.keeps(&key) {
                let value = map.next_value_seed(Whole)?;
                insert(&mut fields, key.clone(), value)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            if !self.columns.contains(&key) && self.columns.len() < MOST_NAMES {
                self.columns.push(key);
            }
        }
        Ok(fields)
    }
}

/// Any value, in which no object has two fields of one name.
struct Whole;

impl<'de> DeserializeSeed<'de> for Whole {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! value_of {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method<E>(self, value: $kind) -> std::result::Result<Value, E> { Ok(Value::from(value)) })*
    };
}

impl<'de> Visitor<'de> for Whole {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    value_of!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_str: &str, visit_string: String);

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Whole)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(Whole)?;
            insert(&mut fields, key, value)?;
        }
        Ok(Value::Object(fields))
    }
}

/// Names of columns kept for messages; a file that has data in its keys must not make this list long.
const MOST_NAMES: usize = 64;

#[cfg(test)]
mod tests {
    use super::super::tests::read_as;
    use super::*;

    fn prompts(file: &str, text: &str) -> Result<Vec<(Option<u64>, String)>> {
        let table = read_as(file, text.as_bytes(), &["prompt"])?;
        Ok(table.rows.iter().map(|r| (r.line, r.fields["prompt"].as_str().unwrap().to_string())).collect())
    }

    #[test]
    fn arrays_objects_with_one_inside_and_lines() {
        let two = [(None, "a".to_string()), (None, "b".to_string())];
        assert_eq!(prompts("a.json", r#"[{"prompt": "a", "x": {"y": [1]}}, {"prompt": "b"}]"#).unwrap(), two);
        assert_eq!(prompts("a.json", r#"{"Version": 1.0, "n": null, "o": {"p": []}, "Data": [{"prompt": "a"}, {"prompt": "b"}], "Domain": "Web"}"#).unwrap(), two);
        assert_eq!(prompts("a.jsonl", "[{\"prompt\": \"a\"},\n{\"prompt\": \"b\"}]").unwrap(), two);
        let lines = [(Some(1), "a".to_string()), (Some(3), "b".to_string())];
        assert_eq!(prompts("a.jsonl", "{\"prompt\": \"a\"}\n\n{\"prompt\": \"b\"}\n").unwrap(), lines);
        assert_eq!(prompts("a.json", "{\"prompt\": \"a\"}\n\n{\"prompt\": \"b\"}\n").unwrap(), lines);
    }

    #[test]
    fn columns_are_named_whether_kept_or_not() {
        let table =
            read_as("a.json", br#"[{"id": 1, "prompt": "a"}, {"prompt": "b", "note": null}]"#, &["prompt.text"])
                .unwrap();
        assert_eq!(table.columns, ["id", "prompt", "note"]);
        assert_eq!(table.rows[0].fields.keys().collect::<Vec<_>>(), ["prompt"]);
    }

    #[test]
    fn broken_json_is_an_error_with_its_line() {
        let good = "{\"prompt\": \"a\"}\n".repeat(6);
        for line in ["{\"prompt\": \"b\"", "{\"prompt\" \"b\"}", "{\"prompt\": \"b\"} x", "{'prompt': 1}"] {
            let message = prompts("a.jsonl", &format!("{good}{line}\n{good}")).unwrap_err().to_string();
            assert!(
                message.contains("a.jsonl: broken JSON") && message.contains("line 7") && message.contains("column "),
                "{message}"
            );
        }
        let message = prompts("a.json", "[\n{\"prompt\": \"a\"},\n{\"prompt\": b}\n]").unwrap_err().to_string();
        assert!(message.contains("a.json: broken JSON") && message.contains("line 3"), "{message}");
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_with_its_line() {
        let twice =
            ["{\"prompt\": \"b\", \"x\": 1, \"prompt\": \"c\"}", "{\"prompt\": {\"a\": [{\"b\": 1, \"b\": 1}]}}"];
        for (row, key) in twice.iter().zip(["prompt", "b"]) {
            for (file, text) in [
                ("a.jsonl", format!("{{\"prompt\": \"a\"}}\n{row}\n")),
                ("a.json", format!("[{{\"prompt\": \"a\"}},\n{row}]")),
                ("a.json", format!("{{\"data\":\n[{row}]}}")),
            ] {
                let message = prompts(file, &text).unwrap_err().to_string();
                let said = format!("{file} has a row with two fields \"{key}\"");
                assert!(message.contains(&said) && message.contains("line 2"), "{message}");
            }
        }
        // What is not read may be as it is, and so may equal keys of different objects.
        let rows = "{\"prompt\": \"a\", \"x\": 1, \"x\": 2}\n{\"prompt\": \"b\"}\n";
        assert_eq!(prompts("a.jsonl", rows).unwrap().len(), 2);
    }

    #[test]
    fn rows_that_are_no_objects_and_documents_without_rows_are_errors() {
        let message = prompts("a.jsonl", "{\"prompt\": \"a\"}\n\"b\"\n").unwrap_err().to_string();
        assert!(message.contains("a row is not a JSON object") && message.contains("line 2"), "{message}");
        let message = prompts("a.json", "[\n\"a\"]").unwrap_err().to_string();
        assert!(message.contains("a row is not a JSON object") && message.contains("line 2"), "{message}");
        let message = prompts("a.json", "{\"a\": 1}").unwrap_err().to_string();
        assert!(message.contains("no list of objects"), "{message}");
        let message = prompts("a.json", "{\"train\": [{}], \"test\": [{}]}").unwrap_err().to_string();
        assert!(message.contains("more than one list") && message.contains("train, test"), "{message}");
    }
}
