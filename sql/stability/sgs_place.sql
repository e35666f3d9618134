-- sgs_place: SGS on the wordings of one place alone.
--
-- grain    model, dataset, place, axis, normalization
-- reads    sgs_parts
-- source   method, section 5; global has length and form in it, prefix and
--          suffix do not: compare places within a subtype

select
    model, dataset, place, axis, normalization, sgs, n_prompts
from sgs_parts
where part = 'place'
