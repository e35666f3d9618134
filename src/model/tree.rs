//! The prefix tree: which token positions share their computation.
//!
//! In: token sequences. Out: nodes, one for each distinct (path, token); a sequence is a path of nodes.
//! What the decoder computes at a position depends on the tokens up to it alone, so sequences that begin alike (the chat
//! template, a system turn, a common start of the prompt, a response that follows the baseline's) share nodes, and
//! identical texts are one path. A node lives while a sequence holds it; its slot in the cache is then used again.

use std::collections::HashMap;

/// Index of a node, and of its slot in the cache.
pub type NodeId = u32;

#[derive(Debug)]
struct Node {
    parent: Option<NodeId>,
    token: u32,
    holders: u32,
    computed: bool,
}

/// A tree of token positions. Every `extend` must be matched by one release of the node.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    children: HashMap<(Option<NodeId>, u32), NodeId>,
    free: Vec<NodeId>,
}

impl Tree {
    /// The child of `parent` for `token`, held once more; true where it is new and must be computed.
    pub fn extend(&mut self, parent: Option<NodeId>, token: u32) -> (NodeId, bool) {
        if let Some(&id) = self.children.get(&(parent, token))
            && let Some(node) = self.nodes.get_mut(id as usize)
        {
            node.holders += 1;
            return (id, false);
        }
        let id = self.add(parent, token);
        self.children.insert((parent, token), id);
        (id, true)
    }

    /// A new node that no other sequence will find, whether or not the tree has such a child.
    pub fn extend_apart(&mut self, parent: Option<NodeId>, token: u32) -> NodeId {
        self.add(parent, token)
    }

    /// The child of `parent` for `token`, where there is one.
    pub fn child(&self, parent: Option<NodeId>, token: u32) -> Option<NodeId> {
        self.children.get(&(parent, token)).copied()
    }

    /// Holds the nodes of a path once more.
    pub fn hold(&mut self, path: &[NodeId]) {
        for &id in path {
            if let Some(node) = self.nodes.get_mut(id as usize) {
                node.holders += 1;
            }
        }
    }

    /// Lets go of a sequence's nodes; calls `freed` for each that nobody holds any longer.
    pub fn release(&mut self, path: &[NodeId], mut freed: impl FnMut(NodeId)) {
        // Leaves first: a parent is never freed before its child.
        for &id in path.iter().rev() {
            let Some(node) = self.nodes.get_mut(id as usize) else { continue };
            node.holders = node.holders.saturating_sub(1);
            if node.holders == 0 {
                let key = (node.parent, node.token);
                if self.children.get(&key) == Some(&id) {
                    self.children.remove(&key);
                }
                self.free.push(id);
                freed(id);
            }
        }
    }

    /// Marks a node as computed.
    pub fn set_computed(&mut self, id: NodeId) {
        if let Some(node) = self.nodes.get_mut(id as usize) {
            node.computed = true;
        }
    }

    /// Whether a node has been computed.
    pub fn computed(&self, id: NodeId) -> bool {
        self.nodes.get(id as usize).is_some_and(|node| node.computed)
    }

    /// The token at a node.
    pub fn token(&self, id: NodeId) -> u32 {
        self.nodes.get(id as usize).map_or(0, |node| node.token)
    }

    /// Nodes that a sequence holds.
    #[cfg(test)]
    pub fn live(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Slots that the cache must have.
    pub fn slots(&self) -> usize {
        self.nodes.len()
    }

    fn add(&mut self, parent: Option<NodeId>, token: u32) -> NodeId {
        let node = Node { parent, token, holders: 1, computed: false };
        if let Some(id) = self.free.pop()
            && let Some(slot) = self.nodes.get_mut(id as usize)
        {
            *slot = node;
            return id;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as NodeId
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(tree: &mut Tree, tokens: &[u32]) -> (Vec<NodeId>, usize) {
        let (mut path, mut new) = (Vec::new(), 0);
        for &token in tokens {
            let (id, is_new) = tree.extend(path.last().copied(), token);
            path.push(id);
            new += usize::from(is_new);
        }
        (path, new)
    }

    #[test]
    fn common_beginnings_are_shared_and_equal_tokens_elsewhere_are_not() {
        let mut tree = Tree::default();
        let (a, new_a) = insert(&mut tree, &[1, 2, 3, 2]);
        let (b, new_b) = insert(&mut tree, &[1, 2, 5, 2]);
        let (c, new_c) = insert(&mut tree, &[1, 2, 3, 2]);
        assert_eq!((new_a, new_b, new_c), (4, 2, 0));
        assert_eq!(a, c);
        assert_eq!(a[..2], b[..2]);
        assert!(a[3] != b[3] && tree.live() == 6);
    }

    #[test]
    fn slots_are_used_again_only_when_nobody_holds_them() {
        let mut tree = Tree::default();
        let (a, _) = insert(&mut tree, &[1, 2, 3]);
        let (b, _) = insert(&mut tree, &[1, 2, 4]);
        tree.set_computed(a[2]);
        let mut freed = Vec::new();
        tree.release(&a, |id| freed.push(id));
        assert_eq!(freed, [a[2]]);
        let (c, new) = insert(&mut tree, &[1, 9]);
        assert_eq!((new, c[1]), (1, a[2]));
        assert!(!tree.computed(c[1]), "a used slot must be computed anew");
        tree.release(&b, |_| {});
        tree.release(&c, |_| {});
        assert_eq!(tree.live(), 0);
        assert_eq!(tree.child(None, 1), None);
    }

    #[test]
    fn a_node_apart_is_not_found_and_does_not_hide_the_other() {
        let mut tree = Tree::default();
        let (a, _) = insert(&mut tree, &[1, 2]);
        let apart = tree.extend_apart(Some(a[0]), 2);
        assert_ne!(apart, a[1]);
        tree.release(&[apart], |_| {});
        assert_eq!(tree.child(Some(a[0]), 2), Some(a[1]));
    }
}
