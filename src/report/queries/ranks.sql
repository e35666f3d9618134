-- Ranks of the models on what they share: on each data set, and on all together (dataset '').
with ranks as (
    select model, dataset, axis, normalization, sgs, "rank", n_models, n_prompts, n_pairs from sgs_shared_dataset
    union all
    select model, '' as dataset, axis, normalization, sgs, "rank", n_models, n_prompts, n_pairs from sgs_shared
)
select r.model, r.dataset, r.axis, r.sgs, r."rank", r.n_models, r.n_prompts, r.n_pairs
from ranks as r
inner join normalizations as n on n.normalization = r.normalization and n.is_primary
inner join axes as a on a.axis = r.axis and (a.is_main or a.is_resampled)
order by a.position, r.dataset, r."rank", r.model
