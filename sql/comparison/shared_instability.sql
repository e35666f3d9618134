-- shared_instability: instability on the wordings that all models share.
--
-- grain    model, dataset, prompt_id, axis, normalization
-- reads    normalizations, normalized_wide, shared_variants
-- formula  as instability, over shared_variants in place of V
-- source   method, section 5

with wide as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        n.axis,
        sqrt(avg(n.fixed * n.fixed)) as fixed,
        sqrt(avg(n.reference * n.reference)) as reference,
        sqrt(avg(n.quantile * n.quantile)) as quantile,
        sqrt(avg(n.rank * n.rank)) as rank,
        sqrt(avg(n.mean_absolute * n.mean_absolute)) as mean_absolute,
        sqrt(avg(n.min_max * n.min_max)) as min_max,
        count(n.fixed) as n_fixed,
        count(n.reference) as n_reference,
        count(n.quantile) as n_quantile,
        count(n.rank) as n_rank,
        count(n.mean_absolute) as n_mean_absolute,
        count(n.min_max) as n_min_max
    from normalized_wide as n
    inner join shared_variants as v
        on
            v.axis = n.axis
            and v.dataset = n.dataset
            and v.prompt_id = n.prompt_id
            and v.variant_id = n.variant_id
    where n.repeat = 0
    group by n.model, n.dataset, n.prompt_id, n.axis
),

long as (
    select
        x.model,
        x.dataset,
        x.prompt_id,
        x.axis,
        w.normalization,
        case w.normalization
            when 'fixed' then x.fixed
            when 'reference' then x.reference
            when 'quantile' then x.quantile
            when 'rank' then x.rank
            when 'mean_absolute' then x.mean_absolute
            when 'min_max' then x.min_max
        end as s,
        case w.normalization
            when 'fixed' then x.n_fixed
            when 'reference' then x.n_reference
            when 'quantile' then x.n_quantile
            when 'rank' then x.n_rank
            when 'mean_absolute' then x.n_mean_absolute
            when 'min_max' then x.n_min_max
        end as n_variants
    from normalizations as w
    cross join wide as x
)

select model, dataset, prompt_id, axis, normalization, s, n_variants
from long
where s is not null
