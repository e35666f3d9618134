//! Side by side: models that do not read each other, made at the same time.
//!
//! In: models, each after those that it reads. Out: their tables and views in the session. A single query seldom keeps
//! all threads busy to its end: its last group, the merge of its sort and the writing of its file are work for one.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc;

use super::contract::Kind;
use super::freshness::Origins;
use super::graph::Model;
use super::making::{Materialized, begin, end, file_in, register_view};
use super::session::{Session, broke_off};
use crate::Result;

/// How far a table is.
pub(super) enum Event<'a> {
    /// It begins to be made.
    Begun(&'a Model),
    /// It is written and can be read.
    Made(Materialized),
}

/// Makes `models`, tables as files in `folder`; `hear` is told of each table.
///
/// # Errors
/// The first fault. After it nothing further is begun, and what was begun is brought to its end.
pub(super) fn make_all(
    session: &Session,
    origins: &Origins,
    models: &[&Model],
    folder: &Path,
    mut hear: impl FnMut(Event<'_>),
) -> Result<()> {
    let mut open: BTreeSet<&str> = models.iter().map(|model| model.name.as_str()).collect();
    let mut waiting = models.to_vec();
    let mut running: Vec<&Model> = Vec::new();
    let mut outcome = Ok(());
    let (done, finished) = mpsc::channel();
    loop {
        while outcome.is_ok()
            && let Some(at) = waiting.iter().position(|model| {
                let may_begin = model.contract.kind == Kind::View || running.len() < session.at_once();
                may_begin && !model.reads.iter().any(|name| open.contains(name.as_str()))
            })
        {
            let model = waiting.remove(at);
            if model.contract.kind == Kind::View {
                outcome = register_view(session, model);
                open.remove(model.name.as_str());
                continue;
            }
            hear(Event::Begun(model));
            let (name, done) = (model.name.clone(), done.clone());
            // The receiver waits for as many messages as there are tables under way.
            begin(session, model, origins, &file_in(folder, model), move |made| drop(done.send((name, made))));
            running.push(model);
        }
        if running.is_empty() {
            return outcome;
        }
        let (name, made) = finished.recv().map_err(|_| broke_off(&"no answer"))?;
        let Some(at) = running.iter().position(|model| model.name == name) else { continue };
        let model = running.remove(at);
        open.remove(model.name.as_str());
        let made = end(session, model, &file_in(folder, model), made);
        outcome = outcome.and(made.map(|table| hear(Event::Made(table))));
    }
}
