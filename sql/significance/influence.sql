-- influence: what SGS on a data set would be without one of its prompts.
--
-- grain    model, dataset, axis, prompt_id
-- reads    instability, normalizations
-- formula  mean of s over the other prompts; change: that less SGS
-- source   method, section 7; primary normalization

with totals as (
    select
        i.model,
        i.dataset,
        i.axis,
        i.prompt_id,
        i.s,
        sum(i.s) over (partition by i.model, i.dataset, i.axis) as total,
        count(*) over (partition by i.model, i.dataset, i.axis) as n
    from normalizations as n
    inner join instability as i on i.normalization = n.normalization
    where n.is_primary
),

left_out as (
    select
        *,
        total / n as sgs,
        -- The difference of equal sums may miss 0 by its last bits.
        greatest(total - s, 0.0) / nullif(n - 1, 0) as sgs_without
    from totals
)

select
    model,
    dataset,
    axis,
    prompt_id,
    s,
    sgs,
    sgs_without,
    sgs_without - sgs as change
from left_out
