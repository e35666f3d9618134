//! Local backend: a model on this machine.
//!
//! In: wordings. Out: answers with scores and hidden states. Identical prompts are computed once and share the result.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use super::{Answer, Backend, Forced, Response};
use crate::Result;
use crate::model::{Answers, Finish, Job, Layers, Model, Rendered, Settings, Time};
use crate::plan::GenerationPlan;
use crate::variants::Variant;

/// A loaded model with the settings that change how it runs, not what it says.
#[derive(Debug)]
pub struct Local {
    model: Model,
    escape_special_tokens: bool,
    batch: usize,
    device: String,
}

impl Local {
    /// Wraps a loaded model; `batch` is the most sequences in flight.
    pub fn new(model: Model, escape_special_tokens: bool, batch: usize) -> Self {
        let device = model.info().device.to_string();
        Local { model, escape_special_tokens, batch, device }
    }
}

/// Prompts without repetition, and where each wording's prompt stands among them.
#[derive(Default)]
struct Distinct {
    prompts: Vec<Vec<u32>>,
    /// None where the wording has no prompt that can run.
    place: Vec<Option<usize>>,
}

impl Distinct {
    fn of(rendered: &[Result<Rendered, String>]) -> Distinct {
        let mut seen: HashMap<&[u32], usize> = HashMap::new();
        let mut distinct = Distinct::default();
        for prompt in rendered {
            distinct.place.push(prompt.as_ref().ok().map(|r| {
                *seen.entry(&r.token_ids).or_insert_with(|| {
                    distinct.prompts.push(r.token_ids.clone());
                    distinct.prompts.len() - 1
                })
            }));
        }
        distinct
    }

    fn place(&self, wording: usize) -> Option<usize> {
        self.place.get(wording).copied().flatten()
    }
}

impl Backend for Local {
    fn answer(
        &self,
        wordings: &[&Variant],
        baselines: &[Option<usize>],
        generation: &GenerationPlan,
        stop: &AtomicBool,
        progress: &dyn Fn(usize),
    ) -> Result<(Vec<Answer>, Time)> {
        let rendered: Vec<Result<Rendered, String>> =
            wordings.iter().map(|w| self.prompt(w.text.as_deref().unwrap_or_default(), generation)).collect();
        let distinct = Distinct::of(&rendered);
        // (wording's prompt, baseline's prompt), each once; several wordings may share one.
        let mut forced: Vec<(usize, usize)> = Vec::new();
        let pair = |wording: usize| {
            let baseline = baselines.get(wording).copied().flatten()?;
            Some((distinct.place(wording)?, distinct.place(baseline)?))
        };
        for p in (0..wordings.len()).filter_map(pair) {
            if !forced.contains(&p) {
                forced.push(p);
            }
        }
        let settings = Settings {
            max_new_tokens: generation.max_new_tokens,
            ignore_end: generation.ignore_end,
            temperature: generation.temperature,
            top_p: generation.top_p,
            seed: generation.seed,
            batch: self.batch,
            cache_bytes: self.model.cache_bytes(),
        };
        let mut answers = Vec::with_capacity(wordings.len() * generation.repeats);
        let mut time = Time::default();
        for repeat in 0..generation.repeats {
            let first = repeat == 0;
            let job = Job {
                prompts: &distinct.prompts,
                draw_keys: &draw_keys(wordings, &distinct, repeat),
                forced: if first { &forced } else { &[] },
                settings,
                layers: if first { &Layers::All } else { &Layers::None },
            };
            let before = answers.len();
            let made = self.model.answer(&job, stop, &|p| {
                // Equal prompts are computed once; a person counts wordings.
                let share = p.responses as f64 / distinct.prompts.len().max(1) as f64;
                progress(before + (share * wordings.len() as f64) as usize);
            })?;
            time += made.time;
            let texts = made.generations.iter().map(|g| self.model.decode(&g.token_ids)).collect::<Result<Vec<_>>>()?;
            let pair_of = |wording: usize| {
                let wanted = pair(wording)?;
                forced.iter().position(|f| *f == wanted)
            };
            let failures: Vec<Option<String>> = (0..wordings.len())
                .map(|wording| failure(&made, distinct.place(wording)?, pair_of(wording).filter(|_| first)))
                .collect();
            for (wording, prompt) in rendered.iter().enumerate() {
                let mut answer = Answer { wording, repeat, ..Answer::default() };
                match prompt {
                    Ok(prompt) => {
                        answer.prompt_token_ids = Some(prompt.token_ids.clone());
                        answer.special_text = prompt.special_text;
                    }
                    Err(why) => answer.error = Some(why.clone()),
                }
                let failed = |wording: usize| failures.get(wording).is_some_and(Option::is_some);
                if let Some(Some(why)) = failures.get(wording) {
                    answer.error = Some(why.clone());
                } else if let Some(place) = distinct.place(wording) {
                    answer.response = response(&made, &texts, place);
                    answer.hidden = made.hidden.get(place).cloned();
                    // Nothing is measured against a baseline that failed.
                    let measured = !baselines.get(wording).copied().flatten().is_some_and(failed);
                    let wanted = pair_of(wording).filter(|_| measured);
                    answer.forced = wanted.and_then(|i| made.forced.get(i)).map(|f| Forced {
                        target_token_ids: f.token_ids.clone(),
                        logprobs: f.logprobs.clone(),
                        entropies: f.entropies.clone(),
                        jsds: f.jsds.clone(),
                    });
                }
                answers.push(answer);
            }
        }
        Ok((answers, time))
    }

