//! Safetensors: a JSON header with names, types, shapes and places, then the numbers.
//!
//! In: a folder. Out: its tensors, each checked to lie inside its file and to be as long as its shape and type say.
//! Format: <https://huggingface.co/docs/safetensors>. Large models are shards.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::shards::{INDEX, Index, ONE};
use super::{Encoding, Mapped, Tensor, Weights, refuse_overlap};
use crate::{Error, Result};

/// A header is longer than this only in a file that is something else.
const LONGEST_HEADER: u64 = 100 << 20;

/// Weights in forms that run code when they are read, or that other libraries write.
const PICKLED: [&str; 3] = ["pytorch_model.bin", "tf_model.h5", "flax_model.msgpack"];

/// Opens `model.safetensors`, or else the shards of the index.
pub(super) fn open(folder: &Path) -> Result<Weights> {
    let mut weights = Weights::none(folder);
    let one = folder.join(ONE);
    if one.exists() {
        let (file, tensors) = read(&one)?;
        weights.add(file, tensors)?;
        return Ok(weights);
    }
    let path = folder.join(INDEX);
    if !path.exists() {
        let error = Error::input("the folder has no weights that can be read").file(folder);
        let error = match PICKLED.into_iter().find(|file| folder.join(file).exists()) {
            Some(other) => error.found(other),
            None => error,
        };
        return Err(error
            .expected(format!("{ONE}, or {INDEX} with the shards it names"))
            .fix("save the model with save_pretrained(..., safe_serialization=True), or name a .gguf file")
            .into());
    }
    let index = Index::open(&path)?;
    for shard in index.shards() {
        let place = folder.join(shard);
        if !place.exists() {
            return Err(Error::input(format!("a shard of the model is missing: {shard}"))
                .file(&place)
                .expected(format!("{shard}, which {INDEX} names"))
                .fix("fetch it again")
                .into());
        }
        let (file, tensors) = read(&place)?;
        weights.add(file, tensors)?;
    }
    for (name, shard) in &index.weight_map {
        if weights.path_of(name) != folder.join(shard) {
            let mut error = Error::input(format!("the shard {shard} lacks the tensor {name}"))
                .file(folder.join(shard))
                .expected(format!("what {} says", path.display()));
            if weights.contains(name) {
                error = error.found(format!("it is in {}", weights.path_of(name).display()));
            }
            return Err(error.into());
        }
    }
    if weights.tensors.is_empty() {
        return Err(Error::input("the index of the shards names no tensor").file(&path).into());
    }
    Ok(weights)
}

/// Maps a file and reads its header.
fn read(path: &Path) -> Result<(Mapped, Vec<(String, Tensor)>)> {
    let file = Mapped::open(path)?;
    let size = file.bytes.len();
    let Some((length, rest)) = file.bytes.split_first_chunk::<8>() else {
        return Err(cut(path, format!("{size} bytes"), "8 bytes with the length of the header"));
    };
    let length = u64::from_le_bytes(*length);
    let header = match usize::try_from(length).ok().filter(|_| length <= LONGEST_HEADER) {
        Some(length) => rest.get(..length),
        None => return Err(not_one(path, &format!("a header of {length} bytes"))),
    };
    let Some(header) = header else {
        return Err(cut(path, format!("{size} bytes"), &format!("a header of {length} bytes")));
    };
    let Header(entries) = serde_json::from_slice(header)
        .map_err(|e| not_one(path, &format!("a header that is no list of tensors: {e}")))?;
    let start = 8 + header.len();
    let mut tensors = Vec::with_capacity(entries.len());
    for (name, entry) in entries {
        let tensor = tensor(path, &name, entry, start, size)?;
        tensors.push((name, tensor));
    }
    refuse_overlap(path, &tensors)?;
    Ok((file, tensors))
}

