-- A prompt's instability on the method's own axes.
select i.model, i.dataset, i.prompt_id, i.axis, i.s
from instability as i
inner join normalizations as n on n.normalization = i.normalization and n.is_primary
inner join axes as a on a.axis = i.axis and a.is_main
order by i.model, i.dataset, i.prompt_id, a.position
