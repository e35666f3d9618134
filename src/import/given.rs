//! Given: deltas become a run whose table `deltas` is given, not derived.
//!
//! In: gathered deltas. Out: plan.json, models, variants, `given/deltas.parquet`, manifest.json; the table prompts is
//! there without rows, since such files hold no texts.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Builder, Int32Builder, RecordBatch, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::json;

use super::gathered::{Delta, Gathered};
use super::write::{complete, finish, model_rows, open, variant};
use super::{Import, Imported};
use crate::store::files::write_atomically;
use crate::store::manifest::GIVEN;
use crate::store::rows::Rows;
use crate::store::schema::SCHEMA_VERSION;
use crate::{Error, Result};

/// Rows of one batch.
const BATCH: usize = 65_536;

/// Writes a run that knows deltas only.
pub(super) fn write(import: &Import, mut gathered: Gathered, out: &Path) -> Result<Imported> {
    let models = gathered.models.as_folders("model", &mut gathered.notes)?;
    let datasets = gathered.datasets.as_folders("data set", &mut gathered.notes)?;
    let mut variants = Rows::of("variants")?;
    for ((dataset, prompt), wordings) in &gathered.baselines {
        let dataset = datasets.get(*dataset as usize).map_or("", String::as_str);
        for (wording, baseline) in wordings {
            if let (Some(wording), Some(baseline)) = (gathered.wordings.get(*wording), gathered.wordings.get(*baseline))
            {
                variant(&mut variants, dataset, gathered.prompts.get(*prompt), wording, baseline, None)?;
            }
        }
    }
    let counts = json!({
        "prompts": gathered.baselines.len(), "variants": variants.len(), "deltas": gathered.deltas.len(),
    });
    let (files, mut notes) = (std::mem::take(&mut gathered.files), std::mem::take(&mut gathered.notes));
    notes.push("the files hold no texts: the table prompts is empty, variants.text is NULL".to_string());
    let dir = open(import, &files, &models, &datasets, counts, out)?;
    if dir.is_complete() {
        return complete(&dir, notes);
    }
    dir.write_table(model_rows(&models)?)?;
    dir.write_table(Rows::of("prompts")?)?;
    dir.write_table(variants)?;
    let path = dir.path().join(GIVEN).join("deltas.parquet");
    write_table(&path, &gathered, &models, &datasets, dir.run_id())?;
    finish(&dir, notes)
}

fn write_table(path: &Path, gathered: &Gathered, models: &[String], datasets: &[String], run_id: &str) -> Result<()> {
    let text = |name| Field::new(name, DataType::Utf8, false);
    let schema = Arc::new(Schema::new(vec![
        text("model"),
        text("dataset"),
        text("prompt_id"),
        text("variant_id"),
        Field::new("repeat", DataType::Int32, false),
        text("axis"),
        Field::new("value", DataType::Float64, true),
        Field::new("delta", DataType::Float64, true),
    ]));
    let level = ZstdLevel::try_new(3).map_err(Error::table("deltas"))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_key_value_metadata(Some(vec![
            KeyValue::new("sago.schema_version".to_string(), SCHEMA_VERSION.to_string()),
            KeyValue::new("sago.run_id".to_string(), run_id.to_string()),
        ]))
        .build();
    write_atomically(path, |file| {
        let mut writer =
            ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(Error::table("deltas"))?;
        for rows in gathered.deltas.chunks(BATCH) {
            let figures = |of: &dyn Fn(&Delta) -> Option<f64>| -> ArrayRef {
                let mut figures = Float64Builder::new();
                rows.iter().for_each(|row| figures.append_option(of(row)));
                Arc::new(figures.finish())
            };
            let mut repeats = Int32Builder::new();
            rows.iter().for_each(|row| repeats.append_value(row.key.repeat));
            let columns = vec![
                texts(rows.iter().map(|row| models.get(row.key.model as usize).map_or("", String::as_str))),
                texts(rows.iter().map(|row| datasets.get(row.key.dataset as usize).map_or("", String::as_str))),
                texts(rows.iter().map(|row| gathered.prompts.get(row.key.prompt))),
                texts(rows.iter().map(|row| gathered.wordings.get(row.key.wording).map_or("", |w| w.id.as_str()))),
                Arc::new(repeats.finish()) as ArrayRef,
                texts(
                    rows.iter()
                        .map(|row| gathered.axes.get(usize::from(row.key.axis)).map_or("", |axis| axis.name.as_str())),
                ),
                figures(&|row| row.value),
                figures(&|row| row.delta),
            ];
            let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(Error::table("deltas"))?;
            writer.write(&batch).map_err(Error::table("deltas"))?;
        }
        writer.close().map_err(Error::table("deltas"))?;
        Ok(())
    })
}

fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> ArrayRef {
    let mut column = StringBuilder::new();
    texts.for_each(|text| column.append_value(text));
    Arc::new(column.finish())
}
