//! `normalize_answer`, `answer_exact`, `answer_contains`, `answer_f1`: right answers, as SQL functions.
//!
//! In: a response, and for all but the first the list of reference answers. Out: a text, a boolean or a double in 0..1;
//! NULL where the response or the list is NULL, or the list holds no answer. The rules are those of [`crate::measure::answers`].

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, Float64Array, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::utils::take_function_args;
use datafusion::common::{Result, exec_datafusion_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

use super::similarity::texts;
use crate::measure::answers::{self, Match};

/// The four functions.
pub(super) fn functions() -> Vec<ScalarUDF> {
    let normalize = NormalizeAnswer { signature: Signature::string(1, Volatility::Immutable) };
    let score =
        |score| ScalarUDF::from(AnswerScore { score, signature: Signature::user_defined(Volatility::Immutable) });
    [Score::Exact, Score::Contains, Score::F1].into_iter().map(score).chain([ScalarUDF::from(normalize)]).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct NormalizeAnswer {
    signature: Signature,
}

impl ScalarUDFImpl for NormalizeAnswer {
    fn name(&self) -> &str {
        "normalize_answer"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text] = take_function_args(self.name(), args.args)?;
        let given = texts(&text.into_array(args.number_rows)?)?;
        let normalized: StringArray = given.iter().map(|text| text.map(answers::normalize)).collect();
        Ok(ColumnarValue::Array(Arc::new(normalized)))
    }
}

/// Which score a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Score {
    Exact,
    Contains,
    F1,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct AnswerScore {
    score: Score,
    signature: Signature,
}

/// How a list of answers comes to the function.
fn list_of_texts() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
}

impl ScalarUDFImpl for AnswerScore {
    fn name(&self) -> &str {
        match self.score {
            Score::Exact => "answer_exact",
            Score::Contains => "answer_contains",
            Score::F1 => "answer_f1",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, args: &[DataType]) -> Result<Vec<DataType>> {
        let [response, answers] = take_function_args(self.name(), args)?;
        if !(response.is_string() || response.is_null()) {
            return plan_err!("{} takes a text first, not {response}", self.name());
        }
        match answers {
            DataType::List(f) | DataType::LargeList(f) | DataType::FixedSizeList(f, _)
                if f.data_type().is_string() || f.data_type().is_null() => {}
            DataType::Null => {}
            other => return plan_err!("{} takes a list of texts second, not {other}", self.name()),
        }
        Ok(vec![DataType::Utf8, list_of_texts()])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.score == Score::F1 { DataType::Float64 } else { DataType::Boolean })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [response, answers] = take_function_args(self.name(), args.args)?;
        let responses = texts(&response.into_array(args.number_rows)?)?;
        let lists = cast(&answers.into_array(args.number_rows)?, &list_of_texts())?;
        let lists = lists.as_list_opt::<i32>().ok_or_else(|| exec_datafusion_err!("a list was planned"))?;
        let matches = responses.iter().zip(lists.iter()).map(|(response, list)| -> Result<Option<Match>> {
            let (Some(response), Some(list)) = (response, list) else { return Ok(None) };
            let answers = texts(&list)?;
            Ok(answers::compare(response, answers.iter().flatten()))
        });
        let matches: Vec<Option<Match>> = matches.collect::<Result<_>>()?;
        let each = matches.iter();
        let scores: ArrayRef = match self.score {
            Score::Exact => Arc::new(each.map(|m| m.map(|m| m.exact)).collect::<BooleanArray>()),
            Score::Contains => Arc::new(each.map(|m| m.map(|m| m.contains)).collect::<BooleanArray>()),
            Score::F1 => Arc::new(each.map(|m| m.map(|m| m.f1)).collect::<Float64Array>()),
        };
        Ok(ColumnarValue::Array(scores))
    }
}
