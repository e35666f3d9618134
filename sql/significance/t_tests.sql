-- t_tests: is a model less stable than a tolerance allows?
--
-- grain    level, model, dataset, axis, normalization, test, epsilon
-- reads    instability, normalizations, tolerances
-- formula  t = (mean(s) - epsilon) / (sd(s) / sqrt(n)), p = P(T > t), n - 1
--          degrees of freedom; H1: mean > epsilon
-- source   method, section 6; at small n and skewed s it is conservative
--          towards "unstable" and unsafe towards "stable" (section 7)

select
    'dataset' as level,
    i.model,
    i.dataset,
    i.axis,
    i.normalization,
    't' as test,
    e.epsilon,
    t_test_statistic(i.s, e.epsilon) as statistic,
    t_test_p(i.s, e.epsilon) as p,
    count(*) as n
from instability as i
cross join tolerances as e
inner join normalizations as w
    on w.normalization = i.normalization and w.is_tested
group by i.model, i.dataset, i.axis, i.normalization, e.epsilon

union all

select
    'model' as level,
    i.model,
    '' as dataset,
    i.axis,
    i.normalization,
    't' as test,
    e.epsilon,
    t_test_statistic(i.s, e.epsilon) as statistic,
    t_test_p(i.s, e.epsilon) as p,
    count(*) as n
from instability as i
cross join tolerances as e
inner join normalizations as w
    on w.normalization = i.normalization and w.is_tested
group by i.model, i.axis, i.normalization, e.epsilon
