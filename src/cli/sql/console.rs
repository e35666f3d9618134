//! Console: carries out statements and commands, one after the other.
//!
//! In: the pieces of a script or of what was typed. Out: their rows in the chosen format.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Stdout, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use datafusion::arrow::array::RecordBatch;

use crate::cli::say;
use crate::query::{Catalog, Format, Piece, RowWriter, Session, Statement, Stop};
use crate::store::files::Pending;
use crate::{Error, Result};

/// Most rows of a table that a terminal is shown.
const SHOWN: usize = 1000;

/// The commands, each with what it does; `\?` shows them.
pub(super) const COMMANDS: [(&str, &str); 7] = [
    ("\\d", "list the tables and what a row of each is"),
    ("\\d TABLE", "the columns of a table: type, whether NULL may be there, meaning"),
    ("\\df [all]", "the functions of this program; all: those of the SQL engine as well"),
    ("\\format FORMAT", "table, csv, json, ndjson, parquet or markdown from now on"),
    ("\\timing", "say after each statement how long it took, or stop saying so"),
    ("\\?", "this list"),
    ("\\q", "leave"),
];

/// Where rows go.
#[derive(Debug)]
pub(super) enum Output {
    Stdout(BufWriter<Stdout>),
    /// Without `pending`: a pipe or a device, which takes rows as they come.
    File {
        out: BufWriter<File>,
        pending: Option<Pending>,
        path: PathBuf,
    },
}

impl Output {
    /// Standard output, or a file that appears when all is written; of a link, the file that it points to.
    ///
    /// # Errors
    /// A folder, a file that belongs to a run, or the file can't be written.
    pub(super) fn new(file: Option<&Path>) -> Result<Output> {
        let Some(path) = file else { return Ok(Output::Stdout(BufWriter::new(stdout()))) };
        let mut target = path.to_path_buf();
        if let Ok(there) = path.metadata() {
            let refused = |why: &str| Error::input(why).found(path.display().to_string()).fix("name another file");
            if there.is_dir() {
                return Err(refused("--output is a folder, not a file").into());
            }
            if !there.is_file() {
                let out = File::options().write(true).open(path).map_err(Error::io("write", path))?;
                return Ok(Output::File { out: BufWriter::new(out), pending: None, path: target });
            }
            target = path.canonicalize().map_err(Error::io("write", path))?;
            if target.ancestors().skip(1).any(|folder| folder.join("plan.json").is_file()) {
                return Err(refused("--output is a file of a run, which would be lost").into());
            }
        }
        let mut pending = Pending::new(&target)?;
        let file = pending.file().try_clone().map_err(Error::io("write", path))?;
        Ok(Output::File { out: BufWriter::new(file), pending: Some(pending), path: target })
    }

    fn is_terminal(&self) -> bool {
        matches!(self, Output::Stdout(_)) && stdout().is_terminal()
    }

    fn writer(&mut self) -> &mut (dyn Write + Send) {
        match self {
            Output::Stdout(out) => out,
            Output::File { out, .. } => out,
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Output::Stdout(mut out) => out.flush().map_err(Error::io("write", "standard output")),
            Output::File { mut out, pending, path } => {
                out.flush().map_err(Error::io("write", &path))?;
                pending.map_or(Ok(()), Pending::commit)
            }
        }
    }
}

/// What stays from one statement to the next.
#[derive(Debug)]
pub(super) struct Console {
    session: Session,
    format: Format,
    timing: bool,
    output: Output,
    /// Results that were written.
    results: usize,
    stop: Stop,
    is_busy: Arc<AtomicBool>,
}

impl Console {
    pub(super) fn new(session: Session, format: Format, output: Output) -> Self {
        let (stop, is_busy) = (Stop::default(), Arc::default());
        Console { session, format, timing: false, output, results: 0, stop, is_busy }
    }

    /// What the tables and functions mean.
    pub(super) fn catalog(&self) -> Result<Catalog> {
        Catalog::of(&self.session)
    }

    /// Ends the query that runs now, and whether one does: for the handler of Ctrl-C.
    pub(super) fn interrupter(&self) -> (Stop, Arc<AtomicBool>) {
        (self.stop.clone(), Arc::clone(&self.is_busy))
    }

    /// Carries out a script up to its first error.
    pub(super) fn carry_out(&mut self, script: &[Piece]) -> Result<()> {
        if script.is_empty() {
            return Err(Error::input("there is no query").fix("say it with -c or -f, or on standard input").into());
        }
        if self.holds_one() && script.len() > 1 {
            return Err(one_result());
        }
        for piece in script {
            if !self.take(piece)? {
                break;
            }
        }
        Ok(())
    }

