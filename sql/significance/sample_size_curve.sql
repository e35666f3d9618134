-- sample_size_curve: what a study with another number of prompts would see.
--
-- grain    model, axis, n
-- reads    instability, normalizations, settings, study_sizes, tolerances
-- formula  samples of n of the model's scores, drawn with replacement: the
--          middle 95 % of their means, and the share of them whose one-sided
--          t-test against the primary tolerance has p < alpha
-- source   method, section 7; Efron and Tibshirani 1993, section 25.4. Scores
--          of all data sets in one urn; primary normalization. One score
--          says nothing of another study: no row

with primary_scores as (
    select i.model, i.axis, i.s
    from normalizations as m
    inner join instability as i on i.normalization = m.normalization
    where m.is_primary
),

drawn as (
    select
        i.model,
        i.axis,
        z.n,
        resampled_study(
            i.s, z.n, e.epsilon, c.alpha, c.study_draws, c.seed
        ) as study
    from settings as c
    cross join study_sizes as z
    inner join tolerances as e on e.is_primary
    cross join primary_scores as i
    group by i.model, i.axis, z.n
    having count(*) > 1
)

select
    model,
    axis,
    n,
    study['mean_low'] as mean_low,
    study['mean_high'] as mean_high,
    study['mean_high'] - study['mean_low'] as width,
    study['reject'] as reject
from drawn
