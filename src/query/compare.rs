//! Compare: what changed between two models, or between two runs of one.
//!
//! In: two sides (a run and a model of it). Out: SGS of both, paired by prompt on the wordings that both have in the same
//! words, with intervals and tests; and gates, conditions that must not come true.
//! The statistics are the models `model_comparisons` and `equivalence_tests` of `sql/`, run on the two sides as models A and B.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::TableReference;
use datafusion::sql::sqlparser::ast::{Expr, visit_expressions};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Token;

use super::analysis::Analysis;
use super::depth;
use super::promises::{literal, quoted, texts};
use super::session::Session;
use crate::{Error, Result};

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Directory of the run.
    pub run: PathBuf,
    /// Name of the model in that run.
    pub model: String,
}

/// Two sides in one session. SQL names them `a_NAME` and `b_NAME` for the tables of each run, and model `A` and `B`
/// in `normalized`, `model_comparisons` and `equivalence_tests`.
#[derive(Debug)]
pub struct Comparison {
    session: Session,
}

/// How many wordings the two sides share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    /// Wordings of the same prompt, id and text that count on both sides (valid ones).
    pub same: i64,
    /// Wordings of the same prompt and id, but another text; they are left out.
    pub other_text: i64,
    /// Wordings that only one side has; they are left out.
    pub one_side: i64,
}

/// The tables of a run that a comparison reads.
const OF_RUN: [&str; 2] = ["normalized", "variants"];
/// The choices behind the statistics.
const CONSTANTS: [&str; 4] = ["axes", "normalizations", "settings", "tolerances"];
/// What the comparison consists of.
const RESULTS: [&str; 2] = ["model_comparisons", "equivalence_tests"];
/// Tables that gates can name, with what they hold of `model_comparisons`: `sgs.bleu > 0.05`. There a difference is
/// A - B; here B is the one that is measured.
const GATES: [(&str, &str); 6] = [
    ("sgs", "c.sgs_b"),
    ("baseline", "c.sgs_a"),
    ("difference", "-c.difference"),
    ("low", "-c.bca_high"),
    ("high", "-c.bca_low"),
    ("p", "c.p"),
];

/// The wordings of both sides, joined by key.
const WORDINGS: &str = "
    select
        coalesce(a.dataset, b.dataset) as dataset,
        coalesce(a.prompt_id, b.prompt_id) as prompt_id,
        coalesce(a.variant_id, b.variant_id) as variant_id,
        a.variant_id is not null as in_a,
        b.variant_id is not null as in_b,
        a.text is not distinct from b.text as same_text,
        a.is_baseline or b.is_baseline as is_baseline,
        a.is_valid and b.is_valid as is_valid,
        a.family, a.subtype, a.place, a.strength, a.level
    from a_variants as a
    full outer join b_variants as b
        on b.dataset = a.dataset and b.prompt_id = a.prompt_id and b.variant_id = a.variant_id";

impl Comparison {
    /// Opens both sides; `a` is what `b` is measured against.
    ///
    /// # Errors
    /// When a run can't be read, does not have the model, or the two share no wording.
    pub fn new(a: &Side, b: &Side) -> Result<Self> {
        let mut session = Session::new(None)?;
        let mut sides = Vec::new();
        for (side, name) in [(a, "a"), (b, "b")] {
            let of_side = Analysis::default().open(&side.run)?;
            check_model(&of_side, side)?;
            for table in OF_RUN {
                hand_over(&of_side, table, &session, &format!("{name}_{table}"))?;
            }
            // The constants are the measured side's: a run may have its own.
            for table in CONSTANTS.iter().filter(|_| name == "b") {
                hand_over(&of_side, table, &session, table)?;
            }
            sides.push(of_side);
        }
        // Tables that were made for a side lie where it put them.
        session.keep(sides);
        session.view("wordings", WORDINGS)?;
        session.view(
            "measured_variants",
            "select dataset, prompt_id, variant_id, family, subtype, place, strength, level
             from wordings where in_a and in_b and same_text and is_valid and not is_baseline",
        )?;
        let of_side = |name: &str, label: &str, model: &str| {
            format!(
                "select '{label}' as model, dataset, prompt_id, variant_id, repeat, axis, normalization, delta
                 from {name}_normalized where model = {}",
                literal(model)
            )
        };
        let both = format!("{} union all {}", of_side("a", "A", &a.model), of_side("b", "B", &b.model));
        session.view("normalized", &both)?;
        Analysis::default().views(&session, &RESULTS)?;
        let comparison = Comparison { session };
        if comparison.shared()?.same == 0 {
            return Err(Error::input("the two sides share no wording: there is nothing to compare")
                .found(format!("{} of {} and {} of {}", a.model, a.run.display(), b.model, b.run.display()))
                .expected("runs over the same data sets, prompts and variants, with the same seed")
                .into());
        }
        comparison.keep()?;
        Ok(comparison)
    }

