//! GGUF: the container that holds a model's metadata and tensors in one file.
//!
//! In: a path. Out: [`Gguf`], its metadata as typed values and its tensors as f32.
//! Every length is checked against the file's size before anything is allocated, so a cut or forged file is an error.
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>, versions 2 and 3, little-endian.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use candle_core::CpuStorage;
use candle_core::quantized::GgmlDType;

use crate::{Error, Result};

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

/// Where a tensor lies and how it is encoded.
#[derive(Debug, Clone)]
pub struct TensorInfo {
    /// Shape, the slowest dimension first: `[rows, columns]` of a matrix that maps columns to rows.
    pub shape: Vec<usize>,
    dtype: GgmlDType,
    offset: u64,
    bytes: usize,
}

/// An open GGUF file whose header is read and whose tensors all lie inside the file.
#[derive(Debug)]
pub struct Gguf {
    path: PathBuf,
    file: File,
    /// Metadata by key.
    pub metadata: BTreeMap<String, Value>,
    /// Tensors by name.
    pub tensors: BTreeMap<String, TensorInfo>,
}

impl Gguf {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`Error::Io`] where the file can't be read; [`Error::Input`] where it is no GGUF, of an unknown version, or cut.
    pub fn open(path: &Path) -> Result<Gguf> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let meta = file.metadata().map_err(Error::io("read", path))?;
        if meta.is_dir() {
            return Err(Error::input("a model is one .gguf file, this is a directory").file(path).into());
        }
        let mut header = Header { path, reader: BufReader::new(&file), at: 0, size: meta.len() };
        let (metadata, tensors) = header.read()?;
        Ok(Gguf { path: path.to_path_buf(), file, metadata, tensors })
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

    /// A number that may be absent.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no finite number.
    pub fn number(&self, key: &str) -> Result<Option<f64>> {
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

    /// A tensor's values as f32, row-major, after checking its shape.
    ///
    /// # Errors
    /// [`Error::Input`] where it is missing or of another shape; [`Error::Io`] where it can't be read.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let info = self.tensors.get(name).ok_or_else(|| {
            Error::input(format!("the model has no tensor {name}"))
                .file(&self.path)
                .expected(format!("shape {shape:?}"))
        })?;
        if info.shape != shape {
            return Err(Error::input(format!("the model's tensor {name} has the wrong shape"))
                .file(&self.path)
                .found(format!("{:?}", info.shape))
                .expected(format!("{shape:?}"))
                .into());
        }
        let mut raw = vec![0u8; info.bytes];
        self.file.read_exact_at(&mut raw, info.offset).map_err(Error::io("read", &self.path))?;
        let wrong = |what: String| Error::Model { model: self.path.display().to_string(), what };
        if info.dtype == GgmlDType::F32 {
            return Ok(raw.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect());
        }
        // candle reads the blocks in place and asserts their alignment (at most 4 bytes); an allocator that aligns less
        // would be very unusual, and is an error here instead of a panic there.
        if !(raw.as_ptr() as usize).is_multiple_of(4) {
            return Err(wrong(format!("tensor {name}: buffer is not aligned")));
        }
        let blocks = info.dtype.from_data(Cow::Borrowed(&raw));
        let elements = info.shape.iter().product();
        match blocks.dequantize(elements) {
            Ok(CpuStorage::F32(values)) if values.len() == elements => Ok(values),
            Ok(_) => Err(wrong(format!("tensor {name}: {:?} did not decode to f32", info.dtype))),
            Err(e) => Err(wrong(format!("tensor {name}: {e}"))),
        }
    }
}

/// Tensor encodings by their number in the file.
fn dtype(number: u32) -> Option<GgmlDType> {
    Some(match number {
        0 => GgmlDType::F32,
        1 => GgmlDType::F16,
        2 => GgmlDType::Q4_0,
        3 => GgmlDType::Q4_1,
        6 => GgmlDType::Q5_0,
        7 => GgmlDType::Q5_1,
        8 => GgmlDType::Q8_0,
        10 => GgmlDType::Q2K,
        11 => GgmlDType::Q3K,
        12 => GgmlDType::Q4K,
        13 => GgmlDType::Q5K,
        14 => GgmlDType::Q6K,
        30 => GgmlDType::BF16,
        _ => return None,
    })
}

/// ggml tensors have at most four dimensions.
const MOST_DIMENSIONS: u32 = 4;

struct Header<'a> {
    path: &'a Path,
    reader: BufReader<&'a File>,
    at: u64,
    size: u64,
}

type Contents = (BTreeMap<String, Value>, BTreeMap<String, TensorInfo>);

