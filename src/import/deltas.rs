//! Deltas: a long table with a row a model, data set, prompt, wording and axis.
//!
//! In: CSV, TSV, JSON, JSONL or Parquet with columns model, dataset, prompt_id, axis, delta, and variant or subtype, place
//! and strength; value and repeat where there are any. Out: the rows under this project's keys.

use std::collections::HashMap;
use std::path::Path;

use arrow::array::AsArray;
use arrow::datatypes::Float64Type;

use super::columns::{Cells, Columns, Spot};
use super::gathered::{Axis, Delta, Gathered, Key};
use super::wording::Wording;
use super::{Import, ReadFile, Source, files};
use crate::datasets::table::{self, Format, Wanted, name};
use crate::query::{Session, built_in};
use crate::variants::Place;
use crate::{Error, Result};

/// The columns of the layout.
const COLUMNS: [&str; 11] =
    ["model", "dataset", "prompt_id", "axis", "delta", "value", "repeat", "variant", "subtype", "place", "strength"];
const NEEDED: [&str; 3] = ["prompt_id", "axis", "delta"];

/// Reads all sources.
pub(super) fn read(import: &Import) -> Result<Gathered> {
    let columns = Columns::new(&import.columns, &COLUMNS)?;
    let mut gathered = Gathered::new(known_axes()?);
    for source in &import.sources {
        for path in
            files(&source.path, "files with the endings of tables", &|file| Format::of(Path::new(file)).is_ok())?
        {
            read_file(import, source, &path, &columns, &mut gathered)?;
        }
    }
    gathered.finish(import.add_baselines)?;
    Ok(gathered)
}

/// The axes that the analysis knows: the rows of its table `axes`.
pub(super) fn known_axes() -> Result<Vec<Axis>> {
    let axes = built_in().into_iter().find(|source| source.name == "axes");
    let sql = axes.map(|source| source.sql).ok_or_else(|| Error::table("axes")("it is not built in"))?;
    let batches =
        Session::new(Some(1))?.query(&format!("select axis, r_fixed * bound from (\n{sql}\n) order by position"))?;
    let mut axes = Vec::new();
    for batch in &batches {
        let [names, most] = batch.columns() else { continue };
        let names = names.as_string_opt::<i32>().into_iter().flatten().flatten();
        let most = most.as_primitive_opt::<Float64Type>().into_iter().flatten();
        axes.extend(names.zip(most).map(|(name, most)| Axis { name: name.to_string(), most }));
    }
    Ok(axes)
}

/// The wordings that a file's texts name; a million rows name a few dozen.
type Parsed = HashMap<[String; 3], u32>;

fn read_file(import: &Import, source: &Source, path: &Path, columns: &Columns, gathered: &mut Gathered) -> Result<()> {
    let file = gathered.begin(path);
    let wanted = Wanted::by(COLUMNS.iter().map(|ours| columns.theirs(ours)));
    let (mut number, mut parsed) = (0, Parsed::new());
    let said = Said {
        model: source.model.as_deref().or(import.model.as_deref()),
        dataset: source.dataset.as_deref().or(import.dataset.as_deref()),
    };
    let head = table::scan(path, &Format::of(path)?, &wanted, &mut |found, row| {
        number += 1;
        if number == 1 {
            columns.check(path, &row, found, &NEEDED)?;
            said.check(path, columns, &row, found)?;
            let has = |ours: &str| found.iter().any(|column| column == columns.theirs(ours));
            if !has("variant") && !has("subtype") {
                let error = columns.lacking(path, &row, found, "variant");
                return Err(error.expected("a column variant, or columns subtype, place and strength").into());
            }
        }
        let spot = Spot::of(file, &row, number);
        take(&Cells { path, columns, row: &row, spot }, &said, &mut parsed, gathered)
    })?;
    gathered.files.push(ReadFile {
        file: name(path),
        sha256: head.sha256,
        rows: number,
        model: source.model.clone(),
        dataset: source.dataset.clone(),
        variant: None,
    });
    Ok(())
}

/// Model and data set as options say them.
pub(super) struct Said<'a> {
    pub(super) model: Option<&'a str>,
    pub(super) dataset: Option<&'a str>,
}

