-- sgs_dataset: the Stability Generalization Score of a model on a data set.
--
-- grain    model, dataset, axis, normalization
-- reads    instability
-- formula  mean of s over prompts
-- source   method, section 5

select
    model,
    dataset,
    axis,
    normalization,
    avg(s) as sgs,
    count(*) as n_prompts
from instability
group by model, dataset, axis, normalization
