-- score_lists: the shared scores of a model on a data set, prompt by prompt.
--
-- grain    axis, dataset, model
-- reads    axes, normalizations, shared_instability
-- source   method, section 7; what is resampled jointly for all models: the
--          prompts stand in one order. Primary normalization, axes that are
--          resampled

select
    i.axis,
    i.dataset,
    i.model,
    count(*) as n_prompts,
    -- Rounded, so that equal scores tie in every draw.
    array_agg(round(i.s, 12) order by i.prompt_id) as scores
from normalizations as n
cross join axes as a
inner join shared_instability as i
    on i.normalization = n.normalization and i.axis = a.axis
where n.is_primary and a.is_resampled
group by i.axis, i.dataset, i.model
