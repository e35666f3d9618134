-- sgs_place: SGS on the wordings of one place alone.
--
-- grain    model, dataset, place, axis, normalization
-- reads    measured_variants, normalized
-- formula  as instability and sgs_dataset, on that part of V
-- source   method, section 5; global has length and form in it, prefix and
--          suffix do not: compare places within a subtype

with s_of_part as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        v.place,
        n.axis,
        n.normalization,
        sqrt(avg(n.delta * n.delta)) as s
    from normalized as n
    inner join measured_variants as v
        on
            v.dataset = n.dataset
            and v.prompt_id = n.prompt_id
            and v.variant_id = n.variant_id
    where
        n.repeat = 0
        and v.place is not null
    group by
        n.model, n.dataset, n.prompt_id,
        v.place, n.axis, n.normalization
)

select
    model,
    dataset,
    place,
    axis,
    normalization,
    avg(s) as sgs,
    count(*) as n_prompts
from s_of_part
group by model, dataset, place, axis, normalization
