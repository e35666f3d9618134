-- variant_coverage: how many wordings of each kind were made, and count.
--
-- grain    dataset, subtype, level
-- reads    variants
-- source   method, sections 2 and 5; what could not be rewritten faithfully or
--          failed the validity rule is not in V; a valid wording without a
--          text came by import

select
    dataset,
    subtype,
    coalesce(level, '') as level,
    count(*) as planned,
    sum(case when text is not null or is_valid then 1 else 0 end) as made,
    sum(case when is_valid then 1 else 0 end) as valid
from variants
where not is_baseline
group by dataset, subtype, coalesce(level, '')
