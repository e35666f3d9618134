//! GGUF: the container that holds a model's metadata and tensors, in one file or split over several.
//!
//! In: a path. Out: [`Gguf`], its metadata as typed values and its tensors as [`Weights`].
//! Every length is checked against the file's size before anything is allocated, so a cut or forged file is an error.
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>, versions 2 and 3, little-endian.

mod header;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Mapped, Weights};
use crate::{Error, Result, text_file};
use header::Header;

/// One metadata value. Integers of all widths are widened, floats too.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Any integer type.
    Int(i128),
    /// Any float type.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// UTF-8 text.
    Text(String),
    /// A list of values of one type.
    List(Vec<Value>),
}

/// Key of the number of files of a split model.
const SPLIT_COUNT: &str = "split.count";

/// An open GGUF file whose header is read and whose tensors all lie inside the file.
#[derive(Debug)]
pub struct Gguf {
    path: PathBuf,
    /// Metadata by key; of a split model, the first file's.
    pub metadata: BTreeMap<String, Value>,
    /// The tensors.
    pub weights: Arc<Weights>,
}

impl Gguf {
    /// Opens a file and reads its header; of a split model, the first file, and the others beside it.
    ///
    /// # Errors
    /// [`Error::Io`] where a file can't be read; [`Error::Input`] where it is no GGUF, of an unknown version, or cut, or a
    /// part of a split model is missing.
    pub fn open(path: &Path) -> Result<Gguf> {
        if path.is_dir() {
            return Err(Error::input("a GGUF model is a .gguf file, this is a folder")
                .file(path)
                .fix("name the .gguf file in it")
                .into());
        }
        let mut weights = Weights::none(path);
        let metadata = read(path, &mut weights)?;
        let mut gguf = Gguf { path: path.to_path_buf(), metadata, weights: Arc::default() };
        let parts = match gguf.metadata.contains_key(SPLIT_COUNT) {
            true => gguf.count(SPLIT_COUNT)?,
            false => 1,
        };
        if parts > 1 {
            let suffix = |part: usize| format!("-{part:05}-of-{parts:05}.gguf");
            let name = text_file::name(path);
            let Some(stem) = name.strip_suffix(&suffix(1)) else {
                return Err(Error::input(format!("the model is split over {parts} files, and this is not the first"))
                    .file(path)
                    .fix(format!("name the file that ends in {}", suffix(1)))
                    .into());
            };
            for part in 2..=parts {
                read(&path.with_file_name(format!("{stem}{}", suffix(part))), &mut weights)?;
            }
        }
        gguf.weights = Arc::new(weights);
        Ok(gguf)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// [`Error::Input`] naming the key.
    pub fn text(&self, key: &str) -> Result<&str> {
        match self.metadata.get(key) {
            Some(Value::Text(text)) => Ok(text),
            other => Err(self.bad(key, other, "a text")),
        }
    }

    /// A count that must be there, above 0 and below 2^31.
    ///
    /// # Errors
    /// [`Error::Input`] naming the key.
    pub fn count(&self, key: &str) -> Result<usize> {
        match self.metadata.get(key) {
            Some(Value::Int(n)) if (1..1 << 31).contains(n) => Ok(*n as usize),
            other => Err(self.bad(key, other, "a number from 1 to 2147483647")),
        }
    }

    /// A number above 0 that may be absent; above 0 and finite as f32, too.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no such number.
    pub fn positive(&self, key: &str) -> Result<Option<f32>> {
        match self.number(key)? {
            None => Ok(None),
            Some(x) if x as f32 > 0.0 && (x as f32).is_finite() => Ok(Some(x as f32)),
            Some(_) => Err(self.bad(key, self.metadata.get(key), "a finite number above 0")),
        }
    }

    /// A number that may be absent.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no finite number.
    fn number(&self, key: &str) -> Result<Option<f64>> {
        match self.metadata.get(key) {
            None => Ok(None),
            Some(Value::Float(x)) if x.is_finite() => Ok(Some(*x)),
            Some(Value::Int(n)) => Ok(Some(*n as f64)),
            other => Err(self.bad(key, other, "a finite number")),
        }
    }

    /// A token id that may be absent.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no token id.
    pub fn token_id(&self, key: &str) -> Result<Option<u32>> {
        match self.metadata.get(key) {
            None => Ok(None),
            Some(Value::Int(n)) if u32::try_from(*n).is_ok() => Ok(Some(*n as u32)),
            other => Err(self.bad(key, other, "a token id")),
        }
    }

    /// A flag that may be absent.
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.metadata.get(key) {
            Some(Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A list of texts that must be there.
    ///
    /// # Errors
    /// [`Error::Input`] naming the key.
    pub fn texts(&self, key: &str) -> Result<Vec<&str>> {
        let value = self.metadata.get(key);
        if let Some(Value::List(items)) = value {
            let texts: Option<Vec<&str>> =
                items.iter().map(|v| if let Value::Text(t) = v { Some(t.as_str()) } else { None }).collect();
            if let Some(texts) = texts {
                return Ok(texts);
            }
        }
        Err(self.bad(key, value, "a list of texts"))
    }

    /// An error about this file and one of its metadata keys.
    pub fn bad(&self, key: &str, found: Option<&Value>, expected: &str) -> Error {
        let found = match found {
            None => "nothing".to_string(),
            Some(Value::List(items)) => format!("a list of {} values", items.len()),
            Some(value) => format!("{value:?}").chars().take(80).collect(),
        };
        Error::input("the model's metadata can't be used")
            .file(&self.path)
            .key(key)
            .found(found)
            .expected(expected)
            .into()
    }
}

/// Takes in a file's tensors and gives its metadata.
fn read(path: &Path, weights: &mut Weights) -> Result<BTreeMap<String, Value>> {
    let file = Mapped::open(path)?;
    let (metadata, tensors) = Header::new(path, &file.bytes).read()?;
    weights.add(file, tensors)?;
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(tensors: u64, values: u64) -> Vec<u8> {
        let mut raw = b"GGUF".to_vec();
        raw.extend(3u32.to_le_bytes());
        raw.extend(tensors.to_le_bytes());
        raw.extend(values.to_le_bytes());
        raw
    }

    fn text(raw: &mut Vec<u8>, text: &str) {
        raw.extend((text.len() as u64).to_le_bytes());
        raw.extend(text.as_bytes());
    }

    /// One text, one list and one F32 tensor `[2, 3]`.
    fn small() -> Vec<u8> {
        let mut raw = header(1, 2);
        text(&mut raw, "general.architecture");
        raw.extend(8u32.to_le_bytes());
        text(&mut raw, "llama");
        text(&mut raw, "ids");
        raw.extend(9u32.to_le_bytes());
        raw.extend(4u32.to_le_bytes());
        raw.extend(2u64.to_le_bytes());
        raw.extend(7u32.to_le_bytes());
        raw.extend(9u32.to_le_bytes());
        text(&mut raw, "w");
        raw.extend(2u32.to_le_bytes());
        raw.extend(3u64.to_le_bytes());
        raw.extend(2u64.to_le_bytes());
        raw.extend(0u32.to_le_bytes());
        raw.extend(0u64.to_le_bytes());
        raw.resize(raw.len().div_ceil(32) * 32, 0);
        for x in [1f32, 2.0, 3.0, 4.0, 5.0, 6.0] {
            raw.extend(x.to_le_bytes());
        }
        raw
    }

    fn open(raw: &[u8]) -> Result<Gguf> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.gguf");
        std::fs::write(&path, raw).unwrap();
        Gguf::open(&path)
    }

    #[test]
    fn reads_metadata_and_tensors() {
        let gguf = open(&small()).unwrap();
        assert_eq!(gguf.text("general.architecture").unwrap(), "llama");
        assert_eq!(gguf.metadata["ids"], Value::List(vec![Value::Int(7), Value::Int(9)]));
        assert_eq!(gguf.weights.vector("w", &[2, 3]).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(gguf.weights.vector("w", &[3, 2]).unwrap_err().to_string().contains("wrong shape"));
        assert!(gguf.weights.vector("v", &[3, 2]).unwrap_err().to_string().contains("no tensor v"));
        assert!(gguf.count("general.architecture").unwrap_err().to_string().contains("general.architecture"));
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error() {
        let whole = small();
        for length in 0..whole.len() {
            let message = open(&whole[..length]).unwrap_err().to_string();
            let wanted = if length < 4 { "not a GGUF" } else { "cut or damaged" };
            assert!(message.contains(wanted), "cut at {length}: {message}");
        }
    }

    /// A file with one F32 tensor `[1]`, of a model in `parts` files.
    fn part(name: &str, parts: u16) -> Vec<u8> {
        let mut raw = header(1, 1);
        text(&mut raw, SPLIT_COUNT);
        raw.extend(2u32.to_le_bytes());
        raw.extend(parts.to_le_bytes());
        text(&mut raw, name);
        raw.extend(1u32.to_le_bytes());
        raw.extend(1u64.to_le_bytes());
        raw.extend(0u32.to_le_bytes());
        raw.extend(0u64.to_le_bytes());
        raw.resize(raw.len().div_ceil(32) * 32, 0);
        raw.extend(1f32.to_le_bytes());
        raw
    }

    #[test]
    fn a_split_model_is_read_from_its_first_file() {
        let dir = tempfile::tempdir().unwrap();
        let [first, second] = ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"].map(|name| dir.path().join(name));
        std::fs::write(&first, part("a", 2)).unwrap();
        let missing = Gguf::open(&first).unwrap_err().to_string();
        assert!(missing.contains("m-00002-of-00002.gguf"), "{missing}");
        std::fs::write(&second, part("b", 2)).unwrap();
        let gguf = Gguf::open(&first).unwrap();
        assert_eq!(gguf.weights.names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(gguf.weights.path_of("b"), second);
        let later = Gguf::open(&second).unwrap_err().to_string();
        assert!(later.contains("not the first") && later.contains("-00001-of-00002.gguf"), "{later}");
        std::fs::write(&second, part("a", 2)).unwrap();
        assert!(Gguf::open(&first).unwrap_err().to_string().contains("tensor a twice"));
    }

    #[test]
    fn a_number_that_must_be_above_0_names_its_key() {
        let with = |x: f32| {
            let mut raw = header(0, 1);
            text(&mut raw, "base");
            raw.extend(6u32.to_le_bytes());
            raw.extend(x.to_le_bytes());
            open(&raw).unwrap().positive("base")
        };
        assert_eq!(with(1e-5).unwrap(), Some(1e-5));
        for wrong in [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY] {
            let error = with(wrong).unwrap_err();
            assert!(matches!(&error, Error::Input(e) if e.key.as_deref() == Some("base")), "{wrong}: {error}");
        }
    }

    #[test]
    fn announced_lengths_do_not_allocate() {
        for raw in [header(u64::MAX, 0), header(0, u64::MAX), {
            let mut raw = header(0, 1);
            raw.extend(u64::MAX.to_le_bytes());
            raw.resize(200, 0);
            raw
        }] {
            let e = open(&raw).unwrap_err().to_string();
            assert!(e.contains("cut or damaged"), "{e}");
        }
        assert!(open(b"PK\x03\x04 something else entirely").unwrap_err().to_string().contains("not a GGUF"));
    }
}
