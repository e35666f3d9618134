-- sgs_shared: SGS of the models on what they share, and their ranks.
--
-- grain    model, axis, normalization
-- reads    shared_instability
-- formula  mean of s over all shared prompts; rank 1 is the most stable,
--          equal scores have the same rank
-- source   method, section 5; no row where there are fewer than two models

with scored as (
    select
        model,
        axis,
        normalization,
        avg(s) as sgs,
        count(*) as n_prompts,
        sum(n_variants) as n_pairs
    from shared_instability
    group by model, axis, normalization
),

ranked as (
    select
        *,
        rank() over (
            partition by axis, normalization
            -- Equal scores that were summed in another order tie.
            order by round(sgs, 12)
        ) as place,
        count(*) over (partition by axis, normalization) as n_models
    from scored
)

select
    model,
    axis,
    normalization,
    sgs,
    cast(place as bigint) as rank,
    n_models,
    n_prompts,
    n_pairs
from ranked
where n_models > 1
