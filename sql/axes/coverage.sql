-- coverage: on how many wordings each axis has a value, and why not on all.
--
-- grain    model, dataset, axis
-- reads    axes, deltas, forced, generations, models, variants
-- source   method, section 4; repeat 0

with wordings as (
    select
        dataset,
        subtype,
        family = 'own' as is_own,
        count(*) as n
    from variants
    -- An import knows of wordings whose text it does not hold.
    where text is not null or is_valid
    group by dataset, subtype, family = 'own'
),

expected as (
    select
        m.model,
        w.dataset,
        a.axis,
        a.needs,
        sum(w.n) as rows_expected
    from models as m
    cross join wordings as w
    cross join axes as a
    -- Own paraphrases have no style that a judge could look for.
    where a.not_for is null or (a.not_for <> w.subtype and not w.is_own)
    group by m.model, w.dataset, a.axis, a.needs
),

found as (
    select model, dataset, axis, count(*) as n
    from deltas
    where repeat = 0
    group by model, dataset, axis
),

failed as (
    select model, dataset, count(*) as n
    from generations
    where repeat = 0 and error is not null
    group by model, dataset
),

with_logits as (
    select distinct model from forced
),

with_text as (
    select distinct model from generations
),

counted as (
    select
        e.model,
        e.dataset,
        e.axis,
        e.needs,
        e.rows_expected,
        coalesce(f.n, 0) as rows_with_value,
        coalesce(x.n, 0) as rows_failed,
        l.model is not null as has_logits,
        t.model is not null as has_text
    from expected as e
    left join found as f
        on f.model = e.model and f.dataset = e.dataset and f.axis = e.axis
    left join failed as x
        on x.model = e.model and x.dataset = e.dataset
    left join with_logits as l
        on l.model = e.model
    left join with_text as t
        on t.model = e.model
)

select
    model,
    dataset,
    axis,
    rows_expected,
    rows_with_value,
    case
        when rows_with_value >= rows_expected then null
        when has_logits and axis = 'prob_generated' then 'prob is there instead'
        when has_logits and axis = 'ent_generated' then 'ent is there instead'
        when rows_with_value = 0 and has_text and axis = 'bert'
            then 'no encoder has scored the responses'
        when rows_with_value = 0 then 'the run has no ' || needs
        when rows_failed > 0
            then cast(rows_failed as varchar) || ' generations failed'
        else
            cast(rows_expected - rows_with_value as varchar)
            || ' wordings are without ' || needs
    end as reason
from counted
