-- significance_dataset: tests of a model's instability on a data set.
--
-- grain    model, dataset, axis, normalization, test, epsilon
-- reads    adjusted_tests
-- source   method, section 6

select
    model, dataset, axis, normalization, test, epsilon,
    statistic, p, p_holm, p_bh, mark, n, draws, warning
from adjusted_tests
where level = 'dataset'
