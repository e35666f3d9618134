-- sample_size_curve: what a study with another number of prompts would see.
--
-- grain    model, axis, n
-- reads    instability, normalizations, settings, study_sizes, tolerances
-- formula  samples of n of the model's scores, drawn with replacement: the
--          middle 95 % of their means, and the share of them whose one-sided
--          t-test against the primary tolerance has p < alpha
-- source   method, section 7; Efron and Tibshirani 1993, section 25.4. Scores
--          of all data sets in one urn; primary normalization

with drawn as (
    select
        i.model,
        i.axis,
        z.n,
        resampled_study(
            i.s, z.n, e.epsilon, c.alpha, c.bootstrap_draws, c.seed
        ) as study
    from instability as i
    inner join normalizations as m
        on m.normalization = i.normalization and m.is_primary
    inner join tolerances as e on e.is_primary
    cross join study_sizes as z
    cross join settings as c
    group by i.model, i.axis, z.n
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