    /// How many wordings, baselines left out, the two sides share.
    ///
    /// # Errors
    /// When a table can't be read.
    pub fn shared(&self) -> Result<Shared> {
        let sql = "select
                (select count(*) from measured_variants),
                count(*) filter (where in_a and in_b and not same_text),
                count(*) filter (where not (in_a and in_b))
            from wordings where not is_baseline";
        let batches = self.session.query(sql)?;
        let number = |column: usize| {
            let first = batches.iter().find(|batch| batch.num_rows() > 0);
            let column = first.and_then(|batch| batch.columns().get(column));
            column.and_then(|c| c.as_primitive_opt::<Int64Type>()).map_or(0, |c| c.value(0))
        };
        Ok(Shared { same: number(0), other_text: number(1), one_side: number(2) })
    }

    /// The comparison as rows: data set ('' for all together) and axis, in the order of the axes.
    ///
    /// # Errors
    /// When a table can't be read.
    pub fn rows(&self) -> Result<Vec<RecordBatch>> {
        self.session.query(
            "with found as (
                 select
                     c.dataset as scope, a.position, c.axis, c.n_prompts, c.n_pairs, c.sgs_a, c.sgs_b,
                     -c.difference as difference, -c.bca_high as low, -c.bca_low as high, c.p, c.p_holm,
                     e.margin, e.is_equivalent
                 from model_comparisons as c
                 inner join normalizations as n on n.normalization = c.normalization and n.is_primary
                 inner join axes as a on a.axis = c.axis
                 left join (
                     select e.* from equivalence_tests as e
                     inner join tolerances as t on t.epsilon = e.margin and t.is_primary
                 ) as e
                     on e.dataset = c.dataset and e.axis = c.axis and e.normalization = c.normalization
             )
             select
                 case when scope = '' then 'all' else scope end as dataset, axis, n_prompts as prompts, n_pairs as pairs,
                 sgs_a, sgs_b, difference, low, high, p, p_holm, margin, is_equivalent
             from found
             order by scope, position",
        )
    }

    /// What the comparison can't show, a sentence each: intervals that are missing and why, figures of few prompts.
    ///
    /// # Errors
    /// When a table can't be read.
    pub fn cautions(&self) -> Result<Vec<String>> {
        let primary = "inner join normalizations as n on n.normalization = c.normalization and n.is_primary";
        let reasons = self.session.query(&format!(
            "select distinct 'no interval (low, high) for some rows: ' || c.bca_reason as why
             from model_comparisons as c {primary} where c.bca_reason is not null order by why"
        ))?;
        let few = self.session.query(&format!(
            "select 'rests on ' || case when min(c.n_prompts) < max(c.n_prompts) then min(c.n_prompts) || ' to ' else '' end
                 || max(c.n_prompts) || ' prompts, fewer than ' || s.enough_prompts || ': is_equivalent and p are unsafe, and no difference is no proof of none' as why
             from model_comparisons as c {primary} cross join settings as s
             where c.n_prompts < s.enough_prompts group by s.enough_prompts"
        ))?;
        Ok([texts(&few, 0)?, texts(&reasons, 0)?].concat())
    }

    /// Whether a gate comes true: an SQL condition on all data sets together over the tables `sgs` (of B), `baseline`
    /// (of A), `difference`, `low`, `high` (its interval) and `p`, each with a column an axis: `sgs.bleu > 0.05`.
    ///
    /// # Errors
    /// When the condition is no SQL, names an axis that does not exist, or rests on an axis without a value.
    pub fn gate(&self, condition: &str) -> Result<bool> {
        let wrong = |what: &str, found: String| -> Error {
            let names = GATES.map(|(table, _)| format!("{table}.AXIS")).join(", ");
            Error::input(format!("the gate \"{condition}\" {what}"))
                .key("--fail-if")
                .found(found)
                .expected(format!("a condition on {names}, such as sgs.bleu > 0.05"))
                .into()
        };
        let (expression, named) = expression(condition).map_err(|e| wrong("can't be read", e))?;
        let tables = GATES.map(|(table, _)| format!("gate_{table} as {table}")).join(" cross join ");
        let sql = format!("select ({expression}) as comes_true from {tables}");
        let batches = self.session.query(&sql).map_err(|e| wrong("can't be read", without_query(&e)))?;
        let column = batches.iter().find(|batch| batch.num_rows() > 0).and_then(|batch| batch.columns().first());
        let Some(values) = column.and_then(|c| c.as_boolean_opt()) else {
            return Err(wrong("is no condition", "a value that is neither true nor false".to_string()));
        };
        if values.is_null(0) {
            let mut lacking = Vec::new();
            for value in named {
                let sql = format!("select ({value}) is null as lacks from {tables}");
                let found = self.session.query(&sql)?;
                let lacks = found.first().and_then(|batch| batch.columns().first()?.as_boolean_opt());
                if lacks.is_some_and(|lacks| lacks.iter().any(|lacks| lacks == Some(true))) {
                    lacking.push(value);
                }
            }
            let found = format!("no value of {} on the shared wordings", lacking.join(", "));
            return Err(wrong("can't be decided", found));
        }
        Ok(values.value(0))
    }

    /// Computes the results once; gates and tables read them again and again.
    fn keep(&self) -> Result<()> {
        for table in RESULTS {
            let rows = self.session.query(&format!("select * from {table}"))?;
            let Some(first) = rows.first() else { continue };
            self.session.register_batches(table, first.schema(), rows)?;
        }
        let axes = self.session.query("select axis from axes order by position")?;
        let axes: Vec<&str> = axes
            .iter()
            .filter_map(|b| b.columns().first()?.as_string_opt::<i32>())
            .flat_map(|c| c.iter().flatten())
            .collect();
        for (table, held) in GATES {
            let columns: Vec<String> = axes
                .iter()
                .map(|axis| format!("max({held}) filter (where c.axis = {}) as {}", literal(axis), quoted(axis)))
                .collect();
            let sql = format!(
                "select {} from model_comparisons as c
                 inner join normalizations as n on n.normalization = c.normalization and n.is_primary
                 where c.dataset = ''",
                columns.join(", ")
            );
            self.session.view(&format!("gate_{table}"), &sql)?;
        }
        Ok(())
    }
}

