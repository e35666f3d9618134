-- normalized: deltas made comparable between axes.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis, normalization
-- reads    deltas, scales
-- formula  delta / R
-- source   method, section 5

select
    d.model,
    d.dataset,
    d.prompt_id,
    d.variant_id,
    d.repeat,
    d.axis,
    n.normalization,
    d.delta / n.divisor as delta
from deltas as d
inner join scales as n on n.axis = d.axis
where d.delta is not null
