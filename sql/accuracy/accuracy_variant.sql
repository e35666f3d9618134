-- accuracy_variant: how often a model is right under one wording.
--
-- grain    model, dataset, variant_id, measure
-- reads    prompts, scored_wordings
-- formula  share of right answers over the prompts that have the wording
-- source   Sclar et al. 2024, FormatSpread, section 3: accuracy of each format
--
-- Wordings are compared only where is_complete: one that some prompts lack
-- would be compared on other prompts.

with of_dataset as (
    select dataset, count(*) as n
    from prompts
    where cardinality(answers) > 0
    group by dataset
)

select
    s.model,
    s.dataset,
    s.variant_id,
    s.measure,
    bool_and(s.is_baseline) as is_baseline,
    avg(cast(s.is_right as double)) as accuracy,
    count(*) as n_prompts,
    count(*) = d.n as is_complete
from scored_wordings as s
inner join of_dataset as d on d.dataset = s.dataset
group by s.model, s.dataset, s.variant_id, s.measure, d.n
