//! Functions: what SQL lacks for this method, registered once for every session.
//!
//! In: a DataFusion context. Out: the same context with the functions below.
//! NULL in gives NULL out; aggregates give the same bits for any order and any partitioning of their rows.
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
