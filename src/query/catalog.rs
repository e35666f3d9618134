//! Catalog: what the tables, columns and functions of a session mean.
//!
//! In: a session. Out: one doc line each, from where it is declared: the schemas of the raw tables, the contracts and
//! headers of the models, the documentation that functions carry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::TableReference;
use datafusion::logical_expr::Documentation;
use datafusion::prelude::SessionContext;

use super::contract::{Contract, Kind};
use super::fault::closest;
use super::header::Header;
use super::models::{STAGES, built_in};
use super::runs::RUN;
use super::session::Session;
use crate::store::schema::{TABLES, Table as RawTable};
use crate::{Error, Result};

/// A table that SQL can name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableDoc {
    /// Name in SQL.
    pub name: String,
    /// `raw`, the stage of the method that derives it (`views` for what is computed where it is read), `own` for a
    /// user's models, or `other`.
    pub group: &'static str,
    /// What a row is (raw tables) or says (derived ones).
    pub doc: String,
    /// The columns that make a row unique, where that is known.
    pub key: Vec<String>,
    /// The columns in order.
    pub columns: Vec<ColumnDoc>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnDoc {
    /// Name in SQL.
    pub name: String,
    /// Type, as SQL names it.
    pub kind: String,
    /// Whether NULL may stand here.
    pub nullable: bool,
    /// Meaning and unit.
    pub doc: String,
}

/// A function that SQL can call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionLine {
    /// Name in SQL.
    pub name: String,
    /// The call as one writes it.
    pub call: String,
    /// `scalar`, `aggregate` or `window`.
    pub kind: &'static str,
    /// Whether it belongs to this program; the others are the SQL engine's.
    pub is_own: bool,
    /// What it computes.
    pub doc: String,
}

/// The tables and functions of a session, described.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// By group, in the order of the method.
    pub tables: Vec<TableDoc>,
    /// This program's own first, each part by name.
    pub functions: Vec<FunctionLine>,
}

impl Catalog {
    /// Describes `session`.
    ///
    /// # Errors
    /// A table can't be looked up.
    pub fn of(session: &Session) -> Result<Catalog> {
        let ctx = session.context().clone();
        let names = session.tables();
        let schemas = session.wait(async move {
            let mut schemas = Vec::new();
            for name in names {
                let table = ctx.table_provider(TableReference::bare(name.as_str())).await;
                schemas.push((name.clone(), table.map_err(Error::table(&name))?.schema()));
            }
            Ok::<_, Error>(schemas)
        })??;
        let mut models = BTreeMap::new();
        for source in built_in() {
            let contract = Contract::of(&source)?;
            models.insert(
                source.name.clone(),
                Derived { doc: sentence(&source.name, &source.sql), contract, is_own: false },
            );
        }
        for model in session.own_models() {
            let (doc, contract) = (sentence(&model.name, &model.sql), model.contract.clone());
            models.insert(model.name.clone(), Derived { doc, contract, is_own: true });
        }
        let mut tables = Vec::new();
        for (name, schema) in schemas {
            tables.push(describe(&name, &schema, models.get(&name)));
        }
        let groups: Vec<&str> = groups().collect();
        let place = |table: &TableDoc| {
            let within = STAGES.iter().flat_map(|(_, models)| models.iter()).position(|model| *model == table.name);
            (groups.iter().position(|group| *group == table.group), raw_place(&table.name), within, table.name.clone())
        };
        tables.sort_by_key(place);
        Ok(Catalog { tables, functions: functions(session.context()) })
    }

    /// The table of this name.
    ///
    /// # Errors
    /// There is none; names that are close are told.
    pub fn table(&self, name: &str) -> Result<&TableDoc> {
        let unquoted = name.trim_matches('"');
        if let Some(table) = self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(unquoted)) {
            return Ok(table);
        }
        let names: BTreeSet<&str> = self.tables.iter().map(|table| table.name.as_str()).collect();
        let close = closest(unquoted, &names);
        let error = Error::input(format!("there is no table {unquoted}"));
        Err(if close.is_empty() { error } else { error.fix(format!("did you mean {}?", close.join(" or "))) }.into())
    }

    /// The tables as rows: `group`, `table`, `doc`; `repeat`: the group in each of its rows, not only in the first.
    ///
    /// # Errors
    /// None that a catalog can cause.
    pub fn table_rows(&self, repeat: bool) -> Result<RecordBatch> {
        let mut before = "";
        let row = |table: &TableDoc| {
            let group = if repeat || table.group != before { table.group } else { "" };
            before = table.group;
            [group.to_string(), table.name.clone(), table.doc.clone()]
        };
        batch(["group", "table", "doc"], self.tables.iter().map(row).collect())
    }

    /// The functions as rows: `function`, `kind`, `doc`; `all`: those of the SQL engine as well.
    ///
    /// # Errors
    /// None that a catalog can cause.
    pub fn function_rows(&self, all: bool) -> Result<RecordBatch> {
        let shown = self.functions.iter().filter(|function| all || function.is_own);
        let row = |f: &FunctionLine| [f.call.clone(), f.kind.to_string(), f.doc.clone()];
        batch(["function", "kind", "doc"], shown.map(row).collect())
    }
}

