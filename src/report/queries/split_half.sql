-- How far the order of models on a data set agrees with itself: halves of its prompts against one another.
select s.axis, s.dataset, s.kendall_tau_b, s.low, s.high, s.reversal_frequency
from split_half as s
inner join axes as a on a.axis = s.axis
order by a.position, s.dataset
