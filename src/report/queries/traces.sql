-- Entropies of the baseline's response, position by position: of each model the prompt with the greatest
-- instability on ent, its baseline, and of each kind of rewording the one whose mean entropy moved farthest.
with prompts_by_s as (
    select i.model, i.dataset, i.prompt_id, i.s, row_number() over (
        partition by i.model order by i.s desc, i.dataset, i.prompt_id
    ) as place
    from instability as i
    inner join normalizations as n on n.normalization = i.normalization and n.is_primary
    where i.axis = 'ent'
),
picked as (
    select model, dataset, prompt_id, s from prompts_by_s where place = 1
),
by_delta as (
    select d.model, d.dataset, d.prompt_id, d.variant_id, v.baseline_id, v.subtype, d.delta, row_number() over (
        partition by d.model, v.subtype order by abs(d.delta) desc, d.variant_id
    ) as place
    from deltas as d
    inner join picked as p on p.model = d.model and p.dataset = d.dataset and p.prompt_id = d.prompt_id
    inner join variants as v
        on v.dataset = d.dataset and v.prompt_id = d.prompt_id and v.variant_id = d.variant_id
    where d.axis = 'ent' and d.repeat = 0 and not v.is_baseline and v.is_valid and d.delta is not null
        and v.baseline_id = 'baseline'
),
shown as (
    select model, dataset, prompt_id, variant_id, subtype, delta from by_delta where place = 1
    union all
    select model, dataset, prompt_id, 'baseline' as variant_id, 'baseline' as subtype, 0.0 as delta from picked
)
select s.model, s.dataset, s.prompt_id, s.variant_id, s.subtype, s.delta, f.entropies
from shown as s
inner join forced as f
    on f.model = s.model and f.dataset = s.dataset and f.prompt_id = s.prompt_id and f.variant_id = s.variant_id
where f.repeat = 0
order by s.model, s.variant_id <> 'baseline', s.subtype, s.variant_id
