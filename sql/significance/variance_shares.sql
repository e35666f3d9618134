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

grid as (
    select
        count(distinct subtype)
        * count(distinct place)
        * count(distinct rank) as n_cells
    from noise
),

primary_deltas as (
    select n.*
    from normalizations as z
    inner join normalized as n on n.normalization = z.normalization
    where z.is_primary and n.repeat = 0
),

cells as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        n.axis,
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

whole_prompts as (
    select model, dataset, prompt_id, axis, avg(y) as mean, count(*) as n
    from cells
    group by model, dataset, prompt_id, axis
    having count(*) = (select n_cells from grid)
),

balanced as (
    select c.*
    from whole_prompts as w
    inner join cells as c
        on
            c.model = w.model
            and c.dataset = w.dataset
            and c.prompt_id = w.prompt_id
            and c.axis = w.axis
),

-- Means over prompts: on a balanced grid the means of each factor's levels are
-- means of these.
of_cells as (
    select
        model, dataset, axis, subtype, place, rank,
        avg(y) as mean,
        count(*) as n
    from balanced
    group by model, dataset, axis, subtype, place, rank
),

by_factor as (
    select
        model,
        dataset,
        axis,
        unnest(make_array('subtype', 'place', 'strength')) as factor,
        unnest(make_array(subtype, place, cast(rank as varchar))) as level,
        mean,
        n
    from of_cells
),

means as (
    select model, dataset, axis, factor, level, avg(mean) as mean, sum(n) as n
    from by_factor
    group by model, dataset, axis, factor, level

    union all

    select model, dataset, axis, 'prompt' as factor, prompt_id, mean, n
    from whole_prompts
),

squares as (
    -- The variance of the means, each as often as it has values.
    select
        model,
        dataset,
        axis,
        factor,
        var_pop(mean) * sum(n) as sum_of_squares,
        count(*) as n_levels
    from means
    group by model, dataset, axis, factor

    union all

    select
        model,
        dataset,
        axis,
        'total' as factor,
        var_pop(y) * count(*) as sum_of_squares,
        count(*) as n_levels
    from balanced
    group by model, dataset, axis
),

whole as (
    select
        model,
        dataset,
        axis,
        sum(case when factor = 'total' then sum_of_squares end) as total,
        sum(
            case when factor <> 'total' then sum_of_squares end
        ) as explained,
        sum(case when factor = 'prompt' then n_levels end) as n_prompts
    from squares
    group by model, dataset, axis
),

long as (
    select
        s.model,
        s.dataset,
        s.axis,
        case
            when s.factor = 'total' then 'residual' else s.factor
        end as factor,
        case
            when s.factor = 'total' then greatest(w.total - w.explained, 0.0)
            else s.sum_of_squares
        end as sum_of_squares,
        w.total,
        w.n_prompts
    from squares as s
    inner join whole as w
        on
            w.model = s.model
            and w.dataset = s.dataset
            and w.axis = s.axis
)

select
    model,
    dataset,
    axis,
    factor,
    sum_of_squares,
    sum_of_squares / nullif(total, 0.0) as share,
    n_prompts
from long
