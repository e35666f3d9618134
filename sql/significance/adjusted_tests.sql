-- adjusted_tests: the tests with p corrected for their number, and marks.
--
-- grain    level, model, dataset, axis, normalization, test, epsilon
-- reads    marks, t_tests
-- formula  with p sorted, rank k of m: Holm: greatest (m - j + 1) p_j over
--          j <= k; Benjamini-Hochberg: least (m / j) p_j over j >= k; at most 1
-- source   method, section 7; Holm 1979, Benjamini and Hochberg 1995. A family
--          is (level, test, normalization, epsilon) over all models, data sets
--          and axes; tests without a p do not count

with ranked as (
    select
        level, model, dataset, axis, normalization, test, epsilon, p,
        count(*) over (
            partition by level, test, normalization, epsilon
        ) as m,
        row_number() over (
            partition by level, test, normalization, epsilon
            order by p, model, dataset, axis
        ) as k
    from t_tests
    where p is not null
),

corrected as (
    select
        level, model, dataset, axis, normalization, test, epsilon,
        least(
            1.0,
            max(p * (m - k + 1)) over (
                partition by level, test, normalization, epsilon
                order by k
                rows between unbounded preceding and current row
            )
        ) as p_holm,
        least(
            1.0,
            min(p * m / k) over (
                partition by level, test, normalization, epsilon
                order by k desc
                rows between unbounded preceding and current row
            )
        ) as p_bh
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
    c.p_holm,
    c.p_bh,
    case when t.p is not null then coalesce(s.mark, '') end as mark,
    t.n
from t_tests as t
left join corrected as c
    on
        c.level = t.level
        and c.model = t.model
        and c.dataset = t.dataset
        and c.axis = t.axis
        and c.normalization = t.normalization
        and c.test = t.test
        and c.epsilon = t.epsilon
left join marks as s on t.p >= s.p_from and t.p < s.p_below
