//! Again: measures the responses of a complete run once more, without asking a model.
//!
//! In: a run directory, and what to measure. Out: parts of `similarities` and `judgements` in place of the old ones.
//! Each part is replaced whole; until the last one is, the run says that a measurement has begun.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{Array, BooleanArray, RecordBatch};
use arrow::compute::{concat_batches, filter_record_batch};

use super::Progress;
use super::texts::{self, Pair};
use super::wordings::{Baselines, Wordings};
use crate::measure::bertscore::BertScorer;
use crate::store::begun::Begun;
use crate::store::manifest::Manifest;
use crate::store::run_dir::{RunDir, read_json};
use crate::store::schema::{MEASURED_AGAIN, SCHEMA_VERSION, Table};
use crate::store::{files, part, read};
use crate::{Error, Result};

/// What is measured again.
#[derive(Debug)]
pub struct Again<'a> {
    /// As the user said it, for the message of a run in which it has not ended.
    pub said: Begun,
    /// Scorer of BERTScore; None leaves BERTScore as it is.
    pub scorer: Option<&'a BertScorer>,
}

/// How many parts a measurement replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// Parts that were looked at, of `similarities` and `judgements`.
    pub parts: usize,
    /// Those that were replaced; the others held the same rows already.
    pub replaced: usize,
}

/// Measures again and brings manifest.json up to date. What an earlier, interrupted call has done is not done again.
///
/// # Errors
/// The run is not complete, holds no responses, is damaged, or another measurement was begun that this one does not finish;
/// the encoder fails; a file can't be written; the user asked to stop.
pub fn again(run: &Path, again: &Again, stop: &AtomicBool, progress: &dyn Progress) -> Result<Replaced> {
    let (dir, manifest, resumed) = open(run, again)?;
    let parts = generations(run, &manifest)?;
    let variants = run.join("variants.parquet");
    // Damage is found before anything is replaced. Of a measurement that is gone on with, replaced parts have changed.
    let replaceable = if resumed { &[] } else { MEASURED_AGAIN.as_slice() };
    for file in parts.iter().chain(&parts_of(run, replaceable)?).chain([&variants]) {
        manifest.check_bytes(run, file)?;
    }
    let wordings = Wordings::read(&variants)?;
    let mut counts = Replaced { parts: 0, replaced: 0 };
    let mut done = 0;
    progress.begin("measuring", manifest.rows.get("generations").copied().unwrap_or(0), 0);
    for of_dataset in parts.chunk_by(|a, b| a.parent() == b.parent()) {
        let baselines = Baselines::read(of_dataset, &wordings)?;
        for file in of_dataset {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let unit = Unit { dir: &dir, again, wordings: &wordings, baselines: &baselines, generations: file };
            done += unit.measure(&mut counts)?;
            progress.reach(done);
        }
    }
    progress.end();
    if counts.replaced > 0 || resumed {
        manifest.measured_again(run, what(&again.said), super::now())?.write(&dir)?;
        Begun::end(run)?;
    }
    Ok(counts)
}

fn what(said: &Begun) -> Vec<String> {
    let all = [("bertscore", said.encoder.is_some()), ("metrics", said.metrics), ("judges", said.judges)];
    all.into_iter().filter(|(_, is)| *is).map(|(name, _)| name.to_string()).collect()
}

