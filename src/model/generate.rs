//! Generation: carries out a job with an engine, many sequences at once.
//!
//! In: a [`Job`]. Out: [`Answers`]; nothing in them depends on what else is in the job or on how it is batched, but for the
//! rounding of an engine whose rows are not the same bits in every batch (those on devices).
//!
//! One loop serves everything. Sequences are paths in the prefix tree; positions that are not yet computed wait in one
//! queue, whether they belong to a prompt, a response in the making or a forced response, and go through the decoder in
//! batches of up to [`ROWS`]. A response that ends makes room for the next prompt at once. As soon as a baseline's response
//! is complete it is laid after each of its variants' prompts; where a variant's own response follows it, the two share.

mod admission;
mod forced;
mod forks;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::decoder::{Captured, Row};
use super::engine::{Engine, Sizes};
use super::job::{Answers, Finish, Forced, Generation, Job, Layers, Progress};
use super::sampling::pick;
use super::scores::Distribution;
use super::tree::{NodeId, Tree};
use crate::draw::Draws;
use crate::{Error, Result};

/// Most rows of one pass: enough to spread the reading of the weights, few enough for the rows to stay in the caches.
const ROWS: usize = 256;

/// Most next-token distributions held at once beside those of baselines.
const DISTRIBUTIONS: usize = 32;

/// What a position is computed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    Prompt,
    Response,
    Forced,
}

/// A position to compute: the first `length` nodes of a sequence.
#[derive(Debug, Clone, Copy)]
struct Position {
    sequence: usize,
    length: usize,
    purpose: For,
}

/// A prompt with its response, or a prompt with a forced response.
#[derive(Debug, Default)]
struct Sequence {
    path: Vec<NodeId>,
    prompt_length: usize,
}

/// Where a prompt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Prompt,
    Response,
    Complete,
}

struct Work<'a> {
    engine: &'a mut dyn Engine,
    sizes: Sizes,
    job: &'a Job<'a>,
    ends: &'a [u32],
    tree: Tree,
    queue: VecDeque<Position>,
    /// Sequence `i` is prompt `i`; those after the prompts are forced pairs.
    sequences: Vec<Sequence>,
    stages: Vec<Stage>,
    /// Prompts whose next token can be chosen once their last node is computed.
    choosing: Vec<usize>,
    /// Pairs whose response is laid out and not yet scored.
    scoring: Vec<usize>,
    /// Pairs not yet laid out, by prompt and by baseline.
    pairs_of: HashMap<usize, Vec<usize>>,
    pairs_on: HashMap<usize, Vec<usize>>,
    pairs_left: usize,
    /// Distributions along a baseline's response, while pairs on it are left, and how many are.
    baselines: HashMap<usize, (Vec<Distribution>, usize)>,
    /// Hidden states by the prompt's last node; None until computed.
    captured: HashMap<NodeId, Option<Rc<Captured>>>,
    hidden: Vec<Option<Rc<Captured>>>,
    /// Of each prompt, the places in its path whose recurrent state must stay; empty where the decoder has none.
    forks: Vec<Vec<usize>>,
    /// The nodes at these places.
    kept: HashSet<NodeId>,
    /// Positions that the sequences under way may come to need.
    reserved: usize,
    reservations: Vec<usize>,
    answers: Answers,
    responses: usize,
}

/// Carries out a job, with an engine that remembers nothing yet. Every prompt must have 1 to context - `max_new_tokens`
/// tokens, all in the vocabulary.
///
/// # Errors
/// [`Error::Interrupted`] once `cancel` is set; [`Error::Model`] where the engine fails.
pub fn answer(
    engine: &mut dyn Engine,
    ends: &[u32],
    job: &Job<'_>,
    cancel: &AtomicBool,
    progress: &dyn Fn(Progress),
) -> Result<Answers> {
    let mut work = Work::new(engine, ends, job);
    let mut order = work.order().into_iter().peekable();
    while order.peek().is_some() || work.responses < job.prompts.len() || work.pairs_left > 0 {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        while let Some(&prompt) = order.peek()
            && work.admit(prompt)
        {
            order.next();
        }
        work.compute()?;
        work.score()?;
        work.choose()?;
        progress(Progress {
            responses: work.responses,
            new_tokens: work.answers.time.decode_tokens,
            forced_tokens: work.answers.time.forced_tokens,
        });
    }
    Ok(work.finish())
}

