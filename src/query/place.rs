//! Place: where in a text something stands.
//!
//! In: what the SQL parser or planner said, or a byte of a text. Out: line and column, both from 1.
//! Every error of a query carries its place in one form, so that whoever knows the file can tell it apart.

use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::tokenizer::Location;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u64,
    /// In characters.
    pub(super) column: u64,
}

impl From<Location> for Place {
    fn from(at: Location) -> Self {
        Place { line: at.line, column: at.column }
    }
}

/// What the planner says, without its own backtrace; with the place where it knows one, in the parser's own form.
pub(super) fn message(error: &DataFusionError) -> String {
    let text = match error {
        DataFusionError::SQL(parser, _) => parser.to_string(),
        other => other.strip_backtrace(),
    };
    match error.diagnostic().and_then(|d| d.span) {
        Some(span) if split(&text).1.is_none() => {
            format!("{text} at Line: {}, Column: {}", span.start.line, span.start.column)
        }
        _ => text,
    }
}

/// As [`message`], for what the parser says: where it knows no place, it has come to the end of the text.
pub(super) fn message_in(error: &DataFusionError, sql: &str) -> String {
    let text = message(error);
    if split(&text).1.is_some() {
        return text;
    }
    let end = of_byte(sql, sql.trim_end().len());
    format!("{text} at Line: {}, Column: {}", end.line, end.column)
}

/// A message and the place at its end.
pub(super) fn split(message: &str) -> (&str, Option<Place>) {
    let place = || {
        let (text, place) = message.rsplit_once(" at Line: ")?;
        let (line, column) = place.trim_end().split_once(", Column: ")?;
        Some((text, Place { line: line.parse().ok()?, column: column.parse().ok()? }))
    };
    place().map_or((message, None), |(text, place)| (text, Some(place)))
}

/// The place of a byte; the end for one that is beyond it.
pub(super) fn of_byte(text: &str, byte: usize) -> Place {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    Place { line: before.matches('\n').count() as u64 + 1, column: line.chars().count() as u64 + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_taken_off_the_message() {
        let place = Place { line: 3, column: 14 };
        assert_eq!(split("no x at Line: 3, Column: 14"), ("no x", Some(place)));
        assert_eq!(split("no x at Line: here"), ("no x at Line: here", None));
        assert_eq!(of_byte("a\nü = b", 6), Place { line: 2, column: 4 });
    }
}
