//! Forks: where a job's prompts part, so that a recurrent state must stay there.
//!
//! In: prompts. Out: places in their paths. A state moves on with the sequence, so it is there for a second sequence only
//! where somebody has asked for it; all prompts of a job are known before the first is computed.

use super::super::tree::Tree;

/// Of each prompt the places, from 0, of positions that more than one sequence may come to follow: where prompts part, and
/// each prompt's end, which its response and forced responses follow. A prompt that another begins with may be computed a
/// second time at its last position, so that the one before it counts as well.
pub fn of(prompts: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut tree = Tree::default();
    let mut paths = Vec::with_capacity(prompts.len());
    let (mut children, mut ends) = (Vec::new(), Vec::new());
    for prompt in prompts {
        let mut path = Vec::with_capacity(prompt.len());
        for &token in prompt {
            let before: Option<u32> = path.last().copied();
            let (node, new) = tree.extend(before, token);
            if new {
                children.push(0usize);
                ends.push(false);
                if let Some(count) = before.and_then(|before| children.get_mut(before as usize)) {
                    *count += 1;
                }
            }
            path.push(node);
        }
        if let Some(end) = path.last().and_then(|&end| ends.get_mut(end as usize)) {
            *end = true;
        }
        paths.push(path);
    }
    let count = |node: &u32| children.get(*node as usize).copied().unwrap_or(0);
    let is_end = |node: &u32| ends.get(*node as usize) == Some(&true);
    let stays = |path: &[u32], place: usize| {
        let followed_by_end = path.get(place + 1).is_some_and(|next| is_end(next) && count(next) > 0);
        path.get(place).is_some_and(|node| count(node) > 1 || is_end(node)) || followed_by_end
    };
    paths.iter().map(|path| (0..path.len()).filter(|&place| stays(path, place)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_where_prompts_part_and_end() {
        let prompts = [vec![1, 2, 3, 4], vec![1, 2, 5], vec![1, 2, 3, 4, 6, 7], vec![9]];
        // The first is the third's beginning: its end and the place before it stay.
        assert_eq!(of(&prompts), [vec![1, 2, 3], vec![1, 2], vec![1, 2, 3, 5], vec![0]]);
    }
}
