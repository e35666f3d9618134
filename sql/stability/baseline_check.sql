-- baseline_check: every baseline's delta of repeat 0 is exactly 0.
--
-- grain    model, dataset, prompt_id, variant_id, axis
-- reads    deltas, generations, variants
-- source   method, section 4: a baseline is measured against itself
--
-- A baseline that wordings are measured against and that has no value itself
-- is a row here too, and does not hold; NULL where it failed, which its row in
-- generations says.

with needed as (
    select distinct
        d.model, d.dataset, d.prompt_id, v.baseline_id as variant_id, d.axis
    from variants as v
    inner join deltas as d
        on
            v.dataset = d.dataset
            and v.prompt_id = d.prompt_id
            and v.variant_id = d.variant_id
    where d.repeat = 0
)

select
    n.model,
    n.dataset,
    n.prompt_id,
    n.variant_id,
    n.axis,
    d.delta,
    case
        when g.error is null then coalesce(d.delta = 0.0, false)
    end as holds
from needed as n
left join deltas as d
    on
        d.model = n.model
        and d.dataset = n.dataset
        and d.prompt_id = n.prompt_id
        and d.variant_id = n.variant_id
        and d.axis = n.axis
        and d.repeat = 0
left join generations as g
    on
        g.model = n.model
        and g.dataset = n.dataset
        and g.prompt_id = n.prompt_id
        and g.variant_id = n.variant_id
        and g.repeat = 0
