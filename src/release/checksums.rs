//! Checksums: the SHA256SUMS of a release.
//!
//! In: a folder. Out: the sum of every file of it; and what differs from them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::store::files::files_below;
use crate::store::sums::{SUMS, read, write as write_sums};
use crate::{Result, hash};

/// SHA-256 by path within a folder.
pub(super) type Sums = BTreeMap<String, String>;

/// Writes the checksums of all files of `folder`.
pub(super) fn write(folder: &Path) -> Result<()> {
    let mut sums = of_files(folder)?;
    sums.remove(SUMS);
    write_sums(folder, &sums)
}

/// The sums of all files of `folder`.
pub(super) fn of_files(folder: &Path) -> Result<Sums> {
    names(folder)?.into_iter().map(|name| hash::of_file(&folder.join(&name)).map(|sum| (name, sum))).collect()
}

/// Paths of all files within `folder`, with `/` between folders.
pub(super) fn names(folder: &Path) -> Result<Vec<String>> {
    let files = files_below(folder)?;
    let mut names: Vec<String> = Vec::new();
    for file in &files {
        let name = file.strip_prefix(folder).unwrap_or(file);
        // What version control and hubs keep beside the files is not of the release.
        if name.components().next().is_some_and(|first| [".git", ".cache"].iter().any(|own| first.as_os_str() == *own))
        {
            continue;
        }
        names.push(name.to_string_lossy().into_owned());
    }
    names.retain(|name| name != ".gitattributes");
    names.sort();
    Ok(names)
}

/// Every difference of the files that are `there` from the checksums of `folder`, each with its file: missing, changed,
/// not listed. Where `others`, which were written beside them, know the sum of a file, it is the line that is wrong.
///
/// # Errors
/// SHA256SUMS can't be read.
pub(super) fn differences(folder: &Path, there: &Sums, others: &Sums) -> Result<Vec<String>> {
    let mut sums = read(folder)?;
    let mut found = Vec::new();
    for (name, own) in there.iter().filter(|(name, _)| *name != SUMS) {
        match sums.remove(name) {
            None => found.push(format!("{name} is not of the release")),
            Some(sum) if sum == *own => {}
            Some(_) if others.get(name) == Some(own) => {
                found.push(format!("{SUMS} has another sum of {name}, which is as it was written"));
            }
            Some(_) => found.push(format!("{name} has other bytes than {SUMS} says")),
        }
    }
    found.extend(sums.keys().map(|name| format!("{name} is missing")));
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        let found = |others: &Sums| differences(dir.path(), &of_files(dir.path()).unwrap(), others);
        let none = Sums::new();
        std::fs::create_dir(file("data")).unwrap();
        for name in ["a", "b", "data/c"] {
            std::fs::write(file(name), name).unwrap();
        }
        write(dir.path()).unwrap();
        assert_eq!(found(&none).unwrap(), [""; 0]);
        // sha256 of "a", from `printf a | sha256sum`
        let sum = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n";
        let text = std::fs::read_to_string(file(SUMS)).unwrap();
        assert!(text.starts_with(sum));
        let written = of_files(dir.path()).unwrap();
        std::fs::write(file(SUMS), text.replacen('c', "d", 1)).unwrap();
        assert_eq!(found(&none).unwrap(), ["a has other bytes than SHA256SUMS says"]);
        assert_eq!(found(&written).unwrap(), ["SHA256SUMS has another sum of a, which is as it was written"]);
        std::fs::write(file(SUMS), text).unwrap();
        std::fs::remove_file(file("a")).unwrap();
        std::fs::write(file("data/c"), "C").unwrap();
        std::fs::write(file("extra"), "x").unwrap();
        let expected = ["a is missing", "data/c has other bytes than SHA256SUMS says", "extra is not of the release"];
        assert_eq!(found(&none).unwrap(), expected);
        std::fs::write(file(SUMS), format!("{sum}no sum\n")).unwrap();
        assert!(found(&none).unwrap_err().to_string().contains("line 2"));
    }
}
