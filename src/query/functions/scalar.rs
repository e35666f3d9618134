//! Scalar: a formula over a few numbers as an SQL function.
//!
//! In: the declaration of a function and its formula. Out: a scalar function for DataFusion.
//! NULL in gives NULL out; so does a value for which the formula is not defined.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::doc::FunctionDoc;

/// A formula over the arguments in order; None where it is not defined.
pub(super) type Formula = fn(&[f64]) -> Option<f64>;

/// The function that `doc` declares, with a result of type double.
pub(super) fn number(doc: &'static FunctionDoc, formula: Formula) -> ScalarUDF {
    function(doc, formula, DataType::Float64)
}

/// The same with a result that is a whole number.
pub(super) fn whole(doc: &'static FunctionDoc, formula: Formula) -> ScalarUDF {
    function(doc, formula, DataType::Int64)
}

fn function(doc: &'static FunctionDoc, formula: Formula, result: DataType) -> ScalarUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    ScalarUDF::from(OfNumbers { doc, formula, result, signature, documentation: doc.documentation() })
}

#[derive(Debug)]
struct OfNumbers {
    doc: &'static FunctionDoc,
    formula: Formula,
    result: DataType,
    signature: Signature,
    documentation: Documentation,
}

impl PartialEq for OfNumbers {
    fn eq(&self, other: &Self) -> bool {
        self.doc == other.doc
    }
}

impl Eq for OfNumbers {}

impl Hash for OfNumbers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.doc.hash(state);
    }
}

impl ScalarUDFImpl for OfNumbers {
    fn name(&self) -> &str {
        self.doc.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.doc.coerce(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let all_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if all_constant { 1 } else { args.number_rows };
        let columns: Vec<ArrayRef> = args
            .args
            .into_iter()
            .map(|arg| cast(&arg.into_array(rows)?, &DataType::Float64).map_err(Into::into))
            .collect::<Result<_>>()?;
        let columns: Vec<&Float64Array> = columns
            .iter()
            .map(|column| column.as_primitive_opt::<Float64Type>())
            .collect::<Option<_>>()
            .ok_or_else(|| exec_datafusion_err!("{} takes numbers", self.doc.signature()))?;
        let mut values = vec![0.0; columns.len()];
        let mut of_row = |row: usize| {
            for (value, column) in values.iter_mut().zip(&columns) {
                *value = column.is_valid(row).then(|| column.value(row))?;
            }
            if values.iter().any(|x| x.is_nan()) {
                return None;
            }
            (self.formula)(&values).filter(|x| !x.is_nan())
        };
        let results: Float64Array = (0..rows).map(&mut of_row).collect();
        let results = cast(&(Arc::new(results) as ArrayRef), &self.result)?;
        if all_constant {
            return Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&results, 0)?));
        }
        Ok(ColumnarValue::Array(results))
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
    }
}
