//! Promises: the contracts of derived tables, held against their rows.
//!
//! In: a contract and the table of its name. Out: every promise that does not hold, with the first row at fault.
//! All promises about single rows are counted in one pass over the table; that keys are unique takes another.

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::hash_utils::{QualityRandomState, create_hashes};

use super::contract::Contract;
use super::session::{Session, failed};
use super::statement::Statement;
use crate::{Error, Result};

/// Most rows whose hashes are held at once (400 MB); of more the groups of a query are counted, which can leave memory.
const MOST_HASHES: usize = 50_000_000;

/// Columns that name a row where the contract has no key.
const FEW: usize = 6;

/// A promise that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The derived table.
    pub model: String,
    /// The promise, as a sentence about a row: "s is at least 0".
    pub promise: String,
    /// In how many rows (for keys: groups of rows) it does not hold.
    pub rows: u64,
    /// The first of these rows by the order of its key: its key, then the column at fault, as (name, value).
    /// Empty where the promise is about the columns themselves.
    pub first: RowShown,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} does not hold", self.model, self.promise)?;
        if self.first.is_empty() {
            return Ok(());
        }
        let rows = if self.rows == 1 { "row" } else { "rows" };
        write!(f, " in {} {rows}; first: {}", self.rows, named(&self.first))
    }
}

