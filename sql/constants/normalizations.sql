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
        'delta / R with the divisors of the published study'),
    ('reference', false, true,
        'delta / a scale that comes from no response: ln V, T ln V, ranges'),
    ('quantile', false, false,
        'delta / the 95 % quantile of |delta| over the reference set'),
    ('rank', false, false,
        'sign(delta) * percent rank of |delta| within the reference set'),
    ('mean_absolute', false, false,
        'delta / mean of |delta| over the reference set'),
    ('min_max', false, false,
        'sign(delta) * (|delta| - min) / (max - min) over the reference set')
) as t (normalization, is_primary, is_tested, doc)
