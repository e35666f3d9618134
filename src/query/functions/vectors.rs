//! `cosine` and `common_prefix_length`: comparisons of two lists.
//!
//! In: two list columns. Out: one number a row; NULL where a list is NULL.
//! Lists of float32 (hidden states) are read in place; sums run in float64.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, ListArray, PrimitiveArray};
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Field, Float32Type, Float64Type, Int32Type, Int64Type,
};
use datafusion::common::utils::take_function_args;
use datafusion::common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::doc::ArgumentKind::{Numbers, Wholes};
use super::doc::{FunctionDoc, argument};
use crate::measure::cosine::cosine;

/// The two functions.
pub(super) fn functions() -> Vec<ScalarUDF> {
    [Comparison::Cosine, Comparison::CommonPrefixLength]
        .into_iter()
        .map(|comparison| {
            let signature = Signature::user_defined(Volatility::Immutable);
            ScalarUDF::from(ListComparison { comparison, signature, documentation: comparison.doc().documentation() })
        })
        .collect()
}

pub(super) const COSINE: FunctionDoc = FunctionDoc {
    name: "cosine",
    is_aggregate: false,
    arguments: &[argument("a", Numbers, "a list"), argument("b", Numbers, "another of the same length")],
    returns: "double, -1..1",
    what: "Cosine of two lists of numbers; exactly 1 for equal ones. NULL for a list of zeros or with a NULL.",
    example: "select round(cosine([3, 4], [4, 3]), 6)",
    result: "0.96",
    source: "definition",
};

