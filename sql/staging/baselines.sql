-- baselines: the wordings that others are measured against.
--
-- grain    dataset, prompt_id, variant_id
-- reads    variants
-- source   method, section 2; a prompt has one for all noise and framing, and
--          another for form where it is no question itself

select dataset, prompt_id, variant_id
from variants
where is_baseline
