//! Fields: a dotted path finds a value in a row.
//!
//! In: a row (an object) and a path as `answer.aliases`. Out: the value there, a list where the path goes through lists.
//! CSV exports write nested values as Python dicts; a path goes into such text as into a real object.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::python;

/// The value at `path`, or None where the row has no such field.
///
/// A name that itself has dots is tried before the path is split. Where the path meets a list, the rest of it is
/// looked up in each element and the list of what is found is the value; where it meets null, null is.
pub(super) fn lookup<'a>(row: &'a Map<String, Value>, path: &str) -> Option<Cow<'a, Value>> {
    if let Some(value) = row.get(path) {
        return Some(Cow::Borrowed(value));
    }
    path.match_indices('.').find_map(|(dot, _)| within(row.get(&path[..dot])?, &path[dot + 1..]))
}

fn within<'a>(value: &'a Value, path: &str) -> Option<Cow<'a, Value>> {
    match value {
        Value::Object(object) => lookup(object, path),
        Value::Array(items) => {
            let found: Vec<Value> = items.iter().filter_map(|item| within(item, path)).map(Cow::into_owned).collect();
            (items.is_empty() || !found.is_empty()).then_some(Cow::Owned(Value::Array(found)))
        }
        Value::String(text) if matches!(text.trim_start().chars().next(), Some('{' | '[')) => {
            let parsed = python::parse(text).ok()?;
            within(&parsed, path).map(|v| Cow::Owned(v.into_owned()))
        }
        Value::Null => Some(Cow::Owned(Value::Null)),
        _ => None,
    }
}

/// Whether a path could start in the column `name`: the column is the path, or the path goes on from it after a dot.
pub(super) fn starts_in(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn find(row: Value, path: &str) -> Option<Value> {
        lookup(row.as_object().unwrap(), path).map(Cow::into_owned)
    }

    #[test]
    fn paths_go_through_objects_lists_and_python_text() {
        assert_eq!(find(json!({"answer": {"aliases": ["a", "b"]}}), "answer.aliases"), Some(json!(["a", "b"])));
        let annotations = json!({"annotations": {"short_answers": [{"text": ["x"]}, {"text": []}, {"text": ["y"]}]}});
        assert_eq!(find(annotations, "annotations.short_answers.text"), Some(json!([["x"], [], ["y"]])));
        assert_eq!(
            find(json!({"metadata": "{'topic': \"Children's books\"}"}), "metadata.topic"),
            Some(json!("Children's books"))
        );
    }

    #[test]
    fn a_name_with_dots_wins_over_a_path() {
        assert_eq!(find(json!({"a.b": 1, "a": {"b": 2}}), "a.b"), Some(json!(1)));
        assert_eq!(find(json!({"a.b": {"c": 3}}), "a.b.c"), Some(json!(3)));
    }

    #[test]
    fn what_is_missing_is_none_and_null_stays_null() {
        assert_eq!(find(json!({"question": "who"}), "question.text"), None);
        assert_eq!(find(json!({"question": null}), "question.text"), Some(Value::Null));
        assert_eq!(find(json!({"a": [1, 2]}), "a.b"), None);
        assert_eq!(find(json!({"a": []}), "a.b"), Some(json!([])));
    }

    #[test]
    fn starts_in_takes_whole_names_only() {
        assert!(starts_in("answer.aliases", "answer") && starts_in("answer", "answer"));
        assert!(!starts_in("answers", "answer") && !starts_in("answer", "answer.aliases"));
    }
}
