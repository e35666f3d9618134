-- answer_matches: whether a response is right, by one measure.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, measure
-- reads    answer_scores
-- formula  exact: the response is a reference answer, both normalized;
--          contains: the words of one stand in it, whole and in order
-- source   Rajpurkar et al. 2016, SQuAD, section 6.1 (exact match)
--
-- Models that answer in sentences are never right by exact; models that list
-- everything they know are always right by contains.

with long as (
    select
        model,
        dataset,
        prompt_id,
        variant_id,
        repeat,
        unnest(make_array('exact', 'contains')) as measure,
        unnest(make_array(is_exact, is_contained)) as is_right
    from answer_scores
)

select model, dataset, prompt_id, variant_id, repeat, measure, is_right
from long
where is_right is not null
