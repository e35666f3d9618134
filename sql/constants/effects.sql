-- effects: declared effect sizes, for power and for numbers of prompts.
--
-- grain    effect
-- reads    nothing
-- source   method, section 7: power at declared effects, never at the observed
--          one; Cohen 1988

select effect, label
from (
    values
    (0.2, 'small'),
    (0.5, 'medium'),
    (0.8, 'large')
) as t (effect, label)
