-- accuracy: how often a model is right on a data set.
--
-- grain    model, dataset, measure
-- reads    scored_wordings
-- formula  share of right answers: over the prompts as they stand, and over
--          all pairs of a prompt and a wording of it
-- source   method, section 7; measures: answer_matches

select
    model,
    dataset,
    measure,
    avg(cast(is_right as double)) filter (where is_clean) as accuracy_baseline,
    avg(cast(is_right as double)) filter (
        where not is_baseline
    ) as accuracy_variants,
    count(*) filter (where is_clean) as n_prompts,
    count(*) filter (where not is_baseline) as n_pairs
from scored_wordings
group by model, dataset, measure
