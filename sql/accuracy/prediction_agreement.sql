-- prediction_agreement: how often two wordings of a prompt get the same answer.
--
-- grain    model, dataset, prompt_id
-- reads    responses, scored_wordings
-- formula  share of pairs of wordings whose normalized responses are equal:
--          sum over responses of c (c - 1) / (n (n - 1)), c wordings that gave
--          the response, n wordings in all; NULL where n < 2
-- source   Nalbandyan et al. 2025, SCORE: consistency rate of one question
--
-- Short answers agree often, sentences hardly ever: compare models that answer
-- in the same manner.

with given as (
    select
        r.model,
        r.dataset,
        r.prompt_id,
        normalize_answer(r.response) as prediction,
        count(*) as c
    from responses as r
    inner join scored_wordings as s
        on
            s.model = r.model
            and s.dataset = r.dataset
            and s.prompt_id = r.prompt_id
            and s.variant_id = r.variant_id
    where r.repeat = 0 and s.measure = 'exact'
    group by
        r.model, r.dataset, r.prompt_id, normalize_answer(r.response)
),

counted as (
    select
        model,
        dataset,
        prompt_id,
        sum(c) as n_wordings,
        sum(c * (c - 1)) as agreeing
    from given
    group by model, dataset, prompt_id
)

select
    model,
    dataset,
    prompt_id,
    n_wordings,
    cast(agreeing as double)
    / nullif(n_wordings * (n_wordings - 1), 0) as agreement
from counted
