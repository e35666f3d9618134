-- equivalence_tests: are two models alike, within a declared margin?
--
-- grain    model_a, model_b, dataset, axis, normalization, margin
-- reads    model_comparisons, settings, tolerances
-- formula  two one-sided t-tests of the paired differences: p is the greater
--          of P(T > (d + margin) / se) and P(T > (margin - d) / se); where all
--          differences are equal 0 or 1, NULL at the margin itself
-- source   method, section 7; Schuirmann 1987
--
-- Without variance p is 0 or 1, as in the one-sample test of section 6: is_few
-- says on how little that may rest. p is not corrected for the number of pairs,
-- axes and margins. With few
-- prompts the t-test is unsafe towards "alike", as it is towards "stable".

with tested as (
    select
        m.*,
        e.epsilon as margin,
        c.alpha,
        m.n_prompts < c.enough_prompts as is_few,
        case
            when m.standard_error > 0.0
                then
                    student_t_sf(
                        (e.epsilon - abs(m.difference)) / m.standard_error,
                        m.n_prompts - 1
                    )
            when m.standard_error = 0.0 and abs(m.difference) < e.epsilon
                then 0.0
            when m.standard_error = 0.0 and abs(m.difference) > e.epsilon
                then 1.0
        end as p_tost
    from tolerances as e
    cross join settings as c
    cross join model_comparisons as m
)

select
    model_a,
    model_b,
    dataset,
    axis,
    normalization,
    margin,
    difference,
    p_tost,
    p_tost < alpha as is_equivalent,
    is_few,
    n_prompts
from tested
