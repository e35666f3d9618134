-- robustness: what other measures make of the same answers.
--
-- grain    model, dataset, measure
-- reads    accuracy_variant, prediction_agreement, scored_wordings
-- formula  performance_drop_rate: 1 - acc(variants) / acc(clean), both on the
--            prompts that have a clean answer; NULL where acc(clean) is 0
--          consistency_rate: mean over prompts of the share of pairs of
--            wordings, the baseline included, with equal predictions; beside
--            it the share of pairs that are both right or both wrong
--          robust_accuracy: share of prompts right under every wording
--          accuracy_under_perturbation: share of right answers over variants
--          sensitivity_spread: greatest less least accuracy over the wordings
--            that all prompts have; NULL where fewer than two are such
--          pairwise_sensitivity: mean over prompts of the mean |y_v - y_w| over
--            pairs of wordings, y = 1 where right, else 0
-- source   Zhu et al. 2023, PromptBench (drop rate); Nalbandyan et al. 2025,
--          SCORE (consistency rate); Wang et al. 2023, DecodingTrust (accuracy
--          under perturbation); Sclar et al. 2024, FormatSpread (spread);
--          Zhuo et al. 2024, ProSA (pairwise); robust accuracy is the worst
--          case over the wordings of a prompt
--
-- Pairs are counted, not made: n wordings of which r are right hold r (n - r)
-- pairs that differ. With y of 0 and 1 pairwise_sensitivity is therefore
-- 1 - consistency_rate_right; both are given under the name that is sought.

with of_prompt as (
    select
        model,
        dataset,
        measure,
        prompt_id,
        cast(count(*) as double) as n,
        cast(sum(is_right) as double) as n_right,
        cast(max(is_right) filter (where is_clean) as double) as clean,
        cast(count(*) filter (where not is_baseline) as double) as n_variants,
        coalesce(
            cast(sum(is_right) filter (where not is_baseline) as double), 0.0
        ) as right_variants
    from scored_wordings
    group by model, dataset, measure, prompt_id
),

pooled as (
    select
        o.model,
        o.dataset,
        o.measure,
        avg(o.clean) filter (where o.n_variants > 0) as clean,
        sum(o.right_variants) filter (where o.clean is not null)
        / nullif(
            sum(o.n_variants) filter (where o.clean is not null), 0
        ) as perturbed,
        avg(a.agreement) as consistency_rate,
        avg(
            1.0 - 2.0 * o.n_right * (o.n - o.n_right)
            / nullif(o.n * (o.n - 1), 0)
        ) as consistency_rate_right,
        avg(case when o.n_right = o.n then 1.0 else 0.0 end) filter (
            where o.n_variants > 0
        ) as robust_accuracy,
        sum(o.right_variants)
        / nullif(sum(o.n_variants), 0) as accuracy_under_perturbation,
        avg(
            2.0 * o.n_right * (o.n - o.n_right) / nullif(o.n * (o.n - 1), 0)
        ) as pairwise_sensitivity,
        count(*) as n_prompts,
        cast(sum(o.n_variants) as bigint) as n_pairs
    from of_prompt as o
    left join prediction_agreement as a
        on
            a.model = o.model
            and a.dataset = o.dataset
            and a.prompt_id = o.prompt_id
    group by o.model, o.dataset, o.measure
),

spread as (
    select
        model,
        dataset,
        measure,
        max(accuracy) - min(accuracy) as sensitivity_spread,
        count(*) as n_wordings
    from accuracy_variant
    where is_complete
    group by model, dataset, measure
)

select
    p.model,
    p.dataset,
    p.measure,
    case
        when p.clean > 0 then 1.0 - p.perturbed / p.clean
    end as performance_drop_rate,
    p.consistency_rate,
    p.consistency_rate_right,
    p.robust_accuracy,
    p.accuracy_under_perturbation,
    case
        when s.n_wordings >= 2 then s.sensitivity_spread
    end as sensitivity_spread,
    p.pairwise_sensitivity,
    p.n_prompts,
    p.n_pairs,
    coalesce(s.n_wordings, 0) as n_wordings_compared
from pooled as p
left join spread as s
    on
        s.model = p.model
        and s.dataset = p.dataset
        and s.measure = p.measure
