-- size_trend: are larger models more stable?
--
-- grain    axis, normalization
-- reads    sgs_by_size
-- formula  Spearman's rho and Kendall's tau-b of parameters and shared SGS;
--          below 0: the larger, the more stable. NULL where a side has no
--          variance
-- source   method, section 7; no row for fewer than two models

with sizes as (
    select
        axis,
        normalization,
        cast(parameters as double) as parameters,
        sgs_shared as sgs
    from sgs_by_size
    where sgs_shared is not null
)

select
    axis,
    normalization,
    count(*) as n_models,
    spearman(parameters, sgs) as spearman,
    kendall_tau_b(parameters, sgs) as kendall_tau_b
from sizes
group by axis, normalization
having count(*) > 1
