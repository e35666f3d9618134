-- adjusted_tests: the tests with p corrected for their number, and marks.
--
-- grain    level, model, dataset, axis, normalization, test, epsilon
-- reads    marks, median_tests, settings, sign_flip_tests, t_tests
-- formula  with p sorted, rank k of m: Holm: greatest (m - j + 1) p_j over
--          j <= k; Benjamini-Hochberg: least (m / j) p_j over j >= k; at most 1
-- source   method, section 7; Holm 1979, Benjamini and Hochberg 1995. A family
--          is (level, test, normalization, epsilon) over all models, data sets
--          and axes; tests without a p do not count

with tests as (
    select
        level, model, dataset, axis, normalization, test, epsilon, statistic,
        p, n, cast(null as bigint) as draws, cast(null as double) as least_p
    from t_tests

    union all

    select
        level, model, dataset, axis, normalization, test, epsilon, statistic,
        p, n, draws, least_p
    from sign_flip_tests

    union all

    select
        level, model, dataset, axis, normalization, test, epsilon, statistic,
        p, n, cast(null as bigint) as draws, least_p
    from median_tests
),

-- Tests without a p stand last and count for nothing, so that one pass over
-- the tests is enough.
ranked as (
    select
        *,
        count(p) over (
            partition by level, test, normalization, epsilon
        ) as m,
        row_number() over (
            partition by level, test, normalization, epsilon
            order by p nulls last, model, dataset, axis
        ) as k
    from tests
),

corrected as (
    select
        *,
        max(p * (m - k + 1)) over (
            partition by level, test, normalization, epsilon
            order by k
            rows between unbounded preceding and current row
        ) as holm,
        min(p * m / k) over (
            partition by level, test, normalization, epsilon
            order by k desc
            rows between unbounded preceding and current row
        ) as bh
    from ranked
)

select
    t.level,
    t.model,
    t.dataset,
    t.axis,
    t.normalization,
    t.test,
    t.epsilon,
    t.statistic,
    t.p,
    case when t.p is not null then least(1.0, t.holm) end as p_holm,
    case when t.p is not null then least(1.0, t.bh) end as p_bh,
    case when t.p is not null then coalesce(s.mark, '') end as mark,
    t.n,
    t.draws,
    case
        when t.p is not null and t.least_p > c.alpha / t.m
            then 'p can''t fall below alpha over the '
                || cast(t.m as varchar) || ' tests of its family'
    end as warning
from settings as c
cross join corrected as t
left join marks as s on t.p >= s.p_from and t.p < s.p_below
