-- power: how likely the t-test is to find an effect with these prompts.
--
-- grain    n, effect
-- reads    effects, settings, tested_scores
-- formula  P(T > t(1 - alpha, n - 1)), T noncentral t with n - 1 degrees of
--          freedom and noncentrality effect sqrt(n)
-- source   method, section 7; Cohen 1988. At declared effects: power at the
--          observed one says no more than its p (Hoenig and Heisey 2001)

with counted as (
    select count(*) as n
    from tested_scores
    group by level, model, dataset, axis, normalization
),

sizes as (
    select distinct n
    from counted
)

select
    s.n,
    e.effect,
    c.alpha,
    t_test_power(s.n, e.effect, c.alpha) as power
from settings as c
cross join effects as e
cross join sizes as s
