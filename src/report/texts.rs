//! Texts: prompts, wordings and responses for the page's prompt browser.
//!
//! In: a session of one run. Out: [`Texts`]: a table of wordings a data set, and a table of responses a model and data
//! set whose rows stand in the same order. Both can be cut to the prompts whose behaviour moved most.

use std::collections::{BTreeMap, HashSet};

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use serde_json::{Value, json};

use super::columns::table;
use super::pieces::{Tokenizers, shades};
use crate::Result;
use crate::model::Tokenizer;
use crate::query::{Session, literal, quoted, texts};

/// What the browser shows of one run, before it is cut and packed.
#[derive(Debug, Default)]
pub struct Texts {
    datasets: Vec<Dataset>,
    /// The axis by which prompts are ordered; None where nothing has a score.
    pub ordered_by: Option<String>,
}

#[derive(Debug)]
struct Dataset {
    name: String,
    prompts: Vec<RecordBatch>,
    wordings: Vec<RecordBatch>,
    /// The prompt of each row of `wordings`.
    prompt_of_row: Vec<String>,
    /// The data set's prompts, the one whose behaviour moved most first.
    order: Vec<String>,
    answers: Vec<Answers>,
}

#[derive(Debug)]
struct Answers {
    model: String,
    rows: Vec<RecordBatch>,
    /// Token lengths and log-probabilities of each row; empty without a tokenizer.
    tokens: Vec<Value>,
}

/// One packet of the page.
#[derive(Debug)]
pub struct Packet {
    /// Its data set.
    pub dataset: String,
    /// Its model; None for the wordings, which all models share.
    pub model: Option<String>,
    /// The rows.
    pub value: Value,
}

impl Texts {
    /// Reads what the run has.
    ///
    /// # Errors
    /// As [`Session::query`].
    pub fn read(session: &Session, tokenizers: &Tokenizers) -> Result<Texts> {
        let tokenizers = tokenizers.of(session)?;
        let axes = session.query(
            "select axis from axes where (is_main or is_resampled) and axis in (select axis from sgs_model) order by position",
        )?;
        let axes = texts(&axes, 0)?;
        let ordered_by = ["bleu", "bert"].into_iter().map(str::to_string).find(|axis| axes.contains(axis));
        let ordered_by = ordered_by.or_else(|| axes.first().cloned());
        let models = texts(&session.query("select model from models order by model")?, 0)?;
        let mut datasets = Vec::new();
        for name in texts(&session.query("select distinct dataset from variants order by dataset")?, 0)? {
            datasets.push(dataset(session, &name, &models, &axes, ordered_by.as_deref(), &tokenizers)?);
        }
        Ok(Texts { datasets, ordered_by })
    }

    /// The greatest number of prompts of a data set.
    pub fn prompts(&self) -> usize {
        self.datasets.iter().map(|dataset| dataset.order.len()).max().unwrap_or(0)
    }

    /// Prompts that [`Texts::packets`] leaves out, over all data sets.
    pub fn left_out(&self, most: usize) -> usize {
        self.datasets.iter().map(|dataset| dataset.order.len().saturating_sub(most)).sum()
    }

    /// Prompts of all data sets.
    pub fn all_prompts(&self) -> usize {
        self.datasets.iter().map(|dataset| dataset.order.len()).sum()
    }

    /// The packets with `most` prompts a data set.
    ///
    /// # Errors
    /// A column that has no place in the page.
    pub fn packets(&self, most: usize) -> Result<Vec<Packet>> {
        let mut packets = Vec::new();
        for dataset in &self.datasets {
            let kept: HashSet<&str> = dataset.order.iter().take(most).map(String::as_str).collect();
            let rows = BooleanArray::from_iter(dataset.prompt_of_row.iter().map(|id| Some(kept.contains(id.as_str()))));
            let prompt_ids = texts(&dataset.prompts, 0)?;
            let prompts = BooleanArray::from_iter(prompt_ids.iter().map(|id| Some(kept.contains(id.as_str()))));
            let value = json!({
                "prompts": table(&dataset.prompts, Some(&prompts))?,
                "wordings": table(&dataset.wordings, Some(&rows))?,
            });
            packets.push(Packet { dataset: dataset.name.clone(), model: None, value });
            for answers in &dataset.answers {
                let mut value = table(&answers.rows, Some(&rows))?;
                if !answers.tokens.is_empty()
                    && let Some(columns) = value.get_mut("columns").and_then(Value::as_object_mut)
                {
                    let tokens = answers.tokens.iter().zip(rows.iter());
                    let tokens = tokens.filter(|(_, kept)| *kept == Some(true)).map(|(tokens, _)| tokens.clone());
                    columns.insert("tokens".to_string(), tokens.collect());
                }
                packets.push(Packet { dataset: dataset.name.clone(), model: Some(answers.model.clone()), value });
            }
        }
        Ok(packets)
    }
}

