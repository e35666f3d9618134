-- confidence: axes prob, ent, prob_per_token, prob_geometric and jsd.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis
-- reads    forced
-- formula  over the positions of the baseline's response, scored after the
--          wording: sum and mean of log-probabilities, exp of that mean, mean
--          of entropies, mean of divergences; no value where the response has
--          no position
-- source   method, section 4

with long as (
    select
        model,
        dataset,
        prompt_id,
        variant_id,
        repeat,
        unnest(
            make_array('prob', 'ent', 'prob_per_token', 'prob_geometric', 'jsd')
        ) as axis,
        unnest(
            make_array(
                array_sum(logprobs),
                array_avg(entropies),
                array_avg(logprobs),
                exp(array_avg(logprobs)),
                array_avg(jsds)
            )
        ) as value
    from forced
)

select model, dataset, prompt_id, variant_id, repeat, axis, value
from long
where value is not null
