//! Matrices: deltas as a row a prompt and a column a wording, made with Polars.
//!
//! In: a session with deltas and variants. Out: `deltas/SCALE[/RUN]/MODEL/AXIS.parquet` for the raw and the fixed scale.
//! They hold V at repeat 0: no baselines, no wordings that the validity rule rules out. Where a wording has no delta for
//! a prompt the cell is NULL. All files of a model have the same rows, all files of a run the same columns.

use std::fs::{self, File};
use std::path::Path;

use polars::frame::DataFrame;
use polars::prelude::{
    Column, DataType, KeyValueMetadata, ParallelStrategy, ParquetReader, ParquetWriter, PlSmallStr, SerReader,
    UnpivotDF,
};

use super::index::IndexedMatrix;
use super::long::{Cells, Frame, Prompt, SCALES, each};
use crate::query::{Session, caught};
use crate::{Error, Result};

/// Folder of a release for its matrices.
pub(super) const FOLDER: &str = "deltas";
/// The columns that name a row.
const KEY: [&str; 2] = ["dataset", "prompt_id"];
/// Name of these tables in errors.
const NAME: &str = "delta matrices";

/// Writes all matrices below `folder`; with `csv` each as CSV too.
pub(super) fn write(session: &Session, folder: &Path, csv: bool) -> Result<Vec<IndexedMatrix>> {
    let frame = Frame::of(session)?;
    let mut written = Vec::new();
    for scale in SCALES {
        each(session, &frame, scale, |matrix, cells| {
            let path = folder.join(&matrix.file);
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
            let (prompts, variants) = frame.rows_and_columns(matrix);
            let mut wide = wide(prompts, variants, cells)?;
            let file = File::create(&path).map_err(Error::io("create", &path))?;
            let said = [("sago.scale", &matrix.scale), ("sago.model", &matrix.model), ("sago.axis", &matrix.axis)];
            let said = said.map(|(key, value)| (key.to_string(), value.clone()));
            ParquetWriter::new(file)
                .with_key_value_metadata(Some(KeyValueMetadata::from_static(said.to_vec())))
                .set_parallel(false)
                .finish(&mut wide)
                .map_err(Error::table(NAME))?;
            if csv {
                write_csv(&path.with_extension("csv"), prompts, variants, cells)?;
            }
            written.push(matrix.clone());
            Ok(())
        })?;
    }
    Ok(written)
}

/// The first matrix that is not what the long tables say; None where all are. `there` are those that the release has.
pub(super) fn difference(session: &Session, folder: &Path, there: &[IndexedMatrix]) -> Result<Option<String>> {
    let frame = Frame::of(session)?;
    let (mut first, mut seen) = (None, Vec::new());
    for scale in SCALES {
        each(session, &frame, scale, |matrix, cells| {
            seen.push(matrix.file.clone());
            if first.is_none() {
                first = match there.iter().find(|other| other.file == matrix.file) {
                    Some(other) if other == matrix => unequal(&folder.join(&matrix.file), &frame, matrix, cells)?,
                    Some(_) => Some(format!("{}: release.json counts other rows, wordings or values", matrix.file)),
                    None => Some(format!("{} is missing, and the long tables have its deltas", matrix.file)),
                };
            }
            Ok(())
        })?;
    }
    let without = there.iter().find(|matrix| !seen.contains(&matrix.file));
    Ok(first.or_else(|| without.map(|matrix| format!("{}: the long tables have none of its deltas", matrix.file))))
}

fn wide(prompts: &[Prompt], variants: &[String], cells: &Cells) -> Result<DataFrame> {
    let text = |name: &str, of: fn(&Prompt) -> &str| {
        Column::new(PlSmallStr::from_str(name), prompts.iter().map(of).collect::<Vec<&str>>())
    };
    let [dataset, prompt_id] = KEY;
    let mut all = vec![text(dataset, |p| &p.0), text(prompt_id, |p| &p.1)];
    for variant in variants {
        let of = |prompt: &Prompt| cells.get(&(prompt.clone(), variant.clone())).copied();
        let deltas: Vec<Option<f64>> = prompts.iter().map(of).collect();
        all.push(Column::new(PlSmallStr::from_str(variant), deltas));
    }
    DataFrame::new(prompts.len(), all).map_err(Error::table(NAME))
}

