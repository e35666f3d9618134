//! Rows: typed cells of one raw table, gathered into an Arrow batch.
//!
//! In: cells in the order of the table's declared columns. Out: a [`RecordBatch`] of the declared schema.
//! A cell that does not fit its column is refused here, so that nothing else can be written.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Float32Builder, Float64Builder, Int32Builder, Int64Builder, ListBuilder, RecordBatch,
    StringBuilder,
};

use super::schema::{Kind, Table};
use crate::{Error, Result};

/// One value of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Not available.
    Null,
    /// UTF-8 text.
    Text(String),
    /// 64-bit float.
    Double(f64),
    /// 32-bit integer.
    Int(i32),
    /// 64-bit integer.
    Long(i64),
    /// True or false.
    Flag(bool),
    /// List of texts.
    Texts(Vec<String>),
    /// List of token ids.
    Ints(Vec<i32>),
    /// List of 32-bit floats.
    Floats(Vec<f32>),
}

impl Cell {
    /// Token ids as they are stored. Ids of all known vocabularies fit 31 bits; one that does not is stored as NULL.
    pub fn ids(ids: &[u32]) -> Cell {
        ids.iter().map(|&id| i32::try_from(id).ok()).collect::<Option<Vec<_>>>().map_or(Cell::Null, Cell::Ints)
    }
}

impl From<&str> for Cell {
    fn from(v: &str) -> Self {
        Cell::Text(v.to_string())
    }
}

macro_rules! cell_from {
    ($($t:ty => $variant:ident),*) => {$(
        impl From<$t> for Cell {
            fn from(v: $t) -> Self { Cell::$variant(v) }
        }
    )*};
}
cell_from!(String => Text, f64 => Double, i32 => Int, i64 => Long, bool => Flag, Vec<String> => Texts, Vec<f32> => Floats);

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(v: Option<T>) -> Self {
        v.map_or(Cell::Null, Into::into)
    }
}

/// Rows of one table that are not written yet.
#[derive(Debug)]
pub struct Rows {
    table: &'static Table,
    columns: Vec<Builder>,
    len: usize,
}

#[derive(Debug)]
enum Builder {
    Text(StringBuilder),
    Double(Float64Builder),
    Int(Int32Builder),
    Long(Int64Builder),
    Flag(BooleanBuilder),
    Texts(ListBuilder<StringBuilder>),
    Ints(ListBuilder<Int32Builder>),
    Floats(ListBuilder<Float32Builder>),
}

impl Rows {
    /// No rows yet, of the raw table `name`.
    ///
    /// # Errors
    /// There is no such table.
    pub fn of(name: &str) -> Result<Rows> {
        let table = Table::named(name).ok_or_else(|| Error::table(name)("not one of the raw tables"))?;
        Ok(Rows { table, columns: table.columns.iter().map(|c| Builder::new(c.kind)).collect(), len: 0 })
    }

    /// The table that these rows belong to.
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// How many rows were pushed.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no row was pushed.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds one row; `cells` stand in the order of the table's columns.
    ///
    /// # Errors
    /// Too few or too many cells, a cell of another type than its column, or NULL where NULL may not stand.
    pub fn push<const N: usize>(&mut self, cells: [Cell; N]) -> Result<()> {
        let table = self.table;
        if N != table.columns.len() {
            return Err(Error::table(table.name)(format!("a row of {N} cells for {} columns", table.columns.len())));
        }
        for ((column, builder), cell) in table.columns.iter().zip(&mut self.columns).zip(cells) {
            if cell == Cell::Null && !column.nullable {
                return Err(Error::table(table.name)(format!("NULL in column {}, which takes none", column.name)));
            }
            builder.push(cell).map_err(|cell| {
                Error::table(table.name)(format!("column {} takes {:?}, not {cell:?}", column.name, column.kind))
            })?;
        }
        self.len += 1;
        Ok(())
    }

