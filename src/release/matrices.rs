//! Matrices: deltas as a row a prompt and a column a wording, made with Polars.
//!
//! In: a session with deltas and variants. Out: `deltas/SCALE[/RUN]/MODEL/AXIS.parquet` for the raw and the fixed scale.
//! They hold V at repeat 0: no baselines, no wordings that the validity rule rules out. Where a wording has no delta for
//! a prompt the cell is NULL. All files of a model have the same rows, all files of a run the same columns.

use std::fs::{self, File};
use std::path::Path;

use polars::frame::DataFrame;
use polars::prelude::{
    Column, KeyValueMetadata, ParallelStrategy, ParquetReader, ParquetWriter, PlSmallStr, SerReader,
};

use super::index::IndexedMatrix;
use super::long::{Deltas, Frame, Prompt, SCALES};
use crate::query::{Session, Stop, caught};
use crate::{Error, Result};

/// Folder of a release for its matrices.
pub(super) const FOLDER: &str = "deltas";
/// The columns that name a row.
const KEY: [&str; 2] = ["dataset", "prompt_id"];
/// Name of these tables in errors.
const NAME: &str = "delta matrices";

/// Writes all matrices below `folder`; with `csv` each as CSV too.
pub(super) fn write(session: &Session, folder: &Path, csv: bool, stop: &Stop) -> Result<Vec<IndexedMatrix>> {
    let frame = Frame::of(session, stop)?;
    let mut written = Vec::new();
    for scale in SCALES {
        frame.each(scale, |deltas| {
            let matrix = &deltas.matrix;
            let path = folder.join(&matrix.file);
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
            let file = File::create(&path).map_err(Error::io("create", &path))?;
            let said = [("sago.scale", &matrix.scale), ("sago.model", &matrix.model), ("sago.axis", &matrix.axis)];
            let said = said.map(|(key, value)| (key.to_string(), value.clone()));
            ParquetWriter::new(file)
                .with_key_value_metadata(Some(KeyValueMetadata::from_static(said.to_vec())))
                .set_parallel(false)
                .finish(&mut wide(deltas)?)
                .map_err(Error::table(NAME))?;
            if csv {
                write_csv(&path.with_extension("csv"), deltas)?;
            }
            written.push(matrix.clone());
            Ok(())
        })?;
    }
    Ok(written)
}

/// The first matrix that is not what the long tables say; None where all are. `there` are those that the release has.
pub(super) fn difference(
    session: &Session,
    folder: &Path,
    there: &[IndexedMatrix],
    stop: &Stop,
) -> Result<Option<String>> {
    let frame = Frame::of(session, stop)?;
    let (mut first, mut seen) = (None, Vec::new());
    for scale in SCALES {
        frame.each(scale, |deltas| {
            let matrix = &deltas.matrix;
            seen.push(matrix.file.clone());
            if first.is_none() {
                first = match there.iter().find(|other| other.file == matrix.file) {
                    Some(other) if other == matrix => unequal(&folder.join(&matrix.file), deltas)?,
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

fn wide(deltas: &Deltas) -> Result<DataFrame> {
    let text = |name: &str, of: fn(&Prompt) -> &str| {
        Column::new(PlSmallStr::from_str(name), deltas.prompts.iter().map(of).collect::<Vec<&str>>())
    };
    let [dataset, prompt_id] = KEY;
    let mut all = vec![text(dataset, |p| &p.0), text(prompt_id, |p| &p.1)];
    let columns = deltas.variants.iter().zip(&deltas.columns);
    all.extend(columns.map(|(variant, column)| Column::new(PlSmallStr::from_str(variant), column)));
    DataFrame::new(deltas.prompts.len(), all).map_err(Error::table(NAME))
}

fn write_csv(path: &Path, deltas: &Deltas) -> Result<()> {
    let failed = |e: csv::Error| Error::table(NAME)(format!("writing {}: {e}", path.display()));
    let mut out = csv::Writer::from_path(path).map_err(failed)?;
    out.write_record(names(deltas)).map_err(failed)?;
    for (row, (dataset, prompt)) in deltas.prompts.iter().enumerate() {
        let cells = deltas.columns.iter().map(|column| column.get(row).copied().flatten());
        let cells = cells.map(|delta| delta.map_or(String::new(), |delta| delta.to_string()));
        let key = [dataset.clone(), prompt.clone()].into_iter();
        out.write_record(key.chain(cells)).map_err(failed)?;
    }
    out.flush().map_err(Error::io("write", path))
}

/// The columns of a matrix.
fn names<'a>(deltas: &'a Deltas) -> impl Iterator<Item = &'a str> {
    KEY.into_iter().chain(deltas.variants.iter().map(String::as_str))
}

/// The first cell of a file that is not as the deltas are.
fn unequal(path: &Path, deltas: &Deltas) -> Result<Option<String>> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    // Damage may make the decoder panic.
    let found = caught(|| {
        let wide = ParquetReader::new(file).read_parallel(ParallelStrategy::None).finish();
        difference_of(&wide.map_err(|e| e.to_string())?, deltas)
    });
    let fault = found.unwrap_or_else(Some);
    Ok(fault.map(|fault| format!("{} {fault}", deltas.matrix.file)))
}

fn difference_of(wide: &DataFrame, deltas: &Deltas) -> std::result::Result<Option<String>, String> {
    let found: Vec<String> = wide.get_column_names().iter().map(ToString::to_string).collect();
    if !found.iter().map(String::as_str).eq(names(deltas)) || wide.height() != deltas.prompts.len() {
        return Ok(Some("has other columns or rows than the wordings and prompts of the long tables".to_string()));
    }
    let column = |name: &str| wide.column(name).map_err(|e| e.to_string());
    for (name, of) in KEY.into_iter().zip([0, 1]) {
        let there = column(name)?.str().map_err(|e| e.to_string())?;
        let wanted = deltas.prompts.iter().map(|(dataset, prompt)| if of == 0 { dataset } else { prompt });
        if let Some((there, wanted)) = there.iter().zip(wanted).find(|(there, wanted)| *there != Some(wanted)) {
            return Ok(Some(format!("has a row of {name}={}, not {wanted}", there.unwrap_or("NULL"))));
        }
    }
    let shown = |delta: Option<f64>| delta.map_or("NULL".to_string(), |delta| delta.to_string());
    for (variant, wanted) in deltas.variants.iter().zip(&deltas.columns) {
        let there = column(variant)?.f64().map_err(|e| e.to_string())?;
        let cells = there.iter().zip(wanted).zip(deltas.prompts);
        if let Some(((there, wanted), (dataset, prompt))) =
            cells.into_iter().find(|((there, wanted), _)| there != *wanted)
        {
            let at = format!("dataset={dataset}, prompt_id={prompt}, variant_id={variant}");
            return Ok(Some(format!("has {}, not {}, at {at}", shown(there), shown(*wanted))));
        }
    }
    Ok(None)
}