fn tensor(path: &Path, name: &str, entry: Entry, start: usize, size: usize) -> Result<Tensor> {
    let Entry { dtype, shape, data_offsets: [from, to] } = entry;
    let damaged = |found: String, expected: String| {
        let error = Error::input(format!("the model's tensor {name} is damaged")).file(path);
        Error::from(error.found(found).expected(expected))
    };
    let elements = shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
    let bits = bits(&dtype).and_then(|bits| elements?.checked_mul(bits));
    let length = to.checked_sub(from);
    // Of a type that is not known the length can't be checked, and its bytes are never used.
    if elements.is_none() || length.is_none() || bits.is_some_and(|bits| Some(bits.div_ceil(8)) != length) {
        let expected = format!("as many bytes as {dtype} of shape {shape:?} take");
        return Err(damaged(format!("bytes {from} to {to}"), expected));
    }
    let bytes = from.saturating_add(start)..to.saturating_add(start);
    if bytes.end > size {
        return Err(cut(path, format!("{size} bytes"), &format!("tensor {name} up to byte {}", bytes.end)));
    }
    let encoding = match dtype.as_str() {
        "F32" => Ok(Encoding::F32),
        "F16" => Ok(Encoding::F16),
        "BF16" => Ok(Encoding::BF16),
        _ => Err(dtype),
    };
    Ok(Tensor { file: 0, shape, encoding, bytes })
}

/// Bits of a value, of the types that checkpoints of language models hold.
fn bits(dtype: &str) -> Option<usize> {
    Some(match dtype {
        "F64" | "I64" | "U64" => 64,
        "F32" | "I32" | "U32" => 32,
        "F16" | "BF16" | "I16" | "U16" => 16,
        "BOOL" | "U8" | "I8" | "F8_E4M3" | "F8_E5M2" | "F8_E8M0" => 8,
        "F4" => 4,
        _ => return None,
    })
}

