//! Parts: one table as one Parquet file, or as several where it is large.
//!
//! In: batches of rows. Out: `TABLE.parquet`, or `TABLE/part-00000.parquet` and so on, each full but the last.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::{Error, Result};

/// The files of one table.
pub(super) struct Parts<'a> {
    table: &'a str,
    folder: &'a Path,
    properties: WriterProperties,
    schema: &'a SchemaRef,
    writer: Option<ArrowWriter<File>>,
    files: Vec<PathBuf>,
    /// Rows so far.
    pub(super) rows: u64,
    /// Size at which a file ends.
    most: usize,
}

impl<'a> Parts<'a> {
    /// No file yet; each will end where it reaches `most` bytes.
    pub(super) fn new(
        table: &'a str,
        folder: &'a Path,
        properties: WriterProperties,
        schema: &'a SchemaRef,
        most: usize,
    ) -> Self {
        Parts { table, folder, properties, schema, writer: None, files: Vec::new(), rows: 0, most }
    }

    /// Writes rows to the file that is open, or to the next.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.begin()?,
        };
        writer.write(batch).map_err(Error::table(self.table))?;
        self.rows += batch.num_rows() as u64;
        if writer.bytes_written() + writer.in_progress_size() < self.most {
            self.writer = Some(writer);
            return Ok(());
        }
        end(writer, self.table)
    }

    /// Begins the next file: `TABLE.parquet`; a second makes parts of both.
    fn begin(&mut self) -> Result<ArrowWriter<File>> {
        let part = |number: usize| self.folder.join(self.table).join(format!("part-{number:05}.parquet"));
        let path = match self.files.as_slice() {
            [] => self.folder.join(format!("{}.parquet", self.table)),
            [only] => {
                let first = part(0);
                create_folder_of(&first)?;
                fs::rename(only, &first).map_err(Error::io("rename", only))?;
                self.files = vec![first];
                part(1)
            }
            more => part(more.len()),
        };
        create_folder_of(&path)?;
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        self.files.push(path);
        ArrowWriter::try_new(file, self.schema.clone(), Some(self.properties.clone())).map_err(Error::table(self.table))
    }

    /// The files.
    pub(super) fn finish(mut self) -> Result<Vec<PathBuf>> {
        if let Some(writer) = self.writer.take() {
            end(writer, self.table)?;
        }
        Ok(self.files)
    }
}

fn create_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(Error::io("create", folder))
}

fn end(writer: ArrowWriter<File>, table: &str) -> Result<()> {
    writer.close().map(drop).map_err(Error::table(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Resources, first_row, open_released};
    use std::sync::Arc;

    #[test]
    fn a_large_table_is_cut_into_parts_that_are_one_table() {
        let dir = tempfile::tempdir().unwrap();
        let numbers: arrow::array::ArrayRef = Arc::new(arrow::array::Int64Array::from_iter_values(0..10));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let schema = batch.schema();
        let write = |most: usize, batches: usize| {
            let properties = WriterProperties::builder().build();
            let mut parts = Parts::new("t", dir.path(), properties, &schema, most);
            (0..batches).for_each(|_| parts.write(&batch).unwrap());
            let names = parts.finish().unwrap();
            names.iter().map(|file| file.strip_prefix(dir.path()).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(write(1, 0), [""; 0]);
        assert_eq!(write(1, 1), ["t.parquet"]);
        let files = write(1, 3);
        assert_eq!(files, ["t/part-00000.parquet", "t/part-00001.parquet", "t/part-00002.parquet"]);
        assert!(!dir.path().join("t.parquet").exists());
        let files = files.iter().map(|name| dir.path().join(name)).collect();
        let session = open_released(Resources::default(), &[("t", files, schema.clone())]).unwrap();
        let sum = first_row(&session.query("select sum(n) as sum from t").unwrap());
        assert_eq!(sum, [("sum".to_string(), "135".to_string())]);
    }
}
