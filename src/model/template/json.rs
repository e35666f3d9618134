//! JSON as Python's `json.dumps` writes it, which is what templates' `tojson` is to transformers.
//!
//! In: a value, and the options `indent`, `separators`, `sort_keys`, `ensure_ascii`. Out: the text, nothing escaped for
//! HTML.

use std::io::{self, Write};

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// How `json.dumps` lays out: separators, and the indent of a level where lines are broken.
struct Layout {
    item: String,
    key: String,
    indent: Option<String>,
    depth: usize,
    /// Whether the container being written holds something.
    filled: bool,
}

/// The filter.
///
/// # Errors
/// An option is not known or of a wrong type, or the value can't be written as JSON.
pub(super) fn to_json(value: &Value, options: Kwargs) -> Result<Value, Error> {
    let indent = match options.get::<Option<Value>>("indent")? {
        None => None,
        Some(indent) if indent.is_none() => None,
        Some(indent) => match (indent.as_str(), usize::try_from(indent.clone())) {
            (Some(text), _) => Some(text.to_string()),
            (None, Ok(spaces)) => Some(" ".repeat(spaces.min(64))),
            (None, Err(e)) => return Err(e),
        },
    };
    let (item, key) = match options.get::<Option<Vec<String>>>("separators")? {
        None => (if indent.is_some() { "," } else { ", " }.to_string(), ": ".to_string()),
        Some(two) => match <[String; 2]>::try_from(two) {
            Ok([item, key]) => (item, key),
            Err(_) => return Err(Error::new(ErrorKind::InvalidOperation, "separators are two texts")),
        },
    };
    let sorted = options.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    let ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    options.assert_all_used()?;
    let wrong = |e: serde_json::Error| Error::new(ErrorKind::BadSerialization, "this is no JSON").with_source(e);
    let mut json = serde_json::to_value(value).map_err(wrong)?;
    if sorted {
        json.sort_all_objects();
    }
    let mut out = Vec::new();
    let layout = Layout { item, key, indent, depth: 0, filled: false };
    json.serialize(&mut Serializer::with_formatter(&mut out, layout)).map_err(wrong)?;
    let text = String::from_utf8_lossy(&out);
    Ok(Value::from_safe_string(if ascii { escaped(&text) } else { text.into_owned() }))
}

/// Characters beyond ASCII as escapes of their UTF-16 units; they stand in texts only.
fn escaped(json: &str) -> String {
    let mut out = String::new();
    for c in json.chars() {
        match c.is_ascii() {
            true => out.push(c),
            false => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out
}

impl Layout {
    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        writer.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.filled {
            self.line(writer)?;
        }
        self.filled = true;
        writer.write_all(bracket)
    }

    fn next<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(self.item.as_bytes())?;
        }
        self.filled = true;
        self.line(writer)
    }

    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        let Some(indent) = &self.indent else { return Ok(()) };
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(indent.as_bytes()))
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(self.key.as_bytes())
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    /// As Python: at least two digits and a sign in an exponent.
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let text = format!("{value:?}");
        match text.split_once('e') {
            None => writer.write_all(text.as_bytes()),
            Some((digits, exponent)) => {
                let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
                write!(writer, "{digits}e{sign}{exponent:0>2}")
            }
        }
    }
}
