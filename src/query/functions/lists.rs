//! `bootstrap_means`, `first_half_means`, `second_half_means`: resampled means of a list, drawn alike for one key.
//!
//! In: a list of numbers, a number of draws, a seed and a key. Out: a list of means, one a draw.
//! Draws depend on (seed, key, length) alone: lists of one key and length, say the prompts of a data set under different
//! models, are resampled at the same places.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, Float64Builder, ListBuilder};
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Int64Type};
use datafusion::common::utils::take_function_args;
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::aggregate::list_of;
use super::doc::ArgumentKind::{Numbers, Text, Whole};
use super::doc::{FunctionDoc, argument};
use super::resample::{Stream, checked_draws};

/// What a draw takes of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Taken {
    /// As many places as there are, with replacement.
    Bootstrap,
    /// A random half: floor(n / 2) places.
    FirstHalf,
    /// What that half leaves.
    SecondHalf,
}

/// The mean of what each draw takes of `values`; None for an empty list, or a list of one where halves are asked for.
pub fn drawn_means(values: &[f64], taken: Taken, draws: usize, seed: i64, key: &str) -> Option<Vec<f64>> {
    let n = values.len();
    let (kind, range) = match taken {
        Taken::Bootstrap => ("bootstrap", 0..n),
        Taken::FirstHalf => ("halves", 0..n / 2),
        Taken::SecondHalf => ("halves", n / 2..n),
    };
    if range.is_empty() || (taken != Taken::Bootstrap && n < 2) {
        return None;
    }
    let mut stream = Stream::new(seed, &[kind, key, &n.to_string()]);
    let mut shuffled: Vec<usize> = (0..n).collect();
    let mean =
        |places: &[usize]| places.iter().filter_map(|&place| values.get(place)).sum::<f64>() / places.len() as f64;
    let one_draw = |_| {
        match taken {
            Taken::Bootstrap => shuffled.iter_mut().for_each(|place| *place = stream.below(n)),
            Taken::FirstHalf | Taken::SecondHalf => stream.shuffle(&mut shuffled),
        }
        mean(shuffled.get(range.clone()).unwrap_or(&[]))
    };
    Some((0..draws).map(one_draw).collect())
}

pub(super) const BOOTSTRAP_MEANS: FunctionDoc = FunctionDoc {
    name: "bootstrap_means",
    is_aggregate: false,
    arguments: &[
        argument("values", Numbers, "the list, in an order that is the same for all lists of the key"),
        argument("draws", Whole, "number of resamples"),
        argument("seed", Whole, "seed of the draws"),
        argument("key", Text, "lists of one key and length are resampled at the same places"),
    ],
    returns: "list of double, one a draw",
    what: "Means of a list resampled with replacement. NULL for an empty list or one with a NULL or NaN.",
    example: "select cardinality(m), m = bootstrap_means([11.0, 12.0, 16.0], 5, 1, 'k')
from (select bootstrap_means([11.0, 12.0, 16.0], 5, 1, 'k') as m)",
    result: "5 | true",
    source: "Efron 1979",
};

pub(super) const FIRST_HALF_MEANS: FunctionDoc = FunctionDoc {
    name: "first_half_means",
    what: "Means of random halves of a list: floor(n / 2) of its n values. NULL for fewer than two values or a list \
           with a NULL or NaN.",
    example: "select first_half_means([3.0, 3.0, 3.0], 2, 1, 'k')",
    result: "[3.0, 3.0]",
    source: "split halves: Spearman 1910, Brown 1910",
    ..BOOTSTRAP_MEANS
};

pub(super) const SECOND_HALF_MEANS: FunctionDoc = FunctionDoc {
    name: "second_half_means",
    what: "Means of what the halves of first_half_means, drawn with the same seed and key, leave. NULL as there.",
    example: "select round(first_half_means([1.0, 2.0], 1, 1, 'k')[1] + second_half_means([1.0, 2.0], 1, 1, 'k')[1], 6)",
    result: "3.0",
    ..FIRST_HALF_MEANS
};

