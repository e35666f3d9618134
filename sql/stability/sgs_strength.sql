-- sgs_strength: SGS on the wordings of one subtype and strength alone.
--
-- grain    model, dataset, subtype, level, axis, normalization
-- reads    measured_variants, normalized
-- formula  as instability and sgs_dataset, on that part of V
-- source   method, section 5; places are pooled

with s_of_part as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        v.subtype,
        v.level,
        v.strength,
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
        and v.level is not null
    group by
        n.model, n.dataset, n.prompt_id,
        v.subtype, v.level, v.strength, n.axis, n.normalization
)

select
    model,
    dataset,
    subtype,
    level,
    strength,
    axis,
    normalization,
    avg(s) as sgs,
    count(*) as n_prompts
from s_of_part
group by model, dataset, subtype, level, strength, axis, normalization
