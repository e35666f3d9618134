-- response_shape: axes response_length, first_divergent_token and refusal.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis
-- reads    baselines, responses
-- formula  tokens without the end token; leading tokens equal to the
--          baseline's response; a refusal in the first words
-- source   method, section 4; the rule for refusals is for English

with of_baselines as (
    select r.model, r.dataset, r.prompt_id, r.variant_id, r.response_token_ids
    from baselines as b
    inner join responses as r
        on
            r.dataset = b.dataset
            and r.prompt_id = b.prompt_id
            and r.variant_id = b.variant_id
    where r.repeat = 0
),

measured as (
    select
        r.model,
        r.dataset,
        r.prompt_id,
        r.variant_id,
        r.repeat,
        cast(
            coalesce(array_length(r.response_token_ids), 0)
            - case when r.finish_reason = 'stop' then 1 else 0 end
            as double
        ) as tokens,
        r.response_token_ids is not null as has_tokens,
        cast(
            common_prefix_length(r.response_token_ids, b.response_token_ids)
            as double
        ) as shared,
        cast(cast(is_refusal(r.response) as integer) as double) as refused
    from of_baselines as b
    right join responses as r
        on
            b.model = r.model
            and b.dataset = r.dataset
            and b.prompt_id = r.prompt_id
            and b.variant_id = r.baseline_id
),

long as (
    select
        model,
        dataset,
        prompt_id,
        variant_id,
        repeat,
        unnest(
            make_array('response_length', 'first_divergent_token', 'refusal')
        ) as axis,
        unnest(
            make_array(
                case when has_tokens then greatest(tokens, 0.0) end,
                shared,
                refused
            )
        ) as value
    from measured
)

select model, dataset, prompt_id, variant_id, repeat, axis, value
from long
where value is not null
