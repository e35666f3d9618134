//! Gathered: the deltas of all files under one set of keys.
//!
//! In: rows as they are read. Out: every key once, each wording with the baseline that it is measured against.
//! A row takes some 60 bytes; a million of them are read in seconds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::ReadFile;
use super::columns::Spot;
use super::names::Names;
use super::wording::{Wording, Wordings};
use crate::datasets::table::name;
use crate::{Error, Result};

/// Whose and of what a row is, as numbers of the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) model: u32,
    pub(super) dataset: u32,
    pub(super) prompt: u32,
    pub(super) wording: u32,
    pub(super) repeat: i32,
    /// Number of the axis; [`WHOLE_ROW`] where a row of the file holds all axes.
    pub(super) axis: u16,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    pub(super) name: String,
    /// Greatest size of a delta; None where there is none.
    pub(super) most: Option<f64>,
}

/// In place of an axis: keys of files with a column an axis.
pub(super) const WHOLE_ROW: u16 = u16::MAX;

/// Figures of files are rounded; a relative difference up to this is none.
const ROUNDING: f64 = 1e-4;

/// One delta.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delta {
    pub(super) key: Key,
    pub(super) value: Option<f64>,
    pub(super) delta: Option<f64>,
    /// Whether the baseline's figure is still in it.
    pub(super) is_unanchored: bool,
}

/// All rows, and what their numbers stand for.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) models: Names,
    pub(super) datasets: Names,
    pub(super) prompts: Names,
    pub(super) wordings: Wordings,
    pub(super) axes: Vec<Axis>,
    pub(super) deltas: Vec<Delta>,
    pub(super) files: Vec<ReadFile>,
    pub(super) notes: Vec<String>,
    /// Every wording of a prompt, with what it is measured against.
    pub(super) baselines: BTreeMap<(u32, u32), BTreeMap<u32, u32>>,
    seen: HashMap<Key, Spot>,
    paths: Vec<PathBuf>,
}

impl Gathered {
    /// Nothing yet, on these axes.
    pub(super) fn new(axes: Vec<Axis>) -> Gathered {
        Gathered { axes, ..Gathered::default() }
    }

    /// Begins a file; its number is for [`Spot`].
    pub(super) fn begin(&mut self, path: &Path) -> usize {
        self.paths.push(path.to_path_buf());
        self.paths.len() - 1
    }

    /// Number of an axis.
    pub(super) fn axis(&self, name: &str) -> Option<u16> {
        self.axes.iter().position(|axis| axis.name == name).and_then(|at| u16::try_from(at).ok())
    }

    /// Names of the axes.
    pub(super) fn axis_names(&self) -> Vec<&str> {
        self.axes.iter().map(|axis| axis.name.as_str()).collect()
    }

    /// Notes that the row at `spot` holds `key`.
    ///
    /// # Errors
    /// Another row holds it: both places.
    pub(super) fn claim(&mut self, key: Key, spot: Spot) -> Result<()> {
        let Some(first) = self.seen.insert(key, spot) else {
            self.baselines.entry((key.dataset, key.prompt)).or_default().insert(key.wording, key.wording);
            return Ok(());
        };
        let path = |spot: Spot| self.paths.get(spot.file as usize).map_or(Path::new(""), PathBuf::as_path);
        let there = if first.file == spot.file { String::new() } else { format!(" of {}", path(first).display()) };
        let error = Error::input(format!("{}: the row stands twice", name(path(spot))))
            .found(format!("{}, first on {first}{there}", self.described(key)))
            .expected("one row a key")
            .fix("leave one of them out");
        Err(spot.mark(path(spot), error).into())
    }

    /// A key in words.
    fn described(&self, key: Key) -> String {
        let wording = self.wordings.get(key.wording).map_or("", |w| w.id.as_str());
        let (model, dataset) = (self.models.get(key.model), self.datasets.get(key.dataset));
        let prompt = self.prompts.get(key.prompt);
        let mut text = format!("model {model}, data set {dataset}, prompt {prompt}, wording {wording}");
        if let Some(axis) = self.axes.get(usize::from(key.axis)) {
            text.push_str(&format!(", axis {}", axis.name));
        }
        if key.repeat > 0 {
            text.push_str(&format!(", repeat {}", key.repeat));
        }
        text
    }

    /// Finds what every wording is measured against; subtracts the baseline's figure where it is still in the rows;
    /// rows that then have neither value nor delta are left out, with a note.
    ///
    /// # Errors
    /// Wordings of a model and prompt without a baseline row, unless `add_baselines`: then one with delta 0 is added.
    pub(super) fn finish(&mut self, add_baselines: bool) -> Result<()> {
        if add_baselines {
            self.wordings.number(Wording::baseline());
        }
        for present in self.baselines.values_mut() {
            let there: BTreeSet<u32> = present.keys().copied().collect();
            for (wording, baseline) in present.iter_mut() {
                let is_there = |number: u32| {
                    there.contains(&number)
                        || (add_baselines && self.wordings.get(number).is_some_and(|w| w.subtype == w.id))
                };
                // u32::MAX: none, which the rows below tell with their place.
                *baseline = self.wordings.baseline_of(*wording, &is_there).unwrap_or(u32::MAX);
            }
        }
        self.check_baselines(add_baselines)?;
        self.anchor();
        let before = self.deltas.len();
        self.deltas.retain(|d| d.value.is_some() || d.delta.is_some());
        let lost = before - self.deltas.len();
        if lost > 0 {
            self.notes.push(format!("{lost} figures have no baseline figure to be compared with; they are left out"));
        }
        self.remark();
        Ok(())
    }