impl Header<'_> {
    fn read(&mut self) -> Result<Contents> {
        if self.size < 24 || &self.take::<4>()? != b"GGUF" {
            return Err(Error::input("not a GGUF model file: it does not begin with \"GGUF\"").file(self.path).into());
        }
        let version = self.u32()?;
        if !matches!(version, 2 | 3) {
            return Err(Error::input("GGUF version is not supported")
                .file(self.path)
                .found(version.to_string())
                .expected("2 or 3, little-endian")
                .into());
        }
        // A tensor's entry takes at least 24 bytes, a metadata entry at least 13.
        let tensor_count = self.length(24, "tensors")?;
        let value_count = self.length(13, "metadata entries")?;
        let mut metadata = BTreeMap::new();
        for _ in 0..value_count {
            let key = self.text()?;
            let kind = self.u32()?;
            let value = self.value(kind, 0)?;
            metadata.insert(key, value);
        }
        let mut entries = Vec::new();
        for _ in 0..tensor_count {
            entries.push(self.tensor_entry()?);
        }
        let alignment = match metadata.get("general.alignment") {
            Some(Value::Int(n)) if (1..=1 << 20).contains(n) => *n as u64,
            _ => 32,
        };
        let start = self.at.div_ceil(alignment) * alignment;
        let mut tensors = BTreeMap::new();
        for (name, mut info) in entries {
            info.offset = info.offset.saturating_add(start);
            if info.offset.saturating_add(info.bytes as u64) > self.size {
                return Err(self.cut(&format!("tensor {name} ends after the file's end")));
            }
            tensors.insert(name, info);
        }
        Ok((metadata, tensors))
    }

    fn tensor_entry(&mut self) -> Result<(String, TensorInfo)> {
        let name = self.text()?;
        let damaged = |what: String| Error::input(format!("the model's tensor {name} {what}")).file(self.path);
        let dimensions = u32::from_le_bytes(take(&mut self.reader, &mut self.at, self.size, self.path)?);
        if dimensions > MOST_DIMENSIONS {
            return Err(damaged(format!("has {dimensions} dimensions, more than {MOST_DIMENSIONS}")).into());
        }
        let mut shape = Vec::new();
        for _ in 0..dimensions {
            let size = u64::from_le_bytes(take(&mut self.reader, &mut self.at, self.size, self.path)?);
            shape.push(size as usize);
        }
        shape.reverse();
        let number = u32::from_le_bytes(take(&mut self.reader, &mut self.at, self.size, self.path)?);
        let offset = u64::from_le_bytes(take(&mut self.reader, &mut self.at, self.size, self.path)?);
        let dtype = dtype(number).ok_or_else(|| {
            damaged(format!("is of encoding number {number}, which is not supported"))
                .expected("F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K or Q6_K")
        })?;
        let elements = shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        let bytes = elements
            .filter(|n| n.is_multiple_of(dtype.block_size()))
            .and_then(|n| (n / dtype.block_size()).checked_mul(dtype.type_size()));
        let bytes = bytes.ok_or_else(|| damaged(format!("has the impossible shape {shape:?} for {dtype:?}")))?;
        Ok((name, TensorInfo { shape, dtype, offset, bytes }))
    }

    fn value(&mut self, kind: u32, depth: usize) -> Result<Value> {
        Ok(match kind {
            0 => Value::Int(self.take::<1>()?[0].into()),
            1 => Value::Int(i8::from_le_bytes(self.take()?).into()),
            2 => Value::Int(u16::from_le_bytes(self.take()?).into()),
            3 => Value::Int(i16::from_le_bytes(self.take()?).into()),
            4 => Value::Int(self.u32()?.into()),
            5 => Value::Int(i32::from_le_bytes(self.take()?).into()),
            6 => Value::Float(f32::from_le_bytes(self.take()?).into()),
            7 => Value::Bool(self.take::<1>()?[0] != 0),
            8 => Value::Text(self.text()?),
            9 if depth < 4 => {
                let item = self.u32()?;
                let count = self.length(1, "list items")?;
                let mut items = Vec::new();
                for _ in 0..count {
                    items.push(self.value(item, depth + 1)?);
                }
                Value::List(items)
            }
            10 => Value::Int(u64::from_le_bytes(self.take()?).into()),
            11 => Value::Int(i64::from_le_bytes(self.take()?).into()),
            12 => Value::Float(f64::from_le_bytes(self.take()?)),
            _ => return Err(self.cut(&format!("metadata of the unknown type {kind}"))),
        })
    }

    fn text(&mut self) -> Result<String> {
        let bytes = self.length(1, "bytes of text")?;
        let mut raw = vec![0u8; bytes];
        self.reader.read_exact(&mut raw).map_err(Error::io("read", self.path))?;
        self.at += bytes as u64;
        String::from_utf8(raw).map_err(|_| self.cut("a text that is not UTF-8"))
    }

    /// A 64-bit count of things of at least `least` bytes each, that must still fit into the file.
    fn length(&mut self, least: u64, what: &str) -> Result<usize> {
        let count = u64::from_le_bytes(self.take()?);
        if count.saturating_mul(least) > self.size - self.at {
            return Err(self.cut(&format!("{count} {what} announced, {} bytes left", self.size - self.at)));
        }
        Ok(count as usize)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        take(&mut self.reader, &mut self.at, self.size, self.path)
    }

    fn cut(&self, found: &str) -> Error {
        damaged(self.path, found)
    }
}

fn take<const N: usize>(reader: &mut impl Read, at: &mut u64, size: u64, path: &Path) -> Result<[u8; N]> {
    if size - *at < N as u64 {
        return Err(damaged(path, "the header ends after the file's end"));
    }
    let mut raw = [0u8; N];
    reader.read_exact(&mut raw).map_err(Error::io("read", path))?;
    *at += N as u64;
    Ok(raw)
}

fn damaged(path: &Path, found: &str) -> Error {
    Error::input("the model file is cut or damaged")
        .file(path)
        .found(found)
        .fix("fetch it again and compare its size and checksum")
        .into()
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
        assert_eq!(gguf.tensor("w", &[2, 3]).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(gguf.tensor("w", &[3, 2]).unwrap_err().to_string().contains("wrong shape"));
        assert!(gguf.tensor("v", &[3, 2]).unwrap_err().to_string().contains("no tensor v"));
        assert!(gguf.count("general.architecture").unwrap_err().to_string().contains("general.architecture"));
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error() {
        let whole = small();
        for length in 0..whole.len() {
            assert!(open(&whole[..length]).is_err(), "cut at {length}");
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
