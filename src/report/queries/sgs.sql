-- SGS of a model on one data set, and on all (dataset ''), with its intervals and the t-test.
with scores as (
    select 'model' as level, model, '' as dataset, axis, normalization, sgs, n_prompts from sgs_model
    union all
    select 'dataset' as level, model, dataset, axis, normalization, sgs, n_prompts from sgs_dataset
),
tests as (
    select model, '' as dataset, axis, normalization, test, epsilon, p, p_holm, p_bh, mark from significance_model
    union all
    select model, dataset, axis, normalization, test, epsilon, p, p_holm, p_bh, mark from significance_dataset
),
ranges as (
    select level, model, dataset, axis, normalization, method, low, high
    from intervals
    where sampling = case when level = 'model' then 'prompts within data sets' else 'prompts' end
)
select
    s.model, s.dataset, s.axis, s.sgs, s.n_prompts, t.mark, t.p, t.p_holm, t.p_bh,
    b.low as bca_low, b.high as bca_high, r.low as t_low, r.high as t_high
from scores as s
inner join normalizations as n on n.normalization = s.normalization and n.is_primary
left join (
    select tests.* from tests
    inner join tolerances as e on e.epsilon = tests.epsilon and e.is_primary
    where tests.test = 't'
) as t on t.model = s.model and t.dataset = s.dataset and t.axis = s.axis and t.normalization = s.normalization
left join ranges as b
    on b.level = s.level and b.model = s.model and b.dataset = s.dataset and b.axis = s.axis
    and b.normalization = s.normalization and b.method = 'bca'
left join ranges as r
    on r.level = s.level and r.model = s.model and r.dataset = s.dataset and r.axis = s.axis
    and r.normalization = s.normalization and r.method = 't'
inner join axes as a on a.axis = s.axis
order by s.dataset, s.model, a.position
