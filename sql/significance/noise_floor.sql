-- noise_floor: does behaviour move more than it does without any rewording?
--
-- grain    level, model, dataset, axis, normalization
-- reads    baselines, normalizations, normalized, settings, tested_scores
-- formula  a prompt's mean square: mean of delta^2 = s^2; its noise: the mean
--          of delta^2 of the baselines' repeats against their repeat 0; ratio
--          of the two means over prompts; p: one-sided sign-flip test of the
--          prompts' differences
-- source   method, section 7. Both deltas are differences of two answers, so
--          that noise alone gives both the same mean square
--
-- Over the prompts that have repeats. Without repeats, and where they are all
-- alike, any score exceeds the floor: ratio and p are NULL then.

with repeats as (
    select n.*
    from normalizations as z
    inner join normalized as n on n.normalization = z.normalization
    where z.is_tested and n.repeat > 0
),

noise as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        n.axis,
        n.normalization,
        avg(n.delta * n.delta) as noise,
        count(distinct n.repeat) as n_repeats
    from baselines as b
    inner join repeats as n
        on
            b.dataset = n.dataset
            and b.prompt_id = n.prompt_id
            and b.variant_id = n.variant_id
    group by n.model, n.dataset, n.prompt_id, n.axis, n.normalization
),

tested as (
    select
        s.level,
        s.model,
        s.dataset,
        s.axis,
        s.normalization,
        avg(s.s * s.s) as mean_square_of_all,
        avg(case when n.noise is not null then s.s * s.s end) as mean_square,
        avg(n.noise) as noise_mean_square,
        sign_flip(
            s.s * s.s - n.noise, 0.0, c.sign_flip_draws, c.seed
        ) as outcome,
        count(n.noise) as n_prompts,
        max(n.n_repeats) as n_repeats,
        count(r.model) > 0 as is_repeated
    from settings as c
    cross join tested_scores as s
    left join (select distinct model from repeats) as r on r.model = s.model
    left join noise as n
        on
            n.model = s.model
            and n.dataset = s.prompt_dataset
            and n.prompt_id = s.prompt_id
            and n.axis = s.axis
            and n.normalization = s.normalization
    group by s.level, s.model, s.dataset, s.axis, s.normalization
)

select
    level,
    model,
    dataset,
    axis,
    normalization,
    coalesce(mean_square, mean_square_of_all) as mean_square,
    noise_mean_square,
    mean_square / nullif(noise_mean_square, 0.0) as ratio,
    case when noise_mean_square > 0.0 then outcome['p'] end as p_sign_flip,
    case when noise_mean_square > 0.0 then outcome['draws'] end as draws,
    n_prompts,
    coalesce(n_repeats, 0) as n_repeats,
    case
        when n_prompts = 0 and is_repeated
            then 'the axis is not measured of repeats'
        when n_prompts = 0 then 'no repeats of the baselines'
        when noise_mean_square = 0.0 then 'the floor is 0'
    end as reason
from tested
