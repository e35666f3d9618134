-- intervals: how well SGS is known from this number of prompts.
--
-- grain    level, model, dataset, axis, normalization, method, sampling
-- reads    settings, tested_scores
-- formula  t: mean +- t(q, f) se with se^2 the sum over data sets of
--          w^2 sd^2 / n, w = n / N, and f = se^4 / sum((w^2 sd^2 / n)^2
--          / (n - 1)), which for one data set is the usual interval; bca:
--          bias-corrected and accelerated bootstrap, resampled the same way
-- source   method, section 7; Satterthwaite 1946; Efron 1987; Davison and
--          Hinkley 1997, section 5.3.2
--
-- sampling says what another study would draw anew: 'prompts' of the data set;
-- 'prompts within data sets', these data sets fixed; 'data sets', of which the
-- means count alike (the macro mean). At small n and skewed s both methods
-- cover less than they say.

with strata as (
    select
        level,
        model,
        dataset,
        axis,
        normalization,
        prompt_dataset,
        avg(s) as mean,
        case when max(s) = min(s) then 0.0 else var_samp(s) end / count(*)
            as variance,
        count(*) as n
    from tested_scores
    group by level, model, dataset, axis, normalization, prompt_dataset
),

weighted as (
    select
        *,
        cast(n as double) / sum(n) over (
            partition by level, model, dataset, axis, normalization
        ) as w
    from strata
),

pooled as (
    select
        level,
        model,
        dataset,
        axis,
        normalization,
        sum(w * mean) as estimate,
        sum(w * w * variance) as variance,
        sum(power(w * w * variance, 2) / nullif(n - 1, 0)) as spread,
        min(n) as least_n,
        sum(n) as n
    from weighted
    group by level, model, dataset, axis, normalization
),

t_of_prompts as (
    select
        p.*,
        student_t_quantile(
            (1.0 + c.confidence) / 2.0,
            case
                when p.least_n > 1 and p.variance > 0.0
                    then p.variance * p.variance / p.spread
            end
        ) * sqrt(p.variance) as half
    from settings as c
    cross join pooled as p
),

bca_of_prompts as (
    select
        t.level,
        t.model,
        t.dataset,
        t.axis,
        t.normalization,
        avg(t.s) as estimate,
        bca_interval(
            t.s, t.prompt_dataset, c.confidence, c.bootstrap_draws, c.seed
        ) as found,
        max(c.bootstrap_draws) as draws,
        count(*) as n
    from settings as c
    cross join tested_scores as t
    group by t.level, t.model, t.dataset, t.axis, t.normalization
),

means as (
    select
        model,
        axis,
        normalization,
        mean,
        min(mean) over (partition by model, axis, normalization) as least,
        max(mean) over (partition by model, axis, normalization) as greatest
    from strata
    where level = 'model'
),

-- Means that differ by their last bits alone are the same.
distinct_means as (
    select
        m.model,
        m.axis,
        m.normalization,
        case
            when m.greatest - m.least <= c.tie_tolerance * m.greatest
                then m.least
            else m.mean
        end as mean
    from settings as c
    cross join means as m
),

of_datasets as (
    select
        s.model,
        s.axis,
        s.normalization,
        avg(s.mean) as estimate,
        t_interval(s.mean, c.confidence) as by_t,
        bca_interval(
            s.mean, '', c.confidence, c.bootstrap_draws, c.seed
        ) as by_bca,
        max(c.bootstrap_draws) as draws,
        min(s.mean) = max(s.mean) as is_constant,
        count(*) as n
    from settings as c
    cross join distinct_means as s
    group by s.model, s.axis, s.normalization
),

every as (
    select
        level,
        model,
        dataset,
        axis,
        normalization,
        't' as method,
        case
            when level = 'dataset' then 'prompts'
            else 'prompts within data sets'
        end as sampling,
        estimate,
        estimate - half as low,
        estimate + half as high,
        n,
        cast(null as bigint) as draws,
        case
            when least_n < 2 then 'a data set with one prompt'
            when half is null then 'constant'
        end as reason
    from t_of_prompts

    union all

    select
        level,
        model,
        dataset,
        axis,
        normalization,
        'bca' as method,
        case
            when level = 'dataset' then 'prompts'
            else 'prompts within data sets'
        end as sampling,
        estimate,
        found['low'] as low,
        found['high'] as high,
        n,
        draws,
        found['reason'] as reason
    from bca_of_prompts

    union all

    select
        'model' as level,
        model,
        '' as dataset,
        axis,
        normalization,
        't' as method,
        'data sets' as sampling,
        estimate,
        case when not is_constant then by_t['low'] end as low,
        case when not is_constant then by_t['high'] end as high,
        n,
        cast(null as bigint) as draws,
        case
            when n < 2 then 'fewer than 2'
            when is_constant then 'constant'
        end as reason
    from of_datasets

    union all

    select
        'model' as level,
        model,
        '' as dataset,
        axis,
        normalization,
        'bca' as method,
        'data sets' as sampling,
        estimate,
        by_bca['low'] as low,
        by_bca['high'] as high,
        n,
        draws,
        by_bca['reason'] as reason
    from of_datasets
)

select
    level,
    model,
    dataset,
    axis,
    normalization,
    method,
    sampling,
    estimate,
    low,
    high,
    n,
    case when low is not null then draws end as draws,
    reason
from every
