-- scales: what the deltas of an axis are divided by.
--
-- grain    axis, normalization
-- reads    axes
-- source   method, section 5; fixed: the divisors of the published study

select
    axis,
    'fixed' as normalization,
    r_fixed as divisor
from axes
