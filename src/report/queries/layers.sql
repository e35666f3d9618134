-- SGS of the hidden state at each layer, on each data set.
select l.model, l.dataset, l.layer, l.sgs, l.n_prompts
from sgs_layer as l
inner join normalizations as n on n.normalization = l.normalization and n.is_primary
order by l.model, l.dataset, l.layer
