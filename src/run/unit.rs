//! Unit: all wordings of one prompt, asked of one model, measured, as rows of the raw tables.
//!
//! In: variants of a prompt and a backend. Out: rows of every partitioned table, `work` last.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::Timing;
use super::texts::{self, Pair};
use crate::Result;
use crate::backend::{Answer, Backend};
use crate::measure::bertscore::BertScorer;
use crate::measure::cosine;
use crate::plan::Plan;
use crate::store::rows::{Cell, Rows};
use crate::variants::Variant;

/// What is needed to carry out units of one model.
pub struct Bench<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Who answers.
    pub backend: &'a dyn Backend,
    /// Scorer of BERTScore, where there is one.
    pub scorer: Option<&'a BertScorer>,
    /// Name of this machine.
    pub host: &'a str,
    /// Raised when the user asks to stop.
    pub stop: &'a AtomicBool,
}

impl Bench<'_> {
    /// Asks, measures and gathers the rows of one prompt.
    ///
    /// # Errors
    /// The model or the encoder fails as a whole, or the user asked to stop.
    pub fn carry_out(&self, variants: &[Variant], timing: &mut Timing, progress: &dyn Fn(usize)) -> Result<Vec<Rows>> {
        let started = super::now();
        let clock = Instant::now();
        let wordings: Vec<&Variant> = variants.iter().filter(|v| v.text.is_some()).collect();
        let baselines: Vec<Option<usize>> =
            wordings.iter().map(|v| wordings.iter().position(|b| b.variant_id == v.baseline_id)).collect();
        let generation_plan = &self.plan.generation;
        let (answers, time) = self.backend.answer(&wordings, &baselines, generation_plan, self.stop, progress)?;
        timing.model += time;

        let baseline_answers: Vec<Option<&Answer>> = baselines
            .iter()
            .map(|b| b.and_then(|b| answers.iter().find(|a| a.repeat == 0 && a.wording == b)))
            .collect();
        let baseline_of = |a: &Answer| baseline_answers.get(a.wording).copied().flatten();
        let pairs: Vec<Pair> = answers
            .iter()
            .filter_map(|answer| {
                let response = answer.response.as_ref()?.text.as_str();
                let baseline = baseline_of(answer).and_then(|b| Some(b.response.as_ref()?.text.as_str()));
                let variant = wordings.get(answer.wording)?;
                Some(Pair {
                    prompt_id: &variant.prompt_id,
                    variant_id: &variant.variant_id,
                    repeat: repeat(answer),
                    subtype: &variant.subtype,
                    strength: variant.strength,
                    is_baseline: variant.is_baseline,
                    response,
                    baseline,
                })
            })
            .collect();

        let mut generations = Rows::of("generations")?;
        let mut forced = Rows::of("forced")?;
        let mut activations = Rows::of("activations")?;
        let mut drift = Rows::of("drift")?;
        let mut work = Rows::of("work")?;
        let scoring = Instant::now();
        let scores = texts::bertscores(&pairs, self.scorer)?;
        timing.bertscore_seconds += scoring.elapsed().as_secs_f64();
        let signature = self.scorer.map(BertScorer::signature);
        let similarities = texts::similarities(&pairs, scores.as_deref(), signature)?;
        let judgements = texts::judgements(&pairs)?;
        let seconds = clock.elapsed().as_secs_f64() / answers.len().max(1) as f64;
        for answer in &answers {
            let Some(variant) = wordings.get(answer.wording) else { continue };
            generation(&mut generations, variant, answer)?;
            if let Some(f) = &answer.forced {
                let [p, v, r] = key(variant, answer);
                let (logprobs, entropies, jsds) = (f.logprobs.clone(), f.entropies.clone(), f.jsds.clone());
                let target = Cell::ids(&f.target_token_ids);
                forced.push([p, v, r, target, logprobs.into(), entropies.into(), jsds.into()])?;
            }
            if let Some(hidden) = &answer.hidden {
                let baseline = baseline_of(answer).and_then(|b| b.hidden.as_deref());
                self.hidden(&mut activations, &mut drift, variant, answer, hidden, baseline)?;
            }
            let [p, v, r] = key(variant, answer);
            let batch = i32::try_from(self.backend.batch().min(wordings.len())).unwrap_or(i32::MAX);
            let (host, device) = (self.host.into(), self.backend.device().into());
            work.push([p, v, r, host, device, seconds.into(), batch.into(), started.clone().into()])?;
        }
        Ok(vec![generations, forced, activations, drift, similarities, judgements, work])
    }

    /// Vectors of the layers that are kept, and drift of the others.
    fn hidden(
        &self,
        activations: &mut Rows,
        drift: &mut Rows,
        variant: &Variant,
        answer: &Answer,
        hidden: &[Vec<f32>],
        baseline: Option<&[Vec<f32>]>,
    ) -> Result<()> {
        for (layer, vector) in hidden.iter().enumerate() {
            let [p, v, r] = key(variant, answer);
            let number = i32::try_from(layer).unwrap_or(i32::MAX);
            let kept = self.plan.activation_layers.as_ref().is_none_or(|kept| kept.contains(&layer));
            if kept {
                let dim = i32::try_from(vector.len()).unwrap_or(i32::MAX);
                activations.push([p, v, r, number.into(), "last_token".into(), dim.into(), vector.clone().into()])?;
            } else if let Some(b) = baseline.and_then(|b| b.get(layer)) {
                let (cosine, ratio) = (cosine::cosine(vector, b), cosine::norm_ratio(vector, b));
                drift.push([p, v, r, number.into(), cosine.into(), ratio.into()])?;
            }
        }
        Ok(())
    }
}

fn key(variant: &Variant, answer: &Answer) -> [Cell; 3] {
    [variant.prompt_id.as_str().into(), variant.variant_id.as_str().into(), repeat(answer).into()]
}

fn repeat(answer: &Answer) -> i32 {
    i32::try_from(answer.repeat).unwrap_or(i32::MAX)
}

fn generation(rows: &mut Rows, variant: &Variant, answer: &Answer) -> Result<()> {
    let [p, v, r] = key(variant, answer);
    let prompt = answer.prompt_token_ids.as_ref().map_or(Cell::Null, |ids| Cell::ids(ids));
    let response = answer.response.as_ref();
    rows.push([
        p,
        v,
        r,
        prompt,
        response.map(|x| x.text.clone()).into(),
        response.map_or(Cell::Null, |x| Cell::ids(&x.token_ids)),
        response.map(|x| x.finish_reason.to_string()).into(),
        response.map(|x| x.logprobs.clone()).into(),
        response.map(|x| x.entropies.clone()).into(),
        answer.error.clone().into(),
        false.into(),
        answer.special_text.into(),
    ])
}
