//! Long: the deltas of V at repeat 0, a model and an axis at a time.
//!
//! In: a session with deltas and variants, of a run or of a release. Out: the prompts and wordings that there are, and
//! the deltas by prompt and wording. [`matrices`](super::matrices) makes them wide, and holds wide ones against them.

use std::collections::{BTreeMap, HashMap};

use arrow::array::{Array, AsArray};
use arrow::datatypes::Float64Type;

use super::index::IndexedMatrix;
use super::matrices::FOLDER;
use crate::query::{RUN, Session, Statement, Stop, columns};
use crate::{Error, Result};

/// The scales, each with the table and column that its deltas stand in.
pub(super) const SCALES: [(&str, &str, &str); 2] = [("raw", "deltas", "delta"), ("fixed", "normalized_wide", "fixed")];
/// A prompt: data set and id.
pub(super) type Prompt = (String, String);
/// A model of a run; the run is empty where there is but one.
type Of = (String, String);

/// What the matrices of a session have as rows and columns.
pub(super) struct Frame<'a> {
    session: &'a Session,
    stop: &'a Stop,
    several: bool,
    /// By run and model, sorted.
    prompts: BTreeMap<Of, Vec<Prompt>>,
    /// By run.
    variants: BTreeMap<String, Vec<String>>,
}

/// One matrix: what it is, its rows and columns, its cells.
pub(super) struct Deltas<'a> {
    pub(super) matrix: IndexedMatrix,
    pub(super) prompts: &'a [Prompt],
    pub(super) variants: &'a [String],
    /// A column a wording, a cell a prompt; None where there is no delta.
    pub(super) columns: Vec<Vec<Option<f64>>>,
    /// Where a wording's column is.
    places: HashMap<&'a str, usize>,
}