/// What is wrong with a query that the user did not write: without its text and the place in it.
fn without_query(error: &Error) -> String {
    let said = error.to_string();
    let of_user = |line: &&str| !line.starts_with("  at ") && !line.contains(" | ");
    let lines: Vec<&str> = said.lines().filter(of_user).map(str::trim).collect();
    lines.join("; ").trim_start_matches("query: ").to_string()
}

/// A condition as one expression and nothing after it, and the values that it names; else what is wrong with it.
fn expression(condition: &str) -> std::result::Result<(String, BTreeSet<String>), String> {
    depth::check(condition).map_err(|e| e.to_string())?;
    let mut parser = Parser::new(&GenericDialect {}).try_with_sql(condition).map_err(|e| e.to_string())?;
    let expression = parser.parse_expr().map_err(|e| e.to_string())?;
    parser.expect_token(&Token::EOF).map_err(|e| e.to_string())?;
    let mut named = BTreeSet::new();
    let _ = visit_expressions(&expression, |part| {
        if let Expr::CompoundIdentifier(_) = part {
            named.insert(part.to_string());
        }
        ControlFlow::<()>::Continue(())
    });
    Ok((expression.to_string(), named))
}

/// Names of the models of a run, in order.
///
/// # Errors
/// When the run can't be read.
pub fn models_of(session: &Session) -> Result<Vec<String>> {
    let batches = session.query("select distinct model from models order by model")?;
    let columns = batches.iter().filter_map(|b| b.columns().first()?.as_string_opt::<i32>());
    Ok(columns.flat_map(|c| c.iter().flatten().map(str::to_string).collect::<Vec<_>>()).collect())
}

/// Makes a table of one session known to another.
fn hand_over(from: &Session, table: &'static str, to: &Session, name: &str) -> Result<()> {
    let ctx = from.context().clone();
    let found = from.wait(async move { ctx.table_provider(TableReference::bare(table)).await })?;
    to.register(name, found.map_err(Error::table(table))?)
}

fn check_model(session: &Session, side: &Side) -> Result<()> {
    let models = models_of(session)?;
    if models.contains(&side.model) {
        return Ok(());
    }
    Err(Error::input(format!("{} has no model \"{}\"", side.run.display(), side.model))
        .expected(models.join(", "))
        .into())
}
