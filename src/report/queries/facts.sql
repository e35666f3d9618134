-- What the run is made of.
select
    (select count(*) from models) as n_models,
    (select count(distinct dataset) from variants) as n_datasets,
    (select count(*) from (select distinct dataset, prompt_id from variants) as p) as n_prompts,
    (select count(*) from variants where not is_baseline) as n_wordings,
    (select count(*) from generations) as n_responses,
    (select count(*) from generations where error is not null) as n_failed,
    (select epsilon from tolerances where is_primary) as epsilon,
    (select normalization from normalizations where is_primary) as normalization,
    (select confidence from settings) as confidence,
    (select alpha from settings) as alpha,
    (select string_agg(mark || ' p < ' || cast(p_below as varchar), ', ' order by p_below desc) from marks) as marks,
    (select enough_prompts from settings) as enough_prompts,
    (select independence_margin from settings) as independence_margin
