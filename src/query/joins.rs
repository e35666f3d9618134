//! Joins: in memory, and by sorting where memory does not suffice.
//!
//! In: a planned query. Out: its rows. The table of a hash join can't go to a file; joins that sort can, but take
//! several times longer, and most queries join a small table with a large one.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{Expr, ExprSchemable, Join, LogicalPlan};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::DataFrame;
use futures::{StreamExt, TryStreamExt, stream};

use super::memory::is_of_memory;

/// Rows of a query as they come. Where the memory limit of its session is reached before the first of them came, it is
/// run again with joins that sort, if these give the same.
pub(super) async fn rows(frame: DataFrame) -> Result<SendableRecordBatchStream, DataFusionError> {
    let mut rows = begun(frame.clone()).await?;
    let schema = rows.schema();
    let all = async move {
        match rows.next().await {
            Some(Err(error)) if is_of_memory(&error) && may_sort(&frame) => {
                log::info!("a query does not fit into the memory limit: it is run again, and joins sort their sides");
                drop(rows);
                sorting(frame).execute_stream().await
            }
            first => {
                let schema = rows.schema();
                let all = stream::iter(first).chain(rows);
                Ok(Box::pin(RecordBatchStreamAdapter::new(schema, all)) as SendableRecordBatchStream)
            }
        }
    };
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream::once(all).try_flatten())))
}

/// Begins a query. Where a join's sides stay where they are, the planner takes some sorted unions for unsorted ones and
/// refuses them; such a query parts both sides by key.
async fn begun(frame: DataFrame) -> Result<SendableRecordBatchStream, DataFusionError> {
    match frame.clone().execute_stream().await {
        Err(_) => parting(frame, true).execute_stream().await,
        rows => rows,
    }
}

/// Whether joins that sort find the rows that joins that hash do.
fn may_sort(frame: &DataFrame) -> bool {
    let (state, plan) = frame.clone().into_parts();
    let mut all_may = true;
    let looked = state.optimize(&plan).and_then(|plan| {
        plan.apply_with_subqueries(|node| {
            all_may &= !matches!(node, LogicalPlan::Join(join) if !sorts_alike(join));
            Ok(TreeNodeRecursion::Continue)
        })
    });
    looked.is_ok() && all_may
}

/// A sort sets -0 before 0, and the engine's merge then misses keys behind them. Of an outer join with a further condition
/// the merge takes columns without NULL to stay so.
fn sorts_alike(join: &Join) -> bool {
    // Of dictionaries and long decimals it knows no order.
    let is_unknown = |kind: &DataType| matches!(kind, DataType::Dictionary(..) | DataType::Decimal256(..));
    let is_exact = |key: &Expr| {
        let kind = key.get_type(join.left.schema());
        kind.is_ok_and(|kind| !kind.is_floating() && !kind.is_nested() && !is_unknown(&kind))
    };
    let is_plain = join.filter.is_none() || !join.join_type.is_outer();
    is_plain && join.on.iter().all(|(left, _)| is_exact(left))
}

/// The same query with joins that sort; with one partition there would be none.
fn sorting(frame: DataFrame) -> DataFrame {
    let (mut state, plan) = parting(frame, false).into_parts();
    let execution = &mut state.config_mut().options_mut().execution;
    execution.target_partitions = execution.target_partitions.max(2);
    DataFrame::new(state, plan)
}

/// The same query with joins that part both sides by key, and then hash or sort.
fn parting(frame: DataFrame, hash: bool) -> DataFrame {
    let (mut state, plan) = frame.into_parts();
    let optimizer = &mut state.config_mut().options_mut().optimizer;
    optimizer.repartition_joins = true;
    optimizer.prefer_hash_join = hash;
    DataFrame::new(state, plan)
}