    /// All rows as one batch.
    ///
    /// # Errors
    /// Arrow refuses the columns, which would be a fault of this module.
    pub fn finish(mut self) -> Result<RecordBatch> {
        let arrays = self.columns.iter_mut().map(Builder::finish).collect();
        RecordBatch::try_new(self.table.schema(), arrays).map_err(Error::table(self.table.name))
    }
}

impl Builder {
    fn new(kind: Kind) -> Builder {
        match kind {
            Kind::Text => Builder::Text(StringBuilder::new()),
            Kind::Double => Builder::Double(Float64Builder::new()),
            Kind::Int => Builder::Int(Int32Builder::new()),
            Kind::Long => Builder::Long(Int64Builder::new()),
            Kind::Flag => Builder::Flag(BooleanBuilder::new()),
            Kind::Texts => Builder::Texts(ListBuilder::new(StringBuilder::new())),
            Kind::Ints => Builder::Ints(ListBuilder::new(Int32Builder::new())),
            Kind::Floats => Builder::Floats(ListBuilder::new(Float32Builder::new())),
        }
    }

    fn push(&mut self, cell: Cell) -> std::result::Result<(), Cell> {
        match (self, cell) {
            (Builder::Text(b), Cell::Text(v)) => b.append_value(v),
            (Builder::Text(b), Cell::Null) => b.append_null(),
            (Builder::Double(b), Cell::Double(v)) => b.append_value(v),
            (Builder::Double(b), Cell::Null) => b.append_null(),
            (Builder::Int(b), Cell::Int(v)) => b.append_value(v),
            (Builder::Int(b), Cell::Null) => b.append_null(),
            (Builder::Long(b), Cell::Long(v)) => b.append_value(v),
            (Builder::Long(b), Cell::Null) => b.append_null(),
            (Builder::Flag(b), Cell::Flag(v)) => b.append_value(v),
            (Builder::Flag(b), Cell::Null) => b.append_null(),
            (Builder::Texts(b), Cell::Texts(v)) => b.append_value(v.into_iter().map(Some)),
            (Builder::Texts(b), Cell::Null) => b.append_null(),
            (Builder::Ints(b), Cell::Ints(v)) => {
                b.values().append_slice(&v);
                b.append(true);
            }
            (Builder::Ints(b), Cell::Null) => b.append_null(),
            (Builder::Floats(b), Cell::Floats(v)) => {
                b.values().append_slice(&v);
                b.append(true);
            }
            (Builder::Floats(b), Cell::Null) => b.append_null(),
            (_, cell) => return Err(cell),
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Text(b) => Arc::new(b.finish()),
            Builder::Double(b) => Arc::new(b.finish()),
            Builder::Int(b) => Arc::new(b.finish()),
            Builder::Long(b) => Arc::new(b.finish()),
            Builder::Flag(b) => Arc::new(b.finish()),
            Builder::Texts(b) => Arc::new(b.finish()),
            Builder::Ints(b) => Arc::new(b.finish()),
            Builder::Floats(b) => Arc::new(b.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_must_fit_their_columns() {
        let mut rows = Rows::of("drift").unwrap();
        rows.push(["1".into(), "baseline".into(), 0.into(), 0.into(), 1.0.into(), Cell::Null]).unwrap();
        let wrong = rows.push(["1".into(), "baseline".into(), 0.into(), "0".into(), 1.0.into(), Cell::Null]);
        assert!(wrong.unwrap_err().to_string().contains("column layer takes Int"));
        let null = rows.push([Cell::Null, "baseline".into(), 0.into(), 0.into(), 1.0.into(), Cell::Null]);
        assert!(null.unwrap_err().to_string().contains("NULL in column prompt_id"));
        assert!(rows.push(["1".into()]).is_err());
    }

    #[test]
    fn every_table_makes_its_declared_schema() {
        for table in super::super::schema::TABLES {
            let batch = Rows::of(table.name).unwrap().finish().unwrap();
            assert_eq!(batch.schema(), table.schema(), "{}", table.name);
            let names = |n: &&str| {
                table.columns.iter().any(|c| c.name == *n) || (table.partitioned && ["model", "dataset"].contains(n))
            };
            assert!(table.key.iter().all(names), "{}", table.name);
        }
    }
}
