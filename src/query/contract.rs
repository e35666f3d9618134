//! Contracts: what a derived table promises, beside its SQL.
//!
//! In: the TOML file beside a model, and its table. Out: the promises, and every one that does not hold.
//! The doc lines are the data dictionary; the checks are queries, run by [`check_contracts`].

use std::collections::BTreeMap;
use std::path::Path;

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use serde::Deserialize;

use super::analysis::Analysis;
use super::session::Session;
use crate::{Error, Result};

/// What a derived table promises.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Contract {
    /// Whether the table is written to `analysis/` or computed where it is read.
    #[serde(default)]
    pub kind: Kind,
    /// The columns that make a row unique; the file is sorted by them.
    #[serde(default)]
    pub unique: Vec<String>,
    /// The columns by name: all of them, and no other.
    #[serde(default)]
    pub columns: BTreeMap<String, Column>,
}

/// Whether a model's rows are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Written to `analysis/NAME.parquet`.
    #[default]
    Table,
    /// Computed where it is read.
    View,
}

/// What one column promises.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Column {
    /// Meaning and unit.
    pub doc: String,
    /// Whether NULL is ruled out.
    #[serde(default)]
    pub not_null: bool,
    /// Least value.
    pub min: Option<f64>,
    /// Greatest value.
    pub max: Option<f64>,
    /// Whether NaN and the infinities are ruled out; NULL is not.
    #[serde(default)]
    pub finite: bool,
    /// The only values that may stand here.
    pub one_of: Option<Vec<String>>,
    /// `table.column` in which every value must be found.
    pub references: Option<String>,
}

impl Contract {
    /// Reads a contract; `model` is for the message.
    ///
    /// # Errors
    /// Broken TOML, or a key that contracts don't have.
    pub fn parse(model: &str, text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|e| Error::Table { table: model.to_string(), what: format!("its contract: {e}") })
    }
}

/// A promise that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The derived table.
    pub model: String,
    /// The promise, as a sentence about a row: "s is at least 0".
    pub promise: String,
    /// In how many rows (for keys: groups of rows) it does not hold.
    pub rows: u64,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} does not hold in {} rows", self.model, self.promise, self.rows)
    }
}

/// Checks the contract of every model on a run; empty where all hold.
///
/// # Errors
/// When the run or a table of it can't be read.
pub fn check_contracts(run: &Path) -> Result<Vec<Violation>> {
    let analysis = Analysis::default();
    let session = analysis.open(run)?;
    let mut violations = Vec::new();
    for model in analysis.graph(run)?.models() {
        violations.extend(check(&session, &model.name, &model.contract)?);
    }
    Ok(violations)
}

/// Checks one contract on the table of that name.
pub(super) fn check(session: &Session, name: &str, contract: &Contract) -> Result<Vec<Violation>> {
    let mut violations = check_columns(session, name, contract)?;
    if !violations.is_empty() {
        // The checks below would name columns that are not there.
        return Ok(violations);
    }
    for (promise, query) in promises(name, contract) {
        let rows = count(&session.query(&query).map_err(Error::table(name))?);
        if rows > 0 {
            violations.push(Violation { model: name.to_string(), promise, rows });
        }
    }
    Ok(violations)
}

/// A contract that lists columns lists all of them.
fn check_columns(session: &Session, name: &str, contract: &Contract) -> Result<Vec<Violation>> {
    if contract.columns.is_empty() {
        return Ok(Vec::new());
    }
    let batches = session.query(&format!("select * from {} limit 0", quoted(name))).map_err(Error::table(name))?;
    let schema = batches.first().map(RecordBatch::schema);
    let found: Vec<&str> = schema.iter().flat_map(|s| s.fields()).map(|f| f.name().as_str()).collect();
    let missing =
        contract.columns.keys().filter(|c| !found.contains(&c.as_str())).map(|c| format!("column {c} is there"));
    let unknown =
        found.iter().filter(|c| !contract.columns.contains_key(**c)).map(|c| format!("column {c} has a doc line"));
    let violation = |promise| Violation { model: name.to_string(), promise, rows: 1 };
    Ok(missing.chain(unknown).map(violation).collect())
}