/// Locks the run and looks whether it can be measured; true where a measurement was begun before.
fn open(run: &Path, again: &Again) -> Result<(RunDir, Manifest, bool)> {
    if !run.join("plan.json").is_file() {
        let found = if run.is_dir() { "a folder without plan.json" } else { "no such folder" };
        let error = Error::input(format!("{} can't be measured again", run.display())).found(found);
        return Err(error.expected("the output folder of `sago run`, which has the responses").into());
    }
    let dir = RunDir::open(run, &read_json(&run.join("plan.json"))?)?;
    if !dir.is_complete() {
        let error = Error::input(format!("{} is not complete", run.display()));
        return Err(error.fix("finish it first, with the command that began it").into());
    }
    let manifest = Manifest::read(run)?;
    if manifest.schema_version != SCHEMA_VERSION {
        let error = Error::input(format!("the tables of {} are of another version", run.display()));
        let versions = (manifest.schema_version.to_string(), SCHEMA_VERSION.to_string());
        return Err(error.key("schema_version").found(versions.0).expected(versions.1).into());
    }
    let begun = Begun::read(run)?;
    if let Some(begun) = &begun
        && !again.said.covers(begun)
    {
        return Err(begun.unfinished(run));
    }
    manifest.check(run, if begun.is_some() { &MEASURED_AGAIN } else { &[] })?;
    Ok((dir, manifest, begun.is_some()))
}

/// The parts of `generations`, in order.
fn generations(run: &Path, manifest: &Manifest) -> Result<Vec<PathBuf>> {
    let parts = parts_of(run, &["generations"])?;
    let answered = manifest.rows.get("generations").copied().unwrap_or(0).saturating_sub(manifest.failed_rows);
    if parts.is_empty() || answered == 0 {
        let found = if parts.is_empty() { "no table generations" } else { "no row of generations with a response" };
        let error = Error::input(format!("{} holds no responses to measure", run.display())).found(found);
        return Err(error.expected("a run whose models answered").into());
    }
    Ok(parts)
}

/// The parts of some tables, in order.
fn parts_of(run: &Path, tables: &[&str]) -> Result<Vec<PathBuf>> {
    let folders = tables.iter().map(|table| run.join(table)).filter(|folder| folder.is_dir());
    let mut parts = folders.map(|folder| files::files_below(&folder)).collect::<Result<Vec<_>>>()?.concat();
    parts.retain(|file| file.extension().is_some_and(|e| e == "parquet"));
    Ok(parts)
}

/// One part of `generations`, with the parts of other tables that are made from it.
struct Unit<'a> {
    dir: &'a RunDir,
    again: &'a Again<'a>,
    wordings: &'a Wordings,
    baselines: &'a Baselines,
    generations: &'a Path,
}

