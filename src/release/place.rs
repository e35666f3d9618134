//! Place: where a release is written before it has its name.
//!
//! In: the folder that it will be. Out: a hidden folder beside it that becomes it whole, or leaves nothing behind.
//! A killed process can leave the hidden folder; the next call for the same release removes it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf, absolute};

use tempfile::TempDir;

use crate::store::files::files_below;
use crate::{Error, Result};

/// Ending of the hidden folder's name.
const HIDDEN: &str = ".sago-release";
/// What a folder holds that nothing may be put into, by the file that it is told by.
const CLOSED: [(&str, &str); 2] = [("plan.json", "run"), ("release.json", "release")];

/// A release that is being written.
pub(super) struct Place {
    out: PathBuf,
    /// None before it is made; it has to go before the folders around it.
    aside: Option<TempDir>,
    folder: PathBuf,
    /// The folders around `out` that were not there, the innermost first.
    made: Vec<PathBuf>,
}

impl Place {
    /// Makes the hidden folder beside `out`.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub(super) fn begin(out: &Path) -> Result<Place> {
        let parent = folder_of(out);
        let missing = parent.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let made = missing.map(Path::to_path_buf).collect();
        let mut place = Place { out: out.to_path_buf(), aside: None, folder: PathBuf::new(), made };
        fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        let mut name = std::ffi::OsString::from(".");
        name.push(out.file_name().unwrap_or_default());
        name.push(HIDDEN);
        let left = parent.join(&name);
        if left.is_dir() {
            fs::remove_dir_all(&left).map_err(Error::io("remove", &left))?;
        }
        let aside = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(parent);
        let aside = place.aside.insert(aside.map_err(Error::io("write in", parent))?);
        // The folder inside has the permissions that the umask gives; the temporary one is private.
        place.folder = aside.path().join("release");
        fs::create_dir(&place.folder).map_err(Error::io("create", &place.folder))?;
        Ok(place)
    }

    /// Where to write.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Gives the folder its name, on disk before it is visible. Tells its files and their bytes.
    ///
    /// # Errors
    /// The disk is full, or something is there by now.
    pub(super) fn commit(self) -> Result<(usize, u64)> {
        let (mut count, mut bytes, mut folders) = (0, 0, BTreeSet::new());
        for file in files_below(&self.folder)? {
            let opened = File::open(&file).and_then(|opened| opened.sync_all().and_then(|()| opened.metadata()));
            bytes += opened.map_err(Error::io("write", &file))?.len();
            count += 1;
            folders.extend(file.ancestors().skip(1).map(Path::to_path_buf).take_while(|f| f.starts_with(&self.folder)));
        }
        folders.iter().try_for_each(|folder| sync(folder))?;
        // An empty folder of this name is replaced.
        fs::rename(&self.folder, &self.out).map_err(Error::io("create", &self.out))?;
        sync(folder_of(&self.out))?;
        Ok((count, bytes))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.aside.take());
        for folder in &self.made {
            // One that holds the release, or anything else, stays.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Refuses a folder that holds something, or that lies where a release would change what is there.
///
/// # Errors
/// What stands there, and what to do.
pub(super) fn check_out(out: &Path) -> Result<()> {
    let refused = |found: &str, expected: &str| {
        Err(Error::input(format!("{} can't become a release", out.display()))
            .key("--out")
            .found(found)
            .expected(expected)
            .fix("choose another folder with --out")
            .into())
    };
    let free = "a folder that is not there, or is empty";
    if out.file_name().is_none() {
        return refused("a path without a name", free);
    }
    match out.symlink_metadata() {
        Ok(there) if there.is_symlink() => return refused("a symbolic link", free),
        Ok(there) if !there.is_dir() => return refused("a file", free),
        Ok(_) if fs::read_dir(out).map_err(Error::io("list", out))?.next().is_some() => {
            return refused("a folder that is not empty", free);
        }
        _ => {}
    }
    let whole = absolute(out).map_err(Error::io("find", out))?;
    let there = whole.ancestors().find_map(|folder| folder.canonicalize().ok()).unwrap_or(whole);
    for folder in there.ancestors() {
        if let Some((_, what)) = CLOSED.iter().find(|(file, _)| folder.join(file).is_file()) {
            let found = format!("a folder inside the {what} {}", folder.display());
            return refused(&found, "a folder outside of runs and releases, which it would change");
        }
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn sync(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(Error::io("write in", folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_release_appears_whole_or_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("deep/er/out");
        drop(Place::begin(&out).unwrap());
        assert_eq!(names(dir.path()), [""; 0]);
        // What a killed process left.
        fs::create_dir_all(dir.path().join("deep/er/.out.sago-release/release/old")).unwrap();
        let place = Place::begin(&out).unwrap();
        assert_eq!(names(place.folder()), [""; 0]);
        fs::create_dir(place.folder().join("data")).unwrap();
        fs::write(place.folder().join("data/a"), "abc").unwrap();
        // Replaced, as it is empty.
        fs::create_dir(&out).unwrap();
        assert_eq!(place.commit().unwrap(), (1, 3));
        assert_eq!((names(&dir.path().join("deep/er")), names(&out)), (vec!["out".to_string()], vec!["data".into()]));
    }

    #[test]
    fn a_place_where_a_release_would_harm_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("run/some")).unwrap();
        fs::write(path("run/plan.json"), "{}").unwrap();
        fs::create_dir(path("empty")).unwrap();
        std::os::unix::fs::symlink(path("empty"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("run"), path("way")).unwrap();
        let refused = |name: &str| check_out(&path(name)).unwrap_err().to_string();
        assert!(refused("run/some/out").contains("inside the run"));
        assert!(refused("way/out/deep").contains("inside the run"));
        assert!(refused("link").contains("a symbolic link"));
        assert!(refused("run/plan.json").contains("a file"));
        assert!(refused("run").contains("not empty"));
        check_out(&path("empty")).unwrap();
        check_out(&path("new/er")).unwrap();
    }
}