fn write_csv(path: &Path, prompts: &[Prompt], variants: &[String], cells: &Cells) -> Result<()> {
    let failed = |e: csv::Error| Error::table(NAME)(format!("writing {}: {e}", path.display()));
    let mut out = csv::Writer::from_path(path).map_err(failed)?;
    out.write_record(KEY.into_iter().chain(variants.iter().map(String::as_str))).map_err(failed)?;
    for prompt in prompts {
        let deltas = variants.iter().map(|variant| cells.get(&(prompt.clone(), variant.clone())));
        let deltas: Vec<String> = deltas.map(|d| d.map_or(String::new(), f64::to_string)).collect();
        let key = [prompt.0.as_str(), prompt.1.as_str()].into_iter();
        out.write_record(key.chain(deltas.iter().map(String::as_str))).map_err(failed)?;
    }
    out.flush().map_err(Error::io("write", path))
}

/// The first cell of a file that is not as `cells` say.
fn unequal(path: &Path, frame: &Frame, matrix: &IndexedMatrix, cells: &Cells) -> Result<Option<String>> {
    let (prompts, variants) = frame.rows_and_columns(matrix);
    let (name, file) = (&matrix.file, File::open(path).map_err(Error::io("open", path))?);
    // Damage may make the decoder panic.
    let long = caught(|| {
        let wide = ParquetReader::new(file).read_parallel(ParallelStrategy::None).finish();
        let wide = wide.map_err(|e| e.to_string())?;
        let names: Vec<String> = wide.get_column_names().iter().map(ToString::to_string).collect();
        let expected: Vec<&str> = KEY.into_iter().chain(variants.iter().map(String::as_str)).collect();
        if names != expected || wide.height() != prompts.len() {
            return Err("it has other columns or rows than the wordings and prompts of the long tables".to_string());
        }
        let long = wide.unpivot(Some(variants.to_vec()), KEY).map_err(|e| e.to_string())?;
        in_cells(&long).map_err(|e| e.to_string())
    });
    let mut found = match long {
        Ok(found) => found,
        Err(fault) => return Ok(Some(format!("{name}: {fault}"))),
    };
    for prompt in prompts {
        for variant in variants {
            let key = (prompt.clone(), variant.clone());
            let (there, wanted) = (found.remove(&key), cells.get(&key).copied());
            if there != wanted {
                let shown = |delta: Option<f64>| delta.map_or("NULL".to_string(), |delta| delta.to_string());
                return Ok(Some(format!(
                    "{name} has {}, not {}, at dataset={}, prompt_id={}, variant_id={variant}",
                    shown(there),
                    shown(wanted),
                    prompt.0,
                    prompt.1
                )));
            }
        }
    }
    // What is left belongs to no prompt of the long tables.
    let stranger = found.keys().min().map(|((dataset, prompt), _)| format!("dataset={dataset}, prompt_id={prompt}"));
    Ok(stranger.map(|row| format!("{name} has a row of an unknown prompt: {row}")))
}

fn in_cells(long: &DataFrame) -> polars::prelude::PolarsResult<Cells> {
    let text = |name: &str| long.column(name)?.cast(&DataType::String);
    let [dataset, prompt_id] = KEY;
    let (datasets, prompts, variants) = (text(dataset)?, text(prompt_id)?, text("variable")?);
    let values = long.column("value")?.cast(&DataType::Float64)?;
    let keys = datasets.str()?.iter().zip(prompts.str()?.iter()).zip(variants.str()?.iter());
    let mut cells = Cells::new();
    for (((dataset, prompt), variant), value) in keys.zip(values.f64()?.iter()) {
        let own = |text: Option<&str>| text.unwrap_or_default().to_string();
        if let Some(value) = value {
            cells.insert(((own(dataset), own(prompt)), own(variant)), value);
        }
    }
    Ok(cells)
}