    /// Carries out one piece; gives whether to go on.
    pub(super) fn take(&mut self, piece: &Piece) -> Result<bool> {
        match piece {
            Piece::Command(command) => self.command(command),
            Piece::Statement(statement) => {
                self.is_busy.store(true, Ordering::SeqCst);
                let asked = self.ask(statement);
                self.is_busy.store(false, Ordering::SeqCst);
                asked.map(|()| true)
            }
        }
    }

    /// Puts what was written in its place.
    pub(super) fn finish(self) -> Result<()> {
        self.output.finish()
    }

    fn ask(&mut self, statement: &Statement) -> Result<()> {
        let begun = Instant::now();
        self.before_result()?;
        self.stop.clear();
        let most = self.output.is_terminal().then_some(SHOWN);
        let rows = self.session.rows(statement)?.with_stop(&self.stop);
        let out = self.output.writer();
        separate(self.results, self.format, out)?;
        let mut writer = RowWriter::new(self.format, &rows.schema().clone(), most, out)?;
        for batch in rows {
            if !writer.write(&batch?)? {
                break;
            }
        }
        let is_cut = writer.finish()?;
        self.results += 1;
        if is_cut {
            say(&format!("note: the first {SHOWN} rows; --output FILE or another format gives all of them"));
        }
        if self.timing {
            say(&format!("time: {:.3} s", begun.elapsed().as_secs_f64()));
        }
        Ok(())
    }

    fn command(&mut self, command: &str) -> Result<bool> {
        let words: Vec<&str> = command.trim_end_matches(';').split_whitespace().collect();
        match words[..] {
            ["\\d"] => {
                let catalog = self.catalog()?;
                self.show(&catalog.table_rows(!self.format.is_for_people())?, None)?;
            }
            ["\\d", name] => {
                let catalog = self.catalog()?;
                let table = catalog.table(name)?;
                let key = if table.key.is_empty() { String::new() } else { format!("\nkey: {}", table.key.join(", ")) };
                self.show(&table.rows()?, Some(&format!("{}: {}{key}\n", table.name, table.doc)))?;
            }
            ["\\df"] => self.show(&self.catalog()?.function_rows(false)?, None)?,
            ["\\df", "all"] => self.show(&self.catalog()?.function_rows(true)?, None)?,
            ["\\format", name] => self.format = name.parse()?,
            ["\\timing"] => {
                self.timing = !self.timing;
                say(if self.timing { "timing is on" } else { "timing is off" });
            }
            ["\\?"] => {
                for (command, what) in COMMANDS {
                    say(&format!("{command:15} {what}"));
                }
                say("Statements end with ; and may take several lines.");
            }
            ["\\q"] => return Ok(false),
            _ => {
                let all = COMMANDS.map(|(command, _)| command).join(", ");
                return Err(Error::input("there is no such command").found(command).expected(all).into());
            }
        }
        Ok(true)
    }

    /// Writes rows that are there already; `heading` only where people read it.
    fn show(&mut self, rows: &RecordBatch, heading: Option<&str>) -> Result<()> {
        self.before_result()?;
        let out = self.output.writer();
        separate(self.results, self.format, out)?;
        if let Some(heading) = heading.filter(|_| self.format.is_for_people()) {
            writeln!(out, "{heading}").map_err(Error::io("write", "the result"))?;
        }
        let mut writer = RowWriter::new(self.format, &rows.schema(), None, out)?;
        writer.write(rows)?;
        writer.finish()?;
        self.results += 1;
        Ok(())
    }

    /// Refuses what can't be written where it would go.
    fn before_result(&self) -> Result<()> {
        if self.format == Format::Parquet && self.output.is_terminal() {
            return Err(Error::input("Parquet is not written to a terminal").fix("say --output FILE").into());
        }
        if self.holds_one() && self.results > 0 { Err(one_result()) } else { Ok(()) }
    }

    /// Whether what is written holds the rows of one statement: a second header line or array in it is read by no one.
    fn holds_one(&self) -> bool {
        let in_file = matches!(self.output, Output::File { .. });
        self.format == Format::Parquet || (in_file && matches!(self.format, Format::Csv | Format::Json))
    }
}

fn one_result() -> Error {
    Error::input("a file of this format holds the rows of one statement")
        .fix("give each statement a file of its own")
        .into()
}

/// An empty line between results that people read.
fn separate(before: usize, format: Format, out: &mut dyn Write) -> Result<()> {
    if before > 0 && format.is_for_people() {
        writeln!(out).map_err(Error::io("write", "the result"))?;
    }
    Ok(())
}
