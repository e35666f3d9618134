//! SGS: the scores of a release, computed anew from its deltas.
//!
//! In: a session with the tables of a release. Out: the first stored figure that the deltas do not give.
//! The SQL here is written apart from the models in `sql/`: a fault there is not repeated here.

use crate::query::{RUN, Session, columns, first_row, named};
use crate::{Error, Result};

/// Figures are the same within this, relative to those above 1.
const ROUNDING: f64 = 1e-9;
/// Scales other than the fixed one, as columns of normalized_wide.
const OTHER_SCALES: [&str; 5] = ["reference", "quantile", "rank", "mean_absolute", "min_max"];
/// A delta is keyed by these.
const DELTA: [&str; 6] = ["model", "dataset", "prompt_id", "variant_id", "repeat", "axis"];
/// The instability of prompts, computed anew.
const COMPUTED: &str = "computed_instability";
/// The tables without which nothing can be computed.
pub(super) const NEEDED: [&str; 8] =
    ["deltas", "instability", "normalized", "normalized_wide", "scales", "sgs_dataset", "sgs_model", "variants"];

/// A stored figure, and the same one computed.
struct Figure<'a> {
    /// The table, or a query for its rows.
    table: &'a str,
    stored: &'a str,
    key: &'a [&'a str],
    name: &'a str,
    /// A query with the key and a column of the figure's name.
    computed: &'a str,
}

/// The tables of a release, and whether they hold several runs.
struct Tables<'a> {
    session: &'a Session,
    several: bool,
}

/// The first delta of the fixed scale that is not the delta over R, in the table of all scales or in its long form.
pub(super) fn scaled_difference(session: &Session) -> Result<Option<String>> {
    let tables = Tables::of(session)?;
    let (own, of_run) = (tables.run("d"), tables.same_run("r", "d", "scales")?);
    let by_r = format!(
        "select {own}d.model, d.dataset, d.prompt_id, d.variant_id, d.repeat, d.axis, d.delta / r.divisor as fixed
         from deltas as d
         inner join scales as r on {of_run}r.axis = d.axis and r.normalization = 'fixed'
         where d.delta is not null"
    );
    let wide = "select * from normalized_wide where fixed is not null";
    let long = "select * from normalized where normalization = 'fixed'";
    let same = wide.replace('*', "*, fixed as delta");
    let all = [
        Figure { table: "normalized_wide", stored: wide, key: &DELTA, name: "fixed", computed: &by_r },
        Figure { table: "normalized", stored: long, key: &DELTA, name: "delta", computed: &same },
    ];
    tables.first(&all)
}

/// The first figure that does not follow from the deltas. What is needed again and again lies in `aside` meanwhile.
pub(super) fn difference(session: &Session, aside: &std::path::Path) -> Result<Option<String>> {
    let tables = Tables::of(session)?;
    session.keep_rows(COMPUTED, &tables.instability()?, aside).map_err(|e| match e {
        Error::Query(what) => Error::table(COMPUTED)(what),
        other => other,
    })?;
    let own = OTHER_SCALES.iter().chain(&["fixed"]).map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
    let stored = |table: &str| format!("select * from {table} where normalization in ({own})");
    let (prompts, datasets, models) = (stored("instability"), stored("sgs_dataset"), stored("sgs_model"));
    let run = if tables.several { "run, " } else { "" };
    let dataset = format!("{run}model, dataset, axis, normalization");
    let model = format!("{run}model, axis, normalization");
    let by_dataset = format!("select {dataset}, avg(s) as sgs from {COMPUTED} group by {dataset}");
    let by_model = format!("select {model}, avg(s) as sgs from {COMPUTED} group by {model}");
    let macros = format!("select {model}, avg(sgs) as sgs_macro from ({by_dataset}) group by {model}");
    let of_prompt = ["model", "dataset", "prompt_id", "axis", "normalization"];
    let of_dataset = ["model", "dataset", "axis", "normalization"];
    let of_model = ["model", "axis", "normalization"];
    let computed = format!("select * from {COMPUTED}");
    let all = [
        Figure { table: "instability", stored: &prompts, key: &of_prompt, name: "s", computed: &computed },
        Figure { table: "sgs_dataset", stored: &datasets, key: &of_dataset, name: "sgs", computed: &by_dataset },
        Figure { table: "sgs_model", stored: &models, key: &of_model, name: "sgs", computed: &by_model },
        Figure { table: "sgs_model", stored: &models, key: &of_model, name: "sgs_macro", computed: &macros },
    ];
    tables.first(&all)
}

