-- tested_scores: the scores of prompts that tests and intervals are made on.
--
-- grain    level, model, dataset, prompt_dataset, prompt_id, axis,
--          normalization
-- reads    instability, normalizations
-- source   method, section 6; a prompt counts on its data set and for its model

select
    'dataset' as level,
    i.model,
    i.dataset,
    i.dataset as prompt_dataset,
    i.prompt_id,
    i.axis,
    i.normalization,
    i.s
from normalizations as n
inner join instability as i on i.normalization = n.normalization
where n.is_tested

union all

select
    'model' as level,
    i.model,
    '' as dataset,
    i.dataset as prompt_dataset,
    i.prompt_id,
    i.axis,
    i.normalization,
    i.s
from normalizations as n
inner join instability as i on i.normalization = n.normalization
where n.is_tested
