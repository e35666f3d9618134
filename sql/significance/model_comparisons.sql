-- model_comparisons: which of two models is more stable, on what both have?
--
-- grain    model_a, model_b, dataset, axis, normalization
-- reads    axes, measured_variants, normalizations, normalized, settings
-- formula  s of both models on the wordings of a prompt on which both have a
--          delta; difference: mean over prompts of s_a - s_b; paired t-test and
--          t interval with the prompts as one sample, BCa with prompts
--          resampled within data sets, sign-flip test; all two-sided;
--          dz = mean / sd of the differences; Holm and Benjamini-Hochberg of p
-- source   method, sections 5 and 7; Lakens 2013 for dz. dataset '': all data
--          sets. A family is (on one data set or on all, normalization) over
--          all pairs of models, data sets and axes
--
-- It reads constants and two tables only, so that two runs can be compared by
-- giving it those of both under two model names.

with tested_deltas as (
    select
        n.model,
        n.dataset,
        n.prompt_id,
        n.variant_id,
        n.axis,
        n.normalization,
        n.delta
    from normalizations as z
    inner join normalized as n on n.normalization = z.normalization
    where z.is_tested and n.repeat = 0
),

-- Numbers stand for names while wordings are matched: most of the work is
-- comparing keys.
wordings as (
    select
        dataset,
        prompt_id,
        variant_id,
        row_number() over (order by dataset, prompt_id, variant_id) as wording,
        dense_rank() over (order by dataset, prompt_id) as prompt
    from measured_variants
),

prompts as (
    select distinct prompt, dataset, prompt_id
    from wordings
),

models as (
    select model, row_number() over (order by model) as number
    from (select distinct model from tested_deltas)
),

scales as (
    select
        a.axis,
        z.normalization,
        row_number() over (order by a.axis, z.normalization) as scale
    from axes as a
    cross join normalizations as z
    where z.is_tested
),

deltas_in_v as (
    select n.number, n.scale, w.wording, w.prompt, n.delta
    from wordings as w
    inner join (
        select
            m.number, x.scale, t.dataset, t.prompt_id, t.variant_id, t.delta
        from models as m
        cross join scales as x
        inner join tested_deltas as t
            on
                t.model = m.model
                and t.axis = x.axis
                and t.normalization = x.normalization
    ) as n
        on
            n.dataset = w.dataset
            and n.prompt_id = w.prompt_id
            and n.variant_id = w.variant_id
),

-- Both means run over the same rows in the same order: models that behave
-- alike get the same s to the last bit.
matched as (
    select
        a.number as number_a,
        b.number as number_b,
        a.prompt,
        a.scale,
        sqrt(avg(a.delta * a.delta)) as s_a,
        sqrt(avg(b.delta * b.delta)) as s_b,
        count(*) as n_pairs
    from deltas_in_v as a
    inner join deltas_in_v as b
        on
            b.wording = a.wording
            and b.scale = a.scale
            and b.number > a.number
    group by a.number, b.number, a.prompt, a.scale
),

of_prompts as (
    select
        a.model as model_a,
        b.model as model_b,
        m.dataset,
        x.axis,
        x.normalization,
        m.s_a,
        m.s_b,
        m.n_pairs
    from models as a
    cross join models as b
    cross join scales as x
    inner join (
        select q.dataset, k.*
        from prompts as q
        inner join matched as k on k.prompt = q.prompt
    ) as m
        on
            m.number_a = a.number
            and m.number_b = b.number
            and m.scale = x.scale
),

differences as (
    select
        p.*,
        case
            when
                abs(p.s_a - p.s_b) <= c.tie_tolerance * greatest(p.s_a, p.s_b)
                then 0.0
            else p.s_a - p.s_b
        end as d
    from settings as c
    cross join of_prompts as p
),

at_levels as (
    select *, unnest(make_array(dataset, '')) as scope
    from differences
),

tested as (
    select
        p.model_a,
        p.model_b,
        p.scope as dataset,
        p.axis,
        p.normalization,
        count(*) as n_prompts,
        sum(p.n_pairs) as n_pairs,
        avg(p.s_a) as sgs_a,
        avg(p.s_b) as sgs_b,
        avg(p.d) as difference,
        case when min(p.d) = max(p.d) then 0.0 else stddev(p.d) end
            / case when count(*) > 1 then sqrt(count(*)) end as standard_error,
        t_interval(p.d, c.confidence) as by_t,
        bca_interval(
            p.d, p.dataset, c.confidence, c.bootstrap_draws, c.seed
        ) as by_bca,
        t_test_statistic(p.d, 0.0) as statistic,
        t_test_p_two_sided(p.d, 0.0) as p,
        sign_flip_two_sided(p.d, 0.0, c.sign_flip_draws, c.seed) as by_signs
    from settings as c
    cross join at_levels as p
    group by p.model_a, p.model_b, p.scope, p.axis, p.normalization
),

ranked as (
    select
        *,
        dataset = '' as is_all,
        count(p) over (partition by dataset = '', normalization) as m,
        row_number() over (
            partition by dataset = '', normalization
            order by p nulls last, model_a, model_b, dataset, axis
        ) as k
    from tested
),

corrected as (
    select
        *,
        max(p * (m - k + 1)) over (
            partition by is_all, normalization
            order by k
            rows between unbounded preceding and current row
        ) as holm,
        min(p * m / k) over (
            partition by is_all, normalization
            order by k desc
            rows between unbounded preceding and current row
        ) as bh
    from ranked
)

select
    model_a,
    model_b,
    dataset,
    axis,
    normalization,
    n_prompts,
    n_pairs,
    sgs_a,
    sgs_b,
    difference,
    standard_error,
    case when standard_error > 0.0 then by_t['low'] end as t_low,
    case when standard_error > 0.0 then by_t['high'] end as t_high,
    by_bca['low'] as bca_low,
    by_bca['high'] as bca_high,
    by_bca['reason'] as bca_reason,
    statistic,
    p,
    by_signs['p'] as p_sign_flip,
    by_signs['draws'] as draws,
    case when p is not null then least(1.0, holm) end as p_holm,
    case when p is not null then least(1.0, bh) end as p_bh,
    statistic / sqrt(n_prompts) as cohens_dz
from corrected
