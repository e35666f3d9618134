-- sgs_layer: SGS of the hidden state at one layer.
--
-- grain    model, dataset, layer, normalization
-- reads    layer_cosines, measured_variants, normalizations, scales
-- formula  as instability and sgs_dataset, with delta = cosine - 1 at that
--          layer, over the divisor of the axis cos
-- source   method, sections 4 and 5; on the tested normalizations: the others
--          are scales of the mean over layers

with s_of_layer as (
    select
        c.model,
        c.dataset,
        c.prompt_id,
        c.layer,
        sqrt(avg((c.cosine - 1.0) * (c.cosine - 1.0))) as s
    from layer_cosines as c
    inner join measured_variants as v
        on
            v.dataset = c.dataset
            and v.prompt_id = c.prompt_id
            and v.variant_id = c.variant_id
    where c.repeat = 0 and c.cosine is not null
    group by c.model, c.dataset, c.prompt_id, c.layer
)

select
    l.model,
    l.dataset,
    l.layer,
    r.normalization,
    avg(l.s / r.divisor) as sgs,
    count(*) as n_prompts
from s_of_layer as l
inner join scales as r on r.axis = 'cos'
inner join normalizations as n
    on n.normalization = r.normalization and n.is_tested
group by l.model, l.dataset, l.layer, r.normalization
