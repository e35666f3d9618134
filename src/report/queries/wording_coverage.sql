select subtype, level, sum(planned) as planned, sum(made) as made, sum(valid) as valid
from variant_coverage
group by subtype, level
order by subtype, try_cast(level as double), level
