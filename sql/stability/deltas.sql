-- deltas: how far a wording moves an axis from its baseline.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis
-- reads    axes, axis_values, baselines, variants
-- formula  delta = X(v) - X(b), b the baseline of v at repeat 0;
--          X(v) - 1 for the cosines (axes.anchor)
-- source   method, section 4
--
-- Every row that has a value: baselines (their delta is 0) and wordings that
-- the validity rule rules out are here as well; V is applied in instability.

with of_baselines as (
    select x.model, x.dataset, x.prompt_id, x.variant_id, x.axis, x.value
    from baselines as b
    inner join axis_values as x
        on
            x.dataset = b.dataset
            and x.prompt_id = b.prompt_id
            and x.variant_id = b.variant_id
    where x.repeat = 0
),

anchored as (
    select
        x.model,
        x.dataset,
        x.prompt_id,
        x.variant_id,
        x.repeat,
        x.axis,
        x.value,
        v.baseline_id,
        a.anchor
    from axes as a
    inner join (
        variants as v
        inner join axis_values as x
            on
                x.dataset = v.dataset
                and x.prompt_id = v.prompt_id
                and x.variant_id = v.variant_id
    )
        on x.axis = a.axis
)

select
    x.model,
    x.dataset,
    x.prompt_id,
    x.variant_id,
    x.repeat,
    x.axis,
    x.value,
    x.value - coalesce(x.anchor, b.value) as delta
from of_baselines as b
right join anchored as x
    on
        b.model = x.model
        and b.dataset = x.dataset
        and b.prompt_id = x.prompt_id
        and b.variant_id = x.baseline_id
        and b.axis = x.axis