/// The header: names with what is said of them, as often as they stand there.
struct Header(Vec<(String, Entry)>);

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Header, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tensors by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut entries = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        entries.push((name, map.next_value()?));
                    }
                }
                Ok(Header(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

fn cut(path: &Path, found: String, expected: &str) -> Error {
    Error::input("the model file is cut or damaged")
        .file(path)
        .found(found)
        .expected(expected)
        .fix("fetch it again and compare its size and checksum")
        .into()
}

fn not_one(path: &Path, found: &str) -> Error {
    let expected = "a header in JSON, then the numbers (a pointer of Git LFS becomes the file with `git lfs pull`)";
    Error::input("not a safetensors file").file(path).found(found).expected(expected).into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use serde_json::json;
    use tempfile::TempDir;

    use super::*;

    /// A file with one tensor an entry: name, type, shape, bytes.
    fn file(tensors: &[(&str, &str, &[usize], &[u8])]) -> Vec<u8> {
        let (mut entries, mut data) = (Vec::new(), Vec::new());
        for (name, dtype, shape, bytes) in tensors {
            let offsets = [data.len(), data.len() + bytes.len()];
            data.extend_from_slice(bytes);
            let entry = json!({"dtype": dtype, "shape": shape, "data_offsets": offsets});
            entries.push(format!("{}:{entry}", json!(name)));
        }
        let header = format!("{{\"__metadata__\":{{\"format\":\"pt\"}},{}}}", entries.join(","));
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
    }

    fn folder(files: &[(&str, &[u8])]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }

    fn error(files: &[(&str, &[u8])]) -> String {
        let folder = folder(files);
        Weights::open(folder.path()).unwrap_err().to_string()
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    fn shards(map: &[(&str, &str)]) -> Vec<u8> {
        let map: BTreeMap<_, _> = map.iter().copied().collect();
        json!({"metadata": {"total_size": 1}, "weight_map": map}).to_string().into_bytes()
    }

    #[test]
    fn reads_floats_of_three_widths() {
        // 1.5 and -2 in f16 and bf16
        let (f16, bf16) = ([0x00, 0x3e, 0x00, 0xc0], [0xc0, 0x3f, 0x00, 0xc0]);
        let whole = file(&[
            ("half", "F16", &[2], &f16),
            ("brain", "BF16", &[1, 2], &bf16),
            ("odd", "U8", &[1], &[7]),
            ("full", "F32", &[2, 1], &floats(&[1.5, -2.0])),
        ]);
        let folder = folder(&[(ONE, &whole)]);
        let weights = Weights::open(folder.path()).unwrap();
        assert_eq!(weights.names().collect::<Vec<_>>(), ["brain", "full", "half", "odd"]);
        assert_eq!(weights.vector("half", &[2]).unwrap(), [1.5, -2.0]);
        assert_eq!(weights.vector("brain", &[1, 2]).unwrap(), [1.5, -2.0]);
        // behind one byte: not aligned in the file
        assert_eq!(weights.vector("full", &[2, 1]).unwrap(), [1.5, -2.0]);
        assert_eq!(weights.parameters(), 6);
        assert_eq!(weights.shape_of("brain"), Some([1, 2].as_slice()));
        let odd = weights.vector("odd", &[1]).unwrap_err().to_string();
        assert!(odd.contains("tensor odd is of a type") && odd.contains("found: U8"), "{odd}");
        let shape = weights.stored("full", &[2]).unwrap_err().to_string();
        assert!(shape.contains("full has the wrong shape") && shape.contains("[2, 1]"), "{shape}");
        assert!(shape.contains(ONE), "{shape}");
        assert!(weights.stored("none", &[2]).unwrap_err().to_string().contains("no tensor none"));
    }

    #[test]
    fn reads_shards_and_says_what_is_wrong_with_them() {
        let a = file(&[("a", "F32", &[1], &floats(&[1.0]))]);
        let b = file(&[("b", "F32", &[1], &floats(&[2.0]))]);
        let index = shards(&[("a", "1.safetensors"), ("b", "2.safetensors")]);
        let whole = folder(&[(INDEX, &index), ("1.safetensors", &a), ("2.safetensors", &b)]);
        let weights = Weights::open(whole.path()).unwrap();
        assert_eq!(weights.vector("b", &[1]).unwrap(), [2.0]);
        assert!(weights.path_of("b").ends_with("2.safetensors"));

        let missing = error(&[(INDEX, &index), ("1.safetensors", &a)]);
        assert!(missing.contains("shard of the model is missing: 2.safetensors"), "{missing}");
        let twice = error(&[(INDEX, &index), ("1.safetensors", &a), ("2.safetensors", &a)]);
        assert!(twice.contains("tensor a twice") && twice.contains("1.safetensors as well"), "{twice}");
        let both = file(&[("a", "F32", &[1], &floats(&[1.0])), ("a", "F32", &[1], &floats(&[1.0]))]);
        assert!(error(&[(ONE, &both)]).contains("tensor a twice"));
        let c = file(&[("c", "F32", &[1], &floats(&[2.0]))]);
        let lacks = error(&[(INDEX, &index), ("1.safetensors", &a), ("2.safetensors", &c)]);
        assert!(lacks.contains("2.safetensors lacks the tensor b"), "{lacks}");
        let swapped = error(&[(INDEX, &index), ("1.safetensors", &b), ("2.safetensors", &a)]);
        assert!(swapped.contains("lacks the tensor a") && swapped.contains("it is in"), "{swapped}");
        for outside in ["../1.safetensors", "/etc/passwd", "x/1.safetensors", "", ".."] {
            let outside = error(&[(INDEX, &shards(&[("a", outside)])), ("1.safetensors", &a)]);
            assert!(outside.contains("outside its folder"), "{outside}");
        }
        assert!(error(&[(INDEX, &shards(&[]))]).contains("names no tensor"));
        assert!(error(&[(INDEX, b"{}")]).contains("index of the shards can't be read"));
        assert!(error(&[]).contains("no weights that can be read"));
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error() {
        let whole = file(&[("a", "F32", &[2, 3], &floats(&[0.0; 6])), ("b", "BF16", &[1], &[0, 0])]);
        for length in 0..whole.len() {
            let message = error(&[(ONE, &whole[..length])]);
            assert!(message.contains("cut or damaged"), "cut at {length}: {message}");
        }
    }

    #[test]
    fn lengths_that_do_not_fit_are_errors() {
        for (shape, dtype, bytes) in [(&[3][..], "F32", 8), (&[usize::MAX, 2], "F32", 8), (&[1], "I64", 4)] {
            let message = error(&[(ONE, &file(&[("a", dtype, shape, &vec![0; bytes])]))]);
            assert!(message.contains("tensor a is damaged"), "{message}");
        }
        let with_header = |header: &str| [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        let backwards = r#"{"a":{"dtype":"F32","shape":[0],"data_offsets":[4,0]}}"#;
        assert!(error(&[(ONE, &with_header(backwards))]).contains("tensor a is damaged"));
        let beyond = format!(r#"{{"a":{{"dtype":"X9","shape":[1],"data_offsets":[0,{}]}}}}"#, usize::MAX);
        assert!(error(&[(ONE, &with_header(&beyond))]).contains("cut or damaged"));
        for other in ["[]", "not JSON", r#"{"a":{"dtype":"F32"}}"#] {
            assert!(error(&[(ONE, &with_header(other))]).contains("not a safetensors file"));
        }
        assert!(error(&[(ONE, &u64::MAX.to_le_bytes())]).contains("not a safetensors file"));
    }
}
