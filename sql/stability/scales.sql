-- scales: what the deltas of an axis are divided by.
--
-- grain    axis, normalization
-- reads    axes, quantile_scales, reference_sizes
-- formula  fixed: R of the published study; reference: the width of the axis;
--          quantile, mean_absolute, min_max: from |delta| of the reference
--          set, min_max with its least |delta| as origin
-- source   method, sections 5 and 7
--
-- No row where there is nothing to divide by. What depends on the model or the
-- prompt (ln V, T ln V) stands in reference_scales; rank has no divisor.

select axis, 'fixed' as normalization, 0.0 as origin, r_fixed as divisor
from axes
where r_fixed > 0

union all

select
    axis, 'reference' as normalization, 0.0 as origin, r_reference as divisor
from axes
where r_reference > 0

union all

select axis, 'quantile' as normalization, 0.0 as origin, divisor
from quantile_scales
where divisor > 0

union all

select axis, 'mean_absolute' as normalization, 0.0 as origin, mean as divisor
from reference_sizes
where mean > 0

union all

select
    axis, 'min_max' as normalization, least as origin,
    greatest - least as divisor
from reference_sizes
where greatest > least
