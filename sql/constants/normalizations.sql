-- normalizations: the ways in which deltas of different axes are compared.
--
-- grain    normalization
-- reads    nothing
-- source   method, sections 5 and 7
--
-- Tests, intervals and claims are made where is_tested: a tolerance means
-- something only on a scale that does not move with the data.

select normalization, is_primary, is_tested, doc
from (
    values
    ('fixed', true, true,
        'delta / R with the divisors of the published study')
) as t (normalization, is_primary, is_tested, doc)
