-- dose_response: how behaviour moves with the strength of a rewording.
--
-- grain    model, subtype, place, level, axis
-- reads    axes, measured_variants, normalizations, normalized, settings
-- formula  over prompts, of the mean of a prompt's deltas: mean, t interval of
--          it with the prompts as one sample, BCa interval with prompts
--          resampled within data sets; mean of |delta|; s = sqrt(mean(delta^2))
-- source   method, sections 2 and 7; Efron 1987. Primary normalization. A
--          prompt is a cluster: its deltas are no independent observations
--
-- BCa on the axes with is_resampled only: the number of rows is that of all
-- wordings.

with primary_deltas as (
    select n.*
    from normalizations as m
    inner join normalized as n on n.normalization = m.normalization
    where m.is_primary and n.repeat = 0
),

of_prompts as (
    select
        n.model,
        v.subtype,
        v.place,
        v.level,
        v.strength,
        n.axis,
        n.dataset,
        n.prompt_id,
        avg(n.delta) as delta,
        avg(abs(n.delta)) as size,
        avg(n.delta * n.delta) as square
    from measured_variants as v
    inner join primary_deltas as n
        on
            v.dataset = n.dataset
            and v.prompt_id = n.prompt_id
            and v.variant_id = n.variant_id
    where
        v.level is not null
        -- A number that only counts paraphrases is no dose.
        and (v.family <> 'own' or v.strength is not null)
    group by
        n.model, v.subtype, v.place, v.level, v.strength, n.axis,
        n.dataset, n.prompt_id
),

summed as (
    select
        p.model,
        p.subtype,
        p.place,
        p.level,
        p.strength,
        p.axis,
        avg(p.delta) as mean_delta,
        avg(p.size) as mean_size,
        sqrt(avg(p.square)) as s,
        t_interval(p.delta, c.confidence) as by_t,
        bca_interval(
            case when a.is_resampled then p.delta end,
            p.dataset, c.confidence, c.variant_draws, c.seed
        ) as by_bca,
        max(c.variant_draws) as draws,
        min(p.delta) = max(p.delta) as is_constant,
        bool_or(a.is_resampled) as is_resampled,
        count(*) as n_prompts
    from settings as c
    cross join axes as a
    inner join of_prompts as p on p.axis = a.axis
    group by p.model, p.subtype, p.place, p.level, p.strength, p.axis
)

select
    model,
    subtype,
    place,
    level,
    strength,
    axis,
    mean_delta,
    mean_size as mean_abs_delta,
    s,
    case when not is_constant then by_t['low'] end as t_low,
    case when not is_constant then by_t['high'] end as t_high,
    by_bca['low'] as bca_low,
    by_bca['high'] as bca_high,
    n_prompts,
    case when by_bca['low'] is not null then draws end as draws,
    case
        when not is_resampled then 'not a resampled axis'
        else by_bca['reason']
    end as reason
from summed
