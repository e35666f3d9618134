-- split_half: do two halves of one data set rank the models alike?
--
-- grain    axis, dataset
-- reads    score_lists, settings
-- formula  Kendall's tau-b of the models' SGS on two random halves of the
--          prompts, the same halves for all models: mean over draws,
--          percentile interval, share of draws with tau-b < 0
-- source   method, section 7: the noise ceiling of rank_agreement. A half has
--          half the prompts, so it is a low estimate of it. Primary
--          normalization; no row for fewer than two models or two prompts

with halves as (
    select
        l.axis,
        l.dataset,
        l.n_prompts,
        unnest(range(1, s.rank_draws + 1)) as draw,
        unnest(
            first_half_means(l.scores, s.rank_draws, s.seed, l.dataset)
        ) as first_sgs,
        unnest(
            second_half_means(l.scores, s.rank_draws, s.seed, l.dataset)
        ) as second_sgs
    from settings as s
    cross join score_lists as l
    where l.n_prompts > 1
),

drawn as (
    select
        axis,
        dataset,
        max(n_prompts) as n_prompts,
        count(*) as n_models,
        kendall_tau_b(first_sgs, second_sgs) as tau
    from halves
    group by axis, dataset, draw
),

sorted as (
    select
        d.axis,
        d.dataset,
        max(d.n_models) as n_models,
        max(d.n_prompts) as n_prompts,
        avg(d.tau) as kendall_tau_b,
        array_agg(d.tau order by d.tau)
            filter (where d.tau is not null) as taus,
        avg(
            case when d.tau < 0 then 1.0 when d.tau >= 0 then 0.0 end
        ) as reversal_frequency,
        count(d.tau) as draws,
        (count(d.tau) - 1) * (1 - max(s.confidence)) / 2 as place_low,
        (count(d.tau) - 1) * (1 + max(s.confidence)) / 2 as place_high
    from settings as s
    cross join drawn as d
    group by d.axis, d.dataset
)

select
    axis,
    dataset,
    n_models,
    n_prompts,
    kendall_tau_b,
    -- The draws that stand next to the two percentiles, on the outer side.
    taus[cast(floor(place_low) as bigint) + 1] as low,
    taus[cast(ceil(place_high) as bigint) + 1] as high,
    reversal_frequency,
    draws
from sorted
