-- flips: answers that a wording turned from right to wrong, and back.
--
-- grain    model, dataset, measure, subtype
-- reads    scored_wordings
-- formula  counts of pairs of a prompt and a wording, against the answer to
--          the baseline that the wording is measured against
-- source   method, section 7
--
-- Flips in both directions can leave accuracy where it was: a model may change
-- many answers at no loss.

select
    v.model,
    v.dataset,
    v.measure,
    v.subtype,
    sum(b.is_right * (1 - v.is_right)) as right_to_wrong,
    sum((1 - b.is_right) * v.is_right) as wrong_to_right,
    sum(b.is_right * v.is_right) as stayed_right,
    sum((1 - b.is_right) * (1 - v.is_right)) as stayed_wrong,
    count(*) as n
from scored_wordings as v
inner join scored_wordings as b
    on
        b.model = v.model
        and b.dataset = v.dataset
        and b.prompt_id = v.prompt_id
        and b.variant_id = v.baseline_id
        and b.measure = v.measure
where not v.is_baseline
group by v.model, v.dataset, v.measure, v.subtype
