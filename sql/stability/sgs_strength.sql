-- sgs_strength: SGS on the wordings of one subtype and strength alone.
--
-- grain    model, dataset, subtype, level, axis, normalization
-- reads    sgs_parts
-- source   method, section 5; places are pooled

select
    model, dataset, subtype, level, strength, axis, normalization,
    sgs, n_prompts
from sgs_parts
where part = 'strength'
