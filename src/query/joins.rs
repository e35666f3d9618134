//! Joins: in memory, and by sorting where memory does not suffice.
//!
//! In: a planned query. Out: its rows. The table of a hash join can't go to a file; joins that sort can, but take
//! several times longer, and most queries join a small table with a large one.

use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::DataFrame;
use futures::{StreamExt, TryStreamExt, stream};

/// Rows of a query as they come. Where the memory limit of its session is reached before the first of them came, it is
/// run again with joins that sort.
pub(super) async fn rows(frame: DataFrame) -> Result<SendableRecordBatchStream, DataFusionError> {
    let mut rows = frame.clone().execute_stream().await?;
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

/// Whether a query had too little memory.
pub(super) fn is_of_memory(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

fn sorting(frame: DataFrame) -> DataFrame {
    let (mut state, plan) = frame.into_parts();
    state.config_mut().options_mut().optimizer.prefer_hash_join = false;
    DataFrame::new(state, plan)
}
