-- rank_agreement: do two data sets rank the models alike?
--
-- grain    axis, dataset_a, dataset_b
-- reads    axes, normalizations, resampled_sgs, settings,
--          sgs_shared_dataset
-- formula  Kendall's tau-b of the models' shared SGS on the two data sets;
--          percentile interval and share of draws with tau-b < 0 (more pairs
--          of models in opposite order than in the same) over redrawn prompts
-- source   method, section 7; Kendall 1945, Efron 1979. Read it beside
--          split_half: two halves of one data set do not agree fully either.
--          Primary normalization; no row for fewer than two models

with of_datasets as (
    select s.axis, s.dataset, s.model, s.n_prompts, s.sgs
    from sgs_shared_dataset as s
    inner join normalizations as n
        on n.normalization = s.normalization and n.is_primary
),

observed as (
    select
        a.axis,
        a.dataset as dataset_a,
        b.dataset as dataset_b,
        count(*) as n_models,
        max(a.n_prompts) as n_prompts_a,
        max(b.n_prompts) as n_prompts_b,
        kendall_tau_b(a.sgs, b.sgs) as kendall_tau_b
    from of_datasets as a
    inner join of_datasets as b
        on b.axis = a.axis and b.model = a.model and b.dataset > a.dataset
    group by a.axis, a.dataset, b.dataset
    having count(*) > 1
),

drawn as (
    select
        a.axis,
        a.dataset as dataset_a,
        b.dataset as dataset_b,
        kendall_tau_b(a.sgs, b.sgs) as tau
    from resampled_sgs as a
    inner join resampled_sgs as b
        on
            b.axis = a.axis
            and b.model = a.model
            and b.draw = a.draw
            and b.dataset > a.dataset
    group by a.axis, a.dataset, b.dataset, a.draw
),

sorted as (
    select
        d.axis,
        d.dataset_a,
        d.dataset_b,
        array_agg(d.tau order by d.tau) as taus,
        avg(case when d.tau < 0 then 1.0 else 0.0 end) as reversal_frequency,
        count(*) as draws,
        (count(*) - 1) * (1 - max(s.confidence)) / 2 as place_low,
        (count(*) - 1) * (1 + max(s.confidence)) / 2 as place_high
    from settings as s
    cross join drawn as d
    where d.tau is not null
    group by d.axis, d.dataset_a, d.dataset_b
)

select
    o.axis,
    o.dataset_a,
    o.dataset_b,
    o.n_models,
    o.n_prompts_a,
    o.n_prompts_b,
    o.kendall_tau_b,
    -- The draws that stand next to the two percentiles, on the outer side.
    d.taus[cast(floor(d.place_low) as bigint) + 1] as low,
    d.taus[cast(ceil(d.place_high) as bigint) + 1] as high,
    d.reversal_frequency,
    coalesce(d.draws, 0) as draws
from observed as o
inner join axes as x on x.axis = o.axis and x.is_resampled
left join sorted as d
    on
        d.axis = o.axis
        and d.dataset_a = o.dataset_a
        and d.dataset_b = o.dataset_b