fn dataset(
    session: &Session,
    name: &str,
    models: &[String],
    axes: &[String],
    ordered_by: Option<&str>,
    tokenizers: &BTreeMap<String, &Tokenizer>,
) -> Result<Dataset> {
    let here = literal(name);
    let prompts = session
        .query(&format!("select prompt_id, text, answers from prompts where dataset = {here} order by prompt_id"))?;
    let wordings = session.query(&format!(
        "select prompt_id, variant_id, subtype, text, is_baseline, baseline_id, is_valid, invalid_reason
         from variants as v where dataset = {here} order by {ROW_ORDER}"
    ))?;
    let order = session.query(&format!(
        "with moved as (
             select i.prompt_id, avg(i.s) as s from instability as i
             inner join normalizations as n on n.normalization = i.normalization and n.is_primary
             where i.dataset = {here} and i.axis = {axis} group by i.prompt_id
         )
         select p.prompt_id from (select distinct prompt_id from variants where dataset = {here}) as p
         left join moved as m on m.prompt_id = p.prompt_id
         order by m.s desc nulls last, p.prompt_id",
        axis = literal(ordered_by.unwrap_or_default()),
    ))?;
    let mut answers = Vec::new();
    for model in models {
        answers.extend(answers_of(session, name, model, axes, tokenizers.get(model).copied())?);
    }
    let prompt_of_row = texts(&wordings, 0)?;
    Ok(Dataset { name: name.to_string(), prompts, wordings, prompt_of_row, order: texts(&order, 0)?, answers })
}

/// The order of wordings and of the responses beside them. Baselines first, so that a reader meets them first.
const ROW_ORDER: &str = "v.prompt_id, v.is_baseline desc, v.variant_id";

/// Responses and deltas of one model, a row a wording of the data set; None where the model has neither.
fn answers_of(
    session: &Session,
    dataset: &str,
    model: &str,
    axes: &[String],
    tokenizer: Option<&Tokenizer>,
) -> Result<Option<Answers>> {
    let (dataset, of) = (literal(dataset), literal(model));
    let moved = format!("from deltas where model = {of} and dataset = {dataset} and repeat = 0 and delta is not null");
    let said = format!("from generations where model = {of} and dataset = {dataset} and repeat = 0");
    let any = session.query(&format!("select 'x' {said} union all select 'x' {moved} limit 1"))?;
    if any.iter().all(|batch| batch.num_rows() == 0) {
        return Ok(None);
    }
    let deltas: String = axes
        .iter()
        .map(|axis| format!(", max(case when axis = {} then delta end) as {}", literal(axis), quoted(axis)))
        .collect();
    let column = |axis: &String| format!(", d.{} as {}", quoted(axis), quoted(&format!("delta.{axis}")));
    let columns: String = axes.iter().map(column).collect();
    let tokens = if tokenizer.is_some() { ", g.response_token_ids, g.logprobs" } else { "" };
    let mut rows = session.query(&format!(
        "select g.response, g.finish_reason, g.error{columns}{tokens}
         from (select prompt_id, variant_id, is_baseline from variants where dataset = {dataset}) as v
         left join (select * {said}) as g on g.prompt_id = v.prompt_id and g.variant_id = v.variant_id
         left join (select prompt_id, variant_id{deltas} {moved} group by prompt_id, variant_id) as d
             on d.prompt_id = v.prompt_id and d.variant_id = v.variant_id
         order by {ROW_ORDER}"
    ))?;
    let mut tokens = Vec::new();
    if let Some(tokenizer) = tokenizer {
        for batch in &mut rows {
            tokens.extend(shades(tokenizer, batch)?);
            // What the page needs of them is now in `tokens`.
            for _ in 0..2 {
                batch.remove_column(batch.num_columns().saturating_sub(1));
            }
        }
    }
    Ok(Some(Answers { model: model.to_string(), rows, tokens }))
}