/// Each promise with the query that counts the rows in which it does not hold.
fn promises(name: &str, contract: &Contract) -> Vec<(String, String)> {
    let table = quoted(name);
    let failing = |condition: String| format!("select count(*) from {table} where {condition}");
    let mut all = Vec::new();
    if !contract.unique.is_empty() {
        let key = contract.unique.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(", ");
        let groups = format!("select {key} from {table} group by {key} having count(*) > 1");
        all.push((format!("({key}) is unique"), format!("select count(*) from ({groups})")));
    }
    for (column, is) in &contract.columns {
        let c = quoted(column);
        if is.not_null {
            all.push((format!("{column} is not null"), failing(format!("{c} is null"))));
        }
        if is.finite {
            let greatest = f64::MAX;
            all.push((format!("{column} is finite"), failing(format!("isnan({c}) or abs({c}) > {greatest:e}"))));
        }
        // NaN sorts above every number in SQL, so it has to be asked for by name.
        if let Some(min) = is.min {
            all.push((format!("{column} is at least {min}"), failing(format!("{c} < {min:?} or isnan({c})"))));
        }
        if let Some(max) = is.max {
            all.push((format!("{column} is at most {max}"), failing(format!("{c} > {max:?} or isnan({c})"))));
        }
        if let Some(values) = &is.one_of {
            let list = values.iter().map(|v| format!("'{}'", v.replace('\'', "''"))).collect::<Vec<_>>().join(", ");
            all.push((format!("{column} is one of {list}"), failing(format!("cast({c} as varchar) not in ({list})"))));
        }
        if let Some((other, key)) = is.references.as_deref().and_then(|r| r.split_once('.')) {
            let (other, key) = (quoted(other), quoted(key));
            let unknown =
                format!("{c} is not null and not exists (select 1 from {other} as o where o.{key} = {table}.{c})");
            all.push((format!("{column} stands in {other}.{key}"), failing(unknown)));
        }
    }
    all
}

/// The first number of a result.
fn count(batches: &[RecordBatch]) -> u64 {
    let first = batches.iter().find(|b| b.num_rows() > 0).and_then(|b| b.columns().first());
    let number = first.and_then(|c| c.as_primitive_opt::<Int64Type>()).and_then(|c| c.iter().next().flatten());
    number.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(session: &Session, name: &str, rows: &str) {
        let batches = session.query(rows).unwrap();
        session.register_batches(name, batches[0].schema(), batches).unwrap();
    }

    fn violations(rows: &str, contract: &str) -> Vec<String> {
        let session = Session::new(Some(2)).unwrap();
        named(&session, "t", rows);
        let contract = Contract::parse("t", contract).unwrap();
        check(&session, "t", &contract).unwrap().iter().map(Violation::to_string).collect()
    }

    #[test]
    fn each_promise_is_found_broken() {
        let rows = "select * from (values ('a', 1.0), ('a', -2.0), (null, 'NaN'::double)) as t (k, x)";
        let contract = r#"
            unique = ["k"]
            [columns.k]
            doc = "key"
            not_null = true
            one_of = ["b"]
            [columns.x]
            doc = "value"
            min = 0
            max = 0.5
        "#;
        let found = violations(rows, contract);
        assert_eq!(
            found,
            [
                "t: (\"k\") is unique does not hold in 1 rows",
                "t: k is not null does not hold in 1 rows",
                "t: k is one of 'b' does not hold in 2 rows",
                "t: x is at least 0 does not hold in 2 rows",
                "t: x is at most 0.5 does not hold in 2 rows",
            ]
        );
    }

    #[test]
    fn a_figure_that_is_no_number_breaks_the_contracts_of_the_deltas_on() {
        let rows = "select x from (values (1.0), (null), ('NaN'::double), ('-inf'::double), ('inf'::double)) as t (x)";
        let found = violations(rows, "[columns.x]\ndoc = \"x\"\nfinite = true");
        assert_eq!(found, ["t: x is finite does not hold in 3 rows"]);
        for source in crate::query::built_in() {
            let contract = Contract::parse(&source.name, &source.contract).unwrap();
            for (name, column) in &contract.columns {
                let figure = ["delta", "s", "sgs", "sgs_macro"].contains(&name.as_str());
                assert!(!figure || column.finite, "{}.{name}", source.name);
            }
        }
    }

    #[test]
    fn columns_are_listed_in_full() {
        let found = violations("select 1 as a, 2 as b", "[columns.a]\ndoc = \"a\"\n[columns.c]\ndoc = \"c\"");
        assert_eq!(
            found,
            ["t: column c is there does not hold in 1 rows", "t: column b has a doc line does not hold in 1 rows",]
        );
    }

    #[test]
    fn a_relationship_is_looked_up() {
        let contract = "[columns.a]\ndoc = \"a\"\nreferences = \"axes.axis\"";
        let session = Session::new(Some(1)).unwrap();
        named(&session, "axes", "select 'cos' as axis");
        named(&session, "t", "select 'cos' as a union all select 'cosine'");
        let found = check(&session, "t", &Contract::parse("t", contract).unwrap()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].rows, 1);
    }

    #[test]
    fn a_key_that_contracts_lack_is_an_error_that_names_the_model() {
        let error = Contract::parse("deltas", "uniqe = [\"a\"]").unwrap_err().to_string();
        assert!(error.contains("deltas") && error.contains("uniqe"), "{error}");
    }
}