    /// What the wording of a row is measured against.
    fn baseline_key(&self, key: Key) -> Option<Key> {
        let wording = *self.baselines.get(&(key.dataset, key.prompt))?.get(&key.wording)?;
        self.wordings.get(wording)?;
        Some(Key { wording, repeat: 0, ..key })
    }

    fn check_baselines(&mut self, add: bool) -> Result<()> {
        let mut added: BTreeSet<Key> = BTreeSet::new();
        for delta in &self.deltas {
            let key = delta.key;
            let baseline = self.baseline_key(key);
            let is_there = |axis: u16| baseline.is_some_and(|b| self.seen.contains_key(&Key { axis, ..b }));
            if is_there(key.axis) || is_there(WHOLE_ROW) {
                continue;
            }
            match baseline {
                Some(baseline) if add && !delta.is_unanchored => {
                    added.insert(baseline);
                }
                _ => return Err(self.no_baseline(key, baseline)),
            }
        }
        for key in added {
            self.baselines.entry((key.dataset, key.prompt)).or_default().insert(key.wording, key.wording);
            self.deltas.push(Delta { key, value: None, delta: Some(0.0), is_unanchored: false });
        }
        Ok(())
    }

    fn no_baseline(&self, key: Key, baseline: Option<Key>) -> Error {
        let wanted = baseline.and_then(|b| self.wordings.get(b.wording)).map_or("baseline", |w| w.id.as_str());
        let error = Error::input(format!(
            "there is no baseline row for model {}, data set {}, prompt {}",
            self.models.get(key.model),
            self.datasets.get(key.dataset),
            self.prompts.get(key.prompt)
        ))
        .found(self.described(key))
        .expected(format!("a row of the wording {wanted} as well"))
        .fix("add the row, or say --add-baselines where its delta is 0 and the file leaves it out for that");
        match self.place(key) {
            Some((spot, path)) => spot.mark(path, error).into(),
            None => error.into(),
        }
    }

    /// The row that holds a key, and its file.
    fn place(&self, key: Key) -> Option<(Spot, &Path)> {
        let spot = [key.axis, WHOLE_ROW].iter().find_map(|&axis| self.seen.get(&Key { axis, ..key }).copied())?;
        Some((spot, self.paths.get(spot.file as usize)?))
    }

    /// Notes figures that are taken as they are and can't be right.
    fn remark(&mut self) {
        let of_key: HashMap<Key, f64> = self.deltas.iter().filter_map(|d| Some((d.key, d.value?))).collect();
        let (mut baselines, mut outside, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for delta in &self.deltas {
            let (key, Some(x)) = (delta.key, delta.delta) else { continue };
            if key.repeat == 0 && x != 0.0 && self.wordings.get(key.wording).is_some_and(|w| w.is_baseline) {
                baselines.push((key, x));
            }
            let most = self.axes.get(usize::from(key.axis)).and_then(|axis| axis.most);
            if most.is_some_and(|most| x.abs() > most * (1.0 + ROUNDING)) {
                outside.push((key, x));
            }
            let baseline = self.baseline_key(key).and_then(|key| of_key.get(&key));
            if let Some((value, baseline)) = delta.value.zip(baseline)
                && (value - baseline - x).abs() > ROUNDING * (1.0 + value.abs() + baseline.abs())
            {
                others.push((key, x));
            }
        }
        for (found, what) in [
            (baselines, "deltas of baselines are not 0: they are measured against themselves, so baseline_check fails"),
            (outside, "deltas are larger than their axis can give; are they percentages?"),
            (others, "deltas are not their value less the baseline's"),
        ] {
            let Some(&(key, x)) = found.first() else { continue };
            let place =
                self.place(key).map_or_else(String::new, |(spot, path)| format!(" at {}, {spot}", path.display()));
            let (n, first) = (found.len(), self.described(key));
            self.notes.push(format!("{n} {what}; first {x}{place} ({first})"));
        }
    }

    /// Subtracts the baseline's figure from those that still have it in them.
    fn anchor(&mut self) {
        let of_baselines: HashMap<Key, f64> = self
            .deltas
            .iter()
            .filter(|d| d.is_unanchored && self.wordings.get(d.key.wording).is_some_and(|w| w.is_baseline))
            .filter_map(|d| Some((d.key, d.delta?)))
            .collect();
        for at in 0..self.deltas.len() {
            let Some(delta) = self.deltas.get(at).filter(|d| d.is_unanchored).copied() else { continue };
            let baseline = self.baseline_key(delta.key).and_then(|key| of_baselines.get(&key).copied());
            let anchored = delta.delta.zip(baseline).map(|(figure, of_baseline)| figure - of_baseline);
            if let Some(delta) = self.deltas.get_mut(at) {
                (delta.delta, delta.is_unanchored) = (anchored, false);
            }
        }
    }
}
