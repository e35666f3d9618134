-- stability_claims: is a model shown to be stable, within a declared margin?
--
-- grain    level, model, dataset, axis, normalization, margin
-- reads    axes, settings, tested_scores, tolerances
-- formula  upper_t: mean + t(1 - alpha, n - 1) sd / sqrt(n); upper_bounded:
--          bound u with u the greatest number for which n KL(mean / bound, u)
--          <= ln(1 / alpha); stable where one of them is under the margin,
--          upper_t from enough_prompts on only
-- source   method, section 7: a test that finds nothing shows no stability;
--          Hoeffding 1963, theorem 1. At n = 16 on skewed scores the t bound
--          would claim stability wrongly in 12 to 26 % of studies, not in 5 %
--
-- is_stable false: not shown, which is not the same as unstable. The bounds
-- hold one by one: they are not corrected for their number.

with bounds_of_axes as (
    select axis, 'fixed' as normalization, bound
    from axes

    union all

    -- The same deltas on the reference scale; none where that is the model's.
    select
        axis, 'reference' as normalization,
        bound * r_fixed / r_reference as bound
    from axes
),

bounds as (
    select
        s.level,
        s.model,
        s.dataset,
        s.axis,
        s.normalization,
        e.epsilon as margin,
        c.enough_prompts,
        -- Of one score, or of equal ones, a t-test knows nothing.
        case
            when min(s.s) < max(s.s)
                then
                    avg(s.s)
                    + student_t_quantile(1.0 - c.alpha, count(*) - 1)
                    * stddev(s.s) / sqrt(count(*))
        end as upper_t,
        b.bound,
        -- A score above its bound says that the bound does not hold.
        case
            when max(s.s) <= b.bound * (1.0 + c.tie_tolerance)
                then
                    b.bound * bounded_mean_upper(
                        least(avg(s.s) / b.bound, 1.0), count(*), c.alpha
                    )
        end as upper_bounded,
        count(*) as n
    from tolerances as e
    cross join settings as c
    cross join tested_scores as s
    left join bounds_of_axes as b
        on b.axis = s.axis and b.normalization = s.normalization
    group by
        s.level, s.model, s.dataset, s.axis, s.normalization, e.epsilon,
        c.enough_prompts, c.alpha, c.tie_tolerance, b.bound
),

claims as (
    select
        *,
        case
            when upper_bounded < margin then 'bounded mean'
            when n >= enough_prompts and upper_t < margin then 't'
        end as shown_by
    from bounds
)

select
    level,
    model,
    dataset,
    axis,
    normalization,
    margin,
    upper_t,
    upper_bounded,
    bound,
    n,
    shown_by is not null as is_stable,
    shown_by,
    case
        when shown_by is not null then null
        when n < enough_prompts and upper_bounded is null and bound is not null
            then 'too few prompts for t, and a score lies above the bound'
        when n < enough_prompts and upper_bounded is null
            then 'too few prompts for t, and the deltas have no bound'
        when n < enough_prompts
            then 'too few prompts for t, and the bounded mean may reach margin'
        when upper_t is null and upper_bounded is null
            then 'scores are equal, and the deltas have no bound'
        else 'the mean may reach the margin'
    end as reason
from claims
