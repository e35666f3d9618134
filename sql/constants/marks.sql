-- marks: the signs that stand for a p-value in tables.
--
-- grain    mark
-- reads    nothing
-- source   method, section 6

select mark, p_from, p_below
from (
    values
    ('*', 0.01, 0.05),
    ('**', 0.001, 0.01),
    ('†', 0.0, 0.001)
) as t (mark, p_from, p_below)
