-- resampled_sgs: SGS of the models on redrawn prompts of a data set.
--
-- grain    axis, dataset, model, draw
-- reads    axes, normalizations, settings, shared_instability
-- formula  mean of s over as many prompts as the data set has, drawn with
--          replacement; all models have the same prompts in a draw
-- source   method, section 7; Efron 1979. Primary normalization, main axes
--          and those that take their place for chat APIs

with lists as (
    select
        i.axis,
        i.dataset,
        i.model,
        count(*) as n_prompts,
        -- Rounded, so that equal scores tie in every draw.
        array_agg(round(i.s, 12) order by i.prompt_id) as scores
    from shared_instability as i
    inner join axes as a
        on
            a.axis = i.axis
            and (a.is_main or a.axis in ('prob_generated', 'ent_generated'))
    inner join normalizations as n
        on n.normalization = i.normalization and n.is_primary
    group by i.axis, i.dataset, i.model
),

drawn as (
    select
        l.axis,
        l.dataset,
        l.model,
        l.n_prompts,
        unnest(range(1, s.rank_draws + 1)) as draw,
        unnest(
            bootstrap_means(l.scores, s.rank_draws, s.seed, l.dataset)
        ) as sgs
    from settings as s
    cross join lists as l
)

select axis, dataset, model, draw, n_prompts, round(sgs, 12) as sgs
from drawn
