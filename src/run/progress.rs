//! Progress: what a run tells whoever watches it.

/// Receives the events of a run. The command line draws them; a library user may ignore them with [`Silent`].
pub trait Progress: Sync {
    /// One sentence for a person.
    fn say(&self, text: &str);
    /// Work of `total` wordings begins, of which `done` were done before.
    fn begin(&self, what: &str, total: u64, done: u64);
    /// So many wordings are done in all.
    fn reach(&self, wordings: u64);
    /// The work that began last is over.
    fn end(&self);
}

/// Says nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {
    fn say(&self, _: &str) {}
    fn begin(&self, _: &str, _: u64, _: u64) {}
    fn reach(&self, _: u64) {}
    fn end(&self) {}
}
