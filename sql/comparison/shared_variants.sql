-- shared_variants: the wordings on which every model has a value.
--
-- grain    axis, dataset, prompt_id, variant_id
-- reads    deltas, instability, measured_variants
-- formula  the wordings of V with a delta, at repeat 0, of each of the models
--          that have the axis at all
-- source   method, section 5; on these models are compared and ranked. No row
--          where fewer than two models have the axis

with having_axis as (
    select axis, count(distinct model) as n_models
    from instability
    group by axis
),

found as (
    select
        d.axis, d.dataset, d.prompt_id, d.variant_id, count(*) as n_models
    from measured_variants as v
    inner join deltas as d
        on
            v.dataset = d.dataset
            and v.prompt_id = d.prompt_id
            and v.variant_id = d.variant_id
    where d.repeat = 0 and d.delta is not null
    group by d.axis, d.dataset, d.prompt_id, d.variant_id
)

select f.axis, f.dataset, f.prompt_id, f.variant_id, f.n_models
from found as f
inner join having_axis as h on h.axis = f.axis and h.n_models = f.n_models
where h.n_models > 1
