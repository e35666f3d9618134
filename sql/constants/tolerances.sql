-- tolerances: how much instability is still called stable.
--
-- grain    epsilon
-- reads    nothing
-- source   method, section 6

select epsilon, is_primary
from (
    values
    (0.01, false),
    (0.05, true),
    (0.1, false)
) as t (epsilon, is_primary)
