//! Write: what the runs of all layouts have in common.
//!
//! In: the import, its files and names. Out: a directory opened under its plan.json, rows of models and variants, and at
//! the end manifest.json.

use std::path::Path;

use serde_json::json;

use super::wording::Wording;
use super::{Import, Imported, ReadFile};
use crate::Result;
use crate::store::check::check_parts;
use crate::store::manifest::Manifest;
use crate::store::rows::{Cell, Rows};
use crate::store::run_dir::RunDir;
use crate::store::schema::SCHEMA_VERSION;

/// Opens the directory under the plan of the import; it may be complete.
pub(super) fn open(
    import: &Import,
    files: &[ReadFile],
    models: &[String],
    datasets: &[String],
    counts: serde_json::Value,
    out: &Path,
) -> Result<RunDir> {
    let plan = json!({
        "schema_version": SCHEMA_VERSION,
        "import": { "layout": import.layout, "sources": files, "options": import.options() },
        "models": models,
        "datasets": datasets,
        "planned": counts,
    });
    RunDir::open(out, &plan)
}

/// What there is of an import that is complete already. Its tables stay as they are: scores may have been measured since.
///
/// # Errors
/// The run is damaged, or a later measurement has not ended.
pub(super) fn complete(dir: &RunDir, mut notes: Vec<String>) -> Result<Imported> {
    check_parts(dir.path())?;
    notes.push(format!("{} holds this import already; nothing was written", dir.path().display()));
    Ok(imported(Manifest::read(dir.path())?, notes))
}

/// Writes the manifest: the run is complete.
pub(super) fn finish(dir: &RunDir, notes: Vec<String>) -> Result<Imported> {
    let now = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let manifest = Manifest::of(dir, now)?;
    manifest.write(dir)?;
    Ok(imported(manifest, notes))
}

fn imported(manifest: Manifest, notes: Vec<String>) -> Imported {
    Imported { rows: manifest.rows.into_iter().filter(|(_, rows)| *rows > 0).collect(), notes }
}

/// Rows of models of which nothing but the name is known.
pub(super) fn model_rows(models: &[String]) -> Result<Rows> {
    let mut rows = Rows::of("models")?;
    for model in models {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m] = std::array::from_fn(|_| Cell::Null);
        rows.push([model.as_str().into(), "unknown".into(), a, b, c, d, e, f, g, "import".into(), h, i, j, k, l, m])?;
    }
    Ok(rows)
}

/// Adds a row of variants; the text is NULL where it is not known.
pub(super) fn variant(
    rows: &mut Rows,
    dataset: &str,
    prompt_id: &str,
    wording: &Wording,
    baseline: &Wording,
    text: Option<String>,
) -> Result<()> {
    let is_baseline = wording.id == baseline.id;
    rows.push([
        dataset.into(),
        prompt_id.into(),
        wording.id.as_str().into(),
        wording.family.as_str().into(),
        wording.subtype.as_str().into(),
        wording.place.map(|place| place.as_str().to_string()).into(),
        wording.strength().into(),
        wording.level.clone().into(),
        is_baseline.into(),
        baseline.id.as_str().into(),
        Cell::Null,
        text.into(),
        Cell::Null,
        Cell::Null,
        Cell::Null,
        true.into(),
        Cell::Null,
    ])
}
