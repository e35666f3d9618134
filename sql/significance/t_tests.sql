-- t_tests: is a model less stable than a tolerance allows, by a t-test?
--
-- grain    level, model, dataset, axis, normalization, test, epsilon
-- reads    tested_scores, tolerances
-- formula  t = (mean(s) - epsilon) / (sd(s) / sqrt(n)), p = P(T > t), n - 1
--          degrees of freedom; H1: mean > epsilon
-- source   method, section 6; at small n and skewed s it is conservative
--          towards "unstable" and unsafe towards "stable" (section 7)

select
    s.level,
    s.model,
    s.dataset,
    s.axis,
    s.normalization,
    't' as test,
    e.epsilon,
    t_test_statistic(s.s, e.epsilon) as statistic,
    t_test_p(s.s, e.epsilon) as p,
    count(*) as n
from tolerances as e
cross join tested_scores as s
group by s.level, s.model, s.dataset, s.axis, s.normalization, e.epsilon
