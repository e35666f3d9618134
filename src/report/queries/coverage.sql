select c.model, c.dataset, c.axis, c.rows_expected, c.rows_with_value, c.reason
from coverage as c
inner join axes as a on a.axis = c.axis and (a.is_main or a.is_resampled)
order by c.model, c.dataset, a.position
