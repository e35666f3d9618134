//! Statement: one of the queries of a text, and where it stands in it.
//!
//! In: what a user typed, or a file of it. Out: its statements (divided by `;`) and its commands (lines that start
//! with `\`), in order. Places are counted as editors do: lines and characters from 1.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, TokenizerError};

/// Where statements come from.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) text: String,
    pub(super) file: Option<PathBuf>,
}

/// One query and its place.
#[derive(Debug, Clone)]
pub struct Statement {
    source: Arc<Source>,
    /// Bytes of the source's text.
    from: usize,
    to: usize,
    start: Location,
    /// Whether the source holds nothing else.
    alone: bool,
}

/// A part of a script.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Piece {
    /// A query.
    Statement(Statement),
    /// A command, as `\d deltas`, with its backslash.
    Command(String),
}

impl Statement {
    /// The text of the query, without its `;`.
    pub fn sql(&self) -> &str {
        self.source.text.get(self.from..self.to).unwrap_or_default()
    }

    /// The file that it comes from.
    pub fn file(&self) -> Option<&Path> {
        self.source.file.as_deref()
    }

    /// Line of the source in which it starts, from 1.
    pub fn line(&self) -> u64 {
        self.start.line
    }

    /// Whether it is the only one of its text, which is no file.
    pub(super) fn is_alone(&self) -> bool {
        self.alone && self.source.file.is_none()
    }

    /// A place within the statement as a place in its source.
    pub(super) fn in_source(&self, place: Location) -> Location {
        let column = if place.line <= 1 { self.start.column + place.column.saturating_sub(1) } else { place.column };
        Location::new(self.start.line + place.line.saturating_sub(1), column)
    }

    /// A line of the source, from 1.
    pub(super) fn source_line(&self, line: u64) -> &str {
        let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        self.source.text.split('\n').nth(at).unwrap_or_default().trim_end_matches('\r')
    }
}

impl From<&str> for Statement {
    /// The whole text as one statement.
    fn from(sql: &str) -> Self {
        let source = Arc::new(Source { text: sql.to_string(), file: None });
        Statement { source, from: 0, to: sql.len(), start: Location::new(1, 1), alone: true }
    }
}

/// The statements and commands of `text`; `file` is where it was read from.
pub fn script(text: &str, file: Option<&Path>) -> Vec<Piece> {
    let source = Arc::new(Source { text: text.to_string(), file: file.map(Path::to_path_buf) });
    let (mut pieces, _) = scan(&source);
    if let [Piece::Statement(only)] = &mut pieces[..] {
        only.alone = true;
    }
    pieces
}

/// Whether a person who typed this is done: nothing, a command, or statements up to the last `;`.
pub fn is_whole(text: &str) -> bool {
    scan(&Arc::new(Source { text: text.to_string(), file: None })).1
}

/// The pieces of a source, and whether its last statement has its `;`.
fn scan(source: &Arc<Source>) -> (Vec<Piece>, bool) {
    let text = source.text.as_str();
    let lines = line_starts(text);
    let statement = |from: Location, to: usize| {
        let offset = offset(text, &lines, from);
        Piece::Statement(Statement { source: Arc::clone(source), from: offset, to, start: from, alone: false })
    };
    let mut pieces = Vec::new();
    // A command ends its line, and what is in it need not be SQL: the tokens are made anew from the next line on.
    let mut first_line = 0;
    'lines: while let Some(&begin) = lines.get(first_line) {
        let (tokens, broken) = tokens(text.get(begin..).unwrap_or_default());
        let placed = |at: Location| Location::new(at.line + first_line as u64, at.column);
        let mut open: Option<Location> = None;
        let mut end = Location::new(1 + first_line as u64, 1);
        for token in &tokens {
            end = placed(token.span.end);
            match token.token {
                Token::Whitespace(_) => {}
                Token::SemiColon => {
                    if let Some(from) = open.take() {
                        pieces.push(statement(from, offset(text, &lines, placed(token.span.start))));
                    }
                }
                Token::Backslash if open.is_none() => {
                    let at = placed(token.span.start);
                    let rest = text.get(offset(text, &lines, at)..).unwrap_or_default();
                    pieces.push(Piece::Command(rest.lines().next().unwrap_or_default().trim().to_string()));
                    first_line = usize::try_from(at.line).unwrap_or(usize::MAX);
                    continue 'lines;
                }
                _ => {
                    open.get_or_insert(placed(token.span.start));
                }
            }
        }
        let from = match (open, &broken) {
            (Some(from), _) => from,
            (None, None) => return (pieces, true),
            // What can't be divided into tokens is a statement too: the parser says what is wrong with it.
            (None, Some(_)) => after_blanks(text, &lines, end),
        };
        pieces.push(statement(from, text.trim_end().len()));
        let unfinished = match broken {
            Some(error) => ["ntermin", "EOF", "expected $"].iter().any(|sign| error.message.contains(sign)),
            None => true,
        };
        return (pieces, !unfinished && text.trim_end().ends_with(';'));
    }
    (pieces, true)
}

