-- judge_noise: how far a judge agrees with itself when asked again.
--
-- grain    judge
-- reads    judgements
-- formula  mean over responses of the share of pairs of its verdicts that are
--          equal: 1 - 2 y (m - y) / (m (m - 1)), y yes among m verdicts;
--          NULL where no response was judged twice
-- source   method, section 7; pairs by counting, as in robustness

with counted as (
    select
        judge,
        cast(count(mirrored) as double) as m,
        cast(sum(cast(mirrored as bigint)) as double) as y
    from judgements
    group by judge, model, dataset, prompt_id, variant_id, repeat
)

select
    judge,
    avg(1.0 - 2.0 * y * (m - y) / nullif(m * (m - 1), 0)) as agreement,
    count(*) filter (where m >= 2) as n_repeated,
    count(*) filter (where m >= 1) as n
from counted
group by judge
