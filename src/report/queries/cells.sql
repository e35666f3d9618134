-- How many pairs of a model and a data set lie above the tolerance on an axis: raw, and corrected.
select
    t.axis, t.test, t.epsilon, count(*) as cells, count(t.p) as tested,
    sum(case when t.p < s.alpha then 1 else 0 end) as raw,
    sum(case when t.p_bh < s.alpha then 1 else 0 end) as bh,
    sum(case when t.p_holm < s.alpha then 1 else 0 end) as holm
from significance_dataset as t
inner join normalizations as n on n.normalization = t.normalization and n.is_primary
inner join axes as a on a.axis = t.axis and (a.is_main or a.is_resampled)
cross join settings as s
group by t.axis, a.position, t.test, t.epsilon
order by a.position, t.test, t.epsilon
