//! Summary: the SGS table that a run ends with.
//!
//! In: an analysed run. Out: text: SGS by model and axis with marks, then by data set, and how to read it.
//! The marks are of raw p-values of one test, not corrected for the number of cells; the legend names the tables that are.

use std::collections::BTreeMap;
use std::path::Path;

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{Float64Type, Int64Type};

use super::dictionary::cell;
use super::print::{align, plain_table};
use super::promises::{columns as columns_of, texts};
use super::runs::RUN;
use super::session::Session;
use crate::{Error, Result};

/// Below this number of prompts a t-test on skewed scores is not to be relied on; method, section 7.
const FEW_PROMPTS: i64 = 30;

/// SGS of one model (on one data set) on one axis.
#[derive(Debug, Clone)]
struct Score {
    sgs: f64,
    mark: String,
    n: i64,
}

/// The rows of one table: what stands on the left, then a score by axis.
type Rows = BTreeMap<Vec<String>, BTreeMap<String, Score>>;

/// SGS by model and axis, then by model, data set and axis, as text for a terminal.
///
/// # Errors
/// As [`Session::open_run`]; analyse the run first, or every figure is computed here.
pub fn sgs_table(run: &Path) -> Result<String> {
    let session = Session::open_run(run)?;
    let axes = axes(&session)?;
    let epsilon = primary_tolerance(&session)?;
    let mut text =
        String::from("Stability Generalization Score (SGS): how far behaviour moves when only the wording changes.\n");
    text.push_str("0 = nothing changed; lower is more stable.\n\n");
    let by_model = scores(&session, &["model"], "sgs_model", "significance_model")?;
    let by_dataset = scores(&session, &["model", "dataset"], "sgs_dataset", "significance_dataset")?;
    text.push_str(&table(&["model"], &axes, &by_model));
    text.push_str("\nBy data set\n\n");
    text.push_str(&table(&["model", "dataset"], &axes, &by_dataset));
    text.push_str(&legend(epsilon, &by_model, &by_dataset));
    text.push_str(&cautions(&session)?);
    Ok(text)
}

/// What the figures rest on, where it is less than a reader would think.
fn cautions(session: &Session) -> Result<String> {
    let mut text = String::new();
    let wordings = "select sum(planned), sum(planned - made), sum(made - valid) from variant_coverage";
    if let [planned, unmade, ruled_out] = whole_numbers(session, wordings)?[..]
        && unmade + ruled_out > 0
    {
        text.push_str(&format!(
            "Wordings: {planned} planned, {unmade} could not be made faithfully, {ruled_out} ruled out by the validity rule;\n\
             the table variant_coverage says which.\n"
        ));
    }
    let short = "select count(*), sum(case when s.bleu = 0 then 1 else 0 end) from similarities as s
        inner join baselines as b using (dataset, prompt_id, variant_id) where s.repeat = 0";
    if let [baselines, zero] = whole_numbers(session, short)?[..]
        && zero > 0
    {
        text.push_str(&format!(
            "bleu is 0 even for equal texts under four tokens: so it is for {zero} of {baselines} baseline responses.\n\
             Read bleu_effective_order and chrf (in sgs_model) beside it.\n"
        ));
    }
    let unequal = "with own as (
            select i.model, i.axis, i.normalization, sum(i.n_variants) as n_pairs from instability as i
            inner join normalizations as n on n.normalization = i.normalization and n.is_primary
            group by i.model, i.axis, i.normalization
        ),
        several as (select axis from own group by axis having count(*) > 1)
        select distinct o.axis, a.position from several as v
        inner join axes as a on a.axis = v.axis
        inner join own as o on o.axis = v.axis
        left join sgs_shared as s
            on s.model = o.model and s.axis = o.axis and s.normalization = o.normalization
        where coalesce(s.n_pairs, 0) <> o.n_pairs
        order by a.position";
    let unequal = texts(&session.query(unequal)?, 0)?;
    if !unequal.is_empty() {
        let axes = unequal.join(", ");
        text.push_str(&format!(
            "The models' scores rest on different wordings on: {axes}; do not rank them by these.\n\
             The table sgs_shared has scores and ranks on the wordings that all models share, and how many these are.\n"
        ));
    }
    Ok(text)
}

