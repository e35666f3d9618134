//! The header of a GGUF file: metadata and the list of tensors.
//!
//! In: an open file and its size. Out: [`Value`]s and [`TensorInfo`]s, or an error that says where it is cut or damaged.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use candle_core::quantized::GgmlDType;

use super::{TensorInfo, Value};
use crate::{Error, Result};

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

/// A header being read: where it stands, and how far the file goes.
pub(super) struct Header<'a> {
    path: &'a Path,
    reader: BufReader<&'a File>,
    at: u64,
    size: u64,
}

type Contents = (BTreeMap<String, Value>, BTreeMap<String, TensorInfo>);

impl<'a> Header<'a> {
    /// At the beginning of a file of `size` bytes.
    pub(super) fn new(path: &'a Path, file: &'a File, size: u64) -> Header<'a> {
        Header { path, reader: BufReader::new(file), at: 0, size }
    }

    /// Reads everything before the tensors' data.
    pub(super) fn read(&mut self) -> Result<Contents> {
        if self.size < 4 || &self.take::<4>()? != b"GGUF" {
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