/// Values of a row as `model=a, dataset=b`.
pub(crate) fn named(values: &[(String, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

/// A promise about single rows.
struct Promise {
    says: String,
    column: String,
    /// SQL that is true for a row, named t, in which it does not hold.
    fails: String,
}

/// Checks one contract on the table of that name.
pub(super) fn check(session: &Session, name: &str, contract: &Contract) -> Result<Vec<Violation>> {
    let columns = columns(session, name)?;
    let mut violations = check_columns(name, contract, &columns);
    // The checks below may not name columns that are not there.
    let mut contract = contract.clone();
    contract.columns.retain(|column, _| has(&columns, column));
    let key: Vec<String> = if contract.unique.is_empty() {
        columns.iter().filter(|(_, t)| !t.is_nested()).map(|(name, _)| name.clone()).take(FEW).collect()
    } else {
        contract.unique.clone()
    };
    if !contract.unique.is_empty()
        && let Some((groups, first)) = duplicates(session, name, &contract.unique)?
    {
        let promise = format!("({}) is unique", list(&contract.unique));
        violations.push(Violation { model: name.to_string(), promise, rows: groups, first });
    }
    let (promises, joins) = promises(&contract);
    if promises.is_empty() {
        return Ok(violations);
    }
    let from = format!("from {} as t {joins}", quoted(name));
    let sums = promises.iter().map(|p| format!("sum(case when {} then 1 else 0 end)", p.fails)).collect::<Vec<_>>();
    let counts = session.query(&format!("select {} {from}", sums.join(", "))).map_err(Error::table(name))?;
    for (at, promise) in promises.iter().enumerate() {
        let rows = number(&counts, at);
        if rows > 0 {
            let mut shown = key.clone();
            if !shown.contains(&promise.column) {
                shown.push(promise.column.clone());
            }
            let of_t =
                |names: &[String]| names.iter().map(|c| format!("t.{}", quoted(c))).collect::<Vec<_>>().join(", ");
            let order = of_t(&key);
            let sql = format!("select {} {from} where {} order by {order} limit 1", of_t(&shown), promise.fails);
            let first = first_row(&session.query(&sql).map_err(Error::table(name))?);
            violations.push(Violation { model: name.to_string(), promise: promise.says.clone(), rows, first });
        }
    }
    Ok(violations)
}

/// Columns of a row with their values as text.
pub type RowShown = Vec<(String, String)>;

/// How many groups of rows share their values of `key`, and that key of the first; None where there are none.
pub(super) fn duplicates(session: &Session, table: &str, key: &[String]) -> Result<Option<(u64, RowShown)>> {
    let columns = key.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(", ");
    if !may_repeat(session, table, &columns)? {
        return Ok(None);
    }
    let groups = format!("select {columns} from {} group by {columns} having count(*) > 1", quoted(table));
    let number = number(&session.query(&format!("select count(*) from ({groups})")).map_err(Error::table(table))?, 0);
    if number == 0 {
        return Ok(None);
    }
    let first = session.query(&format!("{groups} order by {columns} limit 1")).map_err(Error::table(table))?;
    Ok(Some((number, first_row(&first))))
}

/// Whether a key may stand twice; false is certain. Where no two hashes are equal no two keys are, and hashes of
/// millions of rows take a fraction of the time and memory that groups of their texts take.
fn may_repeat(session: &Session, table: &str, columns: &str) -> Result<bool> {
    let sql = format!("select {columns} from {}", quoted(table));
    let state = QualityRandomState::with_seed(0);
    let mut hashes: Vec<u64> = Vec::new();
    for batch in session.rows(&Statement::from(sql.as_str()))? {
        let batch = batch?;
        let before = hashes.len();
        if before + batch.num_rows() > MOST_HASHES {
            return Ok(true);
        }
        hashes.resize(before + batch.num_rows(), 0);
        if let Some(of_batch) = hashes.get_mut(before..) {
            create_hashes(batch.columns(), &state, of_batch).map_err(failed)?;
        }
    }
    hashes.sort_unstable();
    let rows = hashes.len();
    hashes.dedup();
    Ok(hashes.len() < rows)
}

/// A contract that lists columns lists all of them.
fn check_columns(name: &str, contract: &Contract, found: &[(String, DataType)]) -> Vec<Violation> {
    if contract.columns.is_empty() {
        return Vec::new();
    }
    let missing = contract.columns.keys().filter(|c| !has(found, c)).map(|c| format!("column {c} is there"));
    let unknown = found.iter().map(|(name, _)| name).filter(|c| !contract.columns.contains_key(*c));
    let unknown = unknown.map(|c| format!("column {c} has a doc line in the contract"));
    let violation = |promise| Violation { model: name.to_string(), promise, rows: 1, first: Vec::new() };
    missing.chain(unknown).map(violation).collect()
}

fn has(found: &[(String, DataType)], column: &str) -> bool {
    found.iter().any(|(name, _)| name == column)
}

/// What a contract says of columns that the tables of `session` do not have, or that are of another kind; None where
/// its promises can be asked.
pub(super) fn misfit(session: &Session, name: &str, contract: &Contract) -> Result<Option<String>> {
    let found = columns(session, name)?;
    for (column, kind) in &found {
        let Some(is) = contract.columns.get(column) else { continue };
        if (is.min.is_some() || is.max.is_some() || is.finite) && !kind.is_numeric() && *kind != DataType::Null {
            return Ok(Some(format!("column {column} is {kind}; min, max and finite are promises about numbers")));
        }
        if is.one_of.is_some() && kind.is_nested() {
            return Ok(Some(format!("column {column} is {kind}; one_of is a promise about single values")));
        }
        let Some((other, key)) = is.references.as_deref().and_then(|r| r.split_once('.')) else { continue };
        let there = columns(session, other)?;
        if !has(&there, key) {
            return Ok(Some(format!("column {column} references {other}.{key}, and {other} has no column {key}")));
        }
    }
    Ok(None)
}

/// Names and types of a table.
pub(crate) fn columns(session: &Session, name: &str) -> Result<Vec<(String, DataType)>> {
    let batches = session.query(&format!("select * from {} limit 0", quoted(name))).map_err(Error::table(name))?;
    let schema = batches.first().map(RecordBatch::schema);
    let fields = schema.iter().flat_map(|s| s.fields());
    Ok(fields.map(|f| (f.name().clone(), f.data_type().clone())).collect())
}

/// The promises about single rows, and the joins that those about other tables need.
fn promises(contract: &Contract) -> (Vec<Promise>, String) {
    let mut all = Vec::new();
    let mut joins = String::new();
    for (column, is) in &contract.columns {
        let c = format!("t.{}", quoted(column));
        let mut promise = |what: String, fails: String| {
            all.push(Promise { says: format!("{column} is {what}"), column: column.clone(), fails });
        };
        if is.not_null {
            promise("not null".to_string(), format!("{c} is null"));
        }
        if is.finite {
            promise("finite".to_string(), format!("isnan({c}) or abs({c}) > {:e}", f64::MAX));
        }
        // NaN sorts above every number in SQL, so it has to be asked for by name.
        if let Some(min) = is.min {
            promise(format!("at least {min}"), format!("{c} < {min:?} or isnan({c})"));
        }
        if let Some(max) = is.max {
            promise(format!("at most {max}"), format!("{c} > {max:?} or isnan({c})"));
        }
        if let Some(values) = &is.one_of {
            let list = values.iter().map(|v| literal(v)).collect::<Vec<_>>().join(", ");
            promise(format!("one of {list}"), format!("cast({c} as varchar) not in ({list})"));
        }
        if let Some((other, key)) = is.references.as_deref().and_then(|r| r.split_once('.')) {
            let (name, alias) = (format!("{other}.{key}"), quoted(&format!("values of {column}")));
            let (other, key) = (quoted(other), quoted(key));
            joins.push_str(&format!(
                " left join (select distinct {key} as k from {other}) as {alias} on {alias}.k = {c}"
            ));
            promise(format!("a value of {name}"), format!("{c} is not null and {alias}.k is null"));
        }
    }
    (all, joins)
}

/// The first row's number in a column of a result; 0 where there is none.
fn number(batches: &[RecordBatch], column: usize) -> u64 {
    let first = batches.iter().find(|b| b.num_rows() > 0).and_then(|b| b.columns().get(column));
    let number = first.and_then(|c| c.as_primitive_opt::<Int64Type>()).and_then(|c| c.iter().next().flatten());
    number.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
}

/// A column of texts, NULL as an empty one.
///
/// # Errors
/// [`Error::Query`] where it is no text.
pub(crate) fn texts(batches: &[RecordBatch], column: usize) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for batch in batches {
        let Some(texts) = batch.columns().get(column).and_then(|c| c.as_string_opt::<i32>()) else {
            return Err(Error::Query(format!("column {column} of the result is not text")));
        };
        all.extend(texts.iter().map(|text| text.unwrap_or_default().to_string()));
    }
    Ok(all)
}

/// Names and values of the first row of a result.
pub(crate) fn first_row(batches: &[RecordBatch]) -> RowShown {
    batches.iter().find(|b| b.num_rows() > 0).map_or_else(Vec::new, |batch| row(batch, 0))
}

/// Names and values of a row.
pub(super) fn row(batch: &RecordBatch, at: usize) -> RowShown {
    let schema = batch.schema();
    let named = schema.fields().iter().zip(batch.columns());
    named.map(|(field, column)| (field.name().clone(), value(column, at))).collect()
}

/// A value as text.
pub(super) fn value(column: &dyn Array, row: usize) -> String {
    let options = FormatOptions::default().with_null("NULL");
    let formatter = ArrayFormatter::try_new(column, &options);
    formatter.and_then(|f| f.value(row).try_to_string()).unwrap_or_else(|e| e.to_string())
}

fn list(names: &[String]) -> String {
    names.join(", ")
}

/// A text as SQL takes it literally.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A name as SQL takes it literally.
pub(crate) fn quoted(name: &str) -> String {
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
        named(&session, "axes", "select 'cos' as axis union all select 'cos' union all select 'bleu'");
        let contract = Contract::parse("t", contract).unwrap();
        check(&session, "t", &contract).unwrap().iter().map(Violation::to_string).collect()
    }

    #[test]
    fn each_promise_is_found_broken_with_its_first_row() {
        let rows = "select * from (values ('b', 1.0), ('b', -2.0), (null, 'NaN'::double)) as t (k, x)";
        let contract = r#"
            unique = ["k"]
            [columns.k]
            doc = "key"
            not_null = true
            one_of = ["c"]
            [columns.x]
            doc = "value"
            min = 0
            max = 0.5
        "#;
        let found = violations(rows, contract);
        assert_eq!(
            found,
            [
                "t: (k) is unique does not hold in 1 row; first: k=b",
                "t: k is not null does not hold in 1 row; first: k=NULL",
                "t: k is one of 'c' does not hold in 2 rows; first: k=b",
                "t: x is at least 0 does not hold in 2 rows; first: k=b, x=-2.0",
                "t: x is at most 0.5 does not hold in 2 rows; first: k=b, x=1.0",
            ]
        );
    }

    #[test]
    fn a_figure_that_is_no_number_is_found() {
        let rows = "select x from (values (1.0), (null), ('NaN'::double), ('-inf'::double), ('inf'::double)) as t (x)";
        let found = violations(rows, "[columns.x]\ndoc = \"x\"\nfinite = true");
        assert_eq!(found, ["t: x is finite does not hold in 3 rows; first: x=-inf"]);
        assert!(violations(&format!("{rows} where x = 1"), "[columns.x]\ndoc = \"x\"\nfinite = true").is_empty());
    }

    #[test]
    fn an_empty_table_breaks_no_promise_about_rows() {
        let contract = "unique = [\"x\"]\n[columns.x]\ndoc = \"x\"\nnot_null = true\nmin = 1";
        assert!(violations("select 1 as x where false", contract).is_empty());
    }

    #[test]
    fn columns_are_listed_in_full() {
        let found = violations("select 1 as a, 2 as b", "[columns.a]\ndoc = \"a\"\n[columns.c]\ndoc = \"c\"");
        assert_eq!(
            found,
            ["t: column c is there does not hold", "t: column b has a doc line in the contract does not hold"]
        );
    }

    #[test]
    fn a_relationship_is_looked_up() {
        let rows = "select * from (values (1, 'cos', 'bleu'), (2, 'cosine', null), (3, 'x', 'y')) as t (id, a, b)";
        let contract = "unique = [\"id\"]\n[columns.id]\ndoc = \"id\"\n[columns.a]\ndoc = \"a\"\nreferences = \"axes.axis\"\n\
                        [columns.b]\ndoc = \"b\"\nreferences = \"axes.axis\"";
        assert_eq!(
            violations(rows, contract),
            [
                "t: a is a value of axes.axis does not hold in 2 rows; first: id=2, a=cosine",
                "t: b is a value of axes.axis does not hold in 1 row; first: id=3, b=y",
            ]
        );
    }
}
