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

counted as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        n.axis,
        v.subtype,
        v.place,
        v.rank,
        n.delta * n.delta as y,
        count(*) over (
            partition by n.model, n.dataset, n.prompt_id, n.axis
        ) as n_of_prompt
    from normalized as n
    inner join normalizations as z
        on z.normalization = n.normalization and z.is_primary
    inner join noise as v
        on
            v.dataset = n.dataset
            and v.prompt_id = n.prompt_id
            and v.variant_id = n.variant_id
    where n.repeat = 0
),

-- One row a value and factor; `total` and its own row as level gives the sum
-- that the shares are of.
levels as (
    select
        c.model,
        c.dataset,
        c.axis,
        c.y,
        unnest(
            make_array('prompt', 'subtype', 'place', 'strength', 'total')
        ) as factor,
        unnest(
            make_array(
                c.prompt_id,
                c.subtype,
                c.place,
                cast(c.rank as varchar),
                concat_ws('/', c.prompt_id, c.subtype, c.place, c.rank)
            )
        ) as level
    from counted as c
    inner join grid as g on g.n_cells = c.n_of_prompt
),

means as (
    select
        model,
        dataset,
        axis,
        factor,
        level,
        avg(y) as mean,
        count(*) as n
    from levels
    group by model, dataset, axis, factor, level
),

centred as (
    select
        *,
        sum(mean * n) over (partition by model, dataset, axis, factor)
        / sum(n) over (partition by model, dataset, axis, factor) as grand
    from means
),

squares as (
    select
        model,
        dataset,
        axis,
        factor,
        sum(n * (mean - grand) * (mean - grand)) as sum_of_squares,
        count(*) as n_levels
    from centred
    group by model, dataset, axis, factor
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
