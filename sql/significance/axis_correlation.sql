-- axis_correlation: do two axes move on the same prompts?
--
-- grain    level, model, dataset, axis_a, axis_b
-- reads    axes, instability, normalizations, settings
-- formula  Spearman's rho of the prompts' s; at level model of ranks within
--          data sets, centred there and pooled; p: two-sided permutation within
--          data sets; interval: bootstrap of prompts within data sets
-- source   method, section 7; Spearman 1904. Primary normalization, axes with
--          is_resampled
--
-- A p above alpha shows no independence: axes are called independent where the
-- whole interval lies within independence_margin around 0. p is uncorrected.

with scores as (
    select
        i.model, i.dataset, i.prompt_id, i.axis, a.position, i.s
    from normalizations as n
    cross join axes as a
    inner join instability as i
        on i.normalization = n.normalization and i.axis = a.axis
    where n.is_primary and a.is_resampled
),

pairs as (
    select
        a.model,
        a.dataset,
        a.axis as axis_a,
        b.axis as axis_b,
        a.s as s_a,
        b.s as s_b
    from scores as a
    inner join scores as b
        on
            b.model = a.model
            and b.dataset = a.dataset
            and b.prompt_id = a.prompt_id
            and b.position > a.position
),

at_levels as (
    select
        'dataset' as level, model, dataset, dataset as block,
        axis_a, axis_b, s_a, s_b
    from pairs

    union all

    select
        'model' as level, model, '' as dataset, dataset as block,
        axis_a, axis_b, s_a, s_b
    from pairs
),

found as (
    select
        p.level,
        p.model,
        p.dataset,
        p.axis_a,
        p.axis_b,
        max(c.independence_margin) as margin,
        blocked_spearman(
            p.s_a, p.s_b, p.block, c.confidence, c.permutation_draws, c.seed
        ) as r
    from settings as c
    cross join at_levels as p
    group by p.level, p.model, p.dataset, p.axis_a, p.axis_b
),

-- Dependence that turns round from one data set to another is no independence:
-- pooled it cancels.
judged as (
    select
        *,
        bool_or(
            level = 'dataset' and (r['low'] > margin or r['high'] < -margin)
        ) over (partition by model, axis_a, axis_b) as is_dependent_somewhere
    from found
)

select
    level,
    model,
    dataset,
    axis_a,
    axis_b,
    r['rho'] as rho,
    r['p'] as p,
    r['low'] as low,
    r['high'] as high,
    r['n'] as n,
    r['low'] >= -margin and r['high'] <= margin
    and (level = 'dataset' or not coalesce(is_dependent_somewhere, false))
        as is_independent
from judged
