//! Digest: which weights a model has, as one SHA-256.
//!
//! In: the weights' files. Out: the digest of one file, or of the digests of several in their order.
//! Reading gigabytes at each start takes longer than loading them: a file's digest is kept in the program's cache, by path,
//! size, inode and time of change. The name of a file in the hub's cache, which is a digest too, is not relied on: it says
//! what was fetched, and not what lies there now.

use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::model::cache_dir::cache_dir;
use crate::{Error, Result, hash};

/// A file that changed a moment ago may change again without another time of change.
const SETTLED: Duration = Duration::from_secs(2);

/// A digest that was taken before.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    path: String,
    bytes: u64,
    inode: u64,
    changed_seconds: i64,
    changed_nanoseconds: i64,
    sha256: String,
}

/// The digest of a model's weights.
///
/// # Errors
/// [`Error::Io`] where a file can't be read.
pub fn of_files<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<String> {
    let folder = cache_dir().join("digests");
    let digests = files.into_iter().map(|file| of_file(file, &folder)).collect::<Result<Vec<_>>>()?;
    Ok(match &digests[..] {
        [one] => one.clone(),
        several => hash::of_parts(several.iter().map(String::as_bytes)),
    })
}

fn of_file(file: &Path, folder: &Path) -> Result<String> {
    let file = file.canonicalize().map_err(Error::io("find", file))?;
    let meta = file.metadata().map_err(Error::io("read", &file))?;
    let record = folder.join(hash::of_bytes(file.as_os_str().as_bytes()) + ".json");
    let known = fs::read(&record).ok().and_then(|text| serde_json::from_slice::<Known>(&text).ok());
    if let Some(known) = known
        && known == Known::of(&file, &meta, known.sha256.clone())
    {
        return Ok(known.sha256);
    }
    let sha256 = hash::of_file(&file)?;
    let known = Known::of(&file, &meta, sha256);
    let after = file.metadata().map_err(Error::io("read", &file))?;
    let is_settled = meta.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok()) > Some(SETTLED);
    if is_settled && known == Known::of(&file, &after, known.sha256.clone()) {
        // Without the record the file is read again the next time, that is all.
        if let Err(e) = known.write(&record) {
            log::debug!("{e}");
        }
    }
    Ok(known.sha256)
}

impl Known {
    fn of(path: &Path, meta: &Metadata, sha256: String) -> Known {
        Known {
            path: path.to_string_lossy().into_owned(),
            bytes: meta.len(),
            inode: meta.ino(),
            changed_seconds: meta.ctime(),
            changed_nanoseconds: meta.ctime_nsec(),
            sha256,
        }
    }

    fn write(&self, record: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).map_err(|e| Error::io("write", record)(e.into()))?;
        let folder = record.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        // Two programs may write at once; each record is whole.
        let mut part = tempfile::NamedTempFile::new_in(folder).map_err(Error::io("create", folder))?;
        std::io::Write::write_all(&mut part, &text).map_err(Error::io("write", record))?;
        part.persist(record).map_err(|e| Error::io("write", record)(e.error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};

    use super::*;

    #[test]
    fn a_digest_is_kept_until_the_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, file) = (folder.path().join("cache"), folder.path().join("w"));
        let records = || fs::read_dir(&cache).map_or(0, Iterator::count);
        fs::write(&file, "abc").unwrap();
        let abc = hash::of_bytes(b"abc");
        assert_eq!(of_file(&file, &cache).unwrap(), abc);
        assert_eq!(records(), 0, "changed a moment ago");

        let age = |by| {
            File::options()
                .write(true)
                .open(&file)
                .unwrap()
                .set_times(FileTimes::new().set_modified(SystemTime::now() - by))
        };
        age(Duration::from_secs(60)).unwrap();
        assert_eq!(of_file(&file, &cache).unwrap(), abc);
        assert_eq!(records(), 1);
        let record = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(&record).unwrap();
        fs::write(&record, text.replace(&abc, "kept")).unwrap();
        assert_eq!(of_file(&file, &cache).unwrap(), "kept");
        // Same size, another time of change, which nobody can set.
        fs::write(&file, "abd").unwrap();
        age(Duration::from_secs(60)).unwrap();
        assert_eq!(of_file(&file, &cache).unwrap(), hash::of_bytes(b"abd"));
        fs::write(&record, "damaged").unwrap();
        assert_eq!(of_file(&file, &cache).unwrap(), hash::of_bytes(b"abd"));
    }

    #[test]
    fn one_file_has_its_own_digest_and_several_have_one_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&a, "abc").unwrap();
        fs::write(&b, "abd").unwrap();
        assert_eq!(of_files([a.as_path()]).unwrap(), hash::of_bytes(b"abc"));
        let both = of_files([a.as_path(), &b]).unwrap();
        assert_ne!(both, of_files([b.as_path(), &a]).unwrap());
    }
}
