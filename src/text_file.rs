//! Text files: UTF-8, with or without a byte order mark.
//!
//! In: a file or its bytes. Out: the text, or an error with file, line and the byte at fault.

use std::path::Path;

use crate::error::InputError;
use crate::{Error, Result};

/// Reads a text file.
///
/// # Errors
/// The file can't be read, or as [`utf8`].
pub(crate) fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    utf8(path, &bytes).map(str::to_string)
}

/// The text that the bytes of `path` are, without a byte order mark.
///
/// # Errors
/// They are not UTF-8.
pub(crate) fn utf8<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(not_utf8(path).line(1).found("UTF-16").into());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(e) => {
            let (before, after) = bytes.split_at(e.valid_up_to());
            let line = 1 + before.iter().filter(|&&b| b == b'\n').count() as u64;
            let byte = after.first().copied().unwrap_or_default();
            Err(not_utf8(path).line(line).found(format!("byte 0x{byte:02x}")).into())
        }
    }
}

/// The file's name without its folders, for the sentence of a message.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
}

fn not_utf8(path: &Path) -> InputError {
    Error::input(format!("{} is not UTF-8 text", name(path))).file(path).fix("save it with the encoding UTF-8")
}
