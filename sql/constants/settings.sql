-- settings: the choices behind tests, intervals and resampling, in one row.
--
-- grain    the one row
-- reads    nothing
-- source   method, section 7; another study's choices: a file settings.sql of
--          one's own takes the place of this one

select
    0.95 as confidence,
    0.05 as alpha,
    0.8 as wanted_power,
    -- From this number of prompts on, a t-based bound may show stability.
    30 as enough_prompts,
    -- Two axes are called independent when the interval of their rank
    -- correlation lies within this margin around 0.
    0.2 as independence_margin,
    -- Of |delta| over the reference set, the robust size of a delta.
    0.95 as scale_quantile,
    -- Scores that differ by no more than this part of them are equal.
    1e-12 as tie_tolerance,
    -- Every resampling below is a pure function of this seed and its data.
    0 as seed,
    99999 as sign_flip_draws,
    9999 as bootstrap_draws,
    1999 as variant_draws,
    1999 as study_draws,
    1999 as rank_draws,
    9999 as permutation_draws
