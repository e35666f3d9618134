-- sgs_subtype: SGS on the wordings of one subtype alone.
--
-- grain    model, dataset, subtype, axis, normalization
-- reads    sgs_parts
-- source   method, section 5

select
    model, dataset, subtype, axis, normalization, sgs, n_prompts
from sgs_parts
where part = 'subtype'
