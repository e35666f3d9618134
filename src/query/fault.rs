//! Fault: what is wrong with a query, and where.
//!
//! In: what DataFusion says, and the statement. Out: an error with line, column, the line itself with the place marked,
//! and names that may have been meant.

use std::collections::BTreeSet;
use std::fmt::Write;

use datafusion::common::{Diagnostic, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};

use super::memory::advice;
use super::place;
use super::session::{CATALOG, SCHEMA};
use super::statement::{Statement, tokens};
use crate::Error;

/// Most characters of a query's line that are shown.
const SHOWN: usize = 120;
/// From this similarity on (1 is equal) a name may have been meant.
const CLOSE: f64 = 0.6;
/// Most names of what is there that are listed where none is close.
const LISTED: usize = 12;

/// What is wrong.
#[derive(Default)]
struct Fault {
    what: String,
    /// Within the statement.
    span: Option<Span>,
    /// What to do about it, a line each.
    help: Vec<String>,
}

/// The error of a statement, with its place where that is known.
pub(super) fn failed_at(error: &DataFusionError, statement: &Statement, ctx: &SessionContext) -> Error {
    if let Some(error) = of_making(error) {
        return error;
    }
    let fault = fault(error, statement, ctx);
    let mut text = fault.what;
    match fault.span {
        Some(span) => point_at(&mut text, statement, span),
        None if statement.is_alone() => {}
        None => {
            let line = statement.line();
            let _ = match statement.file() {
                Some(file) => write!(text, "\n  in the statement at {}, line {line}", file.display()),
                None => write!(text, "\n  in the statement at line {line}"),
            };
        }
    }
    for help in fault.help {
        let _ = write!(text, "\n  {help}");
    }
    Error::Query(text)
}

/// Adds the place, the line that it is in, and carets under it.
fn point_at(text: &mut String, statement: &Statement, span: Span) {
    let place = statement.in_source(span.start);
    let line: Vec<char> = statement.source_line(place.line).chars().collect();
    let at = usize::try_from(place.column.saturating_sub(1)).unwrap_or(0).min(line.len());
    let width = if span.end.line == span.start.line { span.end.column.saturating_sub(span.start.column) } else { 1 };
    // A long line is shown from some way before the place on.
    let from = if line.len() > SHOWN { at.saturating_sub(SHOWN / 2) } else { 0 };
    let to = line.len().min(from + SHOWN);
    let width = usize::try_from(width).unwrap_or(1).clamp(1, (to - at).max(1));
    let shown: String = line.iter().take(to).skip(from).collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
    // Tabs stay tabs, so that the carets stand where the reader's terminal puts the text.
    let indent: String = line.iter().take(at).skip(from).map(|c| if *c == '\t' { '\t' } else { ' ' }).collect();
    let file = statement.file().map(|file| format!("{}, ", file.display())).unwrap_or_default();
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let lead = if from > 0 { " " } else { "" };
    let _ = write!(
        text,
        "\n  at {file}line {number}, column {}\n  {number} | {before}{shown}{after}\n  {margin} | {lead}{indent}{}",
        place.column,
        "^".repeat(width)
    );
}

fn fault(error: &DataFusionError, statement: &Statement, ctx: &SessionContext) -> Fault {
    let (leaf, diagnostic) = leaf(error);
    let (tokens, _) = tokens(statement.sql());
    let said = diagnostic.and_then(|d| d.span).map(|s| Span::new(location(s.start), location(s.end)));
    match leaf {
        DataFusionError::SQL(error, _) => syntax(error, &tokens),
        DataFusionError::SchemaError(error, _) => match &**error {
            SchemaError::FieldNotFound { field, valid_fields } => {
                let name = field.name();
                let table = field.relation.as_ref().map(|table| table.table());
                // Of a table that the name gives, only its own columns are meant.
                let known = |column: &&datafusion::common::Column| {
                    table.is_none() || column.relation.as_ref().map(|t| t.table()) == table
                };
                let names: BTreeSet<&str> = valid_fields.iter().filter(known).map(|column| column.name()).collect();
                let (what, help) = match table {
                    Some(table) if names.is_empty() => {
                        let tables: BTreeSet<&str> =
                            valid_fields.iter().filter_map(|c| c.relation.as_ref()).map(|t| t.table()).collect();
                        (
                            format!("nothing is called {table} here, so there is no {table}.{name}"),
                            meant(table, &tables),
                        )
                    }
                    Some(table) => (format!("{table} has no column {name}"), meant(name, &names)),
                    None => (format!("there is no column {name}"), meant(name, &names)),
                };
                let span = said.filter(|span| ends_with(&tokens, *span, name)).or_else(|| find(&tokens, table, name));
                Fault { what, span, help }
            }
            SchemaError::AmbiguousReference { field } => {
                let name = field.name();
                let notes = diagnostic.iter().flat_map(|d| &d.notes);
                let tables: Vec<&str> = notes.filter_map(|n| n.message.strip_prefix("possible column ")).collect();
                let help = if tables.is_empty() { "say of which table".to_string() } else { tables.join(" or ") + "?" };
                let what = format!("more than one table has a column {name}");
                Fault { what, span: said.or_else(|| find(&tokens, None, name)), help: vec![help] }
            }
            _ => Fault { what: leaf.strip_backtrace(), span: said, help: Vec::new() },
        },
        _ => match diagnostic {
            Some(diagnostic) => of_diagnostic(diagnostic, said, ctx),
            None => Fault {
                what: without_report(&leaf.strip_backtrace()),
                span: called(&leaf.strip_backtrace(), &tokens),
                help: advice(error).map(str::to_string).into_iter().collect(),
            },
        },
    }
}

