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
use datafusion::logical_expr::{
    ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::doc::ArgumentKind::Text;
use super::doc::{FunctionDoc, argument};
use crate::measure::{bleu, chrf, refusal};

/// The four functions.
pub(super) fn functions() -> Vec<ScalarUDF> {
    let similarity = |score: Score| {
        let signature = Signature::user_defined(Volatility::Immutable);
        ScalarUDF::from(TextSimilarity { score, signature, documentation: score.doc().documentation() })
    };
    let signature = Signature::user_defined(Volatility::Immutable);
    let is_refusal = ScalarUDF::from(IsRefusal { signature, documentation: IS_REFUSAL.documentation() });
    let scores = [Score::Bleu, Score::BleuEffectiveOrder, Score::Chrf].into_iter();
    scores.map(similarity).chain([is_refusal]).collect()
}

pub(super) const BLEU: FunctionDoc = FunctionDoc {
    name: "bleu",
    is_aggregate: false,
    arguments: &[
        argument("reference", Text, "the text to compare with"),
        argument("candidate", Text, "the text that is compared"),
    ],
    returns: "double, 0..1",
    what: "Corpus BLEU of one pair of texts: tokenizer 13a, exponential smoothing. 0 for texts under four tokens, even \
           equal ones.",
    example: "select round(bleu('the cat sat on the mat', 'the cat sat on a mat'), 6)",
    result: "0.537285",
    source: "Papineni et al. 2002; Post 2018 (sacrebleu)",
};

pub(super) const BLEU_EFFECTIVE_ORDER: FunctionDoc = FunctionDoc {
    name: "bleu_effective_order",
    what: "BLEU over the orders of n-grams that the candidate has, so that short texts have one too.",
    example: "select round(bleu_effective_order('in Paris', 'in Paris'), 6)",
    result: "1.0",
    ..BLEU
};

pub(super) const CHRF: FunctionDoc = FunctionDoc {
    name: "chrf",
    what: "chrF: F score (beta 2) of character n-grams up to 6.",
    example: "select round(chrf('Paris', 'Paris'), 6)",
    result: "1.0",
    source: "Popovic 2015; Post 2018 (sacrebleu)",
    ..BLEU
};

pub(super) const IS_REFUSAL: FunctionDoc = FunctionDoc {
    name: "is_refusal",
    arguments: &[argument("response", Text, "a response")],
    returns: "boolean",
    what: "Whether a response declines to answer, by a rule over English phrases.",
    example: "select is_refusal('I''m sorry, but I can''t help with that.'), is_refusal('Paris.')",
    result: "true | false",
    source: "this project",
    ..BLEU
};

/// Which score a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Score {
    Bleu,
    BleuEffectiveOrder,
    Chrf,
}

impl Score {
    fn doc(self) -> &'static FunctionDoc {
        match self {
            Score::Bleu => &BLEU,
            Score::BleuEffectiveOrder => &BLEU_EFFECTIVE_ORDER,
            Score::Chrf => &CHRF,
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
    documentation: Documentation,
}

impl ScalarUDFImpl for TextSimilarity {
    fn name(&self) -> &str {
        self.score.doc().name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.score.doc().coerce(types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
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
    documentation: Documentation,
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

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        IS_REFUSAL.coerce(types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
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
