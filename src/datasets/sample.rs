//! Sampling: which N prompts of a data set are run.
//!
//! In: all prompts of a data set, N and a seed. Out: N of them, the same for every model and machine.
//! A prompt's draw depends on the seed, the data set's name and its text, never on where it stands in the file.

use std::collections::HashMap;

use super::Prompt;
use crate::Error;
use crate::draw::Draws;
use crate::error::Result;

/// Draws `n` prompts.
///
/// Each prompt gets the 64-bit draw number 0 of [`Draws`] for (`seed`, "sample", data set, text, k), where k numbers
/// prompts of the same text from 0 in the order of their source hashes; the prompts with the `n` smallest draws are
/// taken, smallest first. Hence the sample does not change when the file's rows are shuffled, nor between the file
/// formats of a data set; and the sample of a smaller `n` is the start of that of a larger one. (Where ids are row
/// numbers, the same prompts have other ids in a shuffled file.)
///
/// # Errors
/// [`Error::Input`] where `n` is 0 or more than there are prompts; it names both numbers.
pub fn sample(prompts: Vec<Prompt>, n: usize, seed: u64) -> Result<Vec<Prompt>> {
    let dataset = prompts.first().map(|p| p.dataset.clone()).unwrap_or_default();
    if n == 0 {
        let e = Error::input(format!("0 prompts of data set {dataset} are asked for"));
        return Err(e.expected(format!("1 to {}", prompts.len())).into());
    }
    if n > prompts.len() {
        let e = Error::input(format!("{n} prompts are asked for, but data set {dataset} has {}", prompts.len()));
        return Err(e
            .expected(format!("1 to {}", prompts.len()))
            .fix("say prompts = N in the study file, or -n N; without that a preset says how many (paper: 16)")
            .into());
    }
    let mut drawn: Vec<(u64, Prompt)> = Vec::with_capacity(prompts.len());
    let mut seen: HashMap<String, u64> = HashMap::new();
    let mut prompts = prompts;
    prompts.sort_by(|a, b| (&a.text, &a.source_hash, a.source_row).cmp(&(&b.text, &b.source_hash, b.source_row)));
    for prompt in prompts {
        let k = seen.entry(prompt.text.clone()).or_default();
        let draw = Draws::new(seed, &["sample", &prompt.dataset, &prompt.text, &k.to_string()]).bits(0);
        *k += 1;
        drawn.push((draw, prompt));
    }
    // stable: prompts of one draw stay in the order of their texts
    drawn.sort_by_key(|(draw, _)| *draw);
    drawn.truncate(n);
    Ok(drawn.into_iter().map(|(_, prompt)| prompt).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::source_hash;

    fn prompts(texts: &[(&str, &str)]) -> Vec<Prompt> {
        let make = |(row, (text, answer)): (usize, &(&str, &str))| Prompt {
            dataset: "mine".into(),
            prompt_id: row.to_string(),
            text: (*text).into(),
            answers: vec![(*answer).into()],
            category: None,
            source_row: row as u64,
            source_hash: source_hash(text, &[(*answer).into()]),
        };
        texts.iter().enumerate().map(make).collect()
    }

    fn content(sample: &[Prompt]) -> Vec<(&str, &str)> {
        sample.iter().map(|p| (p.text.as_str(), p.answers[0].as_str())).collect()
    }

    #[test]
    fn the_order_of_the_file_does_not_matter_not_even_among_equal_texts() {
        let mut rows =
            vec![("a", "1"), ("b", "2"), ("a", "3"), ("c", "4"), ("a", "1"), ("d", "5"), ("e", "6"), ("f", "7")];
        let all = sample(prompts(&rows), 8, 3).unwrap();
        for _ in 0..8 {
            rows.rotate_left(1);
            rows.swap(0, 3);
            for n in 1..=8 {
                let some = sample(prompts(&rows), n, 3).unwrap();
                assert_eq!(content(&some), content(&all)[..n], "a smaller sample starts a larger one");
            }
        }
    }

    #[test]
    fn seeds_and_data_sets_draw_differently_and_every_prompt_has_its_chance() {
        let texts: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        let rows: Vec<(&str, &str)> = texts.iter().map(|t| (t.as_str(), "")).collect();
        let mut counts: HashMap<String, u32> = HashMap::new();
        for seed in 0..1000 {
            for prompt in sample(prompts(&rows), 3, seed).unwrap() {
                *counts.entry(prompt.text).or_default() += 1;
            }
        }
        // 3 of 10 in 1000 samples: mean 300, standard deviation 14.5; five of these on either side
        assert_eq!(counts.len(), 10);
        assert!(counts.values().all(|&c| (228..=372).contains(&c)), "{counts:?}");
        let mut others = prompts(&rows);
        others.iter_mut().for_each(|p| p.dataset = "other".into());
        let order = |s: Vec<Prompt>| s.into_iter().map(|p| p.text).collect::<Vec<_>>();
        assert_ne!(order(sample(others, 10, 0).unwrap()), order(sample(prompts(&rows), 10, 0).unwrap()));
    }

    #[test]
    fn none_and_too_many_are_errors_with_both_numbers() {
        let message = sample(prompts(&[("a", ""), ("b", "")]), 3, 0).unwrap_err().to_string();
        assert!(message.contains("3 prompts are asked for, but data set mine has 2"), "{message}");
        let message = sample(prompts(&[("a", ""), ("b", "")]), 0, 0).unwrap_err().to_string();
        assert!(message.contains("0 prompts of data set mine") && message.contains("1 to 2"), "{message}");
    }
}
