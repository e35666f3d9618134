-- shared_instability: instability on the wordings that all models share.
--
-- grain    model, dataset, prompt_id, axis, normalization
-- reads    normalized_wide, shared_variants
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
        model,
        dataset,
        prompt_id,
        axis,
        unnest(
            make_array(
                'fixed', 'reference', 'quantile',
                'rank', 'mean_absolute', 'min_max'
            )
        ) as normalization,
        unnest(
            make_array(
                fixed, reference, quantile, rank, mean_absolute, min_max
            )
        ) as s,
        unnest(
            make_array(
                n_fixed, n_reference, n_quantile,
                n_rank, n_mean_absolute, n_min_max
            )
        ) as n_variants
    from wide
)

select model, dataset, prompt_id, axis, normalization, s, n_variants
from long
where s is not null
