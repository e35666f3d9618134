-- rank_distribution: how sure is a model's rank?
--
-- grain    axis, dataset, model, rank
-- reads    resampled_sgs
-- formula  share of draws in which the model has the rank by its SGS on
--          redrawn prompts; dataset '': SGS over the prompts of all data
--          sets, each redrawn by itself. Rank 1 is the most stable, equal
--          scores have the same rank
-- source   method, section 7; Efron 1979. Primary normalization

with scores as (
    select axis, dataset, model, draw, sgs
    from resampled_sgs

    union all

    select
        axis,
        '' as dataset,
        model,
        draw,
        round(sum(sgs * n_prompts) / sum(n_prompts), 12) as sgs
    from resampled_sgs
    group by axis, model, draw
),

ranked as (
    select
        axis,
        dataset,
        model,
        rank() over (partition by axis, dataset, draw order by sgs) as rank
    from scores
),

counted as (
    select axis, dataset, model, rank, count(*) as n
    from ranked
    group by axis, dataset, model, rank
),

shared as (
    select
        axis,
        dataset,
        model,
        cast(rank as bigint) as rank,
        n,
        sum(n) over (partition by axis, dataset, model) as draws
    from counted
)

select
    axis, dataset, model, rank, n / cast(draws as double) as share, draws
from shared
