//! Materialize: a planned model as one Parquet file.
//!
//! In: a data frame and the model's contract. Out: `NAME.parquet`, sorted by the key, in plain types.
//! The file is written under a temporary name, synced and renamed: a reader never sees half of it.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Column;
use datafusion::common::utils::take_function_args;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, SortExpr, Volatility,
};
use datafusion::prelude::DataFrame;
use futures::StreamExt;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::graph::Model;
use super::joins;
use super::session::failed;
use super::types::{plain, plain_schema};
use crate::store::files::Pending;
use crate::{Error, Result};

/// Runs `frame` and writes its rows to `path`, with `metadata` (their origin) beside them; gives their number.
pub(super) async fn write(frame: DataFrame, model: &Model, metadata: Vec<KeyValue>, path: &Path) -> Result<u64> {
    let order = sort_order(&frame, model);
    let frame = if order.is_empty() { frame } else { frame.sort(order).map_err(failed)? };
    let schema = plain_schema(frame.schema().as_arrow());
    let mut pending = Pending::new(path)?;
    let unwritable = Error::table(&model.name);

    let compression = ZstdLevel::try_new(3).map_err(Error::table(&model.name))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(compression))
        .set_key_value_metadata(Some(metadata))
        .build();
    let mut writer = ArrowWriter::try_new(pending.file(), Arc::clone(&schema), Some(properties))
        .map_err(Error::table(&model.name))?;
    let mut rows = 0u64;
    let mut batches = joins::rows(frame).await.map_err(failed)?;
    while let Some(batch) = batches.next().await {
        let batch = plain(&batch.map_err(failed)?, &schema).map_err(Error::table(&model.name))?;
        rows += batch.num_rows() as u64;
        writer.write(&batch).map_err(Error::table(&model.name))?;
    }
    writer.close().map_err(unwritable)?;

    pending.commit()?;
    Ok(rows)
}

/// By the contract's key; without one by every column that has an order, numbers with a fraction last: their last
/// digits depend on the number of threads.
fn sort_order(frame: &DataFrame, model: &Model) -> Vec<SortExpr> {
    // DataFusion 55 takes rows for sorted by an unnested column when they are not, and leaves the sort out. Of what
    // this function gives it knows no order.
    let opaque = ScalarUDF::from(Opaque { signature: Signature::any(1, Volatility::Volatile) });
    let by = |name: &str| opaque.call(vec![Expr::Column(Column::from_name(name))]).sort(true, true);
    if !model.contract.unique.is_empty() {
        return model.contract.unique.iter().map(|name| by(name)).collect();
    }
    let ordered = frame.schema().fields().iter().filter(|field| !field.data_type().is_nested());
    let (fractions, others): (Vec<_>, Vec<_>) = ordered.partition(|field| field.data_type().is_floating());
    others.into_iter().chain(fractions).map(|field| by(field.name())).collect()
}

/// A function that gives its argument as it is.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Opaque {
    signature: Signature,
}

impl ScalarUDFImpl for Opaque {
    fn name(&self) -> &str {
        "opaque"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> datafusion::error::Result<DataType> {
        let [argument] = take_function_args(self.name(), types)?;
        Ok(argument.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> datafusion::error::Result<ColumnarValue> {
        let [argument] = take_function_args(self.name(), args.args)?;
        Ok(argument)
    }
}
