-- responses: answers that a model gave, each with what it is measured against.
--
-- grain    model, dataset, prompt_id, variant_id, repeat
-- reads    generations, variants
-- source   method, section 3; failed rows have no answer and are left out

select
    g.model,
    g.dataset,
    g.prompt_id,
    g.variant_id,
    g.repeat,
    v.baseline_id,
    g.response,
    g.response_token_ids,
    g.finish_reason,
    g.logprobs
from variants as v
inner join generations as g
    on
        v.dataset = g.dataset
        and v.prompt_id = g.prompt_id
        and v.variant_id = g.variant_id
where g.error is null and g.response is not null
