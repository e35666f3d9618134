-- normalization_agreement: does the normalization change the ranking?
--
-- grain    axis, normalization_a, normalization_b
-- reads    sgs_shared
-- formula  Kendall's tau-b and Spearman's rho of the models' shared SGS under
--          two normalizations; NULL where a side has no variance
-- source   method, section 7; Kendall 1945, Spearman 1904. Of each two
--          normalizations the name that sorts first is a

with pairs as (
    select
        a.axis,
        a.normalization as normalization_a,
        b.normalization as normalization_b,
        a.sgs as sgs_a,
        b.sgs as sgs_b
    from sgs_shared as a
    inner join sgs_shared as b
        on
            b.model = a.model
            and b.axis = a.axis
            and b.normalization > a.normalization
)

select
    axis,
    normalization_a,
    normalization_b,
    count(*) as n_models,
    kendall_tau_b(sgs_a, sgs_b) as kendall_tau_b,
    spearman(sgs_a, sgs_b) as spearman
from pairs
group by axis, normalization_a, normalization_b
having count(*) > 1
