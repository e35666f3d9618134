//! SGS: the scores of a release, computed anew from its deltas.
//!
//! In: a session with the tables of a release. Out: the first stored figure that the deltas do not give.
//! The SQL here is written apart from the models in `sql/`: a fault there is not repeated here.

use crate::Result;
use crate::query::{RUN, Session, columns, first_row, named};

/// Figures are the same within this, relative to those above 1.
const ROUNDING: f64 = 1e-9;
/// Scales other than the fixed one, as columns of normalized_wide.
const OTHER_SCALES: [&str; 5] = ["reference", "quantile", "rank", "mean_absolute", "min_max"];
/// What is computed anew, with its key and its figure.
const FIGURES: [(&str, &[&str], &str); 4] = [
    ("instability", &["model", "dataset", "prompt_id", "axis", "normalization"], "s"),
    ("sgs_dataset", &["model", "dataset", "axis", "normalization"], "sgs"),
    ("sgs_model", &["model", "axis", "normalization"], "sgs"),
    ("sgs_model", &["model", "axis", "normalization"], "sgs_macro"),
];
/// The tables without which nothing can be computed.
pub(super) const NEEDED: [&str; 7] =
    ["deltas", "instability", "normalized_wide", "scales", "sgs_dataset", "sgs_model", "variants"];

/// The first figure that does not follow from the deltas.
pub(super) fn difference(session: &Session) -> Result<Option<String>> {
    let several = has_run(session, "deltas")?;
    for (table, key, figure) in FIGURES {
        let key: Vec<&str> = several.then_some(RUN).into_iter().chain(key.iter().copied()).collect();
        let shown = key.iter().map(|c| format!("coalesce(x.{c}, y.{c}) as {c}")).collect::<Vec<_>>().join(", ");
        let on = key.iter().map(|c| format!("x.{c} = y.{c}")).collect::<Vec<_>>().join(" and ");
        let own = OTHER_SCALES.iter().chain(&["fixed"]).map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "{computed}
             select {shown}, x.{figure} as stored, y.{figure} as computed
             from (select * from {table} where normalization in ({own})) as x
             full outer join computed_{table} as y on {on}
             where x.{figure} is null or y.{figure} is null
                 or abs(x.{figure} - y.{figure}) > {ROUNDING:e} * greatest(1.0, abs(y.{figure}))
                 or isnan(x.{figure}) <> isnan(y.{figure})
             order by {order} limit 1",
            computed = computed(several, has_run(session, "scales")?),
            order = key.join(", "),
        );
        let mut first = first_row(&session.query(&sql)?);
        if let [.., (_, stored), (_, computed)] = first.clone().as_slice() {
            first.truncate(key.len());
            return Ok(Some(format!("{table}: {figure} is {stored}, not {computed}, at {}", named(&first))));
        }
    }
    Ok(None)
}

/// The first baseline of repeat 0 whose delta is not exactly 0, or that is missing where its wordings have deltas.
pub(super) fn baseline(session: &Session) -> Result<Option<String>> {
    let several = has_run(session, "deltas")?;
    let run = |table: &str| if several { format!("{table}.{RUN}, ") } else { String::new() };
    let same_run = |a: &str, b: &str| if several { format!("{a}.{RUN} = {b}.{RUN} and ") } else { String::new() };
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
        run = run("d"),
        own = run("n"),
        of_v = same_run("v", "d"),
        of_n = same_run("d", "n"),
    );
    let first = first_row(&session.query(&sql)?);
    Ok(if first.is_empty() { None } else { Some(named(&first)) })
}

fn has_run(session: &Session, table: &str) -> Result<bool> {
    Ok(columns(session, table)?.iter().any(|(name, _)| name == RUN))
}

/// Common table expressions `computed_TABLE` for each of [`FIGURES`].
fn computed(several: bool, scales_of_run: bool) -> String {
    let run = if several { "d.run, " } else { "" };
    let own = if several { "run, " } else { "" };
    let of_run = if several { "v.run = d.run and " } else { "" };
    let scale_of_run = if scales_of_run { "r.run = d.run and " } else { "" };
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
    format!(
        "with scaled as (
             select {run}d.model, d.dataset, d.prompt_id, d.variant_id, d.axis, 'fixed' as normalization,
                 d.delta / r.divisor as d
             from deltas as d
             inner join scales as r on {scale_of_run}r.axis = d.axis and r.normalization = 'fixed'
             where d.repeat = 0 and d.delta is not null
             {others}
         ),
         computed_instability as (
             select {run}d.model, d.dataset, d.prompt_id, d.axis, d.normalization, sqrt(avg(d.d * d.d)) as s
             from variants as v
             inner join scaled as d
                 on {of_run}v.dataset = d.dataset and v.prompt_id = d.prompt_id and v.variant_id = d.variant_id
             where not v.is_baseline and v.is_valid
             group by {run}d.model, d.dataset, d.prompt_id, d.axis, d.normalization
         ),
         computed_sgs_dataset as (
             select {own}model, dataset, axis, normalization, avg(s) as sgs
             from computed_instability group by {own}model, dataset, axis, normalization
         ),
         computed_sgs_model as (
             select i.*, m.sgs_macro
             from (select {own}model, axis, normalization, avg(s) as sgs
                   from computed_instability group by {own}model, axis, normalization) as i
             inner join (select {own}model, axis, normalization, avg(sgs) as sgs_macro
                   from computed_sgs_dataset group by {own}model, axis, normalization) as m
                 using ({own}model, axis, normalization)
         )"
    )
}
