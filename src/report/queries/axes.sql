-- The axes on which the run has scores, and the method's own in any case.
select a.position, a.axis, a.aspect, a.is_main, a.is_resampled, a.r_fixed, a.needs, a.doc
from axes as a
where a.is_main or a.axis in (select axis from sgs_model)
order by a.position
