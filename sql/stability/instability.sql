-- instability: how far a model's behaviour on a prompt moves over its wordings.
--
-- grain    model, dataset, prompt_id, axis, normalization
-- reads    measured_variants, normalized
-- formula  s = sqrt(mean(delta^2)) over V
-- source   method, section 5

select
    n.model,
    n.dataset,
    n.prompt_id,
    n.axis,
    n.normalization,
    sqrt(avg(n.delta * n.delta)) as s,
    count(n.delta) as n_variants
from normalized as n
inner join measured_variants as v
    on
        v.dataset = n.dataset
        and v.prompt_id = n.prompt_id
        and v.variant_id = n.variant_id
where n.repeat = 0
group by n.model, n.dataset, n.prompt_id, n.axis, n.normalization