impl Said<'_> {
    /// Each must be said once: by an option or by a column.
    pub(super) fn check(&self, path: &Path, columns: &Columns, row: &table::Row, found: &[String]) -> Result<()> {
        for (ours, said) in [("model", self.model), ("dataset", self.dataset)] {
            let has = found.iter().any(|column| column == columns.theirs(ours));
            if said.is_none() && !has {
                let error = columns.lacking(path, row, found, ours);
                return Err(error
                    .fix(format!("name it with --{ours}, or say which column it is: --column {ours}=NAME"))
                    .into());
            }
            if let (Some(said), true) = (said, has) {
                return Err(Error::input(format!(
                    "{} has a column \"{}\" of its own",
                    name(path),
                    columns.theirs(ours)
                ))
                .file(path)
                .found(format!("--{ours} {said} beside it"))
                .fix("leave the option out")
                .into());
            }
        }
        Ok(())
    }
}

fn take(cells: &Cells, said: &Said, parsed: &mut Parsed, gathered: &mut Gathered) -> Result<()> {
    let wording = wording(cells, parsed, gathered)?;
    let axis = cells.required("axis")?;
    let axis = gathered
        .axis(&axis)
        .ok_or_else(|| cells.wrong("axis", "names no axis that is known").expected(gathered.axis_names().join(", ")))?;
    let repeat = match cells.number("repeat")? {
        None => 0,
        Some(x) if x.fract() == 0.0 && (0.0..1e9).contains(&x) => x as i32,
        Some(_) => return Err(cells.wrong("repeat", "is no whole number from 0").into()),
    };
    let model = match said.model {
        Some(model) => gathered.models.number(model),
        None => gathered.models.number(&cells.required("model")?),
    };
    let dataset = match said.dataset {
        Some(dataset) => gathered.datasets.number(dataset),
        None => gathered.datasets.number(&cells.required("dataset")?),
    };
    let prompt = gathered.prompts.number(&cells.required("prompt_id")?);
    let key = Key { model, dataset, prompt, wording, repeat, axis };
    gathered.claim(key, cells.spot)?;
    let (value, delta) = (cells.number("value")?, cells.number("delta")?);
    if value.is_some() || delta.is_some() {
        gathered.deltas.push(Delta { key, value, delta, is_unanchored: false });
    }
    Ok(())
}

/// The number of the row's wording: of `variant`, else of `subtype`, `place` and `strength`.
fn wording(cells: &Cells, parsed: &mut Parsed, gathered: &mut Gathered) -> Result<u32> {
    let raw = |ours: &str| Ok::<_, Error>(cells.text(ours)?.map_or_else(String::new, |text| text.into_owned()));
    let variant = raw("variant")?;
    let key = if variant.is_empty() {
        [raw("subtype")?, raw("place")?, raw("strength")?]
    } else {
        [variant, String::new(), String::new()]
    };
    if let Some(&number) = parsed.get(&key) {
        return Ok(number);
    }
    let by_id = cells.value("variant").is_some();
    let [first, place, strength] = &key;
    let wording = if by_id {
        Wording::parse(first).map_err(|expected| unusable(cells, "variant", &expected))?
    } else {
        let subtype = cells.required("subtype")?;
        let place = if place.is_empty() { Place::Global } else { place_of(cells, place)? };
        let strength = (!strength.is_empty()).then_some(strength.as_str());
        Wording::of_parts(&subtype, place, strength).map_err(|expected| unusable(cells, "strength", &expected))?
    };
    let number = gathered.wordings.number(wording);
    parsed.insert(key, number);
    Ok(number)
}

/// The place that a cell names.
pub(super) fn place_of(cells: &Cells, place: &str) -> Result<Place> {
    let known = || Place::ALL.map(Place::as_str).join(", ");
    Place::parse(place).map_err(|_| cells.wrong("place", "is no place in a prompt").expected(known()).into())
}

fn unusable(cells: &Cells, ours: &str, expected: &str) -> Error {
    cells.wrong(ours, "has no strength of its subtype").expected(expected).into()
}
