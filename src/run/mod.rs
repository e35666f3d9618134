//! Run: carries out a plan.
//!
//! In: a [`Study`] and a directory. Out: a complete run directory, or as much of it as was done when it stopped.
//! What is done already is not done again. [`again()`] measures the responses of a complete run once more.

mod again;
mod progress;
pub(crate) mod texts;
mod timing;
mod unit;
mod wordings;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub use again::{Again, Replaced, again};
pub use progress::{Progress, Silent};
pub use timing::Timing;
pub use wordings::prompt_texts;

use crate::backend::local::Local;
use crate::model::{Compute, Device, Loading, Model};
use crate::plan::{ModelPlan, Plan, Study};
use crate::store::check::{check_parts, check_signatures};
use crate::store::manifest::Manifest;
use crate::store::part;
use crate::store::rows::{Cell, Rows};
use crate::store::run_dir::RunDir;
use crate::variants::{ValidityRule, Variant, apply_validity};
use crate::{Error, Result};

/// How a run goes about its work; nothing here changes a row.
#[derive(Debug, Clone, Copy)]
pub struct Execution<'a> {
    /// Most sequences in one batch.
    pub batch: usize,
    /// Raised when the user asks to stop.
    pub stop: &'a AtomicBool,
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// There was nothing left to do.
    AlreadyComplete {
        /// Rows of `generations` that hold an error.
        failed_rows: u64,
    },
    /// It is complete now.
    Completed {
        /// Rows of `generations` that hold an error.
        failed_rows: u64,
        /// Where the time went.
        timing: Timing,
    },
}

/// Carries out `study` in `out`, or goes on with what is there.
///
/// # Errors
/// The directory can't be written or holds another run; a model fails as a whole; the user asked to stop; the scores are
/// of two kinds, since a part was lost after a later measurement. Complete units stay.
pub fn run(study: &Study, out: &Path, execution: Execution, progress: &dyn Progress) -> Result<Outcome> {
    let dir = RunDir::open(out, &study.plan.to_json()?)?;
    if dir.is_complete() {
        check_parts(dir.path())?;
        check_signatures(dir.path())?;
        return Ok(Outcome::AlreadyComplete { failed_rows: Manifest::read(dir.path())?.failed_rows });
    }
    let clock = Instant::now();
    let mut timing = Timing::default();
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    write_shared_tables(study, &dir, execution.stop, progress)?;
    timing.check_seconds = clock.elapsed().as_secs_f64();
    for (model, found) in study.plan.models.iter().zip(&study.found) {
        let todo = todo(study, &dir, &model.name);
        let total: usize = units(study).map(|(d, p)| wordings(study, d, p)).sum();
        let mut left: usize = todo.iter().map(|&(d, p)| wordings(study, d, p)).sum();
        if todo.is_empty() {
            continue;
        }
        progress.say(&format!("loading {}", model.name));
        let load = Instant::now();
        let path = found.place.path();
        let loading = Loading {
            device: Device::chosen(&model.device)?,
            compute: Compute::named(&model.dtype).unwrap_or_default(),
            template_options: model.template_options.clone(),
        };
        let loaded = Model::load(&model.name, path, &loading)?;
        let seconds = load.elapsed().as_secs_f64();
        log::info!("model {} from {} loaded in {seconds:.2} s", model.name, path.display());
        timing.load_seconds += seconds;
        let backend = Local::new(loaded, model.escape_special_tokens, execution.batch);
        let bench = unit::Bench {
            plan: &study.plan,
            backend: &backend,
            scorer: study.scorer.as_ref(),
            host: &host,
            stop: execution.stop,
        };
        progress.begin(&model.name, total as u64, (total - left) as u64);
        for (d, p) in todo {
            if execution.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let (Some(dataset), Some(variants)) =
                (study.plan.datasets.get(d), study.variants.get(d).and_then(|v| v.get(p)))
            else {
                continue;
            };
            let before = total - left;
            let unit_clock = Instant::now();
            let parts = bench.carry_out(variants, &mut timing, &|done| progress.reach((before + done) as u64))?;
            left -= wordings(study, d, p);
            let write = Instant::now();
            dir.write_unit(&model.name, &dataset.name, p, parts)?;
            timing.write_seconds += write.elapsed().as_secs_f64();
            log::info!(
                "{}, {} / {}: {} wordings asked, measured and written in {:.2} s",
                model.name,
                dataset.name,
                variants.first().map_or("", |variant| variant.prompt_id.as_str()),
                total - left - before,
                unit_clock.elapsed().as_secs_f64(),
            );
            progress.reach((total - left) as u64);
        }
        progress.end();
    }
    timing.wall_seconds = clock.elapsed().as_secs_f64();
    let manifest = Manifest::of(&dir, now())?;
    let generations = manifest.rows.get("generations").copied().unwrap_or(0);
    if generations != study.plan.planned.generations as u64 {
        let planned = study.plan.planned.generations;
        return Err(Error::table("generations")(format!(
            "{generations} rows for {planned} planned; it is not complete"
        )));
    }
    manifest.write(&dir)?;
    // A later measurement may have been cut off before a part was lost and made again.
    check_parts(dir.path())?;
    // What was lost after such a measurement was made again as the plan has it. Measuring needs the manifest to go on.
    check_signatures(dir.path())?;
    Ok(Outcome::Completed { failed_rows: manifest.failed_rows, timing })
}