pub(super) const COMMON_PREFIX_LENGTH: FunctionDoc = FunctionDoc {
    name: "common_prefix_length",
    arguments: &[argument("a", Wholes, "a list"), argument("b", Wholes, "another")],
    returns: "bigint",
    what: "Number of leading elements that two lists of whole numbers have in common.",
    example: "select common_prefix_length([1, 2, 3], [1, 2, 4])",
    result: "2",
    ..COSINE
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Comparison {
    Cosine,
    CommonPrefixLength,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ListComparison {
    comparison: Comparison,
    signature: Signature,
    documentation: Documentation,
}

impl Comparison {
    fn doc(self) -> &'static FunctionDoc {
        match self {
            Comparison::Cosine => &COSINE,
            Comparison::CommonPrefixLength => &COMMON_PREFIX_LENGTH,
        }
    }
}

impl ListComparison {
    /// The element type that both lists are brought to: the narrow one where both have it already.
    fn element(&self, args: &[DataType]) -> DataType {
        let narrow = match self.comparison {
            Comparison::Cosine => DataType::Float32,
            Comparison::CommonPrefixLength => DataType::Int32,
        };
        let is_narrow = |t: &DataType| matches!(t, DataType::List(f) if *f.data_type() == narrow) || t.is_null();
        match self.comparison {
            _ if args.iter().all(is_narrow) => narrow,
            Comparison::Cosine => DataType::Float64,
            Comparison::CommonPrefixLength => DataType::Int64,
        }
    }
}

impl ScalarUDFImpl for ListComparison {
    fn name(&self) -> &str {
        self.comparison.doc().name
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, args: &[DataType]) -> Result<Vec<DataType>> {
        let [_, _] = take_function_args(self.name(), args)?;
        for arg in args {
            let element = match arg {
                DataType::List(f) | DataType::LargeList(f) | DataType::FixedSizeList(f, _) => f.data_type(),
                DataType::Null => continue,
                other => return plan_err!("{} takes two lists of numbers, not {other}", self.name()),
            };
            let fits = element.is_null()
                || match self.comparison {
                    Comparison::Cosine => element.is_numeric(),
                    Comparison::CommonPrefixLength => element.is_integer(),
                };
            if !fits {
                return plan_err!("{} can't take a list of {element}", self.name());
            }
        }
        let list = DataType::List(Arc::new(Field::new_list_field(self.element(args), true)));
        Ok(vec![list.clone(), list])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.comparison {
            Comparison::Cosine => DataType::Float64,
            Comparison::CommonPrefixLength => DataType::Int64,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b] = take_function_args(self.name(), args.args)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let lists = (a.as_list_opt::<i32>(), b.as_list_opt::<i32>());
        let (Some(a), Some(b)) = lists else {
            return Err(exec_datafusion_err!("{} takes two lists", self.name()));
        };
        let result: ArrayRef = match (self.comparison, a.value_type()) {
            (Comparison::Cosine, DataType::Float32) => Arc::new(cosines::<Float32Type>(a, b)?),
            (Comparison::Cosine, _) => Arc::new(cosines::<Float64Type>(a, b)?),
            (Comparison::CommonPrefixLength, DataType::Int32) => Arc::new(prefixes::<Int32Type>(a, b)?),
            (Comparison::CommonPrefixLength, _) => Arc::new(prefixes::<Int64Type>(a, b)?),
        };
        Ok(ColumnarValue::Array(result))
    }
}

/// The elements of a list column's row, and whether one of them is NULL; None for a NULL row.
fn row<T: ArrowPrimitiveType>(lists: &ListArray, i: usize) -> Result<Option<PrimitiveArray<T>>> {
    if lists.is_null(i) {
        return Ok(None);
    }
    match lists.value(i).as_primitive_opt::<T>() {
        Some(values) => Ok(Some(values.clone())),
        None => exec_err!("a list of {} where {} was planned", lists.value_type(), T::DATA_TYPE),
    }
}

fn cosines<T: ArrowPrimitiveType>(a: &ListArray, b: &ListArray) -> Result<Float64Array>
where
    T::Native: Into<f64>,
{
    let mut out = Float64Array::builder(a.len());
    for i in 0..a.len() {
        let (Some(x), Some(y)) = (row::<T>(a, i)?, row::<T>(b, i)?) else {
            out.append_null();
            continue;
        };
        if x.len() != y.len() {
            return exec_err!("cosine of lists of {} and {} elements", x.len(), y.len());
        }
        let known = x.null_count() == 0 && y.null_count() == 0;
        out.append_option(if known { cosine(x.values(), y.values()) } else { None });
    }
    Ok(out.finish())
}

fn prefixes<T: ArrowPrimitiveType>(a: &ListArray, b: &ListArray) -> Result<Int64Array>
where
    T::Native: PartialEq,
{
    let mut out = Int64Array::builder(a.len());
    for i in 0..a.len() {
        let (Some(x), Some(y)) = (row::<T>(a, i)?, row::<T>(b, i)?) else {
            out.append_null();
            continue;
        };
        let equal = x.iter().zip(y.iter()).take_while(|(p, q)| p == q).count();
        out.append_value(i64::try_from(equal).unwrap_or(i64::MAX));
    }
    Ok(out.finish())
}

#[cfg(test)]
mod tests {
    use super::cosine;

    #[test]
    fn equal_vectors_give_exactly_one() {
        for n in 1..50usize {
            let v: Vec<f32> = (0..n).map(|i| ((i * 7919 + n * 31) % 997) as f32 * 0.0137 - 3.3).collect();
            assert_eq!(cosine(&v, &v), Some(1.0), "length {n}");
            let opposite: Vec<f32> = v.iter().map(|x| -x).collect();
            assert_eq!(cosine(&v, &opposite), Some(-1.0), "length {n}");
        }
    }

    #[test]
    fn known_angles() {
        assert_eq!(cosine(&[1.0f32, 0.0], &[0.0, 2.0]), Some(0.0));
        let c = cosine(&[3.0f64, 4.0, 0.0, 0.0, 0.0], &[4.0, 3.0, 0.0, 0.0, 0.0]).unwrap();
        assert!((c - 0.96).abs() < 1e-15);
    }

    #[test]
    fn a_vector_without_length_has_no_angle() {
        assert_eq!(cosine(&[0.0f32, 0.0], &[1.0, 2.0]), None);
        assert_eq!(cosine::<f32>(&[], &[]), None);
    }
}
