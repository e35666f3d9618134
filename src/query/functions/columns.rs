//! Columns: the arrays of a batch, by the roles of a function's arguments.
//!
//! In: one array an argument. Out: number columns, a text column, and the arguments that are one value a group.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, StringArray};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::common::{Result, exec_datafusion_err, exec_err};

use super::aggregate::Plan;
use super::group::Parameter;

/// The arrays of a batch by their role.
pub(super) struct Columns<'a> {
    pub(super) numbers: Vec<&'a Float64Array>,
    pub(super) text: Option<&'a StringArray>,
    pub(super) parameters: Vec<ParameterColumn<'a>>,
}

pub(super) enum ParameterColumn<'a> {
    Number(&'a Float64Array),
    Whole(&'a Int64Array),
}

impl<'a> Columns<'a> {
    /// `arrays`: one an argument, of the types that [`coerce`](super::doc::FunctionDoc::coerce) names.
    pub(super) fn of(plan: &Plan, arrays: &'a [ArrayRef]) -> Result<Self> {
        let mut columns = Columns { numbers: Vec::new(), text: None, parameters: Vec::new() };
        for (argument, array) in plan.doc.arguments.iter().zip(arrays) {
            match (argument.per_group, array.data_type()) {
                (true, _) => columns.parameters.push(ParameterColumn::of(plan, array)?),
                (false, DataType::Utf8) => columns.text = array.as_string_opt::<i32>(),
                (false, _) => columns.numbers.extend(array.as_primitive_opt::<Float64Type>()),
            }
        }
        let wanted = plan.doc.arguments.len();
        let found = columns.numbers.len() + columns.parameters.len() + usize::from(columns.text.is_some());
        if found != wanted {
            return exec_err!("{} was planned with other types", plan.doc.signature());
        }
        Ok(columns)
    }

    pub(super) fn parameters(plan: &Plan, arrays: &'a [ArrayRef]) -> Result<Vec<ParameterColumn<'a>>> {
        arrays.iter().map(|array| ParameterColumn::of(plan, array)).collect()
    }
}

impl<'a> ParameterColumn<'a> {
    fn of(plan: &Plan, array: &'a ArrayRef) -> Result<Self> {
        let number = array.as_primitive_opt::<Float64Type>().map(ParameterColumn::Number);
        let whole = || array.as_primitive_opt::<Int64Type>().map(ParameterColumn::Whole);
        number.or_else(whole).ok_or_else(|| exec_datafusion_err!("{}: numbers were planned", plan.doc.signature()))
    }

    /// The value of a row; None where it is NULL.
    pub(super) fn value(&self, row: usize) -> Option<Parameter> {
        match self {
            ParameterColumn::Number(a) => a.is_valid(row).then(|| Parameter::Number(a.value(row) + 0.0)),
            ParameterColumn::Whole(a) => a.is_valid(row).then(|| Parameter::Whole(a.value(row))),
        }
    }
}
