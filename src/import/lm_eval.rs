//! lm-eval: per-document logs of lm-evaluation-harness (`--log_samples`), a file a wording of the same documents.
//!
//! In: `samples_TASK_DATE.jsonl` files or folders of them, each with the variant_id of its wording. Out: responses and
//! reference answers under this project's keys; the documents of a wording are found by their doc_id.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use super::columns::{Cells, Columns, Spot};
use super::names::Names;
use super::sample::{KEYS, Sample};
use super::wording::{Wording, Wordings};
use super::{Import, ReadFile, Source, files};
use crate::datasets::table::{self, Format, Wanted, name};
use crate::variants::BASELINE;
use crate::{Error, Result};

/// Whose response to what, as numbers of the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) model: u32,
    pub(super) dataset: u32,
    pub(super) prompt: u32,
    pub(super) wording: u32,
}

/// What a model said, with its place.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) responses: Vec<String>,
    spot: Spot,
}

/// A document, as the first file that has it tells it.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) answers: Vec<String>,
    /// Text of each wording.
    pub(super) texts: BTreeMap<u32, String>,
    spot: Spot,
}

/// All responses, and what their numbers stand for.
#[derive(Debug, Default)]
pub(super) struct Harvest {
    pub(super) models: Names,
    pub(super) datasets: Names,
    pub(super) prompts: Names,
    pub(super) wordings: Wordings,
    pub(super) responses: BTreeMap<Key, Said>,
    /// By data set and prompt.
    pub(super) documents: BTreeMap<(u32, u32), Document>,
    pub(super) files: Vec<ReadFile>,
    pub(super) notes: Vec<String>,
    /// Responses to a document in other words than those of its first file.
    reworded: usize,
    paths: Vec<PathBuf>,
}

/// Reads all sources, those of the baseline first.
pub(super) fn read(import: &Import) -> Result<Harvest> {
    let columns = Columns::new(&import.columns, &KEYS)?;
    let mut sources: Vec<(&Source, Wording)> = Vec::new();
    for source in &import.sources {
        let id = source.variant.as_deref().unwrap_or_default();
        if id.trim().is_empty() {
            return Err(Error::input(format!("{} is of no wording", source.path.display()))
                .fix(format!("say which: --variant baseline={}", source.path.display()))
                .into());
        }
        let wording = Wording::parse(id).map_err(|expected| {
            Error::from(
                Error::input("a wording has no strength of its subtype").key("--variant").found(id).expected(expected),
            )
        })?;
        sources.push((source, wording));
    }
    if !sources.iter().any(|(_, wording)| wording.id == BASELINE) {
        return Err(Error::input("no file holds the prompts as they are").fix("add --variant baseline=FILE").into());
    }
    sources.sort_by_key(|(_, wording)| wording.id != BASELINE);
    let mut harvest = Harvest::default();
    for (source, wording) in sources {
        let fits = |file: &str| file.starts_with("samples_") && file.ends_with(".jsonl");
        for path in files(&source.path, "files samples_TASK_DATE.jsonl", &fits)? {
            harvest.read_file(import, source, &path, &wording, &columns)?;
        }
    }
    harvest.check_baselines()?;
    if harvest.reworded > 0 {
        harvest.notes.push(format!(
            "{} responses answer a document in other words than those of its first file (chat templates of the models, \
             say); the tables prompts and variants hold the first",
            harvest.reworded
        ));
    }
    Ok(harvest)
}

impl Harvest {
    fn read_file(
        &mut self,
        import: &Import,
        source: &Source,
        path: &Path,
        wording: &Wording,
        columns: &Columns,
    ) -> Result<()> {
        let model = match source.model.as_ref().or(import.model.as_ref()) {
            Some(model) => model.clone(),
            None => folder_of(path)?,
        };
        let dataset = match source.dataset.as_ref().or(import.dataset.as_ref()) {
            Some(dataset) => dataset.clone(),
            None => task_of(path)?,
        };
        let file = self.paths.len();
        self.paths.push(path.to_path_buf());
        let number = self.wordings.number(wording.clone());
        let (model_number, dataset_number) = (self.models.number(&model), self.datasets.number(&dataset));
        let (mut count, mut filter) = (0, import.filter.clone());
        let mut taken = 0;
        let wanted = Wanted::by(KEYS.iter().map(|ours| columns.theirs(ours)));
        let head = table::scan(path, &Format::JsonLines, &wanted, &mut |_, row| {
            count += 1;
            let spot = Spot::of(file, &row, count);
            let cells = Cells { path, columns, row: &row, spot };
            // A document has a line a filter; without one in the options the file's first counts.
            let found = cells.text("filter")?.map(|text| text.into_owned()).unwrap_or_default();
            if *filter.get_or_insert_with(|| found.clone()) != found {
                return Ok(());
            }
            taken += 1;
            let sample = Sample::read(&cells, import.responses)?;
            let prompt = self.prompts.number(&sample.prompt_id);
            self.take(Key { model: model_number, dataset: dataset_number, prompt, wording: number }, sample, spot)
        })?;
        if taken == 0 {
            return Err(Error::input(format!("{} has no line of the filter", name(path)))
                .file(path)
                .found(format!("--filter {}", filter.unwrap_or_default()))
                .fix("name a filter that the task has: the values of the key \"filter\"")
                .into());
        }
        let variant = Some(wording.id.clone());
        let (file, sha256) = (name(path), head.sha256);
        self.files.push(ReadFile { file, sha256, rows: count, model: Some(model), dataset: Some(dataset), variant });
        Ok(())
    }