/// A function that does not take what it is given is no fault of the engine, which asks for a report all the same.
fn without_report(said: &str) -> String {
    let Some((function, _)) = said.split_once(" failed to match any signature") else { return said.to_string() };
    let name = function.rsplit_once('\'').and_then(|(head, _)| head.rsplit_once('\''));
    let name = name.map_or("the function", |(_, name)| name);
    format!(
        "{name} does not take values of this type; a truth value counts as cast(x as int), a text as cast(x as double)"
    )
}

/// The error of a table that could not be made when the query named it: no fault of the query.
pub(super) fn of_making(error: &DataFusionError) -> Option<Error> {
    let (DataFusionError::External(error), _) = leaf(error) else { return None };
    Some(match error.downcast_ref::<Error>()? {
        Error::Input(error) => Error::Input(error.clone()),
        Error::Table { table, what } => Error::Table { table: table.clone(), what: what.clone() },
        Error::Query(what) => Error::Query(what.clone()),
        other => Error::Query(other.to_string()),
    })
}

/// The innermost error, and the outermost diagnostic on the way to it.
fn leaf(error: &DataFusionError) -> (&DataFusionError, Option<&Diagnostic>) {
    let mut at = error;
    let mut found = None;
    loop {
        at = match at {
            DataFusionError::Diagnostic(diagnostic, inner) => {
                found = found.or(Some(&**diagnostic));
                inner
            }
            DataFusionError::Context(_, inner) => inner,
            DataFusionError::Shared(inner) => inner,
            DataFusionError::Collection(all) => match all.first() {
                Some(first) => first,
                None => return (at, found),
            },
            _ => return (at, found),
        };
    }
}

fn of_diagnostic(diagnostic: &Diagnostic, span: Option<Span>, ctx: &SessionContext) -> Fault {
    let message = &diagnostic.message;
    if let Some(table) = message.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found")) {
        let schema = ctx.catalog(CATALOG).and_then(|catalog| catalog.schema(SCHEMA));
        let tables = schema.map(|schema| schema.table_names()).unwrap_or_default();
        let names = tables.iter().map(String::as_str).filter(|name| !name.contains(['/', '.'])).collect();
        let mut help = meant(table, &names);
        if names.is_empty() {
            help.push("name a run, or a file in quotes: from 'rows.csv'".to_string());
        }
        return Fault { what: format!("there is no table {table}"), span, help };
    }
    if let Some(function) = message.strip_prefix("Invalid function '").and_then(|rest| rest.strip_suffix('\'')) {
        let state = ctx.state();
        let all = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
        let names: Vec<&String> = all.chain(state.window_functions().keys()).collect();
        let help = closest(function, &names.iter().map(|name| name.as_str()).collect());
        return Fault { what: format!("there is no function {function}"), span, help: did_you_mean(&help) };
    }
    let more = diagnostic.helps.iter().map(|h| &h.message).chain(diagnostic.notes.iter().map(|n| &n.message));
    Fault { what: message.clone(), span, help: more.cloned().collect() }
}

