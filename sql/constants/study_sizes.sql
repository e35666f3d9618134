-- study_sizes: numbers of prompts at which a study's outcome is tried out.
--
-- grain    n
-- reads    nothing
-- source   method, section 7

select n
from (
    values (4), (8), (16), (32), (64), (128), (256)
) as t (n)
