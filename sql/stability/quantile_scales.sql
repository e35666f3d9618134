-- quantile_scales: robust size of a delta on each axis.
--
-- grain    axis
-- reads    reference_sizes
-- source   method, section 7
--
-- A table of its own, so that another study can use the same scales: its
-- analysis/quantile_scales.parquet, as given/quantile_scales.parquet, takes
-- the place of this one.

select axis, quantile, quantile_size as divisor, n
from reference_sizes
