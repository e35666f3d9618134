//! Pack: data as a page can carry it.
//!
//! In: JSON. Out: its zlib stream in base64, which a browser opens with its own `DecompressionStream`.
//! The same JSON gives the same text: there is no clock and no name in the stream.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::Value;

use crate::{Error, Result};

/// Packs a value; letters, digits, `+`, `/` and `=` only, so that it can stand in a script element as it is.
///
/// # Errors
/// [`Error::Table`] where it can't be compressed.
pub fn pack(value: &Value) -> Result<String> {
    let failed = |e: std::io::Error| Error::table::<std::io::Error>("report")(e);
    let mut stream = ZlibEncoder::new(Vec::new(), Compression::best());
    stream.write_all(value.to_string().as_bytes()).map_err(failed)?;
    Ok(STANDARD.encode(stream.finish().map_err(failed)?))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        let value = serde_json::json!({"text": "</script> \u{1f600}", "x": [1, null, 0.5]});
        let packed = pack(&value).unwrap();
        assert!(packed.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c)));
        let bytes = STANDARD.decode(packed).unwrap();
        let mut text = String::new();
        flate2::read::ZlibDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