/// The first row of a result, NULL as 0.
fn whole_numbers(session: &Session, sql: &str) -> Result<Vec<i64>> {
    let batches = session.query(sql)?;
    let first = batches.iter().find(|batch| batch.num_rows() > 0);
    let number = |column: &ArrayRef| {
        column.as_primitive_opt::<Int64Type>().map_or(0, |c| c.iter().flatten().next().unwrap_or(0))
    };
    Ok(first.map_or_else(Vec::new, |batch| batch.columns().iter().map(number).collect()))
}

/// The columns: the method's own axes always, of the further ones those for chat APIs where a model has them.
fn axes(session: &Session) -> Result<Vec<String>> {
    // Of several runs each has its own axes where one of them brought some.
    let sql = "select axis from axes
        where is_main or axis in (
            select axis from sgs_model where axis in ('prob_generated', 'ent_generated')
        )
        group by axis
        order by min(position), axis";
    texts(&session.query(sql)?, 0)
}

fn primary_tolerance(session: &Session) -> Result<Option<f64>> {
    let batches = session.query("select epsilon from tolerances where is_primary")?;
    let column = batches.iter().find(|b| b.num_rows() > 0).and_then(|b| b.columns().first());
    Ok(column.and_then(|c| c.as_primitive_opt::<Float64Type>()).map(|c| c.value(0)))
}

fn scores(session: &Session, keys: &[&str], sgs: &str, significance: &str) -> Result<Rows> {
    let columns = keys.iter().map(|key| format!("s.{key}")).collect::<Vec<_>>().join(", ");
    let on = keys.iter().map(|key| format!("and t.{key} = s.{key}")).collect::<Vec<_>>().join(" ");
    // A constant of the method has a column `run` where a run brought its own.
    let of_run = |table: &str, same: &str| -> Result<String> {
        let has_run = columns_of(session, table)?.iter().any(|(name, _)| name == RUN);
        Ok(if has_run && keys.contains(&RUN) { format!("and {same}") } else { String::new() })
    };
    let sql = format!(
        "select {columns}, s.axis, s.sgs, coalesce(t.mark, '') as mark, s.n_prompts
         from {sgs} as s
         inner join normalizations as w on w.normalization = s.normalization and w.is_primary {of_run_w}
         left join (
             select t.* from {significance} as t
             inner join tolerances as e on e.epsilon = t.epsilon and e.is_primary {of_run_e}
             where t.test = 't'
         ) as t on t.axis = s.axis and t.normalization = s.normalization {on}",
        of_run_w = of_run("normalizations", "w.run = s.run")?,
        of_run_e = of_run("tolerances", "e.run = t.run")?,
    );
    let batches = session.query(&sql)?;
    let left: Vec<Vec<String>> = (0..keys.len()).map(|k| texts(&batches, k)).collect::<Result<_>>()?;
    let (axis, mark) = (texts(&batches, keys.len())?, texts(&batches, keys.len() + 2)?);
    let mut numbers = Vec::new();
    for batch in &batches {
        let sgs = batch.columns().get(keys.len() + 1).and_then(|c| c.as_primitive_opt::<Float64Type>());
        let n = batch.columns().get(keys.len() + 3).and_then(|c| c.as_primitive_opt::<Int64Type>());
        let (Some(sgs), Some(n)) = (sgs, n) else {
            return Err(Error::Query("SGS is not a number".to_string()));
        };
        numbers.extend(sgs.iter().zip(n.iter()));
    }
    let mut rows = Rows::new();
    for (row, ((axis, mark), (sgs, n))) in axis.into_iter().zip(mark).zip(numbers).enumerate() {
        let key: Vec<String> = left.iter().filter_map(|column| column.get(row).cloned()).collect();
        if let (Some(sgs), Some(n)) = (sgs, n) {
            rows.entry(key).or_default().insert(axis, Score { sgs, mark, n });
        }
    }
    Ok(rows)
}

