//! Sums: SHA256SUMS, as `sha256sum --check` reads it.
//!
//! In: a folder, and the SHA-256 of its files by path. Out: a line a file, sorted by path; and those lines read again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::files::write_atomically;
use crate::{Error, Result};

/// Name of the file in a folder.
pub const SUMS: &str = "SHA256SUMS";

/// Writes the sums of a folder.
///
/// # Errors
/// The file can't be written.
pub fn write(folder: &Path, sums: &BTreeMap<String, String>) -> Result<()> {
    let mut text = String::new();
    for (name, sum) in sums {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{sum}  {name}");
    }
    let path = folder.join(SUMS);
    write_atomically(&path, |file| std::io::Write::write_all(file, text.as_bytes()).map_err(Error::io("write", &path)))
}

/// Reads the sums of a folder: SHA-256 by path.
///
/// # Errors
/// The file can't be read, or a line of it is no sum: the line is named.
pub fn read(folder: &Path) -> Result<BTreeMap<String, String>> {
    let path = folder.join(SUMS);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_sha256sum_writes() {
        let folder = tempfile::tempdir().unwrap();
        // sha256 of "a", from `printf a | sha256sum`
        let sum = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
        let sums = BTreeMap::from([("data/a file".to_string(), sum.to_string())]);
        write(folder.path(), &sums).unwrap();
        let file = folder.path().join(SUMS);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{sum}  data/a file\n"));
        assert_eq!(read(folder.path()).unwrap(), sums);
        std::fs::write(&file, format!("{sum}  a\n{sum} b\n")).unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("line 2"));
    }
}
