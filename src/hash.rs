//! Hashes: SHA-256 of what went into a run, as hexadecimal digits.
//!
//! In: bytes, a file, or parts of a key. Out: 64 lower-case digits.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// SHA-256 of bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes).as_slice())
}

/// SHA-256 of a file, read a piece at a time.
///
/// # Errors
/// The file can't be read.
pub fn of_file(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    of_reader(&mut file).map_err(Error::io("read", path))
}

/// SHA-256 of all that is left to read.
///
/// # Errors
/// Reading fails.
pub fn of_reader(reader: &mut impl Read) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match reader.read(&mut piece)? {
            0 => return Ok(hex(hash.finalize().as_slice())),
            n => hash.update(piece.get(..n).unwrap_or_default()),
        }
    }
}

/// SHA-256 of several parts, each preceded by its length in bytes (u64, little-endian), so that ("ab", "c") and
/// ("a", "bc") differ.
pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(hash.finalize().as_slice())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_sha256() {
        // the published test vector of FIPS 180-2 for "abc"
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of_bytes(b"abc"), abc);
        assert_eq!(of_reader(&mut b"abc".as_slice()).unwrap(), abc);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        assert_eq!(of_file(file.path()).unwrap(), abc);
        assert_ne!(of_parts([b"ab".as_slice(), b"c"]), of_parts([b"a".as_slice(), b"bc"]));
    }
}
