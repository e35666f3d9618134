-- axis_values: the value X(m,i,v) of every wording on every axis.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis
-- reads    activation_geometry, confidence, generated_confidence,
--          generation_consistency, mirroring, response_shape
-- source   method, section 4; an axis that a backend can't give has no row

select model, dataset, prompt_id, variant_id, repeat, axis, value
from activation_geometry

union all

select model, dataset, prompt_id, variant_id, repeat, axis, value
from generation_consistency

union all

select model, dataset, prompt_id, variant_id, repeat, axis, value
from confidence

union all

select model, dataset, prompt_id, variant_id, repeat, axis, value
from mirroring

union all

select model, dataset, prompt_id, variant_id, repeat, axis, value
from response_shape

union all

select model, dataset, prompt_id, variant_id, repeat, axis, value
from generated_confidence
