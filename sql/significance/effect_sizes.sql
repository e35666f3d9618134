-- effect_sizes: how far SGS lies above a tolerance, in standard deviations.
--
-- grain    level, model, dataset, axis, normalization, epsilon
-- reads    t_tests
-- formula  d = (mean(s) - epsilon) / sd(s) = t / sqrt(n); g = d J(n - 1) with
--          J(f) = gamma(f/2) / (sqrt(f/2) gamma((f - 1)/2))
-- source   method, section 7; Cohen 1988; Hedges 1981, the exact correction,
--          which does not exist for n = 2

select
    level,
    model,
    dataset,
    axis,
    normalization,
    epsilon,
    statistic / sqrt(n) as cohens_d,
    statistic / sqrt(n) * hedges_correction(n - 1) as hedges_g,
    n
from t_tests