/// The functions of this file.
pub(super) fn functions() -> Vec<ScalarUDF> {
    [
        (&BOOTSTRAP_MEANS, Taken::Bootstrap),
        (&FIRST_HALF_MEANS, Taken::FirstHalf),
        (&SECOND_HALF_MEANS, Taken::SecondHalf),
    ]
    .into_iter()
    .map(|(doc, taken)| {
        let signature = Signature::user_defined(Volatility::Immutable);
        ScalarUDF::from(Means { doc, taken, signature, documentation: doc.documentation() })
    })
    .collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Means {
    doc: &'static FunctionDoc,
    taken: Taken,
    signature: Signature,
    documentation: Documentation,
}

impl ScalarUDFImpl for Means {
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
        Ok(list_of(DataType::Float64))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [values, draws, seeds, keys] = take_function_args(self.name(), args.args)?;
        let (values, draws) = (values.into_array(rows)?, draws.into_array(rows)?);
        let (seeds, keys) = (seeds.into_array(rows)?, keys.into_array(rows)?);
        let planned = || exec_datafusion_err!("{} was planned with other types", self.doc.signature());
        let values = values.as_list_opt::<i32>().ok_or_else(planned)?;
        let draws = draws.as_primitive_opt::<Int64Type>().ok_or_else(planned)?;
        let seeds = seeds.as_primitive_opt::<Int64Type>().ok_or_else(planned)?;
        let keys = keys.as_string_opt::<i32>().ok_or_else(planned)?;
        let mut out = ListBuilder::new(Float64Builder::new())
            .with_field(Arc::new(Field::new_list_field(DataType::Float64, true)));
        for row in 0..rows {
            let known = values.is_valid(row) && draws.is_valid(row) && seeds.is_valid(row) && keys.is_valid(row);
            if !known {
                out.append_null();
                continue;
            }
            let list = values.value(row);
            let list = list.as_primitive_opt::<Float64Type>().ok_or_else(planned)?;
            let draws = checked_draws(self.name(), draws.value(row))?;
            let complete = list.null_count() == 0 && list.values().iter().all(|x| x.is_finite());
            let means = complete
                .then(|| drawn_means(list.values(), self.taken, draws, seeds.value(row), keys.value(row)))
                .flatten();
            match means {
                Some(means) => {
                    out.values().append_slice(&means);
                    out.append(true);
                }
                None => out.append_null(),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_make_up_the_whole() {
        let values: Vec<f64> = (0..7).map(|i| f64::from(1 << i)).collect();
        let first = drawn_means(&values, Taken::FirstHalf, 50, 3, "d").unwrap();
        let second = drawn_means(&values, Taken::SecondHalf, 50, 3, "d").unwrap();
        for (a, b) in first.iter().zip(&second) {
            assert!((3.0 * a + 4.0 * b - 127.0).abs() < 1e-9);
        }
        assert!(first.windows(2).any(|w| w[0] != w[1]));
    }

    #[test]
    fn lists_of_a_key_and_length_are_drawn_jointly() {
        let a = [1.0, 2.0, 5.0, 7.0];
        let twice: Vec<f64> = a.iter().map(|x| 2.0 * x).collect();
        let of = |values: &[f64], key: &str| drawn_means(values, Taken::Bootstrap, 30, 1, key).unwrap();
        let expected: Vec<f64> = of(&a, "k").iter().map(|x| 2.0 * x).collect();
        assert_eq!(of(&twice, "k"), expected);
        assert_ne!(of(&a, "k"), of(&a, "other"));
        // Fewer draws are the first of more.
        assert_eq!(drawn_means(&a, Taken::Bootstrap, 10, 1, "k").unwrap(), of(&a, "k")[..10]);
    }

    #[test]
    fn nothing_to_draw_from() {
        assert_eq!(drawn_means(&[], Taken::Bootstrap, 3, 1, ""), None);
        assert_eq!(drawn_means(&[1.0], Taken::FirstHalf, 3, 1, ""), None);
        assert_eq!(drawn_means(&[1.0], Taken::SecondHalf, 3, 1, ""), None);
    }
}
