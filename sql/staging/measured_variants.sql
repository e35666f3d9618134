-- measured_variants: the set V, the wordings that count towards instability.
--
-- grain    dataset, prompt_id, variant_id
-- reads    variants
-- source   method, section 5: not the baselines, and not what the validity
--          rule has ruled out

select
    dataset, prompt_id, variant_id, family, subtype, place, strength, level
from variants
where not is_baseline and is_valid