impl TableDoc {
    /// The columns as rows: `column`, `type`, `null`, `doc`.
    ///
    /// # Errors
    /// None that a catalog can cause.
    pub fn rows(&self) -> Result<RecordBatch> {
        let null = |nullable| if nullable { "NULL" } else { "not NULL" }.to_string();
        let row = |c: &ColumnDoc| [c.name.clone(), c.kind.clone(), null(c.nullable), c.doc.clone()];
        batch(["column", "type", "null", "doc"], self.columns.iter().map(row).collect())
    }
}

/// The groups in order.
fn groups() -> impl Iterator<Item = &'static str> {
    ["raw"].into_iter().chain(STAGES.iter().map(|(stage, _)| *stage)).chain(["views", "own", "other"])
}

/// Where a raw table stands among the raw tables.
fn raw_place(name: &str) -> Option<usize> {
    TABLES.iter().position(|table| table.name == name)
}

/// What a model says of its table.
struct Derived {
    doc: String,
    contract: Contract,
    is_own: bool,
}

fn describe(name: &str, schema: &Schema, model: Option<&Derived>) -> TableDoc {
    let mut table =
        TableDoc { name: name.to_string(), group: "other", doc: String::new(), key: Vec::new(), columns: Vec::new() };
    if let Some(raw) = RawTable::named(name) {
        table.group = "raw";
        table.doc = raw.doc.to_string();
        table.key = raw.key.iter().map(ToString::to_string).collect();
    } else if let Some(model) = model {
        let stage = STAGES.iter().find(|(_, models)| models.contains(&name)).map_or("other", |(stage, _)| *stage);
        table.group = match model.contract.kind {
            _ if model.is_own => "own",
            Kind::View => "views",
            Kind::Table => stage,
        };
        table.doc = model.doc.clone();
        table.key = model.contract.unique.clone();
    }
    let has_run = schema.fields().first().is_some_and(|field| field.name() == RUN);
    if has_run && !table.key.is_empty() {
        table.key.insert(0, RUN.to_string());
    }
    for field in schema.fields() {
        let promised = model.and_then(|model| model.contract.columns.get(field.name()));
        let (nullable, doc) = match promised {
            Some(promised) => (!promised.not_null, promised.doc.clone()),
            None if has_run && field.name() == RUN => (false, "the run, by the name of its folder".to_string()),
            None if table.group == "raw" => of_raw(name, field.name(), field.is_nullable()),
            None => (field.is_nullable(), String::new()),
        };
        let kind = sql_type(field.data_type());
        table.columns.push(ColumnDoc { name: field.name().clone(), kind, nullable, doc });
    }
    table
}

/// Whether NULL may stand in a column of a raw table, and its doc line.
fn of_raw(table: &str, name: &str, nullable: bool) -> (bool, String) {
    let find = |table: &str| RawTable::named(table)?.columns.iter().find(|column| column.name == name);
    // Partition columns are in the path of a file; they are declared where they are keys.
    let declared = find(table).or_else(|| find("models")).or_else(|| find("prompts"));
    declared.map_or((nullable, String::new()), |column| (column.nullable, column.doc.to_string()))
}

/// The sentence of a model's header.
fn sentence(name: &str, sql: &str) -> String {
    Header::of(name, sql).sentence.trim_end_matches('.').to_string()
}

/// The type that SQL names so; text for one that tables of this program do not have.
pub(crate) fn type_named(name: &str) -> DataType {
    match name {
        "double" => DataType::Float64,
        "float" => DataType::Float32,
        "bigint" => DataType::Int64,
        "int" => DataType::Int32,
        "boolean" => DataType::Boolean,
        _ => match name.strip_prefix("list of ") {
            Some(item) => DataType::List(Arc::new(Field::new("item", type_named(item), true))),
            None => DataType::Utf8,
        },
    }
}

/// A type as SQL names it.
pub(crate) fn sql_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".to_string(),
        DataType::Float64 => "double".to_string(),
        DataType::Float32 => "float".to_string(),
        DataType::Int64 => "bigint".to_string(),
        DataType::Int32 => "int".to_string(),
        DataType::Boolean => "boolean".to_string(),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            format!("list of {}", sql_type(item.data_type()))
        }
        DataType::Dictionary(_, value) => sql_type(value),
        other => other.to_string().to_lowercase(),
    }
}

