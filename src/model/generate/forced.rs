//! Forced responses: a baseline's response laid after another prompt and scored there.
//!
//! In: a baseline's complete response, and a prompt that is computed. Out: log-probabilities, entropies, divergences.

use std::time::Instant;

use rayon::prelude::*;

use super::super::job::Finish;
use super::super::scores::Distribution;
use super::super::tree::NodeId;
use super::{DISTRIBUTIONS, For, Stage, Work};
use crate::Result;

impl Work<'_> {
    /// A prompt has been computed: the responses of baselines that are complete can be laid after it.
    pub(super) fn lay_pairs_of(&mut self, prompt: usize) {
        let pairs = self.pairs_of.get(&prompt).cloned().unwrap_or_default();
        for pair in pairs {
            let baseline = self.job.forced[pair].1;
            if self.stages[baseline] == Stage::Complete {
                if let Some(waiting) = self.pairs_on.get_mut(&baseline) {
                    waiting.retain(|&other| other != pair);
                }
                self.lay(pair);
            }
        }
    }

    /// Lays a baseline's response, without its end token, after a prompt; the last token predicts nothing that is asked.
    pub(super) fn lay(&mut self, pair: usize) {
        let (prompt, baseline) = self.job.forced[pair];
        if let Some(pairs) = self.pairs_of.get_mut(&prompt) {
            pairs.retain(|&other| other != pair);
        }
        let mut tokens = self.answers.generations[baseline].token_ids.clone();
        match self.answers.generations[baseline].finish {
            Finish::Stop => drop(tokens.pop()),
            Finish::Length => {}
            // What a broken model said is measured against nothing.
            Finish::Broken => tokens.clear(),
        }
        if prompt == baseline {
            self.answers.forced[pair].token_ids = tokens;
            self.score_own(pair);
            return self.release_prompt(prompt);
        }
        let sequence = self.job.prompts.len() + pair;
        let prompt_length = self.sequences[prompt].prompt_length;
        self.sequences[sequence].prompt_length = prompt_length;
        // The prompt's own nodes, not just equal ones, so that what was computed for it is found.
        let path: Vec<NodeId> = self.sequences[prompt].path[..prompt_length].to_vec();
        self.tree.hold(&path);
        self.sequences[sequence].path = path;
        for &token in tokens.split_last().map_or(&[][..], |(_, rest)| rest) {
            self.push(sequence, token, For::Forced);
        }
        self.answers.forced[pair].token_ids = tokens;
        self.scoring.push(pair);
        self.release_prompt(prompt);
    }

    /// Scores a response after its own prompt: by the distributions that it was chosen from, so that nothing is computed twice
    /// and nothing differs, not even by rounding.
    fn score_own(&mut self, pair: usize) {
        let along = self.baselines.get(&self.job.forced[pair].1).map_or(&[][..], |(along, _)| along);
        let forced = &mut self.answers.forced[pair];
        for (&token, distribution) in forced.token_ids.iter().zip(along) {
            forced.logprobs.push(distribution.log_probability(token) as f32);
            forced.entropies.push(distribution.entropy as f32);
            forced.jsds.push(distribution.jensen_shannon(distribution) as f32);
        }
        self.answers.time.forced_tokens += forced.token_ids.len() as u64;
        self.end(pair);
    }

    /// Scores the forced responses that are computed.
    pub(super) fn score(&mut self) -> Result<()> {
        let start = Instant::now();
        let all = std::mem::take(&mut self.scoring);
        let prompts = self.job.prompts.len();
        let (ready, rest): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|&pair| self.is_computed(prompts + pair));
        self.scoring = rest;
        let places: Vec<(usize, usize)> = ready
            .iter()
            .flat_map(|&pair| (0..self.answers.forced[pair].token_ids.len()).map(move |t| (pair, t)))
            .collect();
        for places in places.chunks(DISTRIBUTIONS) {
            let node = |&(pair, t): &(usize, usize)| {
                let sequence = &self.sequences[prompts + pair];
                sequence.path[sequence.prompt_length - 1 + t]
            };
            let nodes: Vec<NodeId> = places.iter().map(node).collect();
            let distributions = self.engine.distributions(&nodes)?;
            let baselines: Vec<Option<&Distribution>> = places
                .iter()
                .map(|&(pair, t)| self.baselines.get(&self.job.forced[pair].1).and_then(|(along, _)| along.get(t)))
                .collect();
            let divergences = divergences(&distributions, &baselines);
            for ((&(pair, t), distribution), jsd) in places.iter().zip(&distributions).zip(divergences) {
                let forced = &mut self.answers.forced[pair];
                if !distribution.is_sound() && forced.broken_at.is_none() {
                    forced.broken_at = Some(t);
                }
                forced.logprobs.push(distribution.log_probability(forced.token_ids[t]) as f32);
                forced.entropies.push(distribution.entropy as f32);
                forced.jsds.push(jsd as f32);
            }
            self.answers.time.forced_tokens += places.len() as u64;
        }
        ready.into_iter().for_each(|pair| self.end(pair));
        self.answers.time.forced_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// A pair is scored: lets go of what was held for it.
    fn end(&mut self, pair: usize) {
        let (prompt, baseline) = self.job.forced[pair];
        self.release(self.job.prompts.len() + pair);
        self.pairs_left -= 1;
        if let Some((_, left)) = self.baselines.get_mut(&baseline) {
            *left -= 1;
            if *left == 0 {
                self.baselines.remove(&baseline);
            }
        }
        self.unreserve(prompt, self.cost_of_response());
    }
}

/// Divergence of each distribution from its baseline's at the same place.
fn divergences(distributions: &[Distribution], baselines: &[Option<&Distribution>]) -> Vec<f64> {
    distributions
        .par_iter()
        .zip(baselines.par_iter())
        .map(|(distribution, baseline)| baseline.map_or(f64::NAN, |baseline| distribution.jensen_shannon(baseline)))
        .collect()
}
