-- normalized_wide: deltas made comparable between axes, a column a way.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis
-- reads    deltas, reference_scales, reference_set, scales, variants
-- formula  delta / divisor; min_max: sign(delta) max(0, |delta| - origin) /
--          divisor; rank: sign(delta) min(1, k / (n - 1)), k the number of
--          smaller |delta|, to 10 decimals, among the n of the reference set's
--          V at repeat 0
-- source   method, sections 5 and 7
--
-- A table, where normalized is a view on it: six times the rows would be
-- written for the same figures. NULL where a normalization has no divisor.

with sized as (
    select
        d.model,
        d.dataset,
        d.prompt_id,
        d.variant_id,
        d.repeat,
        d.axis,
        d.delta,
        v.baseline_id,
        -- Equal deltas that were summed in another order tie.
        round(abs(d.delta), 10) as size,
        case
            when
                d.repeat = 0
                and not v.is_baseline
                and v.is_valid
                and r.model is not null
                then 1
            else 0
        end as counts
    from reference_set as r
    right join (
        variants as v
        right join deltas as d
            on
                d.dataset = v.dataset
                and d.prompt_id = v.prompt_id
                and d.variant_id = v.variant_id
    )
        on r.model = d.model and r.dataset = d.dataset
    where d.delta is not null
),

ranked as (
    select
        *,
        coalesce(
            sum(counts) over (
                partition by axis
                order by size
                groups between unbounded preceding and 1 preceding
            ),
            0
        ) as n_smaller,
        sum(counts) over (partition by axis) as n
    from sized
),

scale as (
    select
        axis,
        max(divisor) filter (where normalization = 'fixed') as fixed,
        max(divisor) filter (where normalization = 'reference') as reference,
        max(divisor) filter (where normalization = 'quantile') as quantile,
        max(divisor) filter (
            where normalization = 'mean_absolute'
        ) as mean_absolute,
        max(divisor) filter (where normalization = 'min_max') as min_max,
        max(origin) filter (where normalization = 'min_max') as origin
    from scales
    group by axis
)

select
    d.model,
    d.dataset,
    d.prompt_id,
    d.variant_id,
    d.repeat,
    d.axis,
    d.delta / s.fixed as fixed,
    d.delta / coalesce(s.reference, p.divisor) as reference,
    d.delta / s.quantile as quantile,
    case
        when d.n > 1
            then
                signum(d.delta)
                * least(1.0, d.n_smaller / cast(d.n - 1 as double))
                -- No -0.0.
                + 0.0
    end as rank,
    d.delta / s.mean_absolute as mean_absolute,
    signum(d.delta)
    * greatest(0.0, abs(d.delta) - s.origin)
    / s.min_max
    + 0.0 as min_max
from reference_scales as p
right join (
    scale as s
    right join ranked as d on d.axis = s.axis
)
    on
        p.model = d.model
        and p.dataset = d.dataset
        and p.prompt_id = d.prompt_id
        and p.baseline_id = d.baseline_id
        and p.axis = d.axis
