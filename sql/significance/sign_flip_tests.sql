-- sign_flip_tests: is a model less stable than a tolerance allows, by
--          permutation of signs?
--
-- grain    level, model, dataset, axis, normalization, test, epsilon
-- reads    settings, tested_scores, tolerances
-- formula  share of the sign assignments of s - epsilon whose sum reaches the
--          observed one: of all up to n = 20; above it of B draws and the
--          observed one itself, (b + 1) / (B + 1); statistic: mean(s) - epsilon
-- source   method, section 7; Fisher 1935. Exact only where s is symmetric
--          around its centre: read the median test beside it

with tested as (
    select
        s.level,
        s.model,
        s.dataset,
        s.axis,
        s.normalization,
        e.epsilon,
        avg(s.s) - e.epsilon as statistic,
        sign_flip(s.s, e.epsilon, c.sign_flip_draws, c.seed) as outcome,
        count(*) as n
    from tolerances as e
    cross join settings as c
    cross join tested_scores as s
    group by s.level, s.model, s.dataset, s.axis, s.normalization, e.epsilon
)

select
    level,
    model,
    dataset,
    axis,
    normalization,
    'sign_flip' as test,
    epsilon,
    statistic,
    outcome['p'] as p,
    n,
    outcome['draws'] as draws,
    -- All signs as they are: one of 2^n assignments, or one of B + 1 draws.
    coalesce(1.0 / (outcome['draws'] + 1), power(0.5, n)) as least_p
from tested
