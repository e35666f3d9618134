//! Volatile: functions that give something else each time they are asked.
//!
//! In: a planned query. Out: the name of the first such function in it.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};

/// The first function in `plan` whose value does not follow from its arguments, as `random` and `now`.
pub(super) fn changing_function(plan: &LogicalPlan) -> Option<String> {
    let mut found = None;
    let mut look = |expression: &Expr| match expression {
        Expr::ScalarFunction(call) if call.func.signature().volatility != Volatility::Immutable => {
            found = Some(call.func.name().to_string());
            TreeNodeRecursion::Stop
        }
        _ => TreeNodeRecursion::Continue,
    };
    let walked = plan.apply_with_subqueries(|node| node.apply_expressions(|e| e.apply(|inner| Ok(look(inner)))));
    // Walking fails only where the closure does.
    walked.map_or(None, |_| found)
}
