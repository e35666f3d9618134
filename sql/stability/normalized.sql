-- normalized: deltas made comparable between axes.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis, normalization
-- reads    normalized_wide
-- formula  normalized_wide, a row a way
-- source   method, section 5

select
    model, dataset, prompt_id, variant_id, repeat, axis,
    'fixed' as normalization, fixed as delta
from normalized_wide
where fixed is not null

union all

select
    model, dataset, prompt_id, variant_id, repeat, axis,
    'reference' as normalization, reference as delta
from normalized_wide
where reference is not null

union all

select
    model, dataset, prompt_id, variant_id, repeat, axis,
    'quantile' as normalization, quantile as delta
from normalized_wide
where quantile is not null

union all

select
    model, dataset, prompt_id, variant_id, repeat, axis,
    'rank' as normalization, rank as delta
from normalized_wide
where rank is not null

union all

select
    model, dataset, prompt_id, variant_id, repeat, axis,
    'mean_absolute' as normalization, mean_absolute as delta
from normalized_wide
where mean_absolute is not null

union all

select
    model, dataset, prompt_id, variant_id, repeat, axis,
    'min_max' as normalization, min_max as delta
from normalized_wide
where min_max is not null
