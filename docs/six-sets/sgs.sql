-- SGS of the demo model on every axis: by data set and, with an empty data set, on all; t intervals over prompts.
select i.dataset, i.axis, round(i.estimate, 4) as sgs, round(i.low, 4) as low, round(i.high, 4) as high, i.n as prompts
from intervals as i
inner join axes as a on a.axis = i.axis
where i.method = 't' and i.normalization = 'fixed' and i.sampling like 'prompts%'
order by i.dataset, a.position
