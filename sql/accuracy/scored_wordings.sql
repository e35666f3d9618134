-- scored_wordings: the answers that accuracy and robustness are made from.
--
-- grain    model, dataset, prompt_id, variant_id, measure
-- reads    answer_matches, measured_variants, variants
-- source   method, section 5: the set V and the baselines, repeat 0
--
-- The clean wording of a prompt is the prompt as it stands. A prompt that is no
-- question has a second baseline, its interrogative form: a wording among
-- others here.

select
    a.model,
    a.dataset,
    a.prompt_id,
    a.variant_id,
    a.measure,
    v.subtype,
    v.is_baseline,
    v.is_baseline and v.subtype <> 'form' as is_clean,
    v.baseline_id,
    cast(a.is_right as bigint) as is_right
from variants as v
inner join answer_matches as a
    on
        v.dataset = a.dataset
        and v.prompt_id = a.prompt_id
        and v.variant_id = a.variant_id
left join measured_variants as m
    on
        m.dataset = a.dataset
        and m.prompt_id = a.prompt_id
        and m.variant_id = a.variant_id
where
    a.repeat = 0
    and (v.is_baseline or m.variant_id is not null)
