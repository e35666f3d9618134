-- resampled_sgs: SGS of the models on redrawn prompts of a data set.
--
-- grain    axis, dataset, model, draw
-- reads    score_lists, settings
-- formula  mean of s over as many prompts as the data set has, drawn with
--          replacement; all models have the same prompts in a draw
-- source   method, section 7; Efron 1979. Primary normalization, main axes
--          and those that take their place for chat APIs

with drawn as (
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
    cross join score_lists as l
)

select axis, dataset, model, draw, n_prompts, round(sgs, 12) as sgs
from drawn
