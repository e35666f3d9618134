-- SGS of the hidden state at each layer: on a data set, and over all prompts (dataset '').
with primary_scores as (
    select l.model, l.dataset, l.layer, l.sgs, l.n_prompts
    from sgs_layer as l
    inner join normalizations as n on n.normalization = l.normalization and n.is_primary
)
select model, dataset, layer, sgs, n_prompts from primary_scores
union all
select model, '' as dataset, layer, sum(sgs * n_prompts) / sum(n_prompts) as sgs, sum(n_prompts) as n_prompts
from primary_scores
group by model, layer
order by model, dataset, layer
