//! `t_test_statistic(x, popmean)` and `t_test_p(x, popmean)`: the one-sample t-test as aggregates.
//!
//! In: the scores of a group and the mean to test against (one value a group). Out: t, or the p-value of "mean > popmean".
//! The scores are collected and sorted before they are summed, so order and partitioning of the rows change no bit.

use std::mem::size_of_val;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Float64Array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

use super::student_t::student_t_sf;

/// The outcome of a one-sample t-test.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TTest {
    /// t; None for fewer than two scores or scores without variance.
    statistic: Option<f64>,
    /// P(T > t); without variance 0 or 1, None where the mean is the tested one; None for fewer than two scores.
    p: Option<f64>,
}

/// One-sample, one-sided ("greater") t-test of `scores` against `popmean`; method, section 6.
fn t_test(scores: &mut [f64], popmean: f64) -> TTest {
    const UNKNOWN: TTest = TTest { statistic: None, p: None };
    scores.sort_unstable_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (scores.first(), scores.last()) else { return UNKNOWN };
    let all_finite = least.is_finite() && most.is_finite() && popmean.is_finite();
    if scores.len() < 2 || !all_finite {
        return UNKNOWN;
    }
    if least == most {
        let p = if least > popmean { Some(0.0) } else { (least < popmean).then_some(1.0) };
        return TTest { statistic: None, p };
    }
    let n = scores.len() as f64;
    let mean = exact_sum(scores.iter().copied()) / n;
    let variance = exact_sum(scores.iter().map(|s| (s - mean).powi(2))) / (n - 1.0);
    let t = (mean - popmean) / (variance / n).sqrt();
    TTest { statistic: Some(t), p: Some(student_t_sf(t, n - 1.0)) }
}

/// Sum with Neumaier's compensation: the lost low digits are added up apart.
fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}

/// The two aggregates.
pub(super) fn functions() -> Vec<AggregateUDF> {
    [Part::Statistic, Part::P]
        .into_iter()
        .map(|part| {
            let signature = Signature::exact(vec![DataType::Float64, DataType::Float64], Volatility::Immutable);
            AggregateUDF::from(TTestAggregate { part, signature })
        })
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Statistic,
    P,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct TTestAggregate {
    part: Part,
    signature: Signature,
}

impl AggregateUDFImpl for TTestAggregate {
    fn name(&self) -> &str {
        match self.part {
            Part::Statistic => "t_test_statistic",
            Part::P => "t_test_p",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return exec_err!("{} of distinct values is not a t-test", self.name());
        }
        Ok(Box::new(Sample { part: self.part, scores: Vec::new(), popmean: None }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let scores = DataType::List(Arc::new(Field::new_list_field(DataType::Float64, true)));
        Ok(vec![
            Arc::new(Field::new(format!("{}[scores]", args.name), scores, true)),
            Arc::new(Field::new(format!("{}[popmean]", args.name), DataType::Float64, true)),
        ])
    }
}

/// The scores of one group so far.
#[derive(Debug)]
struct Sample {
    part: Part,
    scores: Vec<f64>,
    popmean: Option<f64>,
}

impl Sample {
    fn test_against(&mut self, popmean: f64) -> Result<()> {
        match self.popmean {
            Some(before) if before != popmean => {
                exec_err!("a t-test needs one popmean a group, found {before} and {popmean}: group by it")
            }
            _ => {
                self.popmean = Some(popmean);
                Ok(())
            }
        }
    }
}

impl Accumulator for Sample {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [scores, popmeans] = values else {
            return exec_err!("a t-test takes scores and a popmean");
        };
        let columns = (scores.as_primitive_opt::<Float64Type>(), popmeans.as_primitive_opt::<Float64Type>());
        let (Some(scores), Some(popmeans)) = columns else {
            return exec_err!("a t-test takes numbers");
        };
        for popmean in popmeans.iter().flatten() {
            self.test_against(popmean)?;
        }
        self.scores.extend(scores.iter().flatten());
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let test = match self.popmean {
            Some(popmean) => t_test(&mut self.scores, popmean),
            None => TTest { statistic: None, p: None },
        };
        Ok(ScalarValue::Float64(match self.part {
            Part::Statistic => test.statistic,
            Part::P => test.p,
        }))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.scores.capacity() * size_of::<f64>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let scores = Arc::new(Float64Array::from(std::mem::take(&mut self.scores)));
        Ok(vec![SingleRowListArrayBuilder::new(scores).build_list_scalar(), ScalarValue::Float64(self.popmean)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [scores, popmeans] = states else {
            return exec_err!("the state of a t-test is its scores and its popmean");
        };
        let columns = (scores.as_list_opt::<i32>(), popmeans.as_primitive_opt::<Float64Type>());
        let (Some(scores), Some(popmeans)) = columns else {
            return Err(exec_datafusion_err!("the state of a t-test has another type"));
        };
        for popmean in popmeans.iter().flatten() {
            self.test_against(popmean)?;
        }
        for part in scores.iter().flatten() {
            if let Some(part) = part.as_primitive_opt::<Float64Type>() {
                self.scores.extend(part.iter().flatten());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_variance_only_the_side_is_known() {
        assert_eq!(t_test(&mut [0.25, 0.25], 0.1), TTest { statistic: None, p: Some(0.0) });
        assert_eq!(t_test(&mut [0.25, 0.25], 0.5), TTest { statistic: None, p: Some(1.0) });
        assert_eq!(t_test(&mut [0.25, 0.25], 0.25), TTest { statistic: None, p: None });
    }

    #[test]
    fn one_score_or_one_that_is_no_number_tells_nothing() {
        assert_eq!(t_test(&mut [0.3], 0.1).p, None);
        assert_eq!(t_test(&mut [], 0.1).p, None);
        assert_eq!(t_test(&mut [0.3, f64::NAN, 0.1], 0.1).p, None);
    }

    #[test]
    fn order_changes_no_bit() {
        let scores: Vec<f64> = (0..101).map(|i| 1.0 / f64::from(1 + (i * 37) % 101)).collect();
        let backwards: Vec<f64> = scores.iter().rev().copied().collect();
        assert_eq!(t_test(&mut scores.clone(), 0.05), t_test(&mut backwards.clone(), 0.05));
    }

    #[test]
    fn a_hand_computed_test() {
        // mean 2, sd 1, n 3: t = (2 - 1) / (1 / sqrt 3) = sqrt 3; df 2: p = 1 / (s (s + t)), s = sqrt 5.
        let test = t_test(&mut [1.0, 2.0, 3.0], 1.0);
        let (t, s) = (3f64.sqrt(), 5f64.sqrt());
        assert!((test.statistic.unwrap() - t).abs() < 1e-15);
        assert!((test.p.unwrap() - 1.0 / (s * (s + t))).abs() < 1e-15);
    }
}
