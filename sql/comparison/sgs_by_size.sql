-- sgs_by_size: SGS beside the number of a model's parameters.
--
-- grain    model, axis, normalization
-- reads    models, sgs_model, sgs_shared
-- source   method, section 7; models whose size is not known have no row

select
    m.model,
    m.family,
    m.parameters,
    s.axis,
    s.normalization,
    s.sgs,
    c.sgs as sgs_shared
from models as m
inner join sgs_model as s on s.model = m.model
left join sgs_shared as c
    on
        c.model = s.model
        and c.axis = s.axis
        and c.normalization = s.normalization
where m.parameters is not null
