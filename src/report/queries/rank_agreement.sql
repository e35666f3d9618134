select r.axis, r.dataset_a, r.dataset_b, r.n_models, r.kendall_tau_b, r.low, r.high, r.reversal_frequency
from rank_agreement as r
inner join axes as a on a.axis = r.axis
order by a.position, r.dataset_a, r.dataset_b
