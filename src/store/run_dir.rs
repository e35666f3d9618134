//! Run directory: opened once, locked while it is written, resumed where it stopped.
//!
//! In: a directory and a plan. Out: a [`RunDir`] that says which units of work are done.
//! A unit is all wordings of one prompt for one model; its part of `work` is written last, names the others, and marks it done.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::rows::Rows;
use super::{files, part};
use crate::{Error, Result, hash};

/// A run directory that this process may write.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    run_id: String,
    /// Held until the process ends, also when it is killed.
    _lock: File,
}

impl RunDir {
    /// Makes the directory for `plan`, or opens it where it already holds a part of the same run.
    ///
    /// # Errors
    /// The directory can't be written, holds something else, holds a run of another plan (the differences are
    /// listed), or another process is writing to it.
    pub fn open(path: &Path, plan: &Value) -> Result<RunDir> {
        let plan_file = path.join("plan.json");
        if !plan_file.exists() && path.exists() && !holds_nothing(path)? {
            return Err(Error::input(format!("{} is not empty and holds no plan.json", path.display()))
                .expected("a new or empty directory, or one that holds a part of this run")
                .fix("choose another directory with --out")
                .into());
        }
        fs::create_dir_all(path).map_err(Error::io("create", path))?;
        let lock_file = path.join(".lock");
        let lock = File::create(&lock_file).map_err(Error::io("write", &lock_file))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::input(format!("another sago is writing to {}", path.display()))
                    .fix("wait until it is done, or choose another directory with --out")
                    .into());
            }
            Err(TryLockError::Error(e)) => return Err(Error::io("lock", &lock_file)(e)),
        }
        files::remove_temporaries(path)?;
        if plan_file.exists() {
            same_plan(path, &read_json(&plan_file)?, plan)?;
        } else {
            files::write_json(&plan_file, plan)?;
        }
        Ok(RunDir { path: path.to_path_buf(), run_id: hash::of_file(&plan_file)?, _lock: lock })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 of plan.json; every part carries it.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Whether the run is complete.
    pub fn is_complete(&self) -> bool {
        self.path.join("manifest.json").exists()
    }

    /// Whether the unit with this number is done: its part of `work` and all those written before it are whole.
    pub fn is_done(&self, model: &str, dataset: &str, number: usize) -> bool {
        let part = |table: &str| part::path(&self.path, table, model, dataset, number);
        let Some(others) = part::beside(&part("work"), "work", &self.run_id) else { return false };
        others.iter().all(|table| part::beside(&part(table), table, &self.run_id).is_some())
    }

    /// Writes an unpartitioned table.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write_table(&self, rows: Rows) -> Result<()> {
        let path = self.path.join(format!("{}.parquet", rows.table().name));
        part::write(&path, rows, &self.run_id)
    }

    /// Writes the parts of a unit; empty ones are left out. `work` must be the last of them.
    ///
    /// # Errors
    /// A file can't be written. The unit is then not done and will be made again.
    pub fn write_unit(&self, model: &str, dataset: &str, number: usize, parts: Vec<Rows>) -> Result<()> {
        let mut written = Vec::new();
        for rows in parts.into_iter().filter(|rows| !rows.is_empty()) {
            let table = rows.table().name;
            let path = part::path(&self.path, table, model, dataset, number);
            part::write_beside(&path, rows, &self.run_id, &written)?;
            written.push(table);
        }
        Ok(())
    }
}

fn holds_nothing(dir: &Path) -> Result<bool> {
    let found = files::files_below(dir).map_err(|e| match e {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotADirectory => {
            Error::input(format!("{} is a file", dir.display()))
                .expected("a directory")
                .fix("choose another with --out")
                .into()
        }
        other => other,
    })?;
    Ok(found.iter().all(|f| {
        let name = f.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        name == ".lock" || (name.starts_with('.') && name.ends_with(files::TEMPORARY))
    }))
}

/// Reads a JSON file of a run.
///
/// # Errors
/// It can't be read or is not JSON.
pub fn read_json(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    serde_json::from_str(&text).map_err(|e| {
        Error::input(format!("{} is damaged: {e}", path.display())).file(path).line(e.line() as u64).into()
    })
}

fn same_plan(dir: &Path, there: &Value, now: &Value) -> Result<()> {
    let mut differences = Vec::new();
    compare("", there, now, &mut differences);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::input(format!("{} holds a run of a different plan", dir.display()))
        .found(differences.join("\n         "))
        .fix("choose another directory with --out, or give the same settings as in its plan.json")
        .into())
}

/// Lists `key: there -> now` for every leaf that differs.
fn compare(key: &str, there: &Value, now: &Value, differences: &mut Vec<String>) {
    let below = |name: &str| if key.is_empty() { name.to_string() } else { format!("{key}.{name}") };
    match (there, now) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, value) in a {
                compare(&below(name), value, b.get(name).unwrap_or(&Value::Null), differences);
            }
            for (name, value) in b.iter().filter(|(name, _)| !a.contains_key(*name)) {
                compare(&below(name), &Value::Null, value, differences);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() && a.iter().any(Value::is_object) => {
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                compare(&format!("{key}[{i}]"), x, y, differences);
            }
        }
        (a, b) if a == b => {}
        (a, b) => differences.push(format!("{key}: {} there, {} now", short(a), short(b))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_different_plan_is_refused_with_its_differences() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let plan = json!({"seed": 1, "generation": {"max_new_tokens": 32}, "models": [{"name": "a"}]});
        let opened = RunDir::open(&run, &plan).unwrap();
        assert_eq!(opened.run_id(), hash::of_file(&run.join("plan.json")).unwrap());
        let second = RunDir::open(&run, &plan).unwrap_err().to_string();
        assert!(second.contains("another sago is writing"), "{second}");
        drop(opened);
        RunDir::open(&run, &plan).unwrap();
        let other = json!({"seed": 1, "generation": {"max_new_tokens": 64}, "models": [{"name": "b"}], "x": true});
        let message = RunDir::open(&run, &other).unwrap_err().to_string();
        for part in ["generation.max_new_tokens: 32 there, 64 now", "models[0].name: \"a\" there", "x: null there"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn other_peoples_folders_and_files_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "x").unwrap();
        let message = RunDir::open(dir.path(), &json!({})).unwrap_err().to_string();
        assert!(message.contains("holds no plan.json"), "{message}");
        let message = RunDir::open(&dir.path().join("thesis.tex"), &json!({})).unwrap_err().to_string();
        assert!(message.contains("is a file"), "{message}");
    }
}
