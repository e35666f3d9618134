-- layer_cosines: how far each layer's hidden state turned from the baseline's.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, layer
-- reads    activations, drift, variants
-- formula  cosine of h(v) and h(b) at the prompt's last token
-- source   method, section 4
--
-- From the vectors where they are kept, else as the engine wrote it. The
-- baselines stand first in the join: the first side is held in memory.

with of_baselines as (
    select
        a.model, a.dataset, a.prompt_id, a.variant_id, a.layer, a.vector
    from variants as v
    inner join activations as a
        on
            v.dataset = a.dataset
            and v.prompt_id = a.prompt_id
            and v.variant_id = a.variant_id
    where a.pooling = 'last_token' and a.repeat = 0 and v.is_baseline
),

of_wordings as (
    select
        a.model,
        a.dataset,
        a.prompt_id,
        a.variant_id,
        a.repeat,
        a.layer,
        a.vector,
        v.baseline_id
    from variants as v
    inner join activations as a
        on
            v.dataset = a.dataset
            and v.prompt_id = a.prompt_id
            and v.variant_id = a.variant_id
    where a.pooling = 'last_token'
),

from_vectors as (
    select
        w.model,
        w.dataset,
        w.prompt_id,
        w.variant_id,
        w.repeat,
        w.layer,
        cosine(w.vector, b.vector) as cosine
    from of_baselines as b
    inner join of_wordings as w
        on
            w.model = b.model
            and w.dataset = b.dataset
            and w.prompt_id = b.prompt_id
            and w.baseline_id = b.variant_id
            and w.layer = b.layer
)

select model, dataset, prompt_id, variant_id, repeat, layer, cosine
from from_vectors

union all

select
    d.model, d.dataset, d.prompt_id, d.variant_id, d.repeat, d.layer, d.cosine
from drift as d
where
    not exists (
        select 1
        from activations as a
        where
            a.model = d.model
            and a.dataset = d.dataset
            and a.prompt_id = d.prompt_id
            and a.variant_id = d.variant_id
            and a.repeat = d.repeat
            and a.layer = d.layer
            and a.pooling = 'last_token'
    )
