//! `bleu`, `bleu_effective_order`, `chrf`: similarity of two texts, as SQL functions.
//!
//! In: two text columns, the reference first. Out: a double in 0..1; NULL where either text is NULL.
//! The scores are those of [`crate::measure`]; this file only carries them into SQL.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, Float64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::utils::take_function_args;
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

use crate::measure::{bleu, chrf};

/// The three functions.
pub(super) fn functions() -> Vec<ScalarUDF> {
    [Score::Bleu, Score::BleuEffectiveOrder, Score::Chrf]
        .into_iter()
        .map(|score| ScalarUDF::from(TextSimilarity { score, signature: Signature::string(2, Volatility::Immutable) }))
        .collect()
}

/// Which score a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Score {
    Bleu,
    BleuEffectiveOrder,
    Chrf,
}

impl Score {
    fn name(self) -> &'static str {
        match self {
            Score::Bleu => "bleu",
            Score::BleuEffectiveOrder => "bleu_effective_order",
            Score::Chrf => "chrf",
        }
    }

    fn of(self, reference: &str, candidate: &str) -> f64 {
        match self {
            Score::Bleu => bleu::bleu(reference, candidate),
            Score::BleuEffectiveOrder => bleu::bleu_effective_order(reference, candidate),
            Score::Chrf => chrf::chrf(reference, candidate),
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct TextSimilarity {
    score: Score,
    signature: Signature,
}

impl ScalarUDFImpl for TextSimilarity {
    fn name(&self) -> &str {
        self.score.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [reference, candidate] = take_function_args(self.name(), args.args)?;
        // Files give Utf8, literals may be Utf8View: one type keeps the loop below single.
        let reference = cast(&reference.into_array(rows)?, &DataType::Utf8)?;
        let candidate = cast(&candidate.into_array(rows)?, &DataType::Utf8)?;
        let (Some(reference), Some(candidate)) = (reference.as_string_opt::<i32>(), candidate.as_string_opt::<i32>())
        else {
            return Err(exec_datafusion_err!("{} takes two texts", self.name()));
        };
        let scores: Float64Array = reference
            .iter()
            .zip(candidate.iter())
            .map(|pair| match pair {
                (Some(reference), Some(candidate)) => Some(self.score.of(reference, candidate)),
                _ => None,
            })
            .collect();
        Ok(ColumnarValue::Array(Arc::new(scores) as Arc<dyn Array>))
    }
}