impl<'a> Work<'a> {
    fn new(engine: &'a mut dyn Engine, ends: &'a [u32], job: &'a Job<'a>) -> Work<'a> {
        let sizes = engine.sizes();
        let (prompts, pairs) = (job.prompts.len(), job.forced.len());
        let mut pairs_of: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut pairs_on: HashMap<usize, Vec<usize>> = HashMap::new();
        for (pair, &(prompt, baseline)) in job.forced.iter().enumerate() {
            pairs_of.entry(prompt).or_default().push(pair);
            pairs_on.entry(baseline).or_default().push(pair);
        }
        let baselines = pairs_on.iter().map(|(&b, pairs)| (b, (Vec::new(), pairs.len()))).collect();
        Work {
            engine,
            sizes,
            job,
            ends,
            tree: Tree::default(),
            queue: VecDeque::new(),
            sequences: (0..prompts + pairs).map(|_| Sequence::default()).collect(),
            stages: vec![Stage::Waiting; prompts],
            choosing: Vec::new(),
            scoring: Vec::new(),
            pairs_of,
            pairs_on,
            pairs_left: pairs,
            baselines,
            captured: HashMap::new(),
            hidden: vec![None; prompts],
            forks: if sizes.is_recurrent() { forks::of(job.prompts) } else { Vec::new() },
            kept: HashSet::new(),
            reserved: 0,
            reservations: vec![0; prompts],
            answers: Answers {
                generations: vec![Generation::default(); prompts],
                forced: vec![Forced::default(); pairs],
                ..Answers::default()
            },
            responses: 0,
        }
    }

    /// Lays the next token after a sequence, to be computed unless the tree has it.
    fn push(&mut self, sequence: usize, token: u32, purpose: For) {
        let path = &mut self.sequences[sequence].path;
        let parent = path.last().copied();
        // Where states are kept, only prompts are known to fork, and where.
        let (node, new) = match purpose != For::Prompt && self.sizes.is_recurrent() {
            true => (self.tree.extend_apart(parent, token), true),
            false => self.tree.extend(parent, token),
        };
        path.push(node);
        if new {
            self.queue.push_back(Position { sequence, length: path.len(), purpose });
        }
    }

    /// Lays a prompt's last token, whose hidden states are wanted: shared only with a node that has captured them too.
    fn push_last(&mut self, prompt: usize, token: u32) {
        if *self.job.layers == Layers::None {
            return self.push(prompt, token, For::Prompt);
        }
        let path = &mut self.sequences[prompt].path;
        let parent = path.last().copied();
        match self.tree.child(parent, token) {
            Some(node) if !self.captured.contains_key(&node) => {
                let node = self.tree.extend_apart(parent, token);
                path.push(node);
                self.queue.push_back(Position { sequence: prompt, length: path.len(), purpose: For::Prompt });
            }
            _ => self.push(prompt, token, For::Prompt),
        }
        if let Some(&node) = self.sequences[prompt].path.last() {
            self.captured.entry(node).or_insert(None);
        }
    }

    /// Computes the next positions of the queue.
    fn compute(&mut self) -> Result<()> {
        let count = self.queue.len().min(ROWS);
        if count == 0 {
            return Ok(());
        }
        let start = Instant::now();
        let batch: Vec<Position> = self.queue.drain(..count).collect();
        let (sequences, tree, captured, kept) = (&self.sequences, &self.tree, &self.captured, &self.kept);
        let row = |position| row(position, sequences, tree, captured, kept);
        let rows: Vec<Row<'_>> = batch.iter().map(row).collect();
        let captured = self.engine.forward(&rows, self.tree.slots())?;
        let wanted: Vec<NodeId> =
            rows.iter().filter(|row| row.capture).filter_map(|row| row.path.last().copied()).collect();
        let computed: Vec<NodeId> = rows.iter().filter_map(|row| row.path.last().copied()).collect();
        for (node, states) in wanted.into_iter().zip(captured) {
            self.captured.insert(node, Some(Rc::new(states)));
        }
        computed.into_iter().for_each(|node| self.tree.set_computed(node));
        let share = start.elapsed().as_secs_f64() / count as f64;
        let time = &mut self.answers.time;
        for position in &batch {
            match position.purpose {
                For::Prompt => {
                    (time.prefill_seconds, time.prefill_tokens) =
                        (time.prefill_seconds + share, time.prefill_tokens + 1)
                }
                For::Response => time.decode_seconds += share,
                For::Forced => time.forced_seconds += share,
            }
        }
        Ok(())
    }

    /// Chooses the next token of every response that is ready, until none is.
    fn choose(&mut self) -> Result<()> {
        let start = Instant::now();
        loop {
            let all = std::mem::take(&mut self.choosing);
            let (ready, rest): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|&prompt| self.is_computed(prompt));
            self.choosing = rest;
            if ready.is_empty() {
                break;
            }
            // Prompts of one text may stand at one node.
            let mut nodes: Vec<NodeId> = Vec::new();
            let mut at: HashMap<NodeId, Vec<usize>> = HashMap::new();
            for prompt in ready {
                if let Some(&node) = self.sequences[prompt].path.last() {
                    let prompts = at.entry(node).or_default();
                    if prompts.is_empty() {
                        nodes.push(node);
                    }
                    prompts.push(prompt);
                }
            }
            for nodes in nodes.chunks(DISTRIBUTIONS) {
                let distributions = self.engine.distributions(nodes)?;
                for (node, distribution) in nodes.iter().zip(distributions) {
                    for prompt in at.remove(node).unwrap_or_default() {
                        self.choose_next(prompt, &distribution);
                    }
                }
            }
        }
        self.answers.time.decode_seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn is_computed(&self, sequence: usize) -> bool {
        self.sequences[sequence].path.last().is_some_and(|&node| self.tree.computed(node))
    }

    fn choose_next(&mut self, prompt: usize, distribution: &Distribution) {
        let settings = self.job.settings;
        if self.stages[prompt] == Stage::Prompt {
            self.stages[prompt] = Stage::Response;
            let last = self.sequences[prompt].path.last();
            self.hidden[prompt] = last.and_then(|node| self.captured.get(node).cloned().flatten());
            self.lay_pairs_of(prompt);
        }
        let sound = |states: &Captured| states.iter().all(|x| x.is_finite());
        let first = self.answers.generations[prompt].token_ids.is_empty();
        if !distribution.is_sound() || (first && self.hidden[prompt].as_deref().is_some_and(|states| !sound(states))) {
            return self.complete(prompt, Finish::Broken);
        }
        if settings.max_new_tokens == 0 {
            return self.complete(prompt, Finish::Length);
        }
        let step = self.answers.generations[prompt].token_ids.len();
        let draw = match settings.temperature > 0.0 {
            true => Draws::new(settings.seed, &[&self.job.draw_keys[prompt]]).fraction(step as u64),
            false => 0.0,
        };
        let token = pick(distribution, settings.temperature, settings.top_p, draw);
        let generation = &mut self.answers.generations[prompt];
        generation.token_ids.push(token);
        generation.logprobs.push(distribution.log_probability(token) as f32);
        generation.entropies.push(distribution.entropy as f32);
        self.answers.time.decode_tokens += 1;
        if !settings.ignore_end && self.ends.contains(&token) {
            return self.complete(prompt, Finish::Stop);
        }
        if let Some((distributions, _)) = self.baselines.get_mut(&prompt) {
            distributions.push(distribution.clone());
        }
        if step + 1 == settings.max_new_tokens {
            return self.complete(prompt, Finish::Length);
        }
        self.push(prompt, token, For::Response);
        self.choosing.push(prompt);
    }

    /// A response has ended: it can be laid after its variants' prompts.
    fn complete(&mut self, prompt: usize, finish: Finish) {
        self.answers.generations[prompt].finish = finish;
        self.stages[prompt] = Stage::Complete;
        self.responses += 1;
        let waiting = self.pairs_on.remove(&prompt).unwrap_or_default();
        let (now, later): (Vec<usize>, Vec<usize>) =
            waiting.into_iter().partition(|&pair| self.has_begun(self.job.forced[pair].0));
        if !later.is_empty() {
            self.pairs_on.insert(prompt, later);
        }
        now.into_iter().for_each(|pair| self.lay(pair));
        self.release_prompt(prompt);
    }

    /// Whether a prompt's last position is computed.
    fn has_begun(&self, prompt: usize) -> bool {
        matches!(self.stages[prompt], Stage::Response | Stage::Complete)
    }

    fn finish(mut self) -> Answers {
        let Sizes { width, layers: last, .. } = self.sizes;
        let layers: Vec<usize> = match self.job.layers {
            Layers::None => Vec::new(),
            Layers::All => (0..=last).collect(),
            Layers::Some(layers) => layers.clone(),
        };
        let select = |states: &Option<Rc<Captured>>| -> Vec<Vec<f32>> {
            let Some(states) = states else { return Vec::new() };
            layers.iter().filter_map(|layer| states.chunks_exact(width).nth(*layer)).map(<[f32]>::to_vec).collect()
        };
        self.answers.hidden = self.hidden.iter().map(select).collect();
        self.answers
    }
}

/// The decoder's row for a position.
fn row<'a>(
    position: &Position,
    sequences: &'a [Sequence],
    tree: &Tree,
    captured: &HashMap<NodeId, Option<Rc<Captured>>>,
    kept: &HashSet<NodeId>,
) -> Row<'a> {
    let path = &sequences[position.sequence].path[..position.length];
    let node = path[path.len() - 1];
    let capture = position.purpose == For::Prompt && matches!(captured.get(&node), Some(None));
    let keep_before = path.len().checked_sub(2).is_some_and(|before| kept.contains(&path[before]));
    Row { token: tree.token(node), path, capture, keep_before }
}
