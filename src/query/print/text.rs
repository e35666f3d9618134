//! Text: a result for people, as an aligned table or in Markdown.
//!
//! In: record batches. Out: lines; numbers with six significant digits, NULL as the word.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, TableComponent};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;

use super::Sink;
use crate::query::cell;

/// Below this width a terminal's lines are left to break by themselves.
const NARROW: u16 = 20;
/// Least width of a column of texts that are broken, and the room between columns.
const LEAST: usize = 12;
const BETWEEN: usize = 3;

/// A table whose columns are as wide as their cells: it holds its rows until the end.
pub(super) struct Aligned<W: Write> {
    out: W,
    table: Table,
    /// Which columns hold numbers.
    right: Vec<bool>,
    rows: usize,
    /// Most rows that are shown.
    most: usize,
}

impl<W: Write> Aligned<W> {
    pub(super) fn new(schema: &Schema, most: Option<usize>, out: W) -> Self {
        let mut table = plain_table();
        table.set_header(schema.fields().iter().map(|field| visible(field.name())));
        Aligned { out, table, right: numeric(schema), rows: 0, most: most.unwrap_or(usize::MAX) }
    }
}

impl<W: Write> Sink for Aligned<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let room = self.most - self.rows;
        for row in 0..batch.num_rows().min(room) {
            self.table.add_row(cells(batch, row)?.iter().map(|cell| visible(cell)));
            self.rows += 1;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        align(&mut self.table, &self.right);
        writeln!(self.out, "{}", self.table.trim_fmt())?;
        self.out.flush()
    }
}

/// A Markdown table.
pub(super) struct Markdown<W: Write> {
    out: W,
}

impl<W: Write> Markdown<W> {
    pub(super) fn new(schema: &Schema, out: W) -> io::Result<Self> {
        let mut markdown = Markdown { out };
        markdown.line(&schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>())?;
        let rules = numeric(schema).into_iter().map(|right| if right { "---:" } else { "---" });
        writeln!(markdown.out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
        Ok(markdown)
    }

    fn line(&mut self, cells: &[String]) -> io::Result<()> {
        // A bar ends a cell and a line break ends the row.
        let cells = cells.iter().map(|c| c.replace('\\', "\\\\").replace('|', "\\|").replace('\n', "<br>"));
        writeln!(self.out, "| {} |", cells.collect::<Vec<_>>().join(" | "))
    }
}

impl<W: Write> Sink for Markdown<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        (0..batch.num_rows()).try_for_each(|row| self.line(&cells(batch, row)?))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

/// A row's cells as a person reads them.
fn cells(batch: &RecordBatch, row: usize) -> io::Result<Vec<String>> {
    let text = |column| cell::short(column, row).map(|text| text.unwrap_or_else(|| "NULL".to_string()));
    batch.columns().iter().map(|column| text(column.as_ref()).map_err(io::Error::other)).collect()
}

/// Which columns hold numbers, and so stand to the right.
fn numeric(schema: &Schema) -> Vec<bool> {
    schema.fields().iter().map(|field| field.data_type().is_numeric()).collect()
}

/// A text with its control characters escaped: what a model wrote must not steer the terminal.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// A table with one line under its header, as wide as the terminal where there is one.
pub(crate) fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_style(TableComponent::HeaderLines, '─');
    table.set_style(TableComponent::MiddleHeaderIntersections, '─');
    // A terminal that does not tell its width tells 0.
    let is_narrow = table.width().is_some_and(|width| width < NARROW);
    table.set_content_arrangement(if is_narrow { ContentArrangement::Disabled } else { ContentArrangement::Dynamic });
    table
}

/// Sets columns of numbers to the right, when all rows are there. No number is broken, and no text into bits: rather a line is
/// longer than the terminal is wide.
pub(in crate::query) fn align(table: &mut Table, right: &[bool]) {
    let widths = table.column_max_content_widths();
    let least = widths.iter().zip(right).map(|(&width, right)| {
        let width = usize::from(width);
        BETWEEN + if *right { width } else { width.min(LEAST) }
    });
    if table.width().is_some_and(|width| least.sum::<usize>() > usize::from(width)) {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    for (column, right) in table.column_iter_mut().zip(right) {
        column.set_cell_alignment(if *right { CellAlignment::Right } else { CellAlignment::Left });
        if *right {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
}
