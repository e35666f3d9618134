//! Admission: which prompts are under way, and the room in the cache that is set aside for them.
//!
//! In: a job's prompts and the bytes that the cache may take. Out: prompts let in one by one, and let go of once nothing
//! more will be laid after them.

use super::{For, Stage, Work};

impl Work<'_> {
    /// The order of admission: each baseline, then the prompts measured against it; then those without.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.job.prompts.len()];
        let mut order = Vec::with_capacity(seen.len());
        let mut add = |prompt: usize| {
            if let Some(seen) = seen.get_mut(prompt)
                && !std::mem::replace(seen, true)
            {
                order.push(prompt);
            }
        };
        for &(_, baseline) in self.job.forced {
            add(baseline);
            for &pair in self.pairs_on.get(&baseline).map_or(&[][..], |pairs| pairs) {
                add(self.job.forced[pair].0);
            }
        }
        (0..self.job.prompts.len()).for_each(add);
        order
    }

    /// Lets a prompt in, where there is room.
    pub(super) fn admit(&mut self, prompt: usize) -> bool {
        let tokens = &self.job.prompts[prompt];
        let responses = 1 + self.pairs_of.get(&prompt).map_or(0, Vec::len);
        let wanted = self.cost_of_prompt(prompt) + responses * self.cost_of_response();
        let under_way = self.stages.iter().filter(|stage| matches!(stage, Stage::Prompt | Stage::Response)).count();
        let room = self.job.settings.cache_bytes / self.sizes.position_bytes.max(1);
        let full = under_way >= self.job.settings.batch.max(1) || self.reserved + wanted > room;
        // Whatever is held then waits for a prompt that is not in yet: it must be let in.
        let idle = self.queue.is_empty() && self.choosing.is_empty() && self.scoring.is_empty();
        if full && !idle {
            return false;
        }
        self.reserved += wanted;
        self.reservations[prompt] = wanted;
        self.stages[prompt] = Stage::Prompt;
        self.sequences[prompt].prompt_length = tokens.len();
        for &token in &tokens[..tokens.len() - 1] {
            self.push(prompt, token, For::Prompt);
        }
        self.push_last(prompt, tokens[tokens.len() - 1]);
        let path = &self.sequences[prompt].path;
        let places = self.forks.get(prompt).map_or(&[][..], |places| places);
        self.kept.extend(places.iter().filter_map(|&place| path.get(place)));
        self.choosing.push(prompt);
        true
    }

    /// Positions that a prompt may come to take; a recurrent state counts as so many as take the same room. Of the states a
    /// prompt has, one stays at its end, and another where it parts from others.
    fn cost_of_prompt(&self, prompt: usize) -> usize {
        self.job.prompts[prompt].len() + 2 * self.positions_of_state()
    }

    /// Positions that a response, its own or a forced one, may come to take.
    pub(super) fn cost_of_response(&self) -> usize {
        self.job.settings.max_new_tokens + self.positions_of_state()
    }

    fn positions_of_state(&self) -> usize {
        self.sizes.state_bytes.div_ceil(self.sizes.position_bytes.max(1))
    }

    /// Lets go of a prompt that is complete and that no pair will be laid after.
    pub(super) fn release_prompt(&mut self, prompt: usize) {
        let pairs_left = self.pairs_of.get(&prompt).map_or(0, Vec::len);
        if self.stages[prompt] == Stage::Complete && pairs_left == 0 && !self.sequences[prompt].path.is_empty() {
            self.release(prompt);
            self.unreserve(prompt, self.cost_of_prompt(prompt) + self.cost_of_response());
        }
    }

    pub(super) fn unreserve(&mut self, prompt: usize, positions: usize) {
        let positions = positions.min(self.reservations[prompt]);
        self.reservations[prompt] -= positions;
        self.reserved -= positions;
    }

    pub(super) fn release(&mut self, sequence: usize) {
        let path = std::mem::take(&mut self.sequences[sequence].path);
        let (captured, kept, engine) = (&mut self.captured, &mut self.kept, &mut self.engine);
        self.tree.release(&path, |node| {
            captured.remove(&node);
            kept.remove(&node);
            engine.forget(node);
        });
    }
}
