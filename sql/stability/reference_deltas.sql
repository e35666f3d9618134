-- reference_deltas: sizes of the reference set's deltas.
--
-- grain    model, dataset, prompt_id, variant_id, axis
-- reads    deltas, measured_variants, reference_set
-- formula  |delta| over V, repeat 0
-- source   method, section 7

select
    d.model,
    d.dataset,
    d.prompt_id,
    d.variant_id,
    d.axis,
    abs(d.delta) as size
from reference_set as r
inner join deltas as d on d.model = r.model and d.dataset = r.dataset
inner join measured_variants as v
    on
        v.dataset = d.dataset
        and v.prompt_id = d.prompt_id
        and v.variant_id = d.variant_id
where d.repeat = 0 and d.delta is not null