/// What the parser says, its place taken out of the words.
fn syntax(error: &ParserError, tokens: &[TokenWithSpan]) -> Fault {
    let (ParserError::ParserError(said) | ParserError::TokenizerError(said)) = error else {
        return Fault { what: "the query is nested too deeply".to_string(), ..Fault::default() };
    };
    let (what, place) = place::split(said);
    let start = match place {
        Some(place) => Location::new(place.line, place.column),
        // The end of the text has no place of its own.
        None => {
            let last = tokens.iter().rev().find(|token| !matches!(token.token, Token::Whitespace(_)));
            let Some(last) = last else { return Fault { what: what.to_string(), ..Fault::default() } };
            last.span.end
        }
    };
    let token = tokens.iter().find(|token| token.span.start == start);
    let span = token.map_or(Span::new(start, start), |token| token.span);
    let help = match token.map(|t| &t.token) {
        Some(Token::Word(word)) if what.contains("an SQL statement") => {
            meant(&word.value.to_lowercase(), &["select", "with", "values", "show", "describe", "explain"].into())
        }
        _ => Vec::new(),
    };
    let what =
        if what.ends_with("found: EOF") { format!("{what}: the query ends too early") } else { what.to_string() };
    Fault { what, span: Some(span), help }
}

fn location(place: datafusion::common::Location) -> Location {
    Location::new(place.line, place.column)
}

/// Whether the tokens of a span end with this name: spans of views, which belong to another text, do not.
fn ends_with(tokens: &[TokenWithSpan], span: Span, name: &str) -> bool {
    tokens.iter().any(|token| token.span.end == span.end && is_name(&token.token, name))
}

fn is_name(token: &Token, name: &str) -> bool {
    match token {
        Token::Word(word) if word.quote_style.is_some() => word.value == name,
        Token::Word(word) => word.value.to_lowercase() == name,
        _ => false,
    }
}

/// The first place at which `table.name` stands, or `name` alone.
fn find(tokens: &[TokenWithSpan], table: Option<&str>, name: &str) -> Option<Span> {
    let alone = || tokens.iter().find(|token| is_name(&token.token, name)).map(|token| token.span);
    let Some(table) = table else { return alone() };
    tokens.windows(3).find_map(|window| match window {
        [a, dot, b] if dot.token == Token::Period && is_name(&a.token, table) && is_name(&b.token, name) => {
            Some(Span::new(a.span.start, b.span.end))
        }
        _ => None,
    })
}

/// The call that a message is about ("call to 'f'", "f(x) takes"), where it stands in the query just once.
fn called(message: &str, tokens: &[TokenWithSpan]) -> Option<Span> {
    let mut calls = tokens.windows(2).filter_map(|pair| match pair {
        [name, open] if open.token == Token::LParen => match &name.token {
            Token::Word(word) if word.value.len() > 2 => Some((word.value.to_lowercase(), name.span)),
            _ => None,
        },
        _ => None,
    });
    let named = |name: &str| message.contains(&format!("'{name}'")) || message.contains(&format!("{name}("));
    let (name, span) = calls.find(|(name, _)| named(name))?;
    let again = calls.any(|(other, _)| other == name || named(&other));
    (!again).then_some(span)
}

/// Names close to `name`; where none is, what there is.
fn meant(name: &str, names: &BTreeSet<&str>) -> Vec<String> {
    let close = closest(name, names);
    if close.is_empty() && !names.is_empty() && names.len() <= LISTED {
        return vec![format!("there is: {}", names.iter().copied().collect::<Vec<_>>().join(", "))];
    }
    did_you_mean(&close)
}

fn did_you_mean(close: &[String]) -> Vec<String> {
    if close.is_empty() { Vec::new() } else { vec![format!("did you mean {}?", close.join(" or "))] }
}

