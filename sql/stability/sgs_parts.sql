-- sgs_parts: SGS on the wordings of one part of V alone.
--
-- grain    model, dataset, part, family, subtype, place, level, axis,
--          normalization
-- reads    measured_variants, normalizations, normalized_wide
-- formula  as instability and sgs_dataset, on that part of V
-- source   method, section 5
--
-- part says of what: family, subtype, place, or strength (of a subtype, places
-- pooled). A user's own paraphrases without a strength are only numbered: the
-- first of one prompt is not the same wording as the first of another, so they
-- have no part by strength.

with wide as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        n.axis,
        case
            when grouping(v.level) = 0 then 'strength'
            when grouping(v.place) = 0 then 'place'
            when grouping(v.subtype) = 0 then 'subtype'
            else 'family'
        end as part,
        v.family,
        v.subtype,
        v.place,
        v.level,
        v.strength,
        sqrt(avg(n.fixed * n.fixed)) as fixed,
        sqrt(avg(n.reference * n.reference)) as reference,
        sqrt(avg(n.quantile * n.quantile)) as quantile,
        sqrt(avg(n.rank * n.rank)) as rank,
        sqrt(avg(n.mean_absolute * n.mean_absolute)) as mean_absolute,
        sqrt(avg(n.min_max * n.min_max)) as min_max
    from measured_variants as v
    inner join normalized_wide as n
        on
            v.dataset = n.dataset
            and v.prompt_id = n.prompt_id
            and v.variant_id = n.variant_id
    where n.repeat = 0
    group by grouping sets (
        (n.model, n.dataset, n.prompt_id, n.axis, v.family),
        (n.model, n.dataset, n.prompt_id, n.axis, v.subtype),
        (n.model, n.dataset, n.prompt_id, n.axis, v.place),
        (
            n.model, n.dataset, n.prompt_id, n.axis,
            v.family, v.subtype, v.level, v.strength
        )
    )
),

long as (
    select
        x.model,
        x.dataset,
        x.part,
        x.family,
        x.subtype,
        x.place,
        x.level,
        x.strength,
        x.axis,
        w.normalization,
        case w.normalization
            when 'fixed' then x.fixed
            when 'reference' then x.reference
            when 'quantile' then x.quantile
            when 'rank' then x.rank
            when 'mean_absolute' then x.mean_absolute
            when 'min_max' then x.min_max
        end as s
    from normalizations as w
    cross join wide as x
    where
        (x.part <> 'place' or x.place is not null)
        and (
            x.part <> 'strength'
            or (
                x.level is not null
                and (x.family <> 'own' or x.strength is not null)
            )
        )
)

select
    model,
    dataset,
    part,
    family,
    subtype,
    place,
    level,
    strength,
    axis,
    normalization,
    avg(s) as sgs,
    count(*) as n_prompts
from long
where s is not null
group by
    model, dataset, part, family, subtype, place, level, strength,
    axis, normalization
