-- Every test of a model on all data sets together, on the method's own axes.
select t.model, t.axis, t.test, t.epsilon, t.p, t.p_holm, t.p_bh, t.mark, t.n
from significance_model as t
inner join normalizations as n on n.normalization = t.normalization and n.is_primary
inner join axes as a on a.axis = t.axis and (a.is_main or a.is_resampled)
order by t.model, a.position, t.test, t.epsilon
