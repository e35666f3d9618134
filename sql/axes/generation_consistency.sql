-- generation_consistency: axes bleu, bert, bleu_effective_order and chrf.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis
-- reads    similarities
-- formula  similarity of the response with the baseline's response
-- source   method, section 4

with long as (
    select
        model,
        dataset,
        prompt_id,
        variant_id,
        repeat,
        unnest(
            make_array('bleu', 'bert', 'bleu_effective_order', 'chrf')
        ) as axis,
        unnest(
            make_array(bleu, bertscore_f1, bleu_effective_order, chrf)
        ) as value
    from similarities
)

select model, dataset, prompt_id, variant_id, repeat, axis, value
from long
where value is not null
