-- variance_shares: what the squared deltas of surface noise depend on.
--
-- grain    model, dataset, axis, factor
-- reads    measured_variants, normalizations, normalized
-- formula  eta squared: sum over a factor's levels of n (mean of level - grand
--          mean)^2, over the sum of (delta^2 - grand mean)^2; residual: the
--          rest, interactions of the factors included
-- source   method, section 7; Fisher 1925. Primary normalization
--
-- On the balanced grid of subtype, place and strength, where the factors are
-- orthogonal. Strengths are on other scales in each subtype: the factor is
-- their rank within it. Prompts without a value somewhere in the grid are left
-- out; without a balanced grid there are no rows.

with noise as (
    select
        dataset,
        prompt_id,
        variant_id,
        subtype,
        place,
        dense_rank() over (partition by subtype order by strength) as rank
    from measured_variants
    where family = 'surface_noise'
),

primary_deltas as (
    select n.model, n.dataset, n.prompt_id, n.variant_id, n.axis, n.delta
    from normalizations as z
    inner join normalized as n on n.normalization = z.normalization
    where z.is_primary and n.repeat = 0
),

scores as (
    select
        n.model,
        n.dataset,
        n.axis,
        n.prompt_id,
        v.subtype,
        v.place,
        v.rank,
        n.delta * n.delta as y
    from noise as v
    inner join primary_deltas as n
        on
            n.dataset = v.dataset
            and n.prompt_id = v.prompt_id
            and n.variant_id = v.variant_id
),

-- The grid is that of the model's own wordings: one that was asked fewer has a
-- smaller one.
grid as (
    select
        model,
        dataset,
        axis,
        count(distinct subtype)
        * count(distinct place)
        * count(distinct rank) as n_cells
    from scores
    group by model, dataset, axis
),

prompts as (
    select
        model,
        dataset,
        axis,
        prompt_id,
        avg(y) as mean,
        var_pop(y) as variance,
        min(y) as least,
        max(y) as greatest,
        count(*) as n
    from scores
    group by model, dataset, axis, prompt_id
),

whole_prompts as (
    select p.*
    from grid as g
    inner join prompts as p
        on
            p.model = g.model
            and p.dataset = g.dataset
            and p.axis = g.axis
            and p.n = g.n_cells
    where g.n_cells > 1
),

cells as (
    select
        s.model,
        s.dataset,
        s.axis,
        s.subtype,
        s.place,
        s.rank,
        avg(s.y) as mean,
        count(*) as n
    from whole_prompts as p
    inner join scores as s
        on
            s.model = p.model
            and s.dataset = p.dataset
            and s.axis = p.axis
            and s.prompt_id = p.prompt_id
    group by s.model, s.dataset, s.axis, s.subtype, s.place, s.rank
),

-- The grid is balanced: every level of a factor has as many values, and the
-- mean of a level is that of its cells' means.
levels as (
    select model, dataset, axis, factor, avg(mean) as mean, sum(n) as n
    from (
        select
            model,
            dataset,
            axis,
            mean,
            n,
            unnest(make_array('subtype', 'place', 'strength')) as factor,
            unnest(make_array(subtype, place, cast(rank as varchar))) as level
        from cells
    )
    group by model, dataset, axis, factor, level
),

by_factor as (
    select
        model, dataset, axis, factor, sum(n) * var_pop(mean) as sum_of_squares
    from levels
    group by model, dataset, axis, factor
),

by_factors as (
    select
        model,
        dataset,
        axis,
        max(sum_of_squares) filter (where factor = 'subtype') as subtype,
        max(sum_of_squares) filter (where factor = 'place') as place,
        max(sum_of_squares) filter (where factor = 'strength') as strength
    from by_factor
    group by model, dataset, axis
),

by_prompt as (
    select
        model,
        dataset,
        axis,
        sum(n) * var_pop(mean) as prompt,
        sum(n * variance) + sum(n) * var_pop(mean) as total,
        -- The mean of equal numbers may miss them by a last bit.
        min(least) = max(greatest) as is_constant,
        count(*) as n_prompts
    from whole_prompts
    group by model, dataset, axis
),

long as (
    select
        p.model,
        p.dataset,
        p.axis,
        p.n_prompts,
        p.is_constant,
        p.total,
        unnest(
            make_array('prompt', 'subtype', 'place', 'strength', 'residual')
        ) as factor,
        unnest(
            make_array(
                p.prompt,
                f.subtype,
                f.place,
                f.strength,
                greatest(
                    p.total - p.prompt - f.subtype - f.place - f.strength, 0.0
                )
            )
        ) as sum_of_squares
    from by_prompt as p
    inner join by_factors as f
        on f.model = p.model and f.dataset = p.dataset and f.axis = p.axis
)

select
    model,
    dataset,
    axis,
    factor,
    case when is_constant then 0.0 else sum_of_squares end as sum_of_squares,
    case when not is_constant then sum_of_squares / total end as share,
    n_prompts
from long
