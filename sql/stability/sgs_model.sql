-- sgs_model: the Stability Generalization Score of a model.
--
-- grain    model, axis, normalization
-- reads    sgs_dataset
-- formula  mean of s over all prompts of all data sets, and macro: mean over
--          data sets, whatever the number of their prompts
-- source   method, section 5

select
    model,
    axis,
    normalization,
    sum(sgs * n_prompts) / sum(n_prompts) as sgs,
    avg(sgs) as sgs_macro,
    sum(n_prompts) as n_prompts,
    count(*) as n_datasets
from sgs_dataset
group by model, axis, normalization
