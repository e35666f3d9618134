//! Complete: how a word that was begun may go on.
//!
//! In: a line and the place in it. Out: keywords, tables, columns, functions, commands that fit there.

use std::collections::BTreeSet;

use super::console::COMMANDS;
use crate::query::{Catalog, Format};

const KEYWORDS: &str = "all and any as asc avg between by case cast coalesce count cross cube current_row desc describe \
    distinct else end except exists explain extract false filter first following for from full group grouping having \
    in inner intersect interval is join last lateral left like limit max min natural not null nulls offset on or order \
    outer over partition preceding qualify range right rollup row rows select sets show similar sum table tables then \
    true unbounded union unnest using values when where window with within";

/// Words after which a table comes.
const BEFORE_TABLES: [&str; 4] = ["from", "join", "describe", "table"];

/// All words that can be completed.
#[derive(Debug)]
pub(super) struct Words {
    /// Each table with its columns.
    tables: Vec<(String, Vec<String>)>,
    functions: Vec<String>,
}

impl Words {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let columns = |table: &crate::query::TableDoc| table.columns.iter().map(|c| c.name.clone()).collect();
        Words {
            tables: catalog.tables.iter().map(|table| (table.name.clone(), columns(table))).collect(),
            functions: catalog.functions.iter().map(|function| function.name.clone()).collect(),
        }
    }

    /// Where the word at byte `at` begins, and what may stand in its place.
    pub(super) fn complete(&self, line: &str, at: usize) -> (usize, Vec<String>) {
        let before = line.get(..at).unwrap_or(line);
        if before.trim_start().starts_with('\\') {
            return self.of_command(before);
        }
        let start = before.rfind(|c: char| !is_word(c)).map_or(0, |last| last + char_width(before, last));
        let (lead, word) = before.split_at(start);
        if lead.matches('\'').count() % 2 == 1 {
            // Within a text there is nothing to know.
            return (start, Vec::new());
        }
        let candidates = if let Some(lead) = lead.strip_suffix('.') {
            let qualifier = lead.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
            self.columns_of(&self.table_called(qualifier, line))
        } else if last_word(lead).is_some_and(|last| BEFORE_TABLES.contains(&last.as_str())) {
            self.tables.iter().map(|(table, _)| table.clone()).collect()
        } else {
            self.anywhere(line, word)
        };
        (start, fitting(candidates, word))
    }

    fn of_command(&self, before: &str) -> (usize, Vec<String>) {
        let Some(space) =
            before.rfind(char::is_whitespace).filter(|space| before.get(..*space).is_some_and(|b| b.contains('\\')))
        else {
            let start = before.find('\\').unwrap_or(0);
            let mut names: Vec<String> =
                COMMANDS.iter().filter_map(|(command, _)| command.split(' ').next()).map(str::to_string).collect();
            names.dedup();
            return (start, fitting(names, before.get(start..).unwrap_or_default()));
        };
        let start = space + char_width(before, space);
        let word = before.get(start..).unwrap_or_default();
        let candidates = match before.split_whitespace().next() {
            Some("\\d") => self.tables.iter().map(|(table, _)| table.clone()).collect(),
            Some("\\df") => vec!["all".to_string()],
            Some("\\format") => Format::NAMES.map(str::to_string).to_vec(),
            _ => Vec::new(),
        };
        (start, fitting(candidates, word))
    }

    /// Columns of the tables that the line names (of all tables where it names none), and every other word.
    fn anywhere(&self, line: &str, word: &str) -> Vec<String> {
        let named: Vec<&str> =
            words(line).filter_map(|word| self.table(&word)).map(|(table, _)| table.as_str()).collect();
        let mut all = Vec::new();
        for (table, columns) in &self.tables {
            if named.contains(&table.as_str()) || (named.is_empty() && !word.is_empty()) {
                all.extend(columns.iter().cloned());
            }
        }
        if !word.is_empty() {
            all.extend(self.tables.iter().map(|(table, _)| table.clone()));
            all.extend(self.functions.iter().map(|function| format!("{function}(")));
            let shouts = word.chars().all(|c| !c.is_lowercase());
            let keyword = |keyword: &str| if shouts { keyword.to_uppercase() } else { keyword.to_string() };
            all.extend(KEYWORDS.split_whitespace().map(keyword));
        }
        all
    }

    fn table(&self, name: &str) -> Option<&(String, Vec<String>)> {
        self.tables.iter().find(|(table, _)| table == name)
    }

    fn columns_of(&self, table: &str) -> Vec<String> {
        self.table(table).map(|(_, columns)| columns.clone()).unwrap_or_default()
    }

    /// The table that a name stands for in a line: its own, or the one before it, as in `deltas as d`.
    fn table_called(&self, name: &str, line: &str) -> String {
        let name = name.to_lowercase();
        let words: Vec<String> = words(line).filter(|word| word != "as").collect();
        let aliased = words.windows(2).find_map(|pair| match pair {
            [table, alias] if *alias == name && self.table(table).is_some() => Some(table.clone()),
            _ => None,
        });
        aliased.unwrap_or(name)
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn char_width(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

/// The words of a line in lower case.
fn words(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn last_word(lead: &str) -> Option<String> {
    let trimmed = lead.trim_end();
    // After a comma or a parenthesis anything may come.
    trimmed.ends_with(is_word).then(|| words(trimmed).last()).flatten()
}

/// Those that begin as `word` does, once each, in order.
fn fitting(candidates: Vec<String>, word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    let fits = |candidate: &String| candidate.to_lowercase().starts_with(&word);
    let all: BTreeSet<String> = candidates.into_iter().filter(fits).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        let table =
            |name: &str, columns: &[&str]| (name.to_string(), columns.iter().map(ToString::to_string).collect());
        Words {
            tables: vec![table("deltas", &["model", "delta"]), table("sgs_model", &["model", "sgs", "sgs_macro"])],
            functions: vec!["bleu".to_string(), "mode".to_string()],
        }
    }

    /// Completes at the `|`; the start is that of the word.
    fn complete(line: &str) -> Vec<String> {
        let at = line.find('|').unwrap();
        let (start, found) = words().complete(&line.replace('|', ""), at);
        assert!(line[start..at].chars().all(|c| is_word(c) || c == '\\'), "{line}");
        found
    }

    #[test]
    fn tables_after_from_and_join() {
        assert_eq!(complete("select * from |"), ["deltas", "sgs_model"]);
        assert_eq!(complete("select * from d|"), ["deltas"]);
        assert_eq!(complete("select * from deltas as d inner join SG|"), ["sgs_model"]);
        assert_eq!(complete("describe s|"), ["sgs_model"]);
    }

    #[test]
    fn columns_of_the_tables_that_are_named() {
        assert_eq!(
            complete("select s| from sgs_model"),
            ["select", "sets", "sgs", "sgs_macro", "sgs_model", "show", "similar", "sum"]
        );
        assert_eq!(complete("select sgs| from deltas"), ["sgs_model"]);
        assert_eq!(complete("select d.|, 1 from deltas as d"), ["delta", "model"]);
        assert_eq!(complete("select D.de| from deltas d"), ["delta"]);
        assert_eq!(complete("select sgs_model.sgs_| from sgs_model"), ["sgs_macro"]);
        assert_eq!(complete("select x.| from deltas"), [""; 0]);
        assert_eq!(complete("select * from deltas where |"), ["delta", "model"]);
    }

    #[test]
    fn functions_and_keywords() {
        assert_eq!(complete("select mod|"), ["mode(", "model"]);
        assert_eq!(complete("select bl|"), ["bleu("]);
        assert_eq!(complete("sel|"), ["select"]);
        assert_eq!(complete("SEL|"), ["SELECT"]);
        assert_eq!(complete("select 'sel|"), [""; 0]);
        assert_eq!(complete("select 'é', bl|"), ["bleu("]);
        assert_eq!(complete("|"), [""; 0]);
    }

    #[test]
    fn commands() {
        assert_eq!(complete("\\|"), ["\\?", "\\d", "\\df", "\\format", "\\q", "\\timing"]);
        assert_eq!(complete("\\d|"), ["\\d", "\\df"]);
        assert_eq!(complete("\\d s|"), ["sgs_model"]);
        assert_eq!(complete("\\format c|"), ["csv"]);
        assert_eq!(complete("\\df a|"), ["all"]);
        assert_eq!(complete("\\q x|"), [""; 0]);
    }
}
