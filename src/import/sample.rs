//! Sample: one line of a `samples_*.jsonl` file of lm-evaluation-harness.
//!
//! In: a row with doc_id, target, arguments, resps and filtered_resps. Out: prompt, reference answers and responses.
//! Of generation tasks the response is the text; of multiple choice the continuation with the greatest log-likelihood,
//! and the target its continuation. A task that only scores whole texts (perplexity) has no response and is refused.

use serde_json::Value;

use super::Responses;
use super::columns::Cells;
use crate::datasets::{ListForm, read_answers};
use crate::error::InputError;
use crate::{Error, Result};

/// The keys that are read.
pub(super) const KEYS: [&str; 6] = ["doc_id", "target", "arguments", "resps", "filtered_resps", "filter"];

/// What a line says.
#[derive(Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) prompt_id: String,
    /// The request as the model got it.
    pub(super) text: String,
    /// Reference answers; empty where the task has none.
    pub(super) answers: Vec<String>,
    /// One a repeat.
    pub(super) responses: Vec<String>,
}

/// One request of a document.
struct Request {
    context: String,
    asked: Asked,
}

enum Asked {
    /// For a text; settings of generation stand in its place.
    Text,
    /// For the log-likelihood of a continuation.
    Continuation(String),
    /// For the log-likelihood of all.
    Whole,
}

impl Sample {
    /// Reads a line.
    ///
    /// # Errors
    /// A key is missing, or is laid out in another way: file, line and key.
    pub(super) fn read(cells: &Cells, responses: Responses) -> Result<Sample> {
        let prompt_id = cells.required("doc_id")?.into_owned();
        let requests = requests(cells)?;
        let Some(first) = requests.first() else {
            return Err(cells.wrong("arguments", "holds no request").into());
        };
        let text = first.context.clone();
        let field = match responses {
            Responses::Raw => "resps",
            Responses::Filtered => "filtered_resps",
        };
        let answered = match cells.value(field) {
            Some(Value::Array(items)) if !items.is_empty() => items,
            _ => return Err(cells.wrong(field, "is no list of responses").into()),
        };
        let targets = match cells.value("target") {
            Some(target) => read_answers(target, ListForm::Auto)
                .map_err(|found| Error::from(cells.wrong("target", "is no text").found(found)))?,
            None => Vec::new(),
        };
        match first.asked {
            Asked::Continuation(_) => {
                let choices = choices(&requests).ok_or_else(|| no_choice(cells))?;
                let best = likeliest(answered, choices.len()).ok_or_else(|| {
                    cells
                        .wrong(field, "does not hold a log-likelihood a choice")
                        .expected(format!("{} of [log-likelihood, is greedy]", choices.len()))
                })?;
                let chosen = choices.get(best).map_or("", |choice| choice.trim());
                let choice = |target: String| match target.parse::<usize>().ok().and_then(|at| choices.get(at)) {
                    Some(choice) => choice.trim().to_string(),
                    None => target,
                };
                let answers = targets.into_iter().map(choice).collect();
                Ok(Sample { prompt_id, text, answers, responses: vec![chosen.to_string()] })
            }
            Asked::Whole => Err(cells
                .wrong("arguments", "asks for the log-likelihood of a text")
                .expected("a task that has responses: generation, or a choice of continuations")
                .into()),
            Asked::Text => {
                let responses = texts(answered).ok_or_else(|| {
                    cells.wrong(field, "is no list of texts").expected("one request a document: [[\"response\"]]")
                })?;
                Ok(Sample { prompt_id, text, answers: targets, responses })
            }
        }
    }
}

fn no_choice(cells: &Cells) -> InputError {
    let error = cells.wrong("arguments", "has no choice of different continuations");
    error.expected("two or more requests that differ in their continuation")
}