impl Unit<'_> {
    /// Replaces what has changed; gives the number of rows of `generations`.
    fn measure(&self, counts: &mut Replaced) -> Result<u64> {
        let names = ["prompt_id", "variant_id", "repeat", "response"];
        let batch = read::columns(self.generations, table("generations")?, &names)?;
        let pairs = self.pairs(&batch)?;
        if self.again.scorer.is_some() || self.again.said.metrics {
            let (table, path) = (table("similarities")?, self.part_of("similarities")?);
            let old = path.is_file().then(|| read::all(&path, table)).transpose()?;
            let new = self.similarities(&pairs, old.as_ref(), &path)?;
            self.replace(table, &path, old.as_ref(), new, counts)?;
        }
        if self.again.said.judges {
            let (table, path) = (table("judgements")?, self.part_of("judgements")?);
            let old = path.is_file().then(|| read::all(&path, table)).transpose()?;
            let by_rules = texts::judgements(&pairs)?.finish()?;
            let new = match &old {
                Some(old) => concat_batches(&table.schema(), &[by_rules, of_other_judges(old)?])
                    .map_err(Error::table(table.name))?,
                None => by_rules,
            };
            self.replace(table, &path, old.as_ref(), new, counts)?;
        }
        u64::try_from(batch.num_rows()).map_err(Error::table("generations"))
    }

    /// The part of another table that belongs to this unit: the same place, below another folder.
    fn part_of(&self, table: &str) -> Result<PathBuf> {
        let below = self.generations.strip_prefix(self.dir.path().join("generations"));
        Ok(self.dir.path().join(table).join(below.map_err(Error::table("generations"))?))
    }

    /// The responses, each with its baseline's of repeat 0.
    fn pairs<'b>(&'b self, batch: &'b RecordBatch) -> Result<Vec<Pair<'b>>> {
        let (prompts, variants) = (read::texts(batch, "prompt_id")?, read::texts(batch, "variant_id")?);
        let (repeats, responses) = (read::ints(batch, "repeat")?, read::texts(batch, "response")?);
        let mut pairs = Vec::with_capacity(batch.num_rows());
        for i in (0..batch.num_rows()).filter(|&i| responses.is_valid(i)) {
            let (prompt_id, variant_id) = (prompts.value(i), variants.value(i));
            let wording = self.wordings.get(&self.baselines.dataset, prompt_id, variant_id)?;
            pairs.push(Pair {
                prompt_id,
                variant_id,
                repeat: repeats.value(i),
                subtype: &wording.subtype,
                strength: wording.strength,
                is_baseline: wording.is_baseline,
                response: responses.value(i),
                baseline: self.baselines.response(prompt_id, &wording.baseline_id),
            });
        }
        Ok(pairs)
    }

    /// Rows of `similarities`, what is not measured again taken from the old part.
    fn similarities(&self, pairs: &[Pair], old: Option<&RecordBatch>, path: &Path) -> Result<RecordBatch> {
        let signature = self.again.scorer.map(BertScorer::signature);
        let scored_before = match (old, signature) {
            (Some(old), Some(wanted)) => read::texts(old, "bertscore_signature")?.iter().all(|s| s == Some(wanted)),
            _ => false,
        };
        let keeps_scores = scored_before || signature.is_none();
        let scores = if keeps_scores { None } else { texts::bertscores(pairs, self.again.scorer)? };
        let new = texts::similarities(pairs, scores.as_deref(), signature)?.finish()?;
        let keeps = |column: &str| match column {
            "prompt_id" | "variant_id" | "repeat" => false,
            _ if column.starts_with("bertscore") => keeps_scores,
            _ => !self.again.said.metrics,
        };
        let Some(old) = old else { return Ok(new) };
        let same_rows = ["prompt_id", "variant_id", "repeat"];
        if same_rows.iter().any(|key| old.column_by_name(key) != new.column_by_name(key)) {
            let what = format!("the rows of {} are not those of {}", path.display(), self.generations.display());
            return Err(Error::table("similarities")(what));
        }
        let schema = new.schema();
        let from = schema.fields().iter().zip(old.columns().iter().zip(new.columns()));
        let columns = from.map(|(field, (old, new))| if keeps(field.name()) { old.clone() } else { new.clone() });
        RecordBatch::try_new(schema.clone(), columns.collect()).map_err(Error::table("similarities"))
    }

    /// Writes `new` in the place of `old` where they differ. Before the first part is replaced the run says that it is
    /// begun, and not earlier: a run in which nothing has changed stays a whole one.
    fn replace(
        &self,
        table: &Table,
        path: &Path,
        old: Option<&RecordBatch>,
        new: RecordBatch,
        counts: &mut Replaced,
    ) -> Result<()> {
        counts.parts += 1;
        let is_as_before = old.map_or(new.num_rows() == 0, |old| *old == new);
        if is_as_before {
            return Ok(());
        }
        if counts.replaced == 0 {
            self.again.said.write(self.dir.path())?;
        }
        counts.replaced += 1;
        // What the old part was written beside still says which parts make up the unit.
        let beside = part::beside(path, table.name, self.dir.run_id()).unwrap_or_default();
        let beside: Vec<&str> = beside.iter().map(String::as_str).collect();
        part::write_batch(path, table, &new, self.dir.run_id(), &beside)
    }
}

/// Judgements that the built-in rules did not make: they stay.
fn of_other_judges(old: &RecordBatch) -> Result<RecordBatch> {
    let others: BooleanArray = read::texts(old, "method")?.iter().map(|method| Some(method != Some("rule"))).collect();
    filter_record_batch(old, &others).map_err(Error::table("judgements"))
}

fn table(name: &str) -> Result<&'static Table> {
    Table::named(name).ok_or_else(|| Error::table(name)("not one of the raw tables"))
}
