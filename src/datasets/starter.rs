//! Starter prompts: what runs when no file is given.
//!
//! In: the name of a data set of the study. Out: prompts written for this project in that data set's manner.
//! They come with the program, so that it shows what it does at once; results on them are no results on the data set.

use std::path::Path;

use super::table::{self, Wanted};
use super::{AnswerColumn, Layout, ListForm, Prompt, rows};
use crate::error::Result;

/// Name and text of each set: JSON lines with id, prompt, input, answers, category.
const SETS: &[(&str, &str)] = &[
    ("truthfulqa", include_str!("../../datasets/starter/truthfulqa.jsonl")),
    ("natural_questions", include_str!("../../datasets/starter/natural_questions.jsonl")),
    ("alpaca", include_str!("../../datasets/starter/alpaca.jsonl")),
    ("simpleqa_verified", include_str!("../../datasets/starter/simpleqa_verified.jsonl")),
    ("triviaqa", include_str!("../../datasets/starter/triviaqa.jsonl")),
    ("hotpotqa", include_str!("../../datasets/starter/hotpotqa.jsonl")),
];

/// The starter prompts of a data set and the SHA-256 of their file, if it has any.
///
/// # Errors
/// As of any file of prompts (a fault of the build).
pub(super) fn load(dataset: &str) -> Result<Option<(Vec<Prompt>, String)>> {
    let Some((_, text)) = SETS.iter().find(|(name, _)| *name == dataset) else { return Ok(None) };
    let layout = Layout {
        name: "starter".to_string(),
        suffixes: Vec::new(),
        headerless: Vec::new(),
        prompt: "prompt".to_string(),
        input: Some("input".to_string()),
        answers: vec![AnswerColumn { column: "answers".to_string(), list: ListForm::Text }],
        id: vec!["id".to_string()],
        category: Some("category".to_string()),
    };
    let file = format!("starter/{dataset}.jsonl");
    let table = table::read_embedded(Path::new(&file), text, &Wanted::by(layout.fields()))?;
    let (prompts, _) = rows::prompts(dataset, Path::new(&file), &table, &layout)?;
    Ok(Some((prompts, table.sha256)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_set_has_twenty_distinct_prompts_with_answers() {
        for (name, _) in SETS {
            let (prompts, _) = load(name).unwrap().unwrap();
            assert_eq!(prompts.len(), 20, "{name}");
            assert_eq!(prompts.iter().map(|p| &p.text).collect::<BTreeSet<_>>().len(), 20, "{name}");
            assert!(prompts.iter().all(|p| !p.answers.is_empty()), "{name}");
            assert!(prompts.iter().all(|p| p.text.trim() == p.text && !p.text.contains("  ")), "{name}");
        }
        assert!(load("mine").unwrap().is_none());
    }

    #[test]
    fn sets_keep_the_manner_of_their_data_set() {
        let texts = |name: &str| load(name).unwrap().unwrap().0.into_iter().map(|p| p.text).collect::<Vec<_>>();
        assert!(texts("natural_questions").iter().all(|t| t.to_lowercase() == *t && !t.ends_with('?')));
        for name in ["truthfulqa", "simpleqa_verified", "triviaqa", "hotpotqa"] {
            assert!(texts(name).iter().all(|t| t.ends_with('?')), "{name}");
        }
        assert!(texts("alpaca").iter().filter(|t| t.contains("\n\n")).count() >= 6);
    }
}
