//! Damage: which Parquet file is broken.
//!
//! In: paths of Parquet files. Out: an error that names the first one that can't be read, and what to do about it.
//! Some damage makes the decoder panic; within [`caught`], and on the threads of a session, that is silent and an error.

use std::any::Any;
use std::cell::Cell;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::{Error, Result};

thread_local! {
    /// Whether a panic of this thread is caught and told as an error.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// From now on panics of this thread print nothing: whoever calls this catches them.
pub(super) fn silence_thread() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                others(info);
            }
        }));
    });
    CAUGHT.set(true);
}

/// Runs `work`; a panic in it is an error with its words. Nothing that it left half done may be used again.
pub(crate) fn caught<T>(work: impl FnOnce() -> std::result::Result<T, String>) -> std::result::Result<T, String> {
    let before = CAUGHT.get();
    silence_thread();
    let result = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(before);
    result.unwrap_or_else(|panic| Err(words(&*panic)))
}

/// What a panic said.
pub(super) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_string())
}

/// Reads what a Parquet file says about itself.
pub(super) fn footer(file: &Path) -> std::result::Result<ParquetRecordBatchReaderBuilder<File>, String> {
    caught(|| {
        let opened = File::open(file).map_err(|e| e.to_string())?;
        ParquetRecordBatchReaderBuilder::try_new(opened).map_err(|e| e.to_string())
    })
}

/// Decodes every value of a Parquet file.
pub(super) fn values(file: &Path) -> std::result::Result<(), String> {
    let builder = footer(file)?;
    caught(|| {
        for batch in builder.build().map_err(|e| e.to_string())? {
            batch.map_err(|e| e.to_string())?;
        }
        Ok(())
    })
}

/// A part of a run has to have a whole footer; this costs no more than planning a query on it.
pub(super) fn check_part(file: &Path) -> Result<()> {
    footer(file).map(drop).map_err(|found| damaged(file, found, IN_RUN))
}

/// What to do about a damaged file of a run.
pub(super) const IN_RUN: &str = "delete the file and run `sago run` (or `sago import`) again; it makes anew what is missing, or says what else to do";
/// What to do about a damaged table of the analysis.
pub(super) const IN_ANALYSIS: &str = "run `sago analyze` on this run again";
/// What to do about any other file.
pub(super) const ELSEWHERE: &str = "get or write the file again";

/// What to do about a damaged file, from where it lies.
pub(super) fn advice(file: &Path) -> &'static str {
    // A release may lie below a run, and is no part of it.
    let holds = |folder: &&Path| ["release.json", "plan.json"].iter().any(|name| folder.join(name).is_file());
    match file.ancestors().skip(1).find(holds) {
        Some(release) if release.join("release.json").is_file() => ELSEWHERE,
        _ if file.parent().is_some_and(|folder| folder.ends_with("analysis")) => IN_ANALYSIS,
        Some(_) => IN_RUN,
        None => ELSEWHERE,
    }
}

/// The error of a damaged Parquet file.
pub(super) fn damaged(file: &Path, found: impl Into<String>, fix: &str) -> Error {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    Error::input(format!("{name} is damaged: it can't be read as Parquet")).file(file).found(found).fix(fix).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_that_of_the_folder_a_file_lies_in() {
        let dir = tempfile::tempdir().unwrap();
        let touch = |name: &str| {
            let file = dir.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            file
        };
        touch("run/plan.json");
        touch("run/out/release.json");
        assert_eq!(advice(&touch("run/models.parquet")), IN_RUN);
        assert_eq!(advice(&touch("run/analysis/deltas.parquet")), IN_ANALYSIS);
        assert_eq!(advice(&touch("run/out/data/deltas.parquet")), ELSEWHERE);
        assert_eq!(advice(&touch("run/out/analysis/deltas.parquet")), ELSEWHERE);
        assert_eq!(advice(&touch("mine/deltas.parquet")), ELSEWHERE);
    }
}
