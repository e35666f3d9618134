-- What a study with another number of prompts would see.
select c.model, c.axis, c.n, c.mean_low, c.mean_high, c.width, c.reject
from sample_size_curve as c
inner join axes as a on a.axis = c.axis and (a.is_main or a.is_resampled)
order by c.model, a.position, c.n
