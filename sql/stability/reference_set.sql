-- reference_set: whose deltas say how large a delta is on an axis.
--
-- grain    model, dataset
-- reads    deltas
-- source   method, section 7; unless declared, every model and data set of
--          the run. A file given/reference_set.parquet takes its place

select distinct model, dataset
from deltas
where delta is not null
