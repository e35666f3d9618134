//! Memory: how much of it queries may use.
//!
//! In: a size as people write it, "2GiB". Out: a limit for a session, and what an error has to do with it.

use std::fmt;
use std::str::FromStr;

use datafusion::error::DataFusionError;

use crate::{Error, Result};

/// Most memory that the sorts, joins and groups of a session may hold together; what is more goes to files in the
/// system's temporary folder. Buffers of readers and writers are not counted: allow for some 100 MiB beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit {
    bytes: usize,
}

/// Least limit: less does not hold the batches that are being worked on.
const LEAST: usize = 16 << 20;

const UNITS: [(&str, u64); 9] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("b", 1),
];

/// Bytes of a size as people write it, "2GiB"; not rounded, not checked for sense.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn size_in_bytes(text: &str) -> Result<f64, &'static str> {
    let lower = text.trim().to_ascii_lowercase();
    let unit = UNITS.into_iter().find_map(|(unit, size)| Some((lower.strip_suffix(unit)?, size)));
    let (number, size) = unit.ok_or("it needs a unit")?;
    let number: f64 = number.trim().parse().map_err(|_| "what stands before the unit is no number")?;
    Ok(number * size as f64)
}

/// Whether a query had too little memory.
pub(super) fn is_of_memory(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

/// What to do about an error, where it comes of too little memory.
pub(super) fn advice(error: &DataFusionError) -> Option<&'static str> {
    is_of_memory(error).then_some("give it more with --memory-limit")
}

impl MemoryLimit {
    /// The limit in bytes.
    pub fn bytes(self) -> usize {
        self.bytes
    }
}

impl FromStr for MemoryLimit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: &str| -> Error {
            Error::input(what).found(text).expected("a size as 2GiB, 512MiB or 4GB, at least 16MiB").into()
        };
        let bytes = size_in_bytes(text).map_err(|what| wrong(&format!("this is no memory limit: {what}")))?;
        if !(bytes >= LEAST as f64 && bytes <= (1u64 << 50) as f64) {
            return Err(wrong("this is no memory limit that can be kept to"));
        }
        Ok(MemoryLimit { bytes: bytes as usize })
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", self.bytes >> 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        let bytes = |text: &str| text.parse::<MemoryLimit>().map(MemoryLimit::bytes).ok();
        assert_eq!(bytes("2GiB"), Some(2 << 30));
        assert_eq!(bytes("512 mib"), Some(512 << 20));
        assert_eq!(bytes("1.5GB"), Some(1_500_000_000));
        for wrong in ["", "2", "GiB", "-1GiB", "nanGiB", "infGiB", "1KiB", "2 apples", "9999999TiB"] {
            assert_eq!(bytes(wrong), None, "{wrong:?}");
        }
    }
}
