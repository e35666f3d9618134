-- sgs_family: SGS on the wordings of one family alone.
--
-- grain    model, dataset, family, axis, normalization
-- reads    sgs_parts
-- source   method, section 5

select
    model, dataset, family, axis, normalization, sgs, n_prompts
from sgs_parts
where part = 'family'
