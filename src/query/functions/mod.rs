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
//! | `t_test_statistic(x, popmean)` | aggregate: one-sample t |
//! | `t_test_p(x, popmean)` | aggregate: its one-sided p-value, alternative "greater" |

mod answers;
mod similarity;
pub mod student_t;
mod t_test;
mod vectors;

use datafusion::prelude::SessionContext;

/// Registers every function of the module on `ctx`.
pub fn register_all(ctx: &SessionContext) {
    for function in similarity::functions().into_iter().chain(answers::functions()).chain(vectors::functions()) {
        ctx.register_udf(function);
    }
    ctx.register_udf(student_t::function());
    for aggregate in t_test::functions() {
        ctx.register_udaf(aggregate);
    }
}
