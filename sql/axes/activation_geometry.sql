-- activation_geometry: axes cos and cos_last.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis
-- reads    layer_cosines, models
-- formula  cos: mean of the cosine over all layers; cos_last: at the last one
-- source   method, section 4; most of the published scripts compute cos_last

select
    model,
    dataset,
    prompt_id,
    variant_id,
    repeat,
    'cos' as axis,
    avg(cosine) as value
from layer_cosines
group by model, dataset, prompt_id, variant_id, repeat
having avg(cosine) is not null

union all

select
    c.model,
    c.dataset,
    c.prompt_id,
    c.variant_id,
    c.repeat,
    'cos_last' as axis,
    c.cosine as value
from layer_cosines as c
inner join models as m on m.model = c.model and m.layers = c.layer
where c.cosine is not null
