-- median_tests: is the median score above a tolerance, by the exact binomial?
--
-- grain    level, model, dataset, axis, normalization, test, epsilon
-- reads    settings, tested_scores, tolerances
-- formula  P(X >= k), X ~ Bin(m, 1/2), k scores above epsilon, m scores that
--          are not epsilon; statistic: k; p is NULL where m is 0
-- source   method, section 7; the sign test, Conover 1999, section 3.4. It
--          needs no symmetry, and it is about the median, not the mean

with sided as (
    select
        s.level,
        s.model,
        s.dataset,
        s.axis,
        s.normalization,
        e.epsilon,
        case
            when abs(s.s - e.epsilon) <= c.tie_tolerance * e.epsilon then 0
            when s.s > e.epsilon then 1
            else -1
        end as side
    from tolerances as e
    cross join settings as c
    cross join tested_scores as s
),

counted as (
    select
        level,
        model,
        dataset,
        axis,
        normalization,
        epsilon,
        count(*) filter (where side = 1) as above,
        count(*) filter (where side <> 0) as decided,
        count(*) as n
    from sided
    group by level, model, dataset, axis, normalization, epsilon
)

select
    level,
    model,
    dataset,
    axis,
    normalization,
    'median' as test,
    epsilon,
    cast(above as double) as statistic,
    binomial_test_p(above, decided) as p,
    n,
    case when decided > 0 then power(0.5, decided) end as least_p
from counted
