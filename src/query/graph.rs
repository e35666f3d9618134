//! Graph: which model reads which, found from the SQL itself.
//!
//! In: models and the names of the tables that are there without them. Out: the models in an order in which each
//! comes after what it reads. A name that nothing gives and a circle are errors that name the model, and of a user's
//! model file, line and column.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use datafusion::common::TableReference;
use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::resolve::resolve_table_references;
use datafusion::sql::sqlparser::ast::{self, visit_relations};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use super::contract::Contract;
use super::depth;
use super::fault::closest;
use super::files::is_file_name;
use super::models::Source;
use super::place::{self, Place};
use crate::{Error, Result};

/// A model with what it reads.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// Name of the table that it makes.
    pub name: String,
    /// One `select` statement.
    pub sql: String,
    /// What the table promises.
    pub contract: Contract,
    /// The tables and models that the SQL names, sorted.
    pub reads: Vec<String>,
    /// The files that the SQL names, sorted.
    pub files: Vec<String>,
    /// The file that the SQL stands in, where it is a user's.
    pub file: Option<PathBuf>,
}

impl Model {
    /// An error of this model; `what` may end in a place as [`place::split`] finds it.
    pub(super) fn wrong(&self, what: &str) -> Error {
        let (text, place) = place::split(what);
        match &self.file {
            Some(_) => in_file(&self.name, self.file.as_ref(), text, place),
            None => in_file(&self.name, None, what, None),
        }
    }

    /// An error of this model's contract.
    pub(super) fn wrong_contract(&self, what: &str) -> Error {
        let file = self.file.as_ref().map(|file| file.with_extension("toml"));
        in_file(&self.name, file.as_ref(), &format!("its contract: {what}"), None)
    }
}

/// Models in the order in which they can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    models: Vec<Model>,
}

impl Graph {
    /// Orders `sources`; `tables` are there without them. Of two sources with one name the later counts, so that
    /// a user's model can take the place of a built-in one. The order is that of `sources` where the SQL leaves it free.
    ///
    /// # Errors
    /// What names the model, and of a user's model the place in its file: SQL that is not one query, a contract that
    /// can't be read or is about what is not there, a table that nothing gives, a name that a table already has,
    /// models that read each other in a circle.
    pub fn new(sources: &[Source], tables: &[&str]) -> Result<Self> {
        let mut models: Vec<Model> = Vec::new();
        for source in sources {
            let model = read(source)?;
            if tables.contains(&model.name.as_str()) {
                return Err(model.wrong("a table of the run has this name; give the model another"));
            }
            match models.iter_mut().find(|m| m.name == model.name) {
                Some(earlier) => *earlier = model,
                None => models.push(model),
            }
        }
        let known: Vec<&str> = tables.iter().copied().chain(models.iter().map(|m| m.name.as_str())).collect();
        for model in &models {
            if let Some(name) = model.reads.iter().find(|name| !known.contains(&name.as_str())) {
                let what = format!("it reads {name}, which is neither a table nor a model{}", close_to(name, &known));
                let place = if model.file.is_some() { place_of(&model.sql, name) } else { None };
                return Err(in_file(&model.name, model.file.as_ref(), &what, place));
            }
            check_contract(model, &known)?;
        }
        Ok(Graph { models: ordered(models)? })
    }

    /// The models, each after what it reads.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model of this name.
    pub fn model(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.name == name)
    }

    /// Names of the models in `wanted` and of all that they need; all models where `wanted` is empty.
    ///
    /// # Errors
    /// A name that no model has.
    pub fn needed(&self, wanted: &[String]) -> Result<BTreeSet<&str>> {
        let names: Vec<&str> = self.models.iter().map(|m| m.name.as_str()).collect();
        if wanted.is_empty() {
            return Ok(names.into_iter().collect());
        }
        if let Some(unknown) = wanted.iter().find(|name| self.model(name).is_none()) {
            return Err(Error::input(format!("there is no model {unknown}{}", close_to(unknown, &names)))
                .expected(names.join(", "))
                .into());
        }
        let mut needed: BTreeSet<&str> = BTreeSet::new();
        // Readers come after what they read.
        for model in self.models.iter().rev() {
            if wanted.contains(&model.name) || needed.contains(model.name.as_str()) {
                needed.insert(&model.name);
                needed.extend(model.reads.iter().filter_map(|name| self.model(name)).map(|m| m.name.as_str()));
            }
        }
        Ok(needed)
    }
}

