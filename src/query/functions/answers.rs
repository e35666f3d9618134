//! `normalize_answer`, `answer_exact`, `answer_contains`, `answer_f1`: right answers, as SQL functions.
//!
//! In: a response, and for all but the first the list of reference answers. Out: a text, a boolean or a double in 0..1;
//! NULL where the response or the list is NULL, or the list holds no answer. The rules are those of [`crate::measure::answers`].

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, Float64Array, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::utils::take_function_args;
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::doc::ArgumentKind::{Text, Texts};
use super::doc::{FunctionDoc, argument};
use super::similarity::texts;
use crate::measure::answers::{self, Match};

/// The four functions.
pub(super) fn functions() -> Vec<ScalarUDF> {
    let signature = || Signature::user_defined(Volatility::Immutable);
    let normalize = NormalizeAnswer { signature: signature(), documentation: NORMALIZE_ANSWER.documentation() };
    let score = |score: Score| {
        let documentation = score.doc().documentation();
        ScalarUDF::from(AnswerScore { score, signature: signature(), documentation })
    };
    [Score::Exact, Score::Contains, Score::F1].into_iter().map(score).chain([ScalarUDF::from(normalize)]).collect()
}

pub(super) const NORMALIZE_ANSWER: FunctionDoc = FunctionDoc {
    name: "normalize_answer",
    is_aggregate: false,
    arguments: &[argument("text", Text, "an answer or a response")],
    returns: "text",
    what: "The form in which answers are compared: lower case, without punctuation, articles and runs of spaces.",
    example: "select normalize_answer('The Eiffel  Tower!')",
    result: "eiffel tower",
    source: "Rajpurkar et al. 2016",
};

pub(super) const ANSWER_EXACT: FunctionDoc = FunctionDoc {
    name: "answer_exact",
    arguments: &[
        argument("response", Text, "a response"),
        argument("answers", Texts, "the right answers; one of them is enough"),
    ],
    returns: "boolean",
    what: "Whether a response is an answer, both normalized. NULL where there is no answer.",
    example: "select answer_exact('Paris.', ['Paris', 'City of Light'])",
    result: "true",
    ..NORMALIZE_ANSWER
};

pub(super) const ANSWER_CONTAINS: FunctionDoc = FunctionDoc {
    name: "answer_contains",
    what: "Whether a response contains an answer as whole words, both normalized. NULL where there is no answer.",
    example: "select answer_contains('It is Paris.', ['Paris'])",
    ..ANSWER_EXACT
};

pub(super) const ANSWER_F1: FunctionDoc = FunctionDoc {
    name: "answer_f1",
    returns: "double, 0..1",
    what: "Greatest F1 of the words of a response against those of an answer, both normalized. NULL where there is no \
           answer.",
    example: "select round(answer_f1('it is Paris', ['Paris']), 6)",
    result: "0.5",
    ..ANSWER_EXACT
};

#[derive(Debug, PartialEq, Eq, Hash)]
struct NormalizeAnswer {
    signature: Signature,
    documentation: Documentation,
}

impl ScalarUDFImpl for NormalizeAnswer {
    fn name(&self) -> &str {
        NORMALIZE_ANSWER.name
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        NORMALIZE_ANSWER.coerce(types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
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
    documentation: Documentation,
}

impl Score {
    fn doc(self) -> &'static FunctionDoc {
        match self {
            Score::Exact => &ANSWER_EXACT,
            Score::Contains => &ANSWER_CONTAINS,
            Score::F1 => &ANSWER_F1,
        }
    }
}

impl ScalarUDFImpl for AnswerScore {
    fn name(&self) -> &str {
        self.score.doc().name
    }

    fn documentation(&self) -> Option<&Documentation> {
        Some(&self.documentation)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.score.doc().coerce(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.score == Score::F1 { DataType::Float64 } else { DataType::Boolean })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [response, answers] = take_function_args(self.name(), args.args)?;
        let responses = texts(&response.into_array(args.number_rows)?)?;
        let lists = cast(&answers.into_array(args.number_rows)?, &Texts.data_type())?;
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
