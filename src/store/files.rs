//! Files that appear whole or not at all.
//!
//! In: a path and a function that writes. Out: the file, after write-to-temporary, fsync and rename.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Ending of files that are being written; a killed process may leave some, and the next one removes them.
pub const TEMPORARY: &str = ".tmp";

/// A file that is being written under a temporary name in its own directory; dropped without [`Pending::commit`], it
/// leaves no trace.
#[derive(Debug)]
pub struct Pending {
    temporary: tempfile::NamedTempFile,
    path: PathBuf,
}

impl Pending {
    /// Begins the file that will be `path`; its directory is made where it is missing.
    ///
    /// # Errors
    /// The directory or a file in it can't be written.
    pub fn new(path: &Path) -> Result<Pending> {
        let dir = folder_of(path);
        fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
        let temporary = tempfile::Builder::new()
            .prefix(".")
            .suffix(TEMPORARY)
            .permissions(readable())
            .tempfile_in(dir)
            .map_err(Error::io("write in", dir))?;
        Ok(Pending { temporary, path: path.to_path_buf() })
    }

    /// Where to write.
    pub fn file(&mut self) -> &mut File {
        self.temporary.as_file_mut()
    }

    /// Puts the file in its place, on disk before it is visible.
    ///
    /// # Errors
    /// The disk is full, or the file can't be renamed; the old file, if any, is then untouched.
    pub fn commit(self) -> Result<()> {
        let Pending { temporary, path } = self;
        temporary.as_file().sync_all().map_err(Error::io("write", &path))?;
        temporary.persist(&path).map_err(|e| Error::io("write", &path)(e.error))?;
        // The rename itself is only safe once the folder is on disk.
        let dir = folder_of(&path);
        File::open(dir).and_then(|d| d.sync_all()).map_err(Error::io("write in", dir))?;
        log::debug!("wrote {}", path.display());
        Ok(())
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Temporary files are private by default; tables are for everyone that the umask allows.
fn readable() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}

/// Writes a whole file, or leaves everything as it was.
///
/// # Errors
/// Those of `write`, and as [`Pending`].
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let mut pending = Pending::new(path)?;
    write(pending.file())?;
    pending.commit()
}

/// Writes a text as a whole file, or leaves everything as it was.
///
/// # Errors
/// As [`Pending`].
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    write_atomically(path, |file| file.write_all(text.as_bytes()).map_err(Error::io("write", path)))
}

/// Writes a value as indented JSON, atomically.
///
/// # Errors
/// As [`write_atomically`].
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value).map_err(Error::table(&path.display().to_string()))?;
    text.push('\n');
    write_text(path, &text)
}

/// Removes what a killed process left half written below `dir`.
///
/// # Errors
/// A directory can't be read or a file not removed.
pub fn remove_temporaries(dir: &Path) -> Result<()> {
    for path in files_below(dir)? {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if name.starts_with('.') && name.ends_with(TEMPORARY) {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// All files below `dir`, sorted by path.
///
/// # Errors
/// A directory can't be read.
pub fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).map_err(Error::io("read", &dir))? {
            let entry = entry.map_err(Error::io("read", &dir))?;
            let kind = entry.file_type().map_err(Error::io("read", entry.path()))?;
            if kind.is_dir() { open.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_trace() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.json");
        write_json(&path, &1).unwrap();
        let failed = write_atomically(&path, |f| {
            f.write_all(b"half").unwrap();
            Err(Error::Interrupted)
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n");
        assert_eq!(files_below(dir.path()).unwrap(), [path]);
    }
}
