//! Answers: one or several reference answers out of one field.
//!
//! In: a field's value and the form its list has. Out: texts, in the field's order.
//! Real lists are read in every form; the form says what a text means.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::python;

/// How several answers stand in one field that is text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListForm {
    /// A text that is wholly a Python or JSON list of texts is that list; any other text is one answer.
    #[default]
    Auto,
    /// The text is one answer, whatever it looks like.
    Text,
    /// The text is a Python or JSON list; anything else is an error.
    Python,
    /// The text is answers joined by `; `.
    Joined,
}

/// The answers in `value`, trimmed, blank ones left out.
///
/// # Errors
/// What stands there in place of answers.
pub(crate) fn read(value: &Value, form: ListForm) -> Result<Vec<String>, String> {
    let mut answers = Vec::new();
    match value {
        Value::String(text) => match form {
            ListForm::Text => push(&mut answers, text),
            ListForm::Joined => split_joined(text).for_each(|part| push(&mut answers, part)),
            ListForm::Auto => match listed(text) {
                Some(Ok(list)) => return Ok(list),
                _ => push(&mut answers, text),
            },
            ListForm::Python if text.trim().is_empty() => {}
            ListForm::Python => match listed(text) {
                Some(list) => return list,
                None => return Err(format!("{} in place of a list as ['a', 'b']", excerpt(text))),
            },
        },
        other => flatten(other, &mut answers)?,
    }
    Ok(answers)
}

/// The list that `text` writes, if it has the brackets of one.
fn listed(text: &str) -> Option<Result<Vec<String>, String>> {
    let text = text.trim();
    let bracketed = (text.starts_with('[') && text.ends_with(']')) || (text.starts_with('(') && text.ends_with(')'));
    let array = text.starts_with("array(") || text.starts_with("np.array(");
    (bracketed || array).then(|| {
        let value = python::parse(text)?;
        let mut answers = Vec::new();
        flatten(&value, &mut answers)?;
        Ok(answers)
    })
}

/// The texts of lists within lists, in order.
fn flatten(value: &Value, answers: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::Null => {}
        Value::String(text) => push(answers, text),
        Value::Number(number) => answers.push(number.to_string()),
        Value::Bool(yes) => answers.push(yes.to_string()),
        Value::Array(items) => items.iter().try_for_each(|item| flatten(item, answers))?,
        Value::Object(object) => {
            let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
            return Err(format!("an object with {} in place of an answer", keys.join(", ")));
        }
    }
    Ok(())
}

fn push(answers: &mut Vec<String>, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        answers.push(text.to_string());
    }
}

/// The parts of text joined by `; `; a `;` at the very end ends the last part.
fn split_joined(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim_end();
    text.strip_suffix(';').unwrap_or(text).split("; ")
}

/// The first 40 characters of a text, quoted.
pub(super) fn excerpt(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    if start.len() < text.len() { format!("{start:?}...") } else { format!("{start:?}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(value: Value, form: ListForm) -> Vec<String> {
        read(&value, form).unwrap()
    }

    #[test]
    fn real_lists_are_read_in_every_form() {
        for form in [ListForm::Auto, ListForm::Text, ListForm::Python, ListForm::Joined] {
            assert_eq!(texts(json!(["a; b", null, " c ", 4]), form), ["a; b", "c", "4"]);
            assert_eq!(texts(json!([["x"], [], ["y", "x"]]), form), ["x", "y", "x"]);
            assert!(texts(Value::Null, form).is_empty());
            assert!(texts(json!("  "), form).is_empty());
        }
    }

    #[test]
    fn the_form_says_what_text_means() {
        assert_eq!(texts(json!("['a', \"b's\"]"), ListForm::Auto), ["a", "b's"]);
        assert_eq!(texts(json!("[sic] a"), ListForm::Auto), ["[sic] a"]);
        assert_eq!(texts(json!("[1, 2)]"), ListForm::Auto), ["[1, 2)]"]);
        assert_eq!(texts(json!("['a']"), ListForm::Text), ["['a']"]);
        assert_eq!(texts(json!("No; not; at all;"), ListForm::Joined), ["No", "not", "at all"]);
        assert_eq!(texts(json!("AT&T;T; b"), ListForm::Joined), ["AT&T;T", "b"]);
    }

    #[test]
    fn what_is_no_list_is_said() {
        assert!(read(&json!("Paris"), ListForm::Python).unwrap_err().contains("\"Paris\" in place of a list"));
        assert!(read(&json!("['a"), ListForm::Python).is_err());
        assert!(read(&json!("['a' : 'b']"), ListForm::Python).unwrap_err().contains("character 6"));
        assert!(read(&json!([{"start": 1}]), ListForm::Auto).unwrap_err().contains("an object with start"));
    }
}