/// SGS with its marks as Markdown, a row for each value of `keys`: of models, or of models and data sets where
/// `dataset` is among them.
///
/// # Errors
/// The tables can't be read.
pub(crate) fn sgs_markdown(session: &Session, keys: &[&str]) -> Result<String> {
    let (sgs, significance) = match keys.contains(&"dataset") {
        true => ("sgs_dataset", "significance_dataset"),
        false => ("sgs_model", "significance_model"),
    };
    let (axes, rows) = (axes(session)?, scores(session, keys, sgs, significance)?);
    let header: Vec<&str> = keys.iter().copied().chain(axes.iter().map(String::as_str)).chain(["n"]).collect();
    let mut text = format!("| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len()));
    for (key, scores) in &rows {
        let cells = axes.iter().map(|axis| match scores.get(axis) {
            Some(score) => format!("{}{}", decimals(score.sgs), score.mark.replace('*', "\\*")),
            None => "–".to_string(),
        });
        let cells: Vec<String> = key.iter().map(|k| cell(k)).chain(cells).chain([prompts(scores)]).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    Ok(text)
}

fn table(keys: &[&str], axes: &[String], rows: &Rows) -> String {
    let mut table = plain_table();
    let keys_header = keys.iter().map(|k| (*k).to_string());
    table.set_header(keys_header.chain(axes.iter().cloned()).chain(["n".to_string()]));
    for (key, scores) in rows {
        // The marks take a column's width of their own, so that the digits stand under each other.
        let cells = axes.iter().map(|axis| match scores.get(axis) {
            Some(score) => format!("{}{:<2}", decimals(score.sgs), score.mark),
            None => "–  ".to_string(),
        });
        table.add_row(key.iter().cloned().chain(cells).chain([prompts(scores)]));
    }
    let right: Vec<bool> = (0..=keys.len() + axes.len()).map(|column| column >= keys.len()).collect();
    align(&mut table, &right);
    format!("{}\n", table.trim_fmt())
}

/// Four decimals; scores that would show as 0.0000 without being 0 by their power of ten.
fn decimals(sgs: f64) -> String {
    if sgs != 0.0 && sgs < 5e-5 { format!("{sgs:.1e}") } else { format!("{sgs:.4}") }
}

/// How many prompts the row's scores rest on; a range where the axes differ.
fn prompts(scores: &BTreeMap<String, Score>) -> String {
    let least = scores.values().map(|s| s.n).min().unwrap_or(0);
    let most = scores.values().map(|s| s.n).max().unwrap_or(0);
    let flag = if least < FEW_PROMPTS { "!" } else { " " };
    if least == most { format!("{most}{flag}") } else { format!("{least}–{most}{flag}") }
}

fn legend(epsilon: Option<f64>, by_model: &Rows, by_dataset: &Rows) -> String {
    let mut text = String::from("\n");
    if let Some(epsilon) = epsilon {
        text.push_str(&format!(
            "Marks: SGS above {epsilon} by a one-sided t-test over prompts, * p < .05, ** p < .01, † p < .001;\n\
             uncorrected: p_holm and p_bh stand in significance_model and significance_dataset, beside the sign-flip\n\
             test and the test of the median. intervals: how well SGS is known; stability_claims: what is shown to be\n\
             stable; noise_floor: against mere repeats.\n"
        ));
    }
    text.push_str("n: prompts. –: the axis has no values here; the table coverage says why.\n");
    let few = |rows: &Rows| rows.values().flat_map(BTreeMap::values).any(|score| score.n < FEW_PROMPTS);
    if few(by_model) || few(by_dataset) {
        text.push_str(&format!(
            "!: fewer than {FEW_PROMPTS} prompts. Scores are skewed: with so few a t-test misses instability,\n\
             and no mark is no proof of stability.\n"
        ));
    }
    text
}