/// The names that are close to `name`, the closest first, at most three.
pub(crate) fn closest(name: &str, names: &BTreeSet<&str>) -> Vec<String> {
    let lower = name.to_lowercase();
    let similarity = |other: &str| strsim::normalized_damerau_levenshtein(&lower, &other.to_lowercase());
    let mut scored: Vec<(f64, &str)> = names.iter().map(|other| (similarity(other), *other)).collect();
    scored.retain(|(score, _)| *score >= CLOSE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    // One that is nearly equal leaves no doubt.
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    scored.retain(|(score, _)| *score >= best - 0.1);
    scored.into_iter().take(3).map(|(_, name)| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::statement::{Piece, script};
    use super::super::{Session, Statement};

    fn session() -> Session {
        let session = Session::new(Some(1)).unwrap();
        for (name, sql) in
            [("deltas", "select 'm' as model, 1.0 as delta"), ("sgs_model", "select 'm' as model, 2.0 as sgs")]
        {
            let rows = session.query(sql).unwrap();
            session.register_batches(name, rows[0].schema(), rows).unwrap();
        }
        session
    }

    fn error(sql: &str) -> String {
        session().query(sql).unwrap_err().to_string()
    }

    #[test]
    fn columns() {
        assert_eq!(
            error("select model, detla\nfrom deltas"),
            "query: there is no column detla\n  at line 1, column 15\n  1 | select model, detla\n    |               ^^^^^\n  did you mean delta?"
        );
        assert_eq!(
            error("select *\nfrom deltas as d\nwhere d.Dalta > 0"),
            "query: d has no column dalta\n  at line 3, column 7\n  3 | where d.Dalta > 0\n    |       ^^^^^^^\n  did you mean delta?"
        );
        assert_eq!(
            error("select zzz from deltas"),
            "query: there is no column zzz\n  at line 1, column 8\n  1 | select zzz from deltas\n    |        ^^^\n  there is: delta, model"
        );
        assert_eq!(
            error("select e.delta from deltas as d"),
            "query: nothing is called e here, so there is no e.delta\n  at line 1, column 8\n  1 | select e.delta from deltas as d\n    |        ^^^^^^^\n  there is: d"
        );
        assert_eq!(
            error("select 1 from deltas, sgs_model where model = 'm'"),
            "query: more than one table has a column model\n  at line 1, column 39\n  1 | select 1 from deltas, sgs_model where model = 'm'\n    |                                       ^^^^^\n  deltas.model or sgs_model.model?"
        );
    }

    #[test]
    fn tables_and_functions() {
        assert_eq!(
            error("select *\n\tfrom delta"),
            "query: there is no table delta\n  at line 2, column 7\n  2 | \tfrom delta\n    | \t     ^^^^^\n  did you mean deltas?"
        );
        assert_eq!(
            error("select blue('a', 'b')"),
            "query: there is no function blue\n  at line 1, column 8\n  1 | select blue('a', 'b')\n    |        ^^^^\n  did you mean bleu?"
        );
        assert!(error("select qqqqqqqq(1)").ends_with("    |        ^^^^^^^^"), "{}", error("select qqqqqqqq(1)"));
        assert!(error("select 1, bleu('a')").contains("line 1, column 11\n"), "{}", error("select 1, bleu('a')"));
    }

    #[test]
    fn syntax() {
        assert_eq!(
            error("selec 1"),
            "query: Expected: an SQL statement, found: selec\n  at line 1, column 1\n  1 | selec 1\n    | ^^^^^\n  did you mean select?"
        );
        assert_eq!(
            error("select 'é' x y from t"),
            "query: Expected: end of statement, found: y\n  at line 1, column 14\n  1 | select 'é' x y from t\n    |              ^"
        );
        assert_eq!(
            error("select (1"),
            "query: Expected: ), found: EOF: the query ends too early\n  at line 1, column 10\n  1 | select (1\n    |          ^"
        );
        assert_eq!(
            error("select\n  'abc"),
            "query: Unterminated string literal\n  at line 2, column 3\n  2 |   'abc\n    |   ^"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let sql = format!("select {} nope, {} from deltas", "1, ".repeat(200), "model, ".repeat(50));
        let error = error(&sql);
        let lines: Vec<&str> = error.lines().collect();
        assert!(lines[2].starts_with("  1 | …") && lines[2].ends_with('…'), "{error}");
        let caret = lines[3].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[2].chars().skip(caret).take(4).collect::<String>(), "nope", "{error}");
        assert!(lines[2].chars().count() < 140);
    }

    #[test]
    fn places_are_those_of_the_whole_script() {
        let session = session();
        let script =
            script("select 1;\n\nselect 2; select 3,\n  nope from deltas;\nselect 'x'::double", Some("q.sql".as_ref()));
        let statements: Vec<&Statement> =
            script.iter().filter_map(|p| if let Piece::Statement(s) = p { Some(s) } else { None }).collect();
        let error = |at: usize| {
            let rows = session.rows(statements[at]).and_then(|rows| rows.collect::<Result<Vec<_>, _>>());
            rows.unwrap_err().to_string()
        };
        assert_eq!(
            error(2),
            "query: there is no column nope\n  at q.sql, line 4, column 3\n  4 |   nope from deltas;\n    |   ^^^^\n  there is: delta, model"
        );
        let cast = error(3);
        assert!(
            cast.contains("Cannot cast string 'x'") && cast.ends_with("in the statement at q.sql, line 5"),
            "{cast}"
        );
    }
}
