//! `bleu`, `bleu_effective_order`, `chrf`, `is_refusal`: the measures of texts, as SQL functions.
//!
//! In: text columns, the reference first. Out: a double in 0..1, or whether it is a refusal; NULL where a text is NULL.
//! The measures are those of [`crate::measure`]; this file only carries them into SQL.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::utils::take_function_args;
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

use crate::measure::{bleu, chrf, refusal};

/// The four functions.
pub(super) fn functions() -> Vec<ScalarUDF> {
    [Score::Bleu, Score::BleuEffectiveOrder, Score::Chrf]
        .into_iter()
        .map(|score| ScalarUDF::from(TextSimilarity { score, signature: Signature::string(2, Volatility::Immutable) }))
        .chain([ScalarUDF::from(IsRefusal { signature: Signature::string(1, Volatility::Immutable) })])
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
        let (reference, candidate) = (texts(&reference.into_array(rows)?)?, texts(&candidate.into_array(rows)?)?);
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

#[derive(Debug, PartialEq, Eq, Hash)]
struct IsRefusal {
    signature: Signature,
}

impl ScalarUDFImpl for IsRefusal {
    fn name(&self) -> &str {
        "is_refusal"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [response] = take_function_args(self.name(), args.args)?;
        let responses = texts(&response.into_array(args.number_rows)?)?;
        let refusals: BooleanArray = responses.iter().map(|r| r.map(refusal::is_refusal)).collect();
        Ok(ColumnarValue::Array(Arc::new(refusals)))
    }
}

/// Files give Utf8, literals may be Utf8View: one type keeps the loops single.
pub(super) fn texts(array: &ArrayRef) -> Result<StringArray> {
    let array = cast(array, &DataType::Utf8)?;
    array.as_string_opt::<i32>().cloned().ok_or_else(|| exec_datafusion_err!("a text was planned"))
}
