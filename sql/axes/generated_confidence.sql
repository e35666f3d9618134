-- generated_confidence: axes prob_generated and ent_generated.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis
-- reads    forced, responses
-- formula  over the tokens that the model generated itself: mean of p, and sum
--          of -p ln p, with p the token's own probability
-- source   method, section 4; the study's measures for chat APIs
--
-- Only for models without teacher forcing: prob and ent score the same text
-- under every wording, these do not, and the two must not be mistaken for each
-- other. A response with a token whose log-probability is missing has none.

with tokens as (
    select
        model,
        dataset,
        prompt_id,
        variant_id,
        repeat,
        cast(unnest(logprobs) as double) as logprob
    from responses
    -- Of a whole table every row would be looked at for each response.
    where model not in (select distinct model from forced)
),

summed as (
    select
        model,
        dataset,
        prompt_id,
        variant_id,
        repeat,
        avg(exp(logprob)) as mean_probability,
        sum(-exp(logprob) * logprob) as entropy
    from tokens
    group by model, dataset, prompt_id, variant_id, repeat
    having count(*) = count(logprob)
)

select
    model,
    dataset,
    prompt_id,
    variant_id,
    repeat,
    'prob_generated' as axis,
    mean_probability as value
from summed

union all

select
    model,
    dataset,
    prompt_id,
    variant_id,
    repeat,
    'ent_generated' as axis,
    entropy as value
from summed
