-- judge_agreement: how far two judges agree on the responses both judged.
--
-- grain    judge_a, judge_b
-- reads    judgements
-- formula  agreement p_o = share of equal verdicts; kappa =
--          (p_o - p_e) / (1 - p_e), p_e = the agreement of two judges who say
--          yes as often as these, by chance; NULL where p_e is 1
-- source   Cohen 1960, A coefficient of agreement for nominal scales
--
-- A judge's first verdict counts (judge_repeat 0); no verdict, no row.

with verdicts as (
    select
        model,
        dataset,
        prompt_id,
        variant_id,
        repeat,
        judge,
        cast(mirrored as bigint) as says_yes
    from judgements
    where judge_repeat = 0 and mirrored is not null
),

counted as (
    select
        a.judge as judge_a,
        b.judge as judge_b,
        count(*) as n,
        sum(a.says_yes * b.says_yes) as both_yes,
        sum(a.says_yes * (1 - b.says_yes)) as only_a_yes,
        sum((1 - a.says_yes) * b.says_yes) as only_b_yes,
        sum((1 - a.says_yes) * (1 - b.says_yes)) as both_no
    from verdicts as a
    inner join verdicts as b
        on
            b.model = a.model
            and b.dataset = a.dataset
            and b.prompt_id = a.prompt_id
            and b.variant_id = a.variant_id
            and b.repeat = a.repeat
    where a.judge < b.judge
    group by a.judge, b.judge
),

-- p_o = observed / n^2 and p_e = by_chance / n^2, in whole numbers.
scaled as (
    select
        *,
        (both_yes + both_no) * n as observed,
        (both_yes + only_a_yes) * (both_yes + only_b_yes)
        + (both_no + only_b_yes) * (both_no + only_a_yes) as by_chance
    from counted
)

select
    judge_a,
    judge_b,
    n,
    both_yes,
    only_a_yes,
    only_b_yes,
    both_no,
    cast(both_yes + both_no as double) / n as agreement,
    cast(observed - by_chance as double)
    / nullif(n * n - by_chance, 0) as cohens_kappa
from scaled
