//! Sources: what the runs of a release were made of, and which texts may be passed on.
//!
//! In: plan.json and manifest.json of each run, the built-in descriptors of data sets. Out: [`Sources`].
//! Texts of a data set whose descriptor says that they may not be passed on stay out; ids and hashes are kept.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::index::TextsLeftOut;
use crate::datasets::{Descriptor, descriptors};
use crate::query::{RUN, literal, run_names};
use crate::store::manifest::Manifest;
use crate::store::run_dir::read_json;
use crate::{Error, Result};

/// Licence of the starter prompts: they are a part of this program.
const OWN_LICENCE: &str = env!("CARGO_PKG_LICENSE");

/// Whether a run was made of other people's files: nobody here asked a model.
pub(super) fn is_import(run: &Path) -> Result<bool> {
    Ok(!read_json(&run.join("plan.json"))?["import"].is_null())
}

/// The data sets of a run whose texts may not be passed on for any use, each with what its owner allows. None of a run
/// without a plan.
///
/// # Errors
/// The plan can't be read.
pub fn texts_not_to_be_passed_on(run: &Path) -> Result<Vec<TextsLeftOut>> {
    let plan = run.join("plan.json");
    if !plan.is_file() {
        return Ok(Vec::new());
    }
    let sets = DataSet::of_plan(&read_json(&plan)?, &[])?;
    let kept = |set: DataSet| set.left_out.map(|why| TextsLeftOut { run: None, dataset: set.name, why });
    Ok(sets.into_iter().filter_map(kept).collect())
}

/// A run.
#[derive(Debug)]
pub(super) struct RunSource {
    /// What it is called in the column `run`.
    pub(super) name: String,
    pub(super) plan: Value,
    pub(super) manifest: Manifest,
    pub(super) datasets: Vec<DataSet>,
}

/// A data set of a run, and what is known of its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct DataSet {
    pub(super) name: String,
    /// Name for people; None for a user's own.
    pub(super) title: Option<String>,
    /// `starter`, the file's name, or None in an import.
    pub(super) source: Option<String>,
    pub(super) sha256: Option<String>,
    pub(super) is_starter: bool,
    /// Prompts drawn from it.
    pub(super) prompts: Option<usize>,
    pub(super) licence: Option<String>,
    pub(super) terms: Option<String>,
    pub(super) citation: Option<String>,
    pub(super) homepage: Option<String>,
    /// Why its texts are left out; None where they are released.
    pub(super) left_out: Option<String>,
}

/// All runs of a release.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) runs: Vec<RunSource>,
}

