//! The header of a GGUF file: metadata and the list of tensors.
//!
//! In: a file's bytes. Out: [`Value`]s and [`Tensor`]s, or an error that says where it is cut or damaged.

use std::collections::BTreeMap;
use std::path::Path;

use super::Value;
use crate::model::weights::{Encoding, Tensor, refuse_overlap};
use crate::{Error, Result};

/// Tensor encodings by their number in the file.
fn encoding(number: u32) -> Option<Encoding> {
    Some(match number {
        0 => Encoding::F32,
        1 => Encoding::F16,
        2 => Encoding::Q4_0,
        3 => Encoding::Q4_1,
        6 => Encoding::Q5_0,
        7 => Encoding::Q5_1,
        8 => Encoding::Q8_0,
        10 => Encoding::Q2K,
        11 => Encoding::Q3K,
        12 => Encoding::Q4K,
        13 => Encoding::Q5K,
        14 => Encoding::Q6K,
        30 => Encoding::BF16,
        _ => return None,
    })
}

/// ggml tensors have at most four dimensions.
const MOST_DIMENSIONS: u32 = 4;

/// A header being read: what is left of the file, and how long the whole is.
pub(super) struct Header<'a> {
    path: &'a Path,
    rest: &'a [u8],
    size: usize,
}

type Contents = (BTreeMap<String, Value>, Vec<(String, Tensor)>);

impl<'a> Header<'a> {
    /// At the beginning of a file.
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Header<'a> {
        Header { path, rest: bytes, size: bytes.len() }
    }

    /// Reads everything before the tensors' data.
    pub(super) fn read(&mut self) -> Result<Contents> {
        if !self.rest.starts_with(b"GGUF") {
            return Err(Error::input("not a GGUF model file: it does not begin with \"GGUF\"").file(self.path).into());
        }
        self.take::<4>()?;
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
            if metadata.contains_key(&key) {
                return Err(self.cut(&format!("the metadata key {key} twice")));
            }
            metadata.insert(key, value);
        }
        let mut tensors = Vec::new();
        for _ in 0..tensor_count {
            tensors.push(self.tensor_entry()?);
        }
        let alignment = match metadata.get("general.alignment") {
            None => 32,
            Some(Value::Int(n)) if (8..=1 << 20).contains(n) && (*n as usize).is_power_of_two() => *n as usize,
            Some(other) => return Err(self.cut(&format!("general.alignment {other:?}, no power of two from 8"))),
        };
        let start = (self.size - self.rest.len()).div_ceil(alignment) * alignment;
        for (name, tensor) in &mut tensors {
            if !tensor.bytes.start.is_multiple_of(alignment) {
                return Err(self.cut(&format!("tensor {name} does not begin at a multiple of {alignment} bytes")));
            }
            let bytes = tensor.bytes.start.saturating_add(start)..tensor.bytes.end.saturating_add(start);
            if bytes.end > self.size {
                return Err(self.cut(&format!("tensor {name} ends after the file's end")));
            }
            tensor.bytes = bytes;
        }
        refuse_overlap(self.path, &tensors)?;
        Ok((metadata, tensors))
    }

    /// A tensor whose place is counted from the end of the header.
    fn tensor_entry(&mut self) -> Result<(String, Tensor)> {
        let name = self.text()?;
        let path = self.path;
        let damaged = |what: String| Error::input(format!("the model's tensor {name} {what}")).file(path);
        let dimensions = self.u32()?;
        if dimensions > MOST_DIMENSIONS {
            return Err(damaged(format!("has {dimensions} dimensions, more than {MOST_DIMENSIONS}")).into());
        }
        let mut shape = Vec::new();
        for _ in 0..dimensions {
            shape.push(self.u64()? as usize);
        }
        shape.reverse();
        let number = self.u32()?;
        let offset = self.u64()? as usize;
        let encoding = encoding(number).ok_or_else(|| {
            damaged(format!("is of encoding number {number}, which is not supported"))
                .expected("F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K or Q6_K")
        })?;
        let elements = shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        let length = elements
            .filter(|n| n.is_multiple_of(encoding.block_size()))
            .and_then(|n| (n / encoding.block_size()).checked_mul(encoding.type_size()));
        let length = length.ok_or_else(|| damaged(format!("has the impossible shape {shape:?} for {encoding:?}")))?;
        Ok((name, Tensor { file: 0, shape, encoding: Ok(encoding), bytes: offset..offset.saturating_add(length) }))
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
        let length = self.length(1, "bytes of text")?;
        let (text, rest) = self.rest.split_at_checked(length).ok_or_else(|| self.cut(BEYOND))?;
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| self.cut("a text that is not UTF-8"))
    }

    /// A 64-bit count of things of at least `least` bytes each, that must still fit into the file.
    fn length(&mut self, least: u64, what: &str) -> Result<usize> {
        let count = self.u64()?;
        let left = self.rest.len();
        if count.saturating_mul(least) > left as u64 {
            return Err(self.cut(&format!("{count} {what} announced, {left} bytes left")));
        }
        Ok(count as usize)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (raw, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| self.cut(BEYOND))?;
        self.rest = rest;
        Ok(*raw)
    }

    fn cut(&self, found: &str) -> Error {
        damaged(self.path, found)
    }
}

const BEYOND: &str = "the header ends after the file's end";

fn damaged(path: &Path, found: &str) -> Error {
    Error::input("the model file is cut or damaged")
        .file(path)
        .found(found)
        .fix("fetch it again and compare its size and checksum")
        .into()
}
