-- tested_scores: the scores of prompts that tests and intervals are made on.
--
-- grain    level, model, dataset, prompt_dataset, prompt_id, axis,
--          normalization
-- reads    instability, normalizations, settings
-- source   method, section 6; a prompt counts on its data set and for its model
--
-- Where all scores of a sample are equal but for their last digits, which are
-- how they were summed, all are the least of them: no variance.

with scores as (
    select
        i.model, i.dataset, i.prompt_id, i.axis, i.normalization, i.s
    from normalizations as n
    inner join instability as i on i.normalization = n.normalization
    where n.is_tested
),

at_levels as (
    select
        'dataset' as level, model, dataset, dataset as prompt_dataset,
        prompt_id, axis, normalization, s
    from scores

    union all

    select
        'model' as level, model, '' as dataset, dataset as prompt_dataset,
        prompt_id, axis, normalization, s
    from scores
),

samples as (
    select
        level,
        model,
        dataset,
        axis,
        normalization,
        min(s) as least,
        max(s) as greatest
    from at_levels
    group by level, model, dataset, axis, normalization
)

select
    t.level,
    t.model,
    t.dataset,
    t.prompt_dataset,
    t.prompt_id,
    t.axis,
    t.normalization,
    case
        when m.greatest - m.least <= c.tie_tolerance * m.greatest then m.least
        else t.s
    end as s
from settings as c
cross join samples as m
inner join at_levels as t
    on
        t.level = m.level
        and t.model = m.model
        and t.dataset = m.dataset
        and t.axis = m.axis
        and t.normalization = m.normalization
