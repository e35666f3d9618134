-- reference_scales: divisors that depend on the model and the baseline.
--
-- grain    model, dataset, prompt_id, baseline_id, axis
-- reads    baselines, forced, models, responses
-- formula  V the model's vocabulary, T the positions of the baseline's own
--          response, G the tokens that the model generated for it:
--          ent and prob_per_token ln V; prob T ln V; ent_generated G / e, for
--          -p ln p is at most 1 / e
-- source   method, section 7; scales, not bounds
--
-- No row where V, T or G is unknown, or the divisor is 0.

with forced_positions as (
    select
        model, dataset, prompt_id, variant_id, array_length(logprobs) as n
    from forced
    where repeat = 0
),

generated_tokens as (
    select
        model, dataset, prompt_id, variant_id, array_length(logprobs) as n
    from responses
    where repeat = 0
),

known as (
    select
        m.model,
        b.dataset,
        b.prompt_id,
        b.variant_id as baseline_id,
        ln(cast(m.vocabulary as double)) as log_vocabulary,
        cast(f.n as double) as positions,
        cast(g.n as double) as generated
    from models as m
    cross join baselines as b
    left join forced_positions as f
        on
            f.model = m.model
            and f.dataset = b.dataset
            and f.prompt_id = b.prompt_id
            and f.variant_id = b.variant_id
    left join generated_tokens as g
        on
            g.model = m.model
            and g.dataset = b.dataset
            and g.prompt_id = b.prompt_id
            and g.variant_id = b.variant_id
),

long as (
    select
        model,
        dataset,
        prompt_id,
        baseline_id,
        unnest(
            make_array('ent', 'prob_per_token', 'prob', 'ent_generated')
        ) as axis,
        unnest(
            make_array(
                log_vocabulary,
                log_vocabulary,
                positions * log_vocabulary,
                generated / exp(1.0)
            )
        ) as divisor
    from known
)

select model, dataset, prompt_id, baseline_id, axis, divisor
from long
where divisor > 0
