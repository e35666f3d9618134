//! What Python does to texts, where minijinja does otherwise or not at all.
//!
//! In: an environment. Out: the same, with the filters, tests and methods that chat templates count on.
//! Where it shows in prompts: Python's white space has the separators U+001C to U+001F, too.

use minijinja::value::{Tuple, Value, ValueKind, from_args};
use minijinja::{Environment, Error, ErrorKind, State};
use minijinja_contrib::pycompat;

use super::json::to_json;

/// Adds filters, tests and methods.
pub(super) fn add_to(environment: &mut Environment<'static>) {
    environment.set_unknown_method_callback(method);
    environment.add_filter("tojson", to_json);
    environment.add_test("iterable", |value: &Value| !value.is_none() && value.try_iter().is_ok());
    // Whatever has a length and places is a sequence, and so are texts and mappings.
    environment.add_test("sequence", |value: &Value| {
        value.is_undefined() || matches!(value.kind(), ValueKind::Seq | ValueKind::String | ValueKind::Map)
    });
    environment.add_filter("trim", |text: &str, chars: Option<&str>| strip(text, chars, true, true).to_string());
}

fn method(state: &mut State, value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    let Some(text) = value.as_str() else { return pycompat::unknown_method_callback(state, value, name, args) };
    match name {
        "strip" | "lstrip" | "rstrip" => {
            let (chars,): (Option<&str>,) = from_args(args)?;
            Ok(Value::from(strip(text, chars, name != "rstrip", name != "lstrip")))
        }
        "removeprefix" => {
            let (part,): (&str,) = from_args(args)?;
            Ok(Value::from(text.strip_prefix(part).unwrap_or(text)))
        }
        "removesuffix" => {
            let (part,): (&str,) = from_args(args)?;
            Ok(Value::from(text.strip_suffix(part).unwrap_or(text)))
        }
        "split" | "rsplit" => {
            let (separator, most): (Option<&str>, Option<i64>) = from_args(args)?;
            if separator == Some("") {
                return Err(Error::new(ErrorKind::InvalidOperation, "the separator is empty"));
            }
            // Fewer than none at all means as many as there are.
            let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
            let parts = match (separator, name) {
                (None, "split") => words(text, most),
                (None, _) => words_from_behind(text, most),
                (Some(separator), "split") => text.splitn(most.saturating_add(1), separator).collect(),
                (Some(separator), _) => {
                    let mut parts: Vec<&str> = text.rsplitn(most.saturating_add(1), separator).collect();
                    parts.reverse();
                    parts
                }
            };
            Ok(parts.into_iter().collect())
        }
        "splitlines" => {
            let (keep,): (Option<bool>,) = from_args(args)?;
            Ok(lines(text, keep.unwrap_or(false)).into_iter().collect())
        }
        "partition" | "rpartition" => {
            let (separator,): (&str,) = from_args(args)?;
            let found = if name == "partition" { text.split_once(separator) } else { text.rsplit_once(separator) };
            let parts = match found {
                Some((before, after)) => [before, separator, after],
                None if name == "partition" => [text, "", ""],
                None => ["", "", text],
            };
            Ok(Value::from(Tuple::from(parts.map(Value::from))))
        }
        "title" => {
            let () = from_args(args)?;
            Ok(Value::from(title(text)))
        }
        "isspace" => {
            let () = from_args(args)?;
            Ok(Value::from(!text.is_empty() && text.chars().all(is_space)))
        }
        _ => pycompat::unknown_method_callback(state, value, name, args),
    }
}

/// White space as Python's `str` has it.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

fn strip<'a>(text: &'a str, chars: Option<&str>, left: bool, right: bool) -> &'a str {
    let goes = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = if left { text.trim_start_matches(goes) } else { text };
    if right { text.trim_end_matches(goes) } else { text }
}

/// Every letter after what is no letter in upper case, the others in lower case.
fn title(text: &str) -> String {
    let (mut out, mut inside) = (String::new(), false);
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        inside = c.is_lowercase() || c.is_uppercase();
    }
    out
}

/// Parts between white space, at most `most` cuts from the left.
fn words(text: &str, most: usize) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text.trim_start_matches(is_space));
    while let Some(at) = rest.find(is_space).filter(|_| parts.len() < most) {
        let (word, after) = rest.split_at(at);
        parts.push(word);
        rest = after.trim_start_matches(is_space);
    }
    parts.extend(Some(rest).filter(|rest| !rest.is_empty()));
    parts
}

/// As [`words`], with the cuts from the right.
fn words_from_behind(text: &str, most: usize) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text.trim_end_matches(is_space));
    while let Some((at, c)) = rest.char_indices().rfind(|(_, c)| is_space(*c)).filter(|_| parts.len() < most) {
        parts.push(rest.get(at + c.len_utf8()..).unwrap_or_default());
        rest = rest.get(..at).unwrap_or_default().trim_end_matches(is_space);
    }
    parts.extend(Some(rest).filter(|rest| !rest.is_empty()));
    parts.reverse();
    parts
}

/// Lines, at every character that ends one in Python.
fn lines(text: &str, keep: bool) -> Vec<&str> {
    let ends = |c: char| {
        matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
    };
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((at, end)) = rest.char_indices().find(|(_, c)| ends(*c)) {
        let length = if rest.get(at..).is_some_and(|end| end.starts_with("\r\n")) { 2 } else { end.len_utf8() };
        let (line, after) = rest.split_at(at + length);
        parts.push(if keep { line } else { rest.get(..at).unwrap_or_default() });
        rest = after;
    }
    parts.extend(Some(rest).filter(|rest| !rest.is_empty()));
    parts
}