/// The tokens of a text up to the first that is none.
pub(super) fn tokens(text: &str) -> (Vec<TokenWithSpan>, Option<TokenizerError>) {
    let mut tokens = Vec::new();
    let broken = Tokenizer::new(&GenericDialect {}, text).tokenize_with_location_into_buf(&mut tokens).err();
    (tokens, broken)
}

/// The byte at which each line starts.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// The byte of a place.
fn offset(text: &str, lines: &[usize], at: Location) -> usize {
    let index = usize::try_from(at.line.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some(&start) = lines.get(index) else { return text.len() };
    let before = usize::try_from(at.column.saturating_sub(1)).unwrap_or(usize::MAX);
    let rest = text.get(start..).unwrap_or_default();
    rest.char_indices().nth(before).map_or(text.len(), |(byte, _)| start + byte)
}

/// The first place from `at` on that is not blank.
fn after_blanks(text: &str, lines: &[usize], at: Location) -> Location {
    let mut place = at;
    for c in text.get(offset(text, lines, at)..).unwrap_or_default().chars() {
        match c {
            '\n' => place = Location::new(place.line + 1, 1),
            c if c.is_whitespace() => place.column += 1,
            _ => break,
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        let shown = |piece: Piece| match piece {
            Piece::Statement(s) => format!("{}:{} {}", s.start.line, s.start.column, s.sql()),
            Piece::Command(c) => c,
        };
        script(text, None).into_iter().map(shown).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_quotes_and_comments() {
        let text = "-- one; two\nselect ';' as \"a;b\"; /* ; */ select 2\n  + 3;;\n select $$;$$ ; \n";
        assert_eq!(pieces(text), ["2:1 select ';' as \"a;b\"", "2:30 select 2\n  + 3", "4:2 select $$;$$ "]);
        assert_eq!(pieces("select 1"), ["1:1 select 1"]);
        assert_eq!(pieces(" ;; -- nothing\n"), [""; 0]);
    }

    #[test]
    fn commands_take_their_line_whatever_is_in_it() {
        assert_eq!(
            pieces("\\d it's\nselect 'é',\n 1; \\timing\n\n\\q"),
            ["\\d it's", "2:1 select 'é',\n 1", "\\timing", "\\q"]
        );
        // A backslash within a statement is none of ours.
        assert_eq!(pieces("select 1 \\d"), ["1:1 select 1 \\d"]);
    }

    #[test]
    fn what_is_never_closed_is_a_statement_to_the_end() {
        assert_eq!(pieces("select 1; select 'a; b\n"), ["1:1 select 1", "1:11 select 'a; b"]);
        assert_eq!(pieces("select 1;\n\n  'a"), ["1:1 select 1", "3:3 'a"]);
    }

    #[test]
    fn typing_ends_with_a_semicolon_or_a_command() {
        for whole in
            ["", "  \n", "select 1;", "select ';' ; ", "\\d", "\\d it's", "select 1; -- done", "select 1;\n\\q"]
        {
            assert!(is_whole(whole), "{whole:?}");
        }
        for open in ["select 1", "select ';", "select \"a;", "select 1 -- ;", "/* ;", "select 1; select", "select $$;"]
        {
            assert!(!is_whole(open), "{open:?}");
        }
    }
}