impl Sources {
    /// Reads what the runs say of themselves; texts of the data sets `without` are left out.
    ///
    /// # Errors
    /// A plan or manifest can't be read; two runs have the same folder's name; no run has a data set of `without`.
    pub(super) fn read(runs: &[PathBuf], without: &[String]) -> Result<Sources> {
        let names = run_names(runs)?;
        if let Some(path) = names.iter().find(|name| runs.len() > 1 && name.contains('/')) {
            return Err(Error::input("two runs have folders of one name, which is their name in a release")
                .found(path)
                .fix("rename one of the folders")
                .into());
        }
        let mut all = Vec::new();
        for (run, name) in runs.iter().zip(names) {
            let plan = read_json(&run.join("plan.json"))?;
            let datasets = DataSet::of_plan(&plan, without)?;
            all.push(RunSource { name, plan, manifest: Manifest::read(run)?, datasets });
        }
        let sources = Sources { runs: all };
        let known: Vec<&str> = sources.datasets().map(|(_, set)| set.name.as_str()).collect();
        if let Some(unknown) = without.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(Error::input(format!("no run has a data set {unknown}"))
                .key("--without-texts")
                .found(unknown)
                .expected(known.join(", "))
                .into());
        }
        Ok(sources)
    }

    /// Every data set with its run.
    pub(super) fn datasets(&self) -> impl Iterator<Item = (&RunSource, &DataSet)> {
        self.runs.iter().flat_map(|run| run.datasets.iter().map(move |set| (run, set)))
    }

    /// What a run is called in the column `run`; None where there is but one, and no such column.
    pub(super) fn name_of(&self, run: &RunSource) -> Option<String> {
        (self.runs.len() > 1).then(|| run.name.clone())
    }

    /// The models' names, each once.
    pub(super) fn models(&self) -> Vec<String> {
        let mut names = Vec::new();
        for model in self.runs.iter().filter_map(|run| run.plan["models"].as_array()).flatten() {
            let name = model["name"].as_str().or(model.as_str()).unwrap_or_default().to_string();
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// A title where its maker gave none.
    pub(super) fn title(&self) -> String {
        let models = self.models();
        let named = match models.as_slice() {
            [] => "language models".to_string(),
            [one] => one.clone(),
            [one, other] => format!("{one} and {other}"),
            more => format!("{} models", more.len()),
        };
        format!("Stability of {named} under rewording")
    }

    /// Size of a raw table's files.
    pub(super) fn bytes_of(&self, table: &str) -> u64 {
        let parts = self.runs.iter().flat_map(|run| &run.manifest.parts);
        parts.filter(|(name, _)| name.split('/').next() == Some(table)).map(|(_, part)| part.bytes).sum()
    }

    /// The date at which the last run, or what was measured again of it, was complete, as in 2026-01-31.
    pub(super) fn date(&self) -> String {
        let of = |run: &RunSource| {
            let again = run.manifest.measured_again.iter().map(|again| again.finished.clone());
            again.chain([run.manifest.finished.clone()]).max()
        };
        let last = self.runs.iter().filter_map(of).max().unwrap_or_default();
        last.get(..10).unwrap_or_default().to_string()
    }

    /// The data sets whose texts are left out.
    pub(super) fn texts_left_out(&self) -> Vec<TextsLeftOut> {
        let of = |(run, set): (&RunSource, &DataSet)| {
            let why = set.left_out.clone()?;
            Some(TextsLeftOut { run: self.name_of(run), dataset: set.name.clone(), why })
        };
        self.datasets().filter_map(of).collect()
    }

    /// SQL that is true for a row whose texts are left out; None where all are released.
    pub(super) fn is_left_out(&self) -> Option<String> {
        is_left_out(&self.texts_left_out())
    }
}

/// SQL that is true for a row whose texts are left out; None where all are released.
pub(super) fn is_left_out(texts: &[TextsLeftOut]) -> Option<String> {
    let condition = |left_out: &TextsLeftOut| {
        let of_run = left_out.run.as_ref().map_or_else(String::new, |run| format!("{RUN} = {} and ", literal(run)));
        format!("({of_run}dataset = {})", literal(&left_out.dataset))
    };
    let all: Vec<String> = texts.iter().map(condition).collect();
    if all.is_empty() { None } else { Some(all.join(" or ")) }
}

impl DataSet {
    /// The data sets of a plan.
    fn of_plan(plan: &Value, without: &[String]) -> Result<Vec<DataSet>> {
        let sets = plan["datasets"].as_array().into_iter().flatten();
        sets.map(|set| DataSet::of(set, without)).collect()
    }

    /// What is known of a data set as a plan names it: an object, or in an import its name alone.
    fn of(planned: &Value, without: &[String]) -> Result<DataSet> {
        let text = |key: &str| planned[key].as_str().map(str::to_string);
        let name = text("name").or_else(|| planned.as_str().map(str::to_string)).unwrap_or_default();
        let source = text("source");
        let is_starter = planned["layout"].is_null() && source.as_deref() == Some("starter");
        let known: Option<&Descriptor> = descriptors()?.iter().find(|descriptor| descriptor.name == name);
        let official = known.filter(|_| !is_starter);
        let left_out = match official {
            _ if without.contains(&name) => Some("its maker asked for it (--without-texts)".to_string()),
            Some(set) if !set.redistributable => {
                Some(format!("{} allows passing them on only {}", set.licence, set.terms))
            }
            _ => None,
        };
        let own = is_starter.then(|| OWN_LICENCE.to_string());
        Ok(DataSet {
            title: known.map(|set| set.title.clone()),
            source,
            sha256: text("sha256"),
            is_starter,
            prompts: planned["prompt_ids"].as_array().map(Vec::len),
            licence: own.or_else(|| official.map(|set| set.licence.clone())).or_else(|| text("licence")),
            terms: official.map(|set| set.terms.clone()),
            citation: official.map(|set| set.citation.clone()),
            homepage: official.map(|set| set.homepage.clone()),
            left_out,
            name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_stay_out_where_they_may_not_be_passed_on() {
        let file = json!({"name": "alpaca", "source": "alpaca.json", "layout": "instructions", "sha256": "0"});
        let set = DataSet::of(&file, &[]).unwrap();
        assert!(set.left_out.unwrap().contains("CC-BY-NC-4.0"));
        // In an import nothing but the name is known.
        assert!(DataSet::of(&json!("alpaca"), &[]).unwrap().left_out.is_some());
        let starter = json!({"name": "alpaca", "source": "starter", "layout": null});
        let set = DataSet::of(&starter, &[]).unwrap();
        assert_eq!((set.left_out, set.licence.as_deref(), set.citation), (None, Some(OWN_LICENCE), None));
        assert!(DataSet::of(&json!({"name": "triviaqa", "layout": "dpr"}), &[]).unwrap().left_out.is_none());
        let asked = DataSet::of(&json!({"name": "mine", "layout": "own"}), &["mine".to_string()]).unwrap();
        assert!(asked.left_out.is_some() && asked.licence.is_none());
    }
}