fn functions(ctx: &SessionContext) -> Vec<FunctionLine> {
    let engine = SessionContext::new().state();
    let state = ctx.state();
    let mut all: BTreeMap<(bool, String), FunctionLine> = BTreeMap::new();
    let mut add = |name: &str, kind: &'static str, is_own: bool, documentation: Option<&Documentation>| {
        let line = FunctionLine {
            name: name.to_string(),
            call: documentation.map_or_else(|| format!("{name}(...)"), |d| d.syntax_example.trim().to_string()),
            kind,
            is_own,
            doc: documentation.map(|d| first_sentence(&d.description)).unwrap_or_default(),
        };
        all.insert((!is_own, name.to_string()), line);
    };
    for (name, function) in state.scalar_functions() {
        add(name, "scalar", !engine.scalar_functions().contains_key(name), function.documentation());
    }
    for (name, function) in state.window_functions() {
        add(name, "window", !engine.window_functions().contains_key(name), function.documentation());
    }
    for (name, function) in state.aggregate_functions() {
        add(name, "aggregate", !engine.aggregate_functions().contains_key(name), function.documentation());
    }
    all.into_values().collect()
}

/// One line of a description: up to the first full stop that ends a sentence.
fn first_sentence(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = line.split_once(". ").map_or(line.as_str(), |(first, _)| first);
    sentence.trim_end_matches('.').to_string()
}

fn batch<const N: usize>(names: [&str; N], rows: Vec<[String; N]>) -> Result<RecordBatch> {
    let column =
        |at: usize| -> ArrayRef { Arc::new(StringArray::from_iter_values(rows.iter().filter_map(|row| row.get(at)))) };
    let columns = names.iter().enumerate().map(|(at, name)| (*name, column(at)));
    RecordBatch::try_from_iter(columns).map_err(Error::table("catalog"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run without rows: all its tables are there.
    fn catalog() -> Catalog {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("plan.json"), "{}").unwrap();
        Catalog::of(&Session::open_run(dir.path()).unwrap()).unwrap()
    }

    #[test]
    fn every_table_and_column_has_a_line() {
        let catalog = catalog();
        assert!(catalog.tables.len() > 30);
        for table in &catalog.tables {
            assert!(!table.doc.is_empty() && table.group != "other" && !table.key.is_empty(), "{table:?}");
            for column in &table.columns {
                assert!(!column.doc.is_empty(), "{}.{}", table.name, column.name);
            }
        }
    }

    #[test]
    fn docs_come_from_where_they_are_declared() {
        let catalog = catalog();
        let column = |table: &str, name: &str| {
            let table = catalog.table(table).unwrap();
            table.columns.iter().find(|column| column.name == name).unwrap().clone()
        };
        let groups: Vec<&str> = catalog.tables.iter().map(|table| table.group).collect();
        let mut once = groups.clone();
        once.dedup();
        assert_eq!(once[..3], ["raw", "constants", "axes"]);
        assert_eq!(once.last(), Some(&"views"));
        assert_eq!(catalog.tables[0].name, "prompts");

        assert_eq!(catalog.table("deltas").unwrap().doc, "how far a wording moves an axis from its baseline");
        assert_eq!(catalog.table("DELTAS").unwrap().key[0], "model");
        let delta = column("deltas", "delta");
        assert_eq!((delta.kind.as_str(), delta.nullable), ("double", true));
        assert!(delta.doc.contains("NULL where the baseline has no value"));
        assert!(!column("deltas", "axis").nullable);
        let tokens = column("generations", "response_token_ids");
        assert_eq!((tokens.kind.as_str(), tokens.nullable), ("list of int", true));
        assert_eq!(column("generations", "model").doc, "name of the model in the plan");
        assert_eq!(column("generations", "dataset").doc, "name of the data set in the plan");
        assert!(catalog.table("delta").unwrap_err().to_string().contains("did you mean deltas?"));
    }

    #[test]
    fn a_type_of_the_raw_tables_is_found_by_its_name() {
        let fields = TABLES.iter().flat_map(|table| table.schema().fields().to_vec());
        for kind in fields.map(|field| field.data_type().clone()) {
            assert_eq!(type_named(&sql_type(&kind)), kind);
        }
    }

    #[test]
    fn own_functions_come_first() {
        let catalog = catalog();
        let own: Vec<&str> = catalog.functions.iter().take_while(|f| f.is_own).map(|f| f.name.as_str()).collect();
        assert!(own.contains(&"bleu") && own.contains(&"t_test_p") && !own.contains(&"abs"), "{own:?}");
        assert!(catalog.functions.iter().any(|f| f.name == "abs" && !f.is_own && !f.doc.is_empty()));
        assert_eq!(catalog.function_rows(false).unwrap().num_rows(), own.len());
    }
}
