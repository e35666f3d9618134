//! Graph: which model reads which, found from the SQL itself.
//!
//! In: models and the names of the tables that are there without them. Out: the models in an order in which each
//! comes after what it reads. A name that nothing gives and a circle are errors that name the model.

use std::collections::BTreeMap;

use datafusion::common::TableReference;
use datafusion::sql::parser::DFParser;
use datafusion::sql::resolve::resolve_table_references;

use super::contract::Contract;
use super::files::is_file_name;
use super::models::Source;
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
    /// [`Error::Table`] that names the model: SQL that is not one query, a contract that can't be read, a table
    /// that nothing gives, a name that a table already has, models that read each other in a circle.
    pub fn new(sources: &[Source], tables: &[&str]) -> Result<Self> {
        let mut models: Vec<Model> = Vec::new();
        for source in sources {
            let model = read(source)?;
            if tables.contains(&model.name.as_str()) {
                return Err(wrong(&model.name, "a table of the run has this name; give the model another"));
            }
            match models.iter_mut().find(|m| m.name == model.name) {
                Some(earlier) => *earlier = model,
                None => models.push(model),
            }
        }
        for model in &models {
            for name in &model.reads {
                let known = tables.contains(&name.as_str()) || models.iter().any(|m| m.name == *name);
                if !known {
                    return Err(wrong(&model.name, &format!("it reads {name}, which is neither a table nor a model")));
                }
            }
        }
        Ok(Graph { models: ordered(models)? })
    }

    /// The models, each after what it reads.
    pub fn models(&self) -> &[Model] {
        &self.models
    }
}

fn wrong(model: &str, what: &str) -> Error {
    Error::Table { table: model.to_string(), what: what.to_string() }
}

fn read(source: &Source) -> Result<Model> {
    let contract = Contract::parse(&source.name, &source.contract)?;
    let mut statements = DFParser::parse_sql(&source.sql).map_err(|e| wrong(&source.name, &e.strip_backtrace()))?;
    let (Some(statement), None) = (statements.pop_front(), statements.pop_front()) else {
        return Err(wrong(&source.name, "a model is one query"));
    };
    // Names of common table expressions are not among them.
    let (references, _) =
        resolve_table_references(&statement, true).map_err(|e| wrong(&source.name, &e.strip_backtrace()))?;
    let mut reads: Vec<String> = references
        .into_iter()
        .filter_map(|reference| match reference {
            TableReference::Bare { table } if !is_file_name(&table) => Some(table.to_string()),
            _ => None,
        })
        .collect();
    reads.sort();
    Ok(Model { name: source.name.clone(), sql: source.sql.clone(), contract, reads })
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
            return wrong(name, &format!("models read each other in a circle: {}", round.join(" -> ")));
        }
        path.push(name);
        at = next.get(name).copied();
    }
    wrong(&path.join(", "), "models read each other in a circle")
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
        assert_eq!(error(&[("m", "select 1; select 2")]), "table m: a model is one query");
        assert_eq!(
            error(&[("raw", "select 1")]),
            "table raw: a table of the run has this name; give the model another"
        );
        assert!(error(&[("m", "select * from raw where (")]).starts_with("table m: SQL error"));
    }

    #[test]
    fn a_later_model_takes_the_place_of_an_earlier_one() {
        let sources = [Source::new("m", "select 1", ""), Source::new("m", "select 2", "")];
        assert_eq!(Graph::new(&sources, &[]).unwrap().models()[0].sql, "select 2");
    }
}