/// What was asked: `{"gen_args_0": {"arg_0": ..., "arg_1": ...}}`, in older files `[[..., ...]]`.
fn requests(cells: &Cells) -> Result<Vec<Request>> {
    let pairs: Vec<(Option<&Value>, Option<&Value>)> = match cells.value("arguments") {
        Some(Value::Object(requests)) => (0..requests.len())
            .map(|at| requests.get(&format!("gen_args_{at}")))
            .map(|request| (request.and_then(|r| r.get("arg_0")), request.and_then(|r| r.get("arg_1"))))
            .collect(),
        Some(Value::Array(requests)) => requests.iter().map(|request| (request.get(0), request.get(1))).collect(),
        _ => return Err(cells.wrong("arguments", "is neither object nor list").into()),
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let request = |(context, second): (Option<&Value>, Option<&Value>)| Request {
        context: context.map(text).unwrap_or_default(),
        asked: match second {
            Some(Value::Object(_)) => Asked::Text,
            Some(continuation) => Asked::Continuation(text(continuation)),
            None => Asked::Whole,
        },
    };
    Ok(pairs.into_iter().map(request).collect())
}

/// The continuations to choose from; requests under another context (as of unconditional likelihoods) are not among them.
fn choices(requests: &[Request]) -> Option<Vec<&str>> {
    let first = requests.first()?;
    let same = requests.iter().take_while(|request| request.context == first.context);
    let choices: Vec<&str> = same
        .map(|request| match &request.asked {
            Asked::Continuation(text) => Some(text.as_str()),
            Asked::Text | Asked::Whole => None,
        })
        .collect::<Option<_>>()?;
    let differ = choices.iter().any(|choice| Some(choice) != choices.first());
    differ.then_some(choices)
}

/// The first of the `n` requests with the greatest log-likelihood.
fn likeliest(answered: &[Value], n: usize) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for at in 0..n {
        let x = log_likelihood(answered.get(at)?)?;
        if best.is_none_or(|(_, greatest)| x > greatest) {
            best = Some((at, x));
        }
    }
    best.map(|(at, _)| at)
}

/// The number that the lists around it begin with; the harness writes it as text.
fn log_likelihood(value: &Value) -> Option<f64> {
    match value {
        Value::Array(items) => log_likelihood(items.first()?),
        Value::String(text) => text.trim().parse().ok().filter(|x: &f64| !x.is_nan()),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// The texts of one request: `[["a", "b"]]` with repeats, or `["a"]` after a filter that takes the first.
fn texts(answered: &[Value]) -> Option<Vec<String>> {
    let [one] = answered else { return None };
    match one {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(repeats) if !repeats.is_empty() => {
            repeats.iter().map(|text| text.as_str().map(str::to_string)).collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::super::columns::{Columns, Spot};
    use super::*;
    use crate::datasets::table::Row;

    fn read(json: Value) -> Result<Sample> {
        let row = Row { line: Some(3), fields: json.as_object().unwrap().clone() };
        let mapping = BTreeMap::new();
        let columns = Columns::new(&mapping, &KEYS).unwrap();
        let spot = Spot::of(0, &row, 1);
        Sample::read(&Cells { path: Path::new("samples_x.jsonl"), columns: &columns, row: &row, spot }, Responses::Raw)
    }

    #[test]
    fn a_generation_is_its_text_with_its_repeats() {
        let sample = read(serde_json::json!({
            "doc_id": 4, "target": "['Stoker', 'Bram Stoker']",
            "arguments": {"gen_args_0": {"arg_0": "Q: Who?\nA:", "arg_1": {"until": ["\n"]}}},
            "resps": [["Bram", " Stoker"]], "filtered_resps": ["Bram"],
        }));
        let sample = sample.unwrap();
        assert_eq!((sample.prompt_id.as_str(), sample.text.as_str()), ("4", "Q: Who?\nA:"));
        assert_eq!(sample.answers, ["Stoker", "Bram Stoker"]);
        assert_eq!(sample.responses, ["Bram", " Stoker"]);
    }

    #[test]
    fn a_choice_is_the_likeliest_continuation() {
        let line = |second: &str| {
            serde_json::json!({
                "doc_id": 0, "target": "1",
                "arguments": [["Q:", " yes"], ["Q:", second], ["", " yes"]],
                "resps": [[["-2.5", "False"]], [["-1.5", "True"]], [["-0.1", "True"]]],
            })
        };
        let sample = read(line(" no")).unwrap();
        assert_eq!((sample.responses, sample.answers), (vec!["no".to_string()], vec!["no".to_string()]));
        assert!(read(line(" yes")).unwrap_err().to_string().contains("no choice of different continuations"));
    }

    #[test]
    fn what_has_no_response_is_refused_with_its_line() {
        let message = read(serde_json::json!({
            "doc_id": 0, "target": "", "arguments": {"gen_args_0": {"arg_0": "a text"}}, "resps": [["-12.5"]],
        }));
        let message = message.unwrap_err().to_string();
        assert!(message.contains("line 3") && message.contains("log-likelihood of a text"), "{message}");
        let message =
            read(serde_json::json!({"doc_id": 0, "target": "a", "arguments": [["Q:", {}]]})).unwrap_err().to_string();
        assert!(message.contains("\"resps\"") && message.contains("no such field"), "{message}");
    }
}
