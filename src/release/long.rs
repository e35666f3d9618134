//! Long: the deltas of V at repeat 0, a model and an axis at a time.
//!
//! In: a session with deltas and variants, of a run or of a release. Out: the prompts and wordings that there are, and
//! each delta by prompt and wording. [`matrices`](super::matrices) makes them wide, and holds wide ones against them.

use std::collections::{BTreeMap, HashMap};

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::Float64Type;

use super::index::IndexedMatrix;
use super::matrices::FOLDER;
use crate::query::{RUN, Session, Statement, columns};
use crate::{Error, Result};

/// The scales, each with the table and column that its deltas stand in.
pub(super) const SCALES: [(&str, &str, &str); 2] = [("raw", "deltas", "delta"), ("fixed", "normalized_wide", "fixed")];
/// A prompt: data set and id.
pub(super) type Prompt = (String, String);
/// A model of a run; the run is empty where there is but one.
type Of = (String, String);
/// Deltas by prompt and wording.
pub(super) type Cells = HashMap<(Prompt, String), f64>;

/// What the matrices of a session have as rows and columns.
pub(super) struct Frame {
    several: bool,
    /// By run and model.
    prompts: BTreeMap<Of, Vec<Prompt>>,
    /// By run.
    variants: BTreeMap<String, Vec<String>>,
}

impl Frame {
    /// What the tables of `session` have.
    pub(super) fn of(session: &Session) -> Result<Frame> {
        let has = |table: &str| session.has(table);
        if !has("deltas") || !has("variants") {
            return Ok(Frame { several: false, prompts: BTreeMap::new(), variants: BTreeMap::new() });
        }
        let several = columns(session, "deltas")?.iter().any(|(name, _)| name == RUN);
        let run = if several { RUN } else { "''" };
        let mut frame = Frame { several, prompts: BTreeMap::new(), variants: BTreeMap::new() };
        let prompts = format!(
            "select distinct {run} as run, model, dataset, prompt_id from deltas where repeat = 0
             order by run, model, dataset, prompt_id"
        );
        rows(session, &prompts, |[run, model, dataset, prompt], _| {
            frame.prompts.entry((run, model)).or_default().push((dataset, prompt));
            Ok(())
        })?;
        // In the order of the method's own table of variants; a wording's id is the last word.
        let variants = format!(
            "select {run} as run, variant_id from variants where not is_baseline and is_valid
             group by {run}, variant_id
             order by run, min(case family when 'social_register' then 0 when 'surface_noise' then 1
                 when 'structural_rewriting' then 2 else 3 end),
                 min(subtype), min(place), min(strength) nulls last, variant_id"
        );
        rows(session, &variants, |[run, variant], _| {
            frame.variants.entry(run).or_default().push(variant);
            Ok(())
        })?;
        Ok(frame)
    }

    /// The prompts and wordings of a matrix.
    pub(super) fn rows_and_columns(&self, matrix: &IndexedMatrix) -> (&[Prompt], &[String]) {
        let run = matrix.run.clone().unwrap_or_default();
        let variants = self.variants.get(&run).map_or(&[][..], Vec::as_slice);
        (self.prompts.get(&(run, matrix.model.clone())).map_or(&[][..], Vec::as_slice), variants)
    }
}

/// Hands out the deltas of one scale, a model and an axis at a time, in order.
pub(super) fn each(
    session: &Session,
    frame: &Frame,
    (scale, table, column): (&str, &str, &str),
    mut take: impl FnMut(&IndexedMatrix, &Cells) -> Result<()>,
) -> Result<()> {
    if frame.prompts.is_empty() || !session.has(table) {
        return Ok(());
    }
    let (run, of_run) = if frame.several { ("d.run", "v.run = d.run and") } else { ("''", "") };
    let sql = format!(
        "select {run} as run, d.model, d.axis, d.dataset, d.prompt_id, d.variant_id, d.{column} as delta
         from variants as v
         inner join {table} as d
             on {of_run} v.dataset = d.dataset and v.prompt_id = d.prompt_id and v.variant_id = d.variant_id
         where d.repeat = 0 and not v.is_baseline and v.is_valid and d.{column} is not null
         order by run, d.model, d.axis, d.dataset, d.prompt_id, d.variant_id"
    );
    let mut now: Option<(String, String, String)> = None;
    let mut cells = Cells::new();
    let mut hand_out = |of: &Option<(String, String, String)>, cells: &mut Cells| match of {
        Some(of) => {
            let result = matrix(frame, scale, of, cells.len()).and_then(|matrix| take(&matrix, cells));
            cells.clear();
            result
        }
        None => Ok(()),
    };
    rows(session, &sql, |[run, model, axis, dataset, prompt, variant], delta| {
        let of = Some((run, model, axis));
        if of != now {
            hand_out(&now, &mut cells)?;
            now = of;
        }
        if let Some(delta) = delta {
            cells.insert(((dataset, prompt), variant), delta);
        }
        Ok(())
    })?;
    hand_out(&now, &mut cells)
}

fn matrix(
    frame: &Frame,
    scale: &str,
    (run, model, axis): &(String, String, String),
    values: usize,
) -> Result<IndexedMatrix> {
    for part in [model, axis] {
        if part.contains('/') || part.starts_with('.') {
            return Err(Error::input(format!("{part} can't be the name of a file"))
                .expected("a model or axis without / and without a dot at its start")
                .into());
        }
    }
    let folder = if frame.several { format!("{FOLDER}/{scale}/{run}") } else { format!("{FOLDER}/{scale}") };
    let mut matrix = IndexedMatrix {
        file: format!("{folder}/{model}/{axis}.parquet"),
        run: frame.several.then(|| run.clone()),
        model: model.clone(),
        axis: axis.clone(),
        scale: scale.to_string(),
        rows: 0,
        variants: 0,
        values,
    };
    let (prompts, variants) = frame.rows_and_columns(&matrix);
    (matrix.rows, matrix.variants) = (prompts.len(), variants.len());
    Ok(matrix)
}

/// Hands out rows of `N` texts, and of a number where one follows.
fn rows<const N: usize>(
    session: &Session,
    sql: &str,
    mut take: impl FnMut([String; N], Option<f64>) -> Result<()>,
) -> Result<()> {
    for batch in session.rows(&Statement::from(sql))? {
        let batch: RecordBatch = batch?;
        let texts: Vec<_> = batch.columns().iter().take(N).map(|column| column.as_string_opt::<i32>()).collect();
        let number = batch.columns().get(N).and_then(|column| column.as_primitive_opt::<Float64Type>());
        for row in 0..batch.num_rows() {
            let text = |column: usize| {
                let column = texts.get(column).copied().flatten();
                column.filter(|c| !c.is_null(row)).map_or(String::new(), |c| c.value(row).to_string())
            };
            take(std::array::from_fn(text), number.filter(|n| !n.is_null(row)).map(|n| n.value(row)))?;
        }
    }
    Ok(())
}
