//! Checksums: SHA256SUMS, as `sha256sum --check` reads it.
//!
//! In: a folder. Out: a line a file, sorted by path; and what differs from them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::store::files::{files_below, write_text};
use crate::{Error, Result, hash};

/// Name of the file in a release.
pub(super) const FILE: &str = "SHA256SUMS";

/// Writes the checksums of all files of `folder`.
pub(super) fn write(folder: &Path) -> Result<()> {
    let mut text = String::new();
    for name in names(folder)?.iter().filter(|name| *name != FILE) {
        let sum = hash::of_file(&folder.join(name))?;
        // Writing to a String does not fail.
        let _ = writeln!(text, "{sum}  {name}");
    }
    write_text(&folder.join(FILE), &text)
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

/// Reads the checksums: SHA-256 by path.
///
/// # Errors
/// The file can't be read, or a line of it is no checksum: the line is named.
pub(super) fn read(folder: &Path) -> Result<BTreeMap<String, String>> {
    let path = folder.join(FILE);
    let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    let mut sums = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let parts = line.split_once("  ").filter(|(sum, name)| is_sum(sum) && !name.is_empty());
        let Some((sum, name)) = parts else {
            return Err(Error::input(format!("{} is damaged", path.display()))
                .file(&path)
                .line(number as u64 + 1)
                .expected("64 hexadecimal digits, two spaces, a path")
                .into());
        };
        sums.insert(name.to_string(), sum.to_string());
    }
    Ok(sums)
}

fn is_sum(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Every difference of `folder` from its checksums, each with its file: missing, changed, not listed.
pub(super) fn differences(folder: &Path) -> Result<Vec<String>> {
    let mut sums = read(folder)?;
    let mut found = Vec::new();
    for name in names(folder)?.iter().filter(|name| *name != FILE) {
        match sums.remove(name) {
            None => found.push(format!("{name} is not of the release")),
            Some(sum) if hash::of_file(&folder.join(name))? != sum => {
                found.push(format!("{name} has other bytes than {FILE} says"));
            }
            Some(_) => {}
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
        std::fs::create_dir(file("data")).unwrap();
        for name in ["a", "b", "data/c"] {
            std::fs::write(file(name), name).unwrap();
        }
        write(dir.path()).unwrap();
        assert_eq!(differences(dir.path()).unwrap(), [""; 0]);
        // sha256 of "a", from `printf a | sha256sum`
        let sum = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n";
        assert!(std::fs::read_to_string(file(FILE)).unwrap().starts_with(sum));
        std::fs::remove_file(file("a")).unwrap();
        std::fs::write(file("data/c"), "C").unwrap();
        std::fs::write(file("extra"), "x").unwrap();
        let expected = ["a is missing", "data/c has other bytes than SHA256SUMS says", "extra is not of the release"];
        assert_eq!(differences(dir.path()).unwrap(), expected);
        std::fs::write(file(FILE), format!("{sum}no sum\n")).unwrap();
        assert!(differences(dir.path()).unwrap_err().to_string().contains("line 2"));
    }
}