/// The first baseline of repeat 0 whose delta is not exactly 0, or that is missing where its wordings have deltas.
pub(super) fn baseline(session: &Session) -> Result<Option<String>> {
    let tables = Tables::of(session)?;
    let sql = format!(
        "with needed as (
             select distinct {run}d.model, d.dataset, d.prompt_id, v.baseline_id as variant_id, d.axis
             from variants as v
             inner join deltas as d
                 on {of_v}v.dataset = d.dataset and v.prompt_id = d.prompt_id and v.variant_id = d.variant_id
             where d.repeat = 0 and (d.delta is not null or v.is_baseline)
         )
         select {own}n.model, n.dataset, n.prompt_id, n.variant_id, n.axis, d.delta
         from needed as n
         left join (select * from deltas where repeat = 0) as d
             on {of_n}d.model = n.model and d.dataset = n.dataset and d.prompt_id = n.prompt_id
             and d.variant_id = n.variant_id and d.axis = n.axis
         where d.delta is null or d.delta <> 0
         order by {own}n.model, n.dataset, n.prompt_id, n.variant_id, n.axis limit 1",
        run = tables.run("d"),
        own = tables.run("n"),
        of_v = tables.same_run("v", "d", "variants")?,
        of_n = tables.same_run("d", "n", "deltas")?,
    );
    let first = first_row(&session.query(&sql)?);
    Ok(if first.is_empty() { None } else { Some(named(&first)) })
}

impl<'a> Tables<'a> {
    fn of(session: &'a Session) -> Result<Self> {
        Ok(Tables { session, several: has_run(session, "deltas")? })
    }

    /// The column `run` of `alias`, as the first of a list.
    fn run(&self, alias: &str) -> String {
        if self.several { format!("{alias}.{RUN}, ") } else { String::new() }
    }

    /// What rows of one run have in common, as the first of several conditions. Constants may be those of all runs.
    fn same_run(&self, a: &str, b: &str, table: &str) -> Result<String> {
        let has_run = has_run(self.session, table)?;
        Ok(if self.several && has_run { format!("{a}.{RUN} = {b}.{RUN} and ") } else { String::new() })
    }

    /// The first figure that is not as computed.
    fn first(&self, figures: &[Figure]) -> Result<Option<String>> {
        for Figure { table, stored, key, name, computed } in figures {
            let key: Vec<&str> = self.several.then_some(RUN).into_iter().chain(key.iter().copied()).collect();
            let shown = key.iter().map(|c| format!("coalesce(x.{c}, y.{c}) as {c}")).collect::<Vec<_>>().join(", ");
            let on = key.iter().map(|c| format!("x.{c} = y.{c}")).collect::<Vec<_>>().join(" and ");
            let order = key.join(", ");
            let sql = format!(
                "select {shown}, x.{name} as stored, y.{name} as computed
                 from ({stored}) as x
                 full outer join ({computed}) as y on {on}
                 where x.{name} is null or y.{name} is null
                     or abs(x.{name} - y.{name}) > {ROUNDING:e} * greatest(1.0, abs(y.{name}))
                     or isnan(x.{name}) <> isnan(y.{name})
                 order by {order} limit 1"
            );
            let mut first = first_row(&self.session.query(&sql)?);
            if let [.., (_, stored), (_, computed)] = first.clone().as_slice() {
                first.truncate(key.len());
                return Ok(Some(format!("{table}: {name} is {stored}, not {computed}, at {}", named(&first))));
            }
        }
        Ok(None)
    }

    /// The instability of prompts, from the deltas and, on further scales, from these.
    fn instability(&self) -> Result<String> {
        let own = if self.several { "run, " } else { "" };
        let run = self.run("d");
        let others: String = OTHER_SCALES
            .iter()
            .map(|scale| {
                format!(
                    " union all select {own}model, dataset, prompt_id, variant_id, axis, '{scale}' as normalization,
                          {scale} as d
                      from normalized_wide where repeat = 0 and {scale} is not null"
                )
            })
            .collect();
        Ok(format!(
            "with scaled as (
                 select {run}d.model, d.dataset, d.prompt_id, d.variant_id, d.axis, 'fixed' as normalization,
                     d.delta / r.divisor as d
                 from deltas as d
                 inner join scales as r on {of_scale}r.axis = d.axis and r.normalization = 'fixed'
                 where d.repeat = 0 and d.delta is not null
                 {others}
             )
             select {run}d.model, d.dataset, d.prompt_id, d.axis, d.normalization, sqrt(avg(d.d * d.d)) as s
             from variants as v
             inner join scaled as d
                 on {of_run}v.dataset = d.dataset and v.prompt_id = d.prompt_id and v.variant_id = d.variant_id
             where not v.is_baseline and v.is_valid
             group by {run}d.model, d.dataset, d.prompt_id, d.axis, d.normalization",
            of_scale = self.same_run("r", "d", "scales")?,
            of_run = self.same_run("v", "d", "variants")?,
        ))
    }
}

fn has_run(session: &Session, table: &str) -> Result<bool> {
    Ok(columns(session, table)?.iter().any(|(name, _)| name == RUN))
}