    fn take(&mut self, key: Key, sample: Sample, spot: Spot) -> Result<()> {
        if let Some(first) = self.responses.get(&key) {
            let error = Error::input("a document stands twice")
                .found(format!("{}, first at {}", self.described(key), self.place(first.spot)))
                .expected("one line a document, and one file a wording")
                .fix("leave one of them out; for repeats use the harness's own (repeats: in the task)");
            return Err(spot.mark(self.path(spot), error).into());
        }
        if let Some(document) = self.documents.get(&(key.dataset, key.prompt))
            && document.answers != sample.answers
        {
            let error = Error::input("the same doc_id has another target")
                .found(format!("{:?}; {:?} at {}", sample.answers, document.answers, self.place(document.spot)))
                .expected("files with wordings of the same documents")
                .fix("import files of different documents as different data sets: --dataset NAME, or one import each");
            return Err(spot.mark(self.path(spot), error).into());
        }
        let document = self.documents.entry((key.dataset, key.prompt)).or_insert_with(|| Document {
            answers: sample.answers,
            texts: BTreeMap::new(),
            spot,
        });
        match document.texts.entry(key.wording) {
            Entry::Vacant(entry) => drop(entry.insert(sample.text)),
            Entry::Occupied(entry) => self.reworded += usize::from(*entry.get() != sample.text),
        }
        self.responses.insert(key, Said { responses: sample.responses, spot });
        Ok(())
    }

    /// Every response needs the baseline's response of the same model to be compared with.
    fn check_baselines(&self) -> Result<()> {
        for (key, said) in &self.responses {
            let is_there = |number: &u32| self.responses.contains_key(&Key { wording: *number, ..*key });
            if self.baseline_of(*key).filter(is_there).is_none() {
                let error = Error::input(format!(
                    "there is no baseline row for model {}, data set {}, prompt {}",
                    self.models.get(key.model),
                    self.datasets.get(key.dataset),
                    self.prompts.get(key.prompt)
                ))
                .found(self.described(*key))
                .expected("the same document in a file --variant baseline=FILE")
                .fix("where the files' tasks or folders have different names, say --dataset NAME or --model NAME");
                return Err(said.spot.mark(self.path(said.spot), error).into());
            }
        }
        Ok(())
    }

    /// What a response is measured against.
    pub(super) fn baseline_of(&self, key: Key) -> Option<u32> {
        let document = self.documents.get(&(key.dataset, key.prompt))?;
        self.wordings.baseline_of(key.wording, &|number| document.texts.contains_key(&number))
    }

    fn path(&self, spot: Spot) -> &Path {
        self.paths.get(spot.file as usize).map_or(Path::new(""), PathBuf::as_path)
    }

    fn place(&self, spot: Spot) -> String {
        format!("{}, {spot}", self.path(spot).display())
    }

    fn described(&self, key: Key) -> String {
        let wording = self.wordings.get(key.wording).map_or("", |w| w.id.as_str());
        let (model, dataset) = (self.models.get(key.model), self.datasets.get(key.dataset));
        format!("model {model}, data set {dataset}, doc_id {}, wording {wording}", self.prompts.get(key.prompt))
    }
}

/// The model: the harness writes the files of a model into a folder of its name.
fn folder_of(path: &Path) -> Result<String> {
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    folder.ok_or_else(|| {
        let error = Error::input(format!("{} lies in no folder that names the model", path.display())).file(path);
        error.fix("name it with --model").into()
    })
}

/// The task that a file's name tells: `samples_TASK_2026-01-31T12-00-00.000000.jsonl`.
fn task_of(path: &Path) -> Result<String> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let is_date = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('T');
    let task = stem.strip_prefix("samples_").map(|rest| match rest.rsplit_once('_') {
        Some((task, date)) if is_date(date) => task.to_string(),
        _ => rest.to_string(),
    });
    task.filter(|task| !task.is_empty()).ok_or_else(|| {
        Error::input(format!("{} is not named after its task", name(path)))
            .file(path)
            .expected("samples_TASK_DATE.jsonl")
            .fix("name the data set with --dataset")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harnesss_names_tell_model_and_task() {
        let path = Path::new("out/org__model-1b/samples_trivia_qa_2026-01-31T12-00-00.000000.jsonl");
        assert_eq!((folder_of(path).unwrap(), task_of(path).unwrap()), ("org__model-1b".into(), "trivia_qa".into()));
        assert_eq!(task_of(Path::new("samples_gsm8k.jsonl")).unwrap(), "gsm8k");
        assert!(task_of(Path::new("log.jsonl")).unwrap_err().to_string().contains("--dataset"));
        assert!(folder_of(Path::new("samples_x.jsonl")).unwrap_err().to_string().contains("--model"));
    }
}
