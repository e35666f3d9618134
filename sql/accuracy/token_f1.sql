-- token_f1: how near a model's words come to the reference answers.
--
-- grain    model, dataset
-- reads    answer_scores, measured_variants, variants
-- formula  mean token F1: over the prompts as they stand, and over all pairs
--          of a prompt and a wording of it; repeat 0
-- source   Rajpurkar et al. 2016, SQuAD, section 6.1 (F1)

with placed as (
    select
        a.model,
        a.dataset,
        a.f1,
        v.is_baseline and v.subtype <> 'form' as is_clean,
        m.variant_id is not null as is_measured
    from answer_scores as a
    inner join variants as v
        on
            v.dataset = a.dataset
            and v.prompt_id = a.prompt_id
            and v.variant_id = a.variant_id
    left join measured_variants as m
        on
            m.dataset = a.dataset
            and m.prompt_id = a.prompt_id
            and m.variant_id = a.variant_id
    where a.repeat = 0
)

select
    model,
    dataset,
    avg(f1) filter (where is_clean) as f1_baseline,
    avg(f1) filter (where is_measured) as f1_variants,
    count(f1) filter (where is_clean) as n_prompts,
    count(f1) filter (where is_measured) as n_pairs
from placed
group by model, dataset
