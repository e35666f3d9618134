-- sample_sizes: how many prompts it takes to find an effect.
--
-- grain    effect
-- reads    effects, settings
-- formula  least n at which the one-sided t-test has the wanted power
-- source   method, section 7; Cohen 1988

select
    e.effect,
    c.alpha,
    c.wanted_power,
    t_test_sample_size(e.effect, c.wanted_power, c.alpha) as n
from settings as c
cross join effects as e
