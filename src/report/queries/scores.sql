-- A prompt's instability on the axes that are set against one another.
select i.model, i.dataset, i.prompt_id, i.axis, i.s
from instability as i
inner join normalizations as n on n.normalization = i.normalization and n.is_primary
inner join axes as a on a.axis = i.axis and a.axis in ('bleu', 'mirror')
order by i.model, i.dataset, i.prompt_id, a.position