impl<'a> Frame<'a> {
    /// What the tables of `session` have.
    pub(super) fn of(session: &'a Session, stop: &'a Stop) -> Result<Frame<'a>> {
        let (prompts, variants) = (BTreeMap::new(), BTreeMap::new());
        let mut frame = Frame { session, stop, several: false, prompts, variants };
        if !session.has("deltas") || !session.has("variants") {
            return Ok(frame);
        }
        frame.several = columns(session, "deltas")?.iter().any(|(name, _)| name == RUN);
        let run = if frame.several { RUN } else { "''" };
        let sql = format!(
            "select distinct {run} as run, model, dataset, prompt_id from deltas where repeat = 0
             order by run, model, dataset, prompt_id"
        );
        let mut prompts: BTreeMap<Of, Vec<Prompt>> = BTreeMap::new();
        frame.rows(&sql, |[run, model, dataset, prompt], _| {
            let of = (run.to_string(), model.to_string());
            prompts.entry(of).or_default().push((dataset.to_string(), prompt.to_string()));
            Ok(())
        })?;
        // In the order of the method's own table of variants; a wording's id is the last word.
        let sql = format!(
            "select {run} as run, variant_id from variants where not is_baseline and is_valid
             group by {run}, variant_id
             order by run, min(case family when 'social_register' then 0 when 'surface_noise' then 1
                 when 'structural_rewriting' then 2 else 3 end),
                 min(subtype), min(place), min(strength) nulls last, variant_id"
        );
        let mut variants: BTreeMap<String, Vec<String>> = BTreeMap::new();
        frame.rows(&sql, |[run, variant], _| {
            variants.entry(run.to_string()).or_default().push(variant.to_string());
            Ok(())
        })?;
        (frame.prompts, frame.variants) = (prompts, variants);
        Ok(frame)
    }

    /// Hands out the deltas of one scale, a model and an axis at a time, in order.
    pub(super) fn each(
        &self,
        (scale, table, column): (&str, &str, &str),
        mut take: impl FnMut(&Deltas) -> Result<()>,
    ) -> Result<()> {
        if self.prompts.is_empty() || !self.session.has(table) {
            return Ok(());
        }
        let (run, of_run) = if self.several { ("d.run", "v.run = d.run and") } else { ("''", "") };
        let sql = format!(
            "select {run} as run, d.model, d.axis, d.dataset, d.prompt_id, d.variant_id, d.{column} as delta
             from variants as v
             inner join {table} as d
                 on {of_run} v.dataset = d.dataset and v.prompt_id = d.prompt_id and v.variant_id = d.variant_id
             where d.repeat = 0 and not v.is_baseline and v.is_valid and d.{column} is not null
             order by run, d.model, d.axis, d.dataset, d.prompt_id, d.variant_id"
        );
        let mut now: Option<Deltas> = None;
        self.rows(&sql, |[run, model, axis, dataset, prompt, variant], delta| {
            if let Some(whole) = now.take_if(|deltas| !deltas.is_of(run, model, axis)) {
                take(&whole)?;
            }
            let deltas = match &mut now {
                Some(deltas) => deltas,
                None => now.insert(self.deltas(scale, run, model, axis)?),
            };
            deltas.set((dataset, prompt, variant), delta)
        })?;
        now.map_or(Ok(()), |last| take(&last))
    }

    /// A matrix without deltas yet.
    fn deltas(&self, scale: &str, run: &str, model: &str, axis: &str) -> Result<Deltas<'_>> {
        for part in [model, axis] {
            if part.contains('/') || part.starts_with('.') {
                return Err(Error::input(format!("{part} can't be the name of a file"))
                    .expected("a model or axis without / and without a dot at its start")
                    .into());
            }
        }
        let folder = if self.several { format!("{FOLDER}/{scale}/{run}") } else { format!("{FOLDER}/{scale}") };
        let variants = self.variants.get(run).map_or(&[][..], Vec::as_slice);
        let prompts = self.prompts.get(&(run.to_string(), model.to_string())).map_or(&[][..], Vec::as_slice);
        Ok(Deltas {
            matrix: IndexedMatrix {
                file: format!("{folder}/{model}/{axis}.parquet"),
                run: self.several.then(|| run.to_string()),
                model: model.to_string(),
                axis: axis.to_string(),
                scale: scale.to_string(),
                rows: prompts.len(),
                variants: variants.len(),
                values: 0,
            },
            prompts,
            variants,
            columns: vec![vec![None; prompts.len()]; variants.len()],
            places: variants.iter().enumerate().map(|(place, variant)| (variant.as_str(), place)).collect(),
        })
    }

    /// Hands out rows of `N` texts, and of a number where one follows.
    fn rows<const N: usize>(
        &self,
        sql: &str,
        mut take: impl FnMut([&str; N], Option<f64>) -> Result<()>,
    ) -> Result<()> {
        for batch in self.session.rows(&Statement::from(sql))?.with_stop(self.stop) {
            let batch = batch?;
            let texts: Vec<_> = batch.columns().iter().take(N).filter_map(|c| c.as_string_opt::<i32>()).collect();
            let number = batch.columns().get(N).map(|column| column.as_primitive_opt::<Float64Type>());
            if texts.len() < N || number == Some(None) {
                let found = batch.schema().fields().iter().map(|f| f.to_string()).collect::<Vec<_>>().join(", ");
                return Err(Error::Query(format!("not texts and a number, as matrices are made of: {found}")));
            }
            let number = number.flatten();
            for row in 0..batch.num_rows() {
                let text = |column: usize| texts.get(column).filter(|c| !c.is_null(row)).map_or("", |c| c.value(row));
                take(std::array::from_fn(text), number.filter(|n| !n.is_null(row)).map(|n| n.value(row)))?;
            }
        }
        Ok(())
    }
}

impl Deltas<'_> {
    fn is_of(&self, run: &str, model: &str, axis: &str) -> bool {
        let of = &self.matrix;
        of.model == model && of.axis == axis && of.run.as_deref().unwrap_or_default() == run
    }

    fn set(&mut self, (dataset, prompt, variant): (&str, &str, &str), delta: Option<f64>) -> Result<()> {
        let row = self.prompts.binary_search_by(|(d, p)| (d.as_str(), p.as_str()).cmp(&(dataset, prompt))).ok();
        let column = self.places.get(variant).and_then(|place| self.columns.get_mut(*place));
        let Some(cell) = row.zip(column).and_then(|(row, column)| column.get_mut(row)) else {
            let what = format!("no row or column for dataset={dataset}, prompt_id={prompt}, variant_id={variant}");
            return Err(Error::table(&self.matrix.file)(what));
        };
        self.matrix.values += usize::from(cell.is_none() && delta.is_some());
        *cell = delta;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Resources;

    #[test]
    fn a_key_that_is_no_text_is_told_rather_than_taken_for_an_empty_one() {
        let session = Session::with(Resources::default()).unwrap();
        let tables = [
            ("deltas", "select 'm' as model, 'd' as dataset, 1 as prompt_id, 0 as repeat"),
            ("variants", "select 'x' as variant_id where false"),
        ];
        for (name, sql) in tables {
            let rows = session.query(sql).unwrap();
            session.register_batches(name, rows[0].schema(), rows).unwrap();
        }
        let fault = Frame::of(&session, &Stop::default()).err().unwrap().to_string();
        assert!(fault.contains("not texts and a number") && fault.contains("prompt_id"), "{fault}");
    }
}
