-- sgs_family: SGS on the wordings of one family alone.
--
-- grain    model, dataset, family, axis, normalization
-- reads    measured_variants, normalized
-- formula  as instability and sgs_dataset, on that part of V
-- source   method, section 5

with s_of_part as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        v.family,
        n.axis,
        n.normalization,
        sqrt(avg(n.delta * n.delta)) as s
    from normalized as n
    inner join measured_variants as v
        on
            v.dataset = n.dataset
            and v.prompt_id = n.prompt_id
            and v.variant_id = n.variant_id
    where n.repeat = 0
    group by
        n.model, n.dataset, n.prompt_id,
        v.family, n.axis, n.normalization
)

select
    model,
    dataset,
    family,
    axis,
    normalization,
    avg(s) as sgs,
    count(*) as n_prompts
from s_of_part
group by model, dataset, family, axis, normalization
