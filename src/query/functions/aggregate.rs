//! Aggregate: a statistic of the rows of a group as an SQL function.
//!
//! In: the declaration of a function and what it computes of a [`Group`]. Out: an aggregate for DataFusion.
//! Its result is one number, or a struct whose fields are NULL one by one (never the struct as a whole).

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, GroupsAccumulator, Signature, Volatility,
};

use super::accumulate::OneGroup;
use super::collect::Collected;
use super::doc::{Argument, FunctionDoc};
use super::group::Group;

/// One value of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    /// A number; NaN and the infinities become NULL.
    Number(f64),
    Count(i64),
    Text(&'static str),
    Null,
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Cell::Null, Cell::Number)
    }
}

/// The type of a [`Cell`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    Number,
    Count,
    Text,
}

impl CellKind {
    fn data_type(self) -> DataType {
        match self {
            CellKind::Number => DataType::Float64,
            CellKind::Count => DataType::Int64,
            CellKind::Text => DataType::Utf8,
        }
    }

    fn array(self, cells: impl Iterator<Item = Cell>) -> ArrayRef {
        match self {
            CellKind::Number => Arc::new(Float64Array::from_iter(cells.map(|cell| match cell {
                Cell::Number(x) if x.is_finite() => Some(x),
                _ => None,
            }))),
            CellKind::Count => Arc::new(Int64Array::from_iter(cells.map(|cell| match cell {
                Cell::Count(n) => Some(n),
                _ => None,
            }))),
            CellKind::Text => Arc::new(StringArray::from_iter(cells.map(|cell| match cell {
                Cell::Text(text) => Some(text),
                _ => None,
            }))),
        }
    }
}

/// What an aggregate gives.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// One number.
    Number,
    /// A struct with these fields.
    Fields(&'static [(&'static str, CellKind)]),
}

impl Shape {
    /// Number of cells of a result.
    pub(super) fn width(self) -> usize {
        match self {
            Shape::Number => 1,
            Shape::Fields(fields) => fields.len(),
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Shape::Number => DataType::Float64,
            Shape::Fields(fields) => {
                DataType::Struct(fields.iter().map(|(name, kind)| Field::new(*name, kind.data_type(), true)).collect())
            }
        }
    }

    /// One row a result.
    pub(super) fn array(self, results: &[Vec<Cell>]) -> Result<ArrayRef> {
        let column = |i: usize| results.iter().map(move |cells| cells.get(i).copied().unwrap_or(Cell::Null));
        let fields = match self {
            Shape::Number => return Ok(CellKind::Number.array(column(0))),
            Shape::Fields(fields) => fields,
        };
        let DataType::Struct(schema) = self.data_type() else { return exec_err!("a struct was declared") };
        let columns = fields.iter().enumerate().map(|(i, (_, kind))| kind.array(column(i))).collect();
        Ok(Arc::new(StructArray::try_new(schema, columns, None)?))
    }
}

/// What is computed of a group: as many cells as its [`Shape`] has.
pub(super) type Statistic = fn(&Group) -> Result<Vec<Cell>>;

/// The aggregate that `doc` declares.
pub(super) fn aggregate(doc: &'static FunctionDoc, shape: Shape, statistic: Statistic) -> AggregateUDF {
    AggregateUDF::from(Collecting {
        plan: Plan { doc, shape, statistic },
        signature: Signature::user_defined(Volatility::Immutable),
        documentation: doc.documentation(),
    })
}

/// A declared statistic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) doc: &'static FunctionDoc,
    pub(super) shape: Shape,
    pub(super) statistic: Statistic,
}

#[derive(Debug)]
struct Collecting {
    plan: Plan,
    signature: Signature,
    documentation: Documentation,
}

impl PartialEq for Collecting {
    fn eq(&self, other: &Self) -> bool {
        self.plan.doc == other.plan.doc
    }
}

impl Eq for Collecting {}

impl Hash for Collecting {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.plan.doc.hash(state);
    }
}

impl AggregateUDFImpl for Collecting {
    fn name(&self) -> &str {
        self.plan.doc.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.plan.doc.coerce(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.plan.shape.data_type())
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let field = |argument: &Argument| {
            let kind = argument.kind.data_type();
            let of_group = if argument.per_group { kind } else { list_of(kind) };
            Arc::new(Field::new(format!("{}[{}]", args.name, argument.name), of_group, true))
        };
        Ok(self.plan.doc.arguments.iter().map(field).collect())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return exec_err!("{} does not take distinct: equal values are values too", self.name());
        }
        Ok(Box::new(OneGroup::new(self.plan)))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Collected::new(self.plan)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
    }
}

/// The type of a list of `element`s.
pub(super) fn list_of(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(element, true)))
}
