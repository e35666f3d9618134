//! Every file of `tests/slt`: tables given as rows, the models run on them, results computed by hand.
//!
//! `create table NAME as ...` gives a raw table (columns may be left out) or stands in for the model NAME;
//! `analyze` runs the models on what was created; queries after it read the run; `check contracts` lists what does not hold.

use arrow::array::Array;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use sago::query::{Session, analyze, check_contracts};
use sqllogictest::{DBOutput, DefaultColumnType, Runner};

use crate::run::{Run, create, scratch};

struct Database {
    scratch: Session,
    created: Vec<String>,
    run: Option<(Run, Session)>,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Fault(String);

impl From<sago::Error> for Fault {
    fn from(e: sago::Error) -> Self {
        Fault(e.to_string())
    }
}

impl sqllogictest::DB for Database {
    type Error = Fault;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Fault> {
        if let Some(rest) = sql.strip_prefix("create table ") {
            let (name, select) = rest
                .split_once(char::is_whitespace)
                .and_then(|(name, rest)| Some((name, rest.trim_start().strip_prefix("as")?)))
                .ok_or_else(|| Fault("say `create table NAME as SELECT`".to_string()))?;
            create(&self.scratch, name, select)?;
            self.created.push(name.to_string());
            return Ok(DBOutput::StatementComplete(0));
        }
        if sql == "analyze" {
            let run = Run::new();
            for name in &self.created {
                run.table(&self.scratch, name, &format!("select * from {name}"));
            }
            analyze(run.path())?;
            let session = run.session();
            self.run = Some((run, session));
            return Ok(DBOutput::StatementComplete(0));
        }
        let (run, session) = match &self.run {
            Some((run, session)) => (Some(run), session),
            None => (None, &self.scratch),
        };
        if sql == "check contracts" {
            let run = run.ok_or_else(|| Fault("analyze first".to_string()))?;
            let rows = check_contracts(run.path())?.iter().map(|v| vec![v.to_string()]).collect();
            return Ok(DBOutput::Rows { types: vec![DefaultColumnType::Text], rows });
        }
        let batches = session.query(sql)?;
        let options = FormatOptions::default().with_null("NULL");
        let mut rows = Vec::new();
        for batch in &batches {
            for row in 0..batch.num_rows() {
                let cell =
                    |column: &dyn Array| ArrayFormatter::try_new(column, &options).unwrap().value(row).to_string();
                // An empty line would end the expected rows.
                let shown = |text: String| if text.is_empty() { "(empty)".to_string() } else { text };
                rows.push(batch.columns().iter().map(|c| shown(cell(c))).collect());
            }
        }
        let types = vec![DefaultColumnType::Any; batches.first().map_or(0, |b| b.num_columns())];
        Ok(DBOutput::Rows { types, rows })
    }
}

#[test]
fn every_file_holds() {
    let mut files: Vec<_> = std::fs::read_dir("tests/slt").unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20);
    for file in files {
        let database = || async { Ok(Database { scratch: scratch(), created: Vec::new(), run: None }) };
        if let Err(error) = Runner::new(database).run_file(&file) {
            panic!("{}: {error}", file.display());
        }
    }
}
