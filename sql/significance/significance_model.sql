-- significance_model: tests of a model's instability on all data sets together.
--
-- grain    model, axis, normalization, test, epsilon
-- reads    adjusted_tests
-- source   method, section 6

select
    model, axis, normalization, test, epsilon,
    statistic, p, p_holm, p_bh, mark, n, draws, warning
from adjusted_tests
where level = 'model'
