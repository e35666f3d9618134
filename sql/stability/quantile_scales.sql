-- quantile_scales: robust size of a delta on each axis.
--
-- grain    axis
-- reads    reference_deltas, settings
-- formula  quantile p of |delta|: at place h = (n - 1) p of the sorted sizes,
--          linear between neighbours
-- source   method, section 7; Hyndman and Fan 1996, definition 7. Another
--          study's scales: its analysis/quantile_scales.parquet as
--          given/quantile_scales.parquet

with sorted as (
    select
        axis,
        size,
        row_number() over (partition by axis order by size) - 1 as place,
        count(*) over (partition by axis) as n
    from reference_deltas
),

weighted as (
    select
        d.axis,
        d.size,
        d.n,
        s.scale_quantile,
        1.0 - abs(d.place - (d.n - 1) * s.scale_quantile) as weight
    from sorted as d
    cross join settings as s
)

select
    axis,
    scale_quantile as quantile,
    sum(weight * size) as divisor,
    max(n) as n
from weighted
where weight > 0
group by axis, scale_quantile
