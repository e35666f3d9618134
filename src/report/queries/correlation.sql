select model, axis_a, axis_b, rho, p, low, high, n, is_independent
from axis_correlation
where level = 'model'
order by model, axis_a, axis_b
