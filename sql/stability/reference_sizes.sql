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
)

select
    axis,
    count(*) as n,
    min(size) as least,
    avg(size) as mean,
    max(size) as greatest,
    (select scale_quantile from settings) as quantile,
    percentile_cont((select scale_quantile from settings))
        within group (order by size) as quantile_size
from sizes
group by axis
