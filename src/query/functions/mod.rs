//! Functions: what SQL lacks for this method, registered once for every session.
//!
//! In: a DataFusion context. Out: the same context with the functions below.
//! NULL in gives NULL out; aggregates give the same bits for any order and any partitioning of their rows.
//!
//! | function | result |
//! |---|---|
//! | `bleu(reference, candidate)` | corpus BLEU of one pair (13a, exp smoothing), 0..1 |
//! | `bleu_effective_order(reference, candidate)` | the same with effective order |
//! | `chrf(reference, candidate)` | chrF, 0..1 |
//! | `is_refusal(response)` | whether a response declines to answer, by rule |
//! | `normalize_answer(text)` | lower case, without ASCII punctuation and articles (SQuAD) |
//! | `answer_exact(response, answers)` | whether the response is one of the answers, both normalized |
//! | `answer_contains(response, answers)` | whether the words of an answer stand in the response |
//! | `answer_f1(response, answers)` | greatest token F1 over the answers, 0..1 |
//! | `cosine(a, b)` | cosine of two lists of numbers; exactly 1 for equal lists |
//! | `common_prefix_length(a, b)` | number of equal leading elements of two lists of integers |
//! | `student_t_sf(t, df)` | P(T > t) of Student's t |
//! | `student_t_quantile(p, df)`, `normal_quantile(p)` | the inverse distributions |
//! | `binomial_test_p(successes, trials)` | sign test: P(X >= successes) at 1/2 |
//! | `hedges_correction(df)` | factor that frees Cohen's d of its bias |
//! | `bounded_mean_upper(mean, n, alpha)` | upper bound of a mean of scores in 0..1 |
//! | `t_test_statistic(x, popmean)` | aggregate: one-sample t |
//! | `t_test_p(x, popmean)`, `t_test_p_two_sided(x, popmean)` | aggregates: its p-values, "greater" and two-sided |
//! | `t_interval(x, confidence)` | aggregate: t interval of a mean |
//! | `sign_flip(x, popmean, draws, seed)`, `sign_flip_two_sided(...)` | aggregates: randomization test of a mean |
//! | `bca_interval(x, stratum, confidence, draws, seed)` | aggregate: bootstrap interval of a mean |
//! | `noncentral_t_sf(t, df, delta)` | P(T > t) of the noncentral t |
//! | `t_test_power(n, effect, alpha)`, `t_test_sample_size(effect, power, alpha)` | of the one-sided t-test |
//! | `resampled_study(x, n, popmean, alpha, draws, seed)` | aggregate: studies of another size |
//! | `kendall_tau_b(a, b)`, `spearman(a, b)` | aggregates: rank correlations |
//! | `blocked_spearman(a, b, block, confidence, draws, seed)` | aggregate: rank correlation within blocks |
//! | `bootstrap_means(values, draws, seed, key)` | means of a resampled list, jointly for one key |
//! | `first_half_means(values, draws, seed, key)`, `second_half_means(...)` | means of random halves of a list |
//!
//! [`reference()`] describes each of them, with an example.

mod accumulate;
mod aggregate;
mod answers;
pub mod bca;
pub mod binomial;
pub mod blocked;
mod collect;
mod columns;
mod doc;
pub mod effect;
mod group;
pub mod lists;
mod moments;
pub mod noncentral_t;
mod normal;
pub mod power;
pub mod ranks;
pub mod resample;
mod scalar;
pub mod sign_flip;
mod similarity;
pub mod student_t;
pub mod study;
pub mod t_test;
mod vectors;

use datafusion::prelude::SessionContext;

pub use doc::{Argument, ArgumentKind, FunctionDoc};

/// Every function, in the order of a reference page: measures, distributions, tests, intervals.
pub fn reference() -> Vec<FunctionDoc> {
    vec![
        similarity::BLEU,
        similarity::BLEU_EFFECTIVE_ORDER,
        similarity::CHRF,
        similarity::IS_REFUSAL,
        answers::NORMALIZE_ANSWER,
        answers::ANSWER_EXACT,
        answers::ANSWER_CONTAINS,
        answers::ANSWER_F1,
        vectors::COSINE,
        vectors::COMMON_PREFIX_LENGTH,
        student_t::STUDENT_T_SF,
        student_t::STUDENT_T_QUANTILE,
        normal::NORMAL_QUANTILE,
        noncentral_t::NONCENTRAL_T_SF,
        t_test::T_TEST_STATISTIC,
        t_test::T_TEST_P,
        t_test::T_TEST_P_TWO_SIDED,
        sign_flip::SIGN_FLIP,
        sign_flip::SIGN_FLIP_TWO_SIDED,
        binomial::BINOMIAL_TEST_P,
        t_test::T_INTERVAL,
        bca::BCA_INTERVAL,
        effect::BOUNDED_MEAN_UPPER,
        effect::HEDGES_CORRECTION,
        power::T_TEST_POWER,
        power::T_TEST_SAMPLE_SIZE,
        study::RESAMPLED_STUDY,
        ranks::KENDALL_TAU_B,
        ranks::SPEARMAN,
        blocked::BLOCKED_SPEARMAN,
        lists::BOOTSTRAP_MEANS,
        lists::FIRST_HALF_MEANS,
        lists::SECOND_HALF_MEANS,
    ]
}

/// Registers every function of the module on `ctx`.
pub fn register_all(ctx: &SessionContext) {
    let scalars = [
        similarity::functions(),
        answers::functions(),
        vectors::functions(),
        student_t::functions(),
        vec![normal::function(), noncentral_t::function(), binomial::function()],
        effect::functions(),
        power::functions(),
        lists::functions(),
    ];
    for function in scalars.into_iter().flatten() {
        ctx.register_udf(function);
    }
    let aggregates = [
        t_test::functions(),
        sign_flip::functions(),
        ranks::functions(),
        vec![bca::function(), blocked::function(), study::function()],
    ];
    for function in aggregates.into_iter().flatten() {
        ctx.register_udaf(function);
    }
}