fn in_file(model: &str, file: Option<&PathBuf>, what: &str, place: Option<Place>) -> Error {
    let Some(file) = file else {
        return Error::Table { table: model.to_string(), what: what.to_string() };
    };
    let what = what.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let error = Error::input(format!("model {model}: {what}")).file(file);
    match place {
        Some(Place { line, column }) => error.line(line).column(column).into(),
        None => error.into(),
    }
}

/// The names that a slip may have been meant as, as the end of a sentence.
fn close_to(name: &str, known: &[&str]) -> String {
    let near = closest(name, &known.iter().copied().collect());
    if near.is_empty() { String::new() } else { format!(" (near it: {})", near.join(", ")) }
}

/// Where a table is named in a query.
fn place_of(sql: &str, table: &str) -> Option<Place> {
    let statement = DFParser::parse_sql(sql).ok()?.pop_front()?;
    let Statement::Statement(statement) = statement else { return None };
    let mut found = None;
    let _ = visit_relations(&*statement, |relation| match relation.0.last().and_then(|part| part.as_ident()) {
        Some(ident) if ident.value.eq_ignore_ascii_case(table) => {
            found = Some(ident.span.start);
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    // The parser makes up line 0 where it does not know.
    found.filter(|at| at.line > 0).map(Place::from)
}

/// Where the second statement of a text starts.
fn second_statement(sql: &str) -> Option<Place> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location().ok()?;
    let mut after = tokens.iter().skip_while(|t| t.token != Token::SemiColon);
    let second = after.find(|t| !matches!(t.token, Token::SemiColon | Token::Whitespace(_) | Token::EOF))?;
    Some(second.span.start.into())
}

fn read(source: &Source) -> Result<Model> {
    let mut model = Model {
        name: source.name.clone(),
        sql: source.sql.clone(),
        contract: Contract::of(source)?,
        reads: Vec::new(),
        files: Vec::new(),
        file: source.file.clone(),
    };
    // Parsing recurses as planning does.
    depth::check(&source.sql).map_err(|e| model.wrong(&e.to_string()))?;
    let mut statements =
        DFParser::parse_sql(&source.sql).map_err(|e| model.wrong(&place::message_in(&e, &source.sql)))?;
    let statement = match (statements.pop_front(), statements.pop_front()) {
        (Some(statement), None) => statement,
        (None, _) => return Err(model.wrong("a model is one query, and there is none")),
        (Some(_), Some(_)) => {
            let second = second_statement(&source.sql);
            return Err(in_file(&model.name, model.file.as_ref(), "a model is one query, and here is another", second));
        }
    };
    if !matches!(&statement, Statement::Statement(s) if matches!(**s, ast::Statement::Query(_))) {
        return Err(model.wrong("a model is one query: it starts with select or with"));
    }
    // Names of common table expressions are not among them.
    let (references, _) = resolve_table_references(&statement, true).map_err(|e| model.wrong(&place::message(&e)))?;
    for reference in references {
        match reference {
            TableReference::Bare { table } if is_file_name(&table) => model.files.push(table.to_string()),
            TableReference::Bare { table } => model.reads.push(table.to_string()),
            _ => {}
        }
    }
    model.reads.sort();
    model.files.sort();
    Ok(model)
}

/// A contract speaks of its own columns and of tables that are there.
fn check_contract(model: &Model, known: &[&str]) -> Result<()> {
    let contract = &model.contract;
    let wrong = |what: String| Err(model.wrong_contract(&what));
    let listed = |column: &String| contract.columns.is_empty() || contract.columns.contains_key(column);
    if let Some(column) = contract.unique.iter().find(|column| !listed(column)) {
        return wrong(format!("unique names {column}, which is none of its columns"));
    }
    for (column, is) in &contract.columns {
        if let Some(what) = is.impossible() {
            return wrong(format!("column {column}: {what}"));
        }
        let Some(reference) = &is.references else { continue };
        match reference.split_once('.') {
            Some((table, _)) if known.contains(&table) => {}
            Some((table, _)) => {
                let near = close_to(table, known);
                return wrong(format!(
                    "column {column} references {table}, which is neither a table nor a model{near}"
                ));
            }
            None => return wrong(format!("column {column} references \"{reference}\", which is not TABLE.COLUMN")),
        }
    }
    Ok(())
}

/// Takes, again and again, the first model whose reads are all taken.
fn ordered(models: Vec<Model>) -> Result<Vec<Model>> {
    let mut waiting: Vec<Model> = models;
    let mut done: Vec<Model> = Vec::new();
    while !waiting.is_empty() {
        let is_free = |model: &Model| !model.reads.iter().any(|name| waiting.iter().any(|w| w.name == *name));
        match waiting.iter().position(is_free) {
            Some(next) => done.push(waiting.remove(next)),
            None => return Err(circle(&waiting)),
        }
    }
    Ok(done)
}

/// Walks from model to model until one comes again: everything in `waiting` reads something in `waiting`.
fn circle(waiting: &[Model]) -> Error {
    let next: BTreeMap<&str, &str> = waiting
        .iter()
        .filter_map(|m| {
            let read = m.reads.iter().find(|name| waiting.iter().any(|w| w.name == **name))?;
            Some((m.name.as_str(), read.as_str()))
        })
        .collect();
    let mut path: Vec<&str> = Vec::new();
    let mut at = waiting.first().map(|m| m.name.as_str());
    while let Some(name) = at {
        if let Some(start) = path.iter().position(|p| *p == name) {
            let mut round: Vec<&str> = path.split_off(start);
            round.push(name);
            let what = format!("models read each other in a circle: {}", round.join(" -> "));
            // A user's file in the circle is what closes it.
            let own = round.iter().find_map(|name| waiting.iter().find(|m| m.name == **name && m.file.is_some()));
            return match own.or_else(|| waiting.iter().find(|m| m.name == *name)) {
                Some(model) => model.wrong(&what),
                None => in_file(name, None, &what, None),
            };
        }
        path.push(name);
        at = next.get(name).copied();
    }
    in_file(&path.join(", "), None, "models read each other in a circle", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(models: &[(&str, &str)]) -> Result<Vec<String>> {
        let sources: Vec<Source> = models.iter().map(|(name, sql)| Source::new(*name, *sql, "")).collect();
        Graph::new(&sources, &["raw"]).map(|g| g.models.into_iter().map(|m| m.name).collect())
    }

    #[test]
    fn each_model_comes_after_what_it_reads() {
        let order =
            graph(&[("c", "select * from b join raw using (x)"), ("b", "select * from a"), ("a", "select 1 as x")]);
        assert_eq!(order.unwrap(), ["a", "b", "c"]);
    }

    #[test]
    fn expressions_of_a_with_clause_and_files_are_no_tables() {
        let sql = "with own as (select * from raw) select * from own join 'side.csv' using (x)";
        let sources = [Source::new("m", sql, "")];
        assert_eq!(Graph::new(&sources, &["raw"]).unwrap().models()[0].reads, ["raw"]);
    }

    #[test]
    fn subqueries_count() {
        let sources = [
            Source::new("m", "select (select max(x) from a) as m where exists (select 1 from raw)", ""),
            Source::new("a", "select 1 as x", ""),
        ];
        assert_eq!(Graph::new(&sources, &["raw"]).unwrap().models()[1].reads, ["a", "raw"]);
    }

    #[test]
    fn faults_name_the_model() {
        let error = |models: &[(&str, &str)]| graph(models).unwrap_err().to_string();
        assert_eq!(
            error(&[("m", "select * from nowhere")]),
            "table m: it reads nowhere, which is neither a table nor a model"
        );
        assert_eq!(
            error(&[("x", "select * from a"), ("a", "select * from b"), ("b", "select * from a")]),
            "table a: models read each other in a circle: a -> b -> a"
        );
        assert_eq!(error(&[("m", "select 1; select 2")]), "table m: a model is one query, and here is another");
        assert_eq!(error(&[("m", "-- nothing")]), "table m: a model is one query, and there is none");
        assert!(error(&[("m", "drop table raw")]).contains("it starts with select or with"));
        assert_eq!(
            error(&[("raw", "select 1")]),
            "table raw: a table of the run has this name; give the model another"
        );
        assert!(error(&[("m", "select * from raw where (")]).starts_with("table m: sql parser error"));
    }

    #[test]
    fn faults_of_own_models_name_file_line_and_column() {
        let own = |sql: &str, contract: &str| {
            let source = Source { file: Some("own/m.sql".into()), ..Source::new("m", sql, contract) };
            let other = Source::new("other", "select * from m", "");
            Graph::new(&[source, other], &["raw", "generations"]).unwrap_err().to_string()
        };
        let at = |sql: &str| own(sql, "");
        assert_eq!(
            at("-- a model\nselect *\nfrom raw\ninner join  generation as g using (x)"),
            "model m: it reads generation, which is neither a table nor a model (near it: generations)\
             \n  at own/m.sql, line 4, column 13"
        );
        assert!(
            at("select 1\nfrom raw\nwhere (").contains("\n  at own/m.sql, line 3, column 8"),
            "{}",
            at("select 1\nfrom raw\nwhere (")
        );
        assert!(at("select 1;\n\n select 2").ends_with("here is another\n  at own/m.sql, line 3, column 2"));
        assert!(at("select * from other").ends_with("circle: m -> other -> m\n  in own/m.sql"));
        assert!(at(&format!("select 1{} from raw", " + 1".repeat(20_000))).contains("nested too deeply"));
        let contract = own("select 1 as x from raw", "[columns.x]\ndoc = \"x\"\nmni = 1\n");
        assert!(contract.contains("mni") && contract.contains("own/m.toml, line 3, column 1"), "{contract}");
        let contract = own("select 1 as x from raw", "unique = [\"y\"]\n[columns.x]\ndoc = \"x\"\n");
        assert!(contract.contains("unique names y") && contract.contains("own/m.toml"), "{contract}");
        let contract = own("select 1 as x from raw", "[columns.x]\ndoc = \"x\"\nreferences = \"rwa.x\"\n");
        assert!(contract.contains("references rwa") && contract.contains("own/m.toml"), "{contract}");
    }

    #[test]
    fn what_is_needed_is_found_through_all_models_between() {
        let sources = [("a", "select 1 as x"), ("b", "select * from a"), ("c", "select * from b"), ("d", "select 2")]
            .map(|(name, sql)| Source::new(name, sql, ""));
        let graph = Graph::new(&sources, &[]).unwrap();
        let needed = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            graph.needed(&names).map(|found| found.into_iter().map(str::to_string).collect::<Vec<_>>())
        };
        assert_eq!(needed(&["c"]).unwrap(), ["a", "b", "c"]);
        assert_eq!(needed(&["b", "d"]).unwrap(), ["a", "b", "d"]);
        assert_eq!(needed(&[]).unwrap(), ["a", "b", "c", "d"]);
        assert!(needed(&["e"]).unwrap_err().to_string().contains("there is no model e"));
    }

    #[test]
    fn a_later_model_takes_the_place_of_an_earlier_one() {
        let sources = [Source::new("m", "select 1", ""), Source::new("m", "select 2", "")];
        assert_eq!(Graph::new(&sources, &[]).unwrap().models()[0].sql, "select 2");
    }
}
