-- reference_sizes: how large a delta is on each axis.
--
-- grain    axis
-- reads    deltas, measured_variants, reference_set, settings
-- formula  least, mean, quantile p and greatest |delta| over V at repeat 0 of
--          the reference set; the quantile at place h = (n - 1) p of the
--          sorted sizes, linear between neighbours
-- source   method, section 7; Hyndman and Fan 1996, definition 7

with sizes as (
    select
        d.axis,
        abs(d.delta) as size
    from reference_set as r
    inner join measured_variants as v on v.dataset = r.dataset
    inner join deltas as d
        on
            d.model = r.model
            and d.dataset = v.dataset
            and d.prompt_id = v.prompt_id
            and d.variant_id = v.variant_id
    where d.repeat = 0 and d.delta is not null
),

sorted as (
    select
        axis,
        size,
        row_number() over (partition by axis order by size) - 1 as place,
        count(*) over (partition by axis) as n
    from sizes
),

-- Not percentile_cont: DataFusion rounds its share of a neighbour to 1e-6.
weighted as (
    select
        d.axis,
        d.size,
        s.scale_quantile,
        -- Of the two neighbours of h; 0 for all others.
        greatest(0.0, 1.0 - abs(d.place - (d.n - 1) * s.scale_quantile))
            as weight
    from settings as s
    cross join sorted as d
)

select
    axis,
    count(*) as n,
    min(size) as least,
    avg(size) as mean,
    max(size) as greatest,
    max(scale_quantile) as quantile,
    sum(weight * size) as quantile_size
from weighted
group by axis
