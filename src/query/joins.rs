//! Joins: in memory, and by sorting where memory does not suffice.
//!
//! In: a planned query. Out: its rows. The table of a hash join can't go to a file; joins that sort can, but take
//! several times longer, and most queries join a small table with a large one.

use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::DataFrame;
use futures::{StreamExt, TryStreamExt, stream};

use super::memory::is_of_memory;

/// Rows of a query as they come. Under a memory limit joins sort, but for a query that gives no row before its joins are
/// done: that hashes, and is run again with joins that sort where the limit is reached.
pub(super) async fn rows(frame: DataFrame) -> Result<SendableRecordBatchStream, DataFusionError> {
    if !matches!(frame.task_ctx().memory_pool().memory_limit(), MemoryLimit::Finite(_)) {
        return begun(frame).await;
    }
    if !waits_for_all(frame.logical_plan()) {
        return sorting(frame).execute_stream().await;
    }
    let mut rows = begun(frame.clone()).await?;
    let schema = rows.schema();
    let all = async move {
        match rows.next().await {
            Some(Err(error)) if is_of_memory(&error) => {
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

/// Whether the first row comes after the last one was read.
fn waits_for_all(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Sort(_) | LogicalPlan::Aggregate(_) => true,
        LogicalPlan::Projection(_) | LogicalPlan::Filter(_) | LogicalPlan::Limit(_) | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().into_iter().all(waits_for_all)
        }
        _ => false,
    }
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
