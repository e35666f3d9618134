-- sgs_subtype: SGS on the wordings of one subtype alone.
--
-- grain    model, dataset, subtype, axis, normalization
-- reads    measured_variants, normalizations, normalized_wide
-- formula  as instability and sgs_dataset, on that part of V
-- source   method, section 5

with wide as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        v.subtype,
        n.axis,
        sqrt(avg(n.fixed * n.fixed)) as fixed,
        sqrt(avg(n.reference * n.reference)) as reference,
        sqrt(avg(n.quantile * n.quantile)) as quantile,
        sqrt(avg(n.rank * n.rank)) as rank,
        sqrt(avg(n.mean_absolute * n.mean_absolute)) as mean_absolute,
        sqrt(avg(n.min_max * n.min_max)) as min_max
    from normalized_wide as n
    inner join measured_variants as v
        on
            v.dataset = n.dataset
            and v.prompt_id = n.prompt_id
            and v.variant_id = n.variant_id
    where n.repeat = 0
    group by n.model, n.dataset, n.prompt_id, v.subtype, n.axis
),

long as (
    select
        x.model,
        x.dataset,
        x.subtype,
        x.axis,
        w.normalization,
        case w.normalization
            when 'fixed' then x.fixed
            when 'reference' then x.reference
            when 'quantile' then x.quantile
            when 'rank' then x.rank
            when 'mean_absolute' then x.mean_absolute
            when 'min_max' then x.min_max
        end as s
    from normalizations as w
    cross join wide as x
)

select
    model,
    dataset,
    subtype,
    axis,
    normalization,
    avg(s) as sgs,
    count(*) as n_prompts
from long
where s is not null
group by model, dataset, subtype, axis, normalization
