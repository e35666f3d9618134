-- answer_scores: a response beside the reference answers of its prompt.
--
-- grain    model, dataset, prompt_id, variant_id, repeat
-- reads    prompts, responses
-- formula  the best over the prompt's answers; texts are normalized first:
--          lower case, no punctuation, no articles, single spaces
-- source   Rajpurkar et al. 2016, SQuAD, section 6.1 (exact match and F1)
--
-- A prompt without reference answers has no row.

select
    r.model,
    r.dataset,
    r.prompt_id,
    r.variant_id,
    r.repeat,
    answer_exact(r.response, p.answers) as is_exact,
    answer_contains(r.response, p.answers) as is_contained,
    answer_f1(r.response, p.answers) as f1
from prompts as p
inner join responses as r
    on p.dataset = r.dataset and p.prompt_id = r.prompt_id
where cardinality(p.answers) > 0