    fn device(&self) -> &str {
        &self.device
    }

    fn batch(&self) -> usize {
        self.batch
    }
}

impl Local {
    /// The prompt of a wording, or why it can't run.
    fn prompt(&self, text: &str, generation: &GenerationPlan) -> Result<Rendered, String> {
        let rendered = self
            .model
            .render(text, generation.system_prompt.as_deref(), self.escape_special_tokens)
            .map_err(|e| e.to_string())?;
        self.model.fits(rendered.token_ids.len(), generation.max_new_tokens)?;
        Ok(rendered)
    }
}

/// What each distinct prompt's draws depend on: data set, prompt, text and repeat.
fn draw_keys(wordings: &[&Variant], distinct: &Distinct, repeat: usize) -> Vec<String> {
    let key = |prompt: usize| {
        let holder = (0..wordings.len()).find(|&w| distinct.place(w) == Some(prompt));
        holder
            .and_then(|w| wordings.get(w))
            .map_or_else(String::new, |w| serde_json::json!([w.dataset, w.prompt_id, w.text, repeat]).to_string())
    };
    (0..distinct.prompts.len()).map(key).collect()
}

/// Why a prompt that could run has no answer: the numbers of its response, or of the forced response after it, are not
/// finite. `pair` is its place among the forced ones.
fn failure(made: &Answers, place: usize, pair: Option<usize>) -> Option<String> {
    let generation = made.generations.get(place)?;
    if generation.finish == Finish::Broken {
        let token = generation.token_ids.len() + 1;
        return Some(format!("the model gave numbers that are not finite at new token {token}"));
    }
    let token = made.forced.get(pair?)?.broken_at? + 1;
    Some(format!("the model gave numbers that are not finite at token {token} of the baseline's response"))
}

fn response(made: &Answers, texts: &[String], place: usize) -> Option<Response> {
    let generation = made.generations.get(place)?;
    Some(Response {
        text: texts.get(place)?.clone(),
        token_ids: generation.token_ids.clone(),
        finish_reason: generation.finish.as_str(),
        logprobs: generation.logprobs.clone(),
        entropies: generation.entropies.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;

    #[test]
    fn a_failure_says_at_which_token() {
        let sound = model::Generation { token_ids: vec![5, 6], ..Default::default() };
        let broken = model::Generation { finish: Finish::Broken, ..sound.clone() };
        let forced = |broken_at| model::Forced { broken_at, ..Default::default() };
        let made = Answers {
            generations: vec![sound, broken],
            forced: vec![forced(None), forced(Some(0))],
            ..Default::default()
        };
        assert_eq!(failure(&made, 0, None), None);
        assert_eq!(failure(&made, 0, Some(0)), None);
        assert!(failure(&made, 0, Some(1)).unwrap().ends_with("not finite at token 1 of the baseline's response"));
        assert!(failure(&made, 1, Some(0)).unwrap().ends_with("not finite at new token 3"));
    }
}
