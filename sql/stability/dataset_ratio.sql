-- dataset_ratio: how much a model's SGS differs between data sets.
--
-- grain    model, axis, normalization
-- reads    sgs_dataset
-- formula  largest SGS / smallest SGS over the model's data sets; NULL where
--          the smallest is 0
-- source   method, section 7; of equal ones the data set that sorts first. No
--          row for a single data set

with placed as (
    select
        model,
        dataset,
        axis,
        normalization,
        sgs,
        count(*) over (
            partition by model, axis, normalization
        ) as n_datasets,
        row_number() over (
            partition by model, axis, normalization
            order by round(sgs, 12), dataset
        ) as from_below,
        row_number() over (
            partition by model, axis, normalization
            order by round(sgs, 12) desc, dataset
        ) as from_above
    from sgs_dataset
),

ends as (
    select
        model,
        axis,
        normalization,
        max(n_datasets) as n_datasets,
        max(sgs) filter (where from_above = 1) as largest,
        max(dataset) filter (where from_above = 1) as largest_dataset,
        max(sgs) filter (where from_below = 1) as smallest,
        max(dataset) filter (where from_below = 1) as smallest_dataset
    from placed
    where n_datasets > 1
    group by model, axis, normalization
)

select
    model,
    axis,
    normalization,
    largest,
    largest_dataset,
    smallest,
    smallest_dataset,
    largest / nullif(smallest, 0.0) as ratio,
    n_datasets
from ends