/// Every (data set, prompt), in run order.
fn units(study: &Study) -> impl Iterator<Item = (usize, usize)> + '_ {
    study.variants.iter().enumerate().flat_map(|(d, prompts)| (0..prompts.len()).map(move |p| (d, p)))
}

/// Units of a model that are not done.
fn todo(study: &Study, dir: &RunDir, model: &str) -> Vec<(usize, usize)> {
    let is_open = |&(d, p): &(usize, usize)| {
        study.plan.datasets.get(d).is_some_and(|dataset| !dir.is_done(model, &dataset.name, p))
    };
    units(study).filter(is_open).collect()
}

/// Rows of `generations` that a unit gives.
fn wordings(study: &Study, dataset: usize, prompt: usize) -> usize {
    let variants = study.variants.get(dataset).and_then(|d| d.get(prompt));
    variants.map_or(0, |v| v.iter().filter(|v| v.text.is_some()).count()) * study.plan.generation.repeats
}

/// Writes prompts, variants and models where they are not there yet.
fn write_shared_tables(study: &Study, dir: &RunDir, stop: &AtomicBool, progress: &dyn Progress) -> Result<()> {
    let missing = |name: &str| part::beside(&dir.path().join(format!("{name}.parquet")), name, dir.run_id()).is_none();
    if missing("prompts") {
        dir.write_table(prompts(study)?)?;
    }
    if missing("variants") {
        progress.say("checking the variants");
        dir.write_table(variants(study, stop)?)?;
    }
    if missing("models") {
        dir.write_table(models(&study.plan)?)?;
    }
    Ok(())
}

fn prompts(study: &Study) -> Result<Rows> {
    let mut rows = Rows::of("prompts")?;
    for p in study.prompts.iter().flatten() {
        rows.push([
            p.dataset.as_str().into(),
            p.prompt_id.as_str().into(),
            p.text.as_str().into(),
            p.answers.clone().into(),
            p.category.clone().into(),
            i64::try_from(p.source_row).unwrap_or(i64::MAX).into(),
            p.source_hash.as_str().into(),
        ])?;
    }
    Ok(rows)
}

fn variants(study: &Study, stop: &AtomicBool) -> Result<Rows> {
    let mut all: Vec<Variant> = study.variants.iter().flatten().flatten().cloned().collect();
    if let Some(scorer) = &study.scorer {
        let f1 = |pairs: &[(&str, &str)]| {
            let mut scores = Vec::with_capacity(pairs.len());
            // In pieces, so that a request to stop is heard.
            for piece in pairs.chunks(256) {
                if stop.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                scores.extend(scorer.score(piece)?.iter().map(|s| s.f1));
            }
            Ok(scores)
        };
        let rule = match study.plan.variants.threshold {
            Some(threshold) => ValidityRule::RewritesAndOwn { threshold },
            None => ValidityRule::None,
        };
        apply_validity(&mut all, rule, scorer.signature(), f1)?;
    }
    let mut rows = Rows::of("variants")?;
    for v in all {
        rows.push([
            v.dataset.into(),
            v.prompt_id.into(),
            v.variant_id.into(),
            v.family.into(),
            v.subtype.into(),
            v.place.into(),
            v.strength.into(),
            v.level.into(),
            v.is_baseline.into(),
            v.baseline_id.into(),
            i64::try_from(v.seed).unwrap_or(i64::MAX).into(),
            v.text.into(),
            v.rewriter.into(),
            v.prompt_bertscore.into(),
            v.scorer.into(),
            v.is_valid.into(),
            v.invalid_reason.into(),
        ])?;
    }
    Ok(rows)
}

fn models(plan: &Plan) -> Result<Rows> {
    let mut rows = Rows::of("models")?;
    let int = |n: usize| Cell::from(i32::try_from(n).ok());
    for m in &plan.models {
        rows.push([
            m.name.as_str().into(),
            m.family.as_str().into(),
            i64::try_from(m.parameters).ok().into(),
            int(m.layers),
            int(m.width),
            int(m.vocabulary),
            int(m.context),
            m.dtype.as_str().into(),
            m.device.as_str().into(),
            "candle".into(),
            m.weights_sha256.as_str().into(),
            m.tokenizer_sha256.as_str().into(),
            m.template_sha256.clone().into(),
            template_options(m)?.into(),
            m.source.as_str().into(),
            m.revision.clone().into(),
        ])?;
    }
    Ok(rows)
}

/// Options of the chat template as JSON, where there are any.
fn template_options(model: &ModelPlan) -> Result<Option<String>> {
    let options = &model.template_options;
    (!options.is_empty()).then(|| serde_json::to_string(options)).transpose().map_err(Error::table("models"))
}

/// UTC time, RFC 3339, to the second.
fn now() -> String {
    chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}
