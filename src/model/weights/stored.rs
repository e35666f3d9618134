//! A tensor as it lies in a file.
//!
//! In: shape, encoding and bytes, mostly of a memory map. Out: its rows as f32, one at a time, so that no copy of the whole
//! tensor is needed to pack it.

use std::borrow::Cow;

use candle_core::CpuStorage;
use candle_core::quantized::GgmlDType;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use crate::model::candle::said;

/// In what form a file holds numbers: plain floats, or blocks of small integers that share scales.
pub type Encoding = GgmlDType;

/// A tensor as it lies in a (memory-mapped) file.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a> {
    /// Length of each dimension, the slowest first: `[rows, columns]` of a matrix.
    pub shape: &'a [usize],
    /// How the bytes stand for numbers.
    pub encoding: Encoding,
    /// The numbers, row after row.
    pub bytes: &'a [u8],
}

impl<'a> Stored<'a> {
    /// Length of the last dimension; 1 for a scalar.
    pub fn columns(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// Product of all dimensions but the last.
    pub fn rows(&self) -> usize {
        match self.shape {
            [rows @ .., _] => rows.iter().product(),
            [] => 1,
        }
    }

    /// The bytes of row `row`.
    ///
    /// # Errors
    /// A sentence where there is no such row, or where a row is not a whole number of the encoding's blocks.
    pub fn row(&self, row: usize) -> Result<&'a [u8], String> {
        let (columns, block) = (self.columns(), self.encoding.block_size());
        if !columns.is_multiple_of(block) {
            return Err(format!("rows of {columns} values can't be of {:?}, blocks of {block} values", self.encoding));
        }
        let bytes = columns / block * self.encoding.type_size();
        let from = row.checked_mul(bytes).filter(|_| row < self.rows());
        from.and_then(|from| self.bytes.get(from..)?.get(..bytes))
            .ok_or_else(|| format!("row {row} of shape {:?} is not in its {} bytes", self.shape, self.bytes.len()))
    }

    /// Decodes row `row` into `out`, which is [`Stored::columns`] long.
    ///
    /// # Errors
    /// A sentence where the row is not there, `out` has another length, or the encoding can't be decoded.
    pub fn decode_row(&self, row: usize, out: &mut [f32]) -> Result<(), String> {
        let bytes = self.row(row)?;
        if out.len() != self.columns() {
            return Err(format!("a row of {} values does not go into {}", self.columns(), out.len()));
        }
        decode(self.encoding, bytes, out)
    }

    /// All values, row after row.
    ///
    /// # Errors
    /// As [`Stored::decode_row`].
    pub fn to_f32(&self) -> Result<Vec<f32>, String> {
        let columns = self.columns();
        if columns == 0 {
            return Ok(Vec::new());
        }
        let rows = self.rows();
        if rows > 0 {
            // Before anything of the announced size is allocated.
            self.row(rows - 1)?;
        }
        let mut values = vec![0f32; rows * columns];
        for (row, out) in values.chunks_exact_mut(columns).enumerate() {
            self.decode_row(row, out)?;
        }
        Ok(values)
    }
}

/// Decodes as many values as `out` holds.
fn decode(encoding: Encoding, bytes: &[u8], out: &mut [f32]) -> Result<(), String> {
    match encoding {
        Encoding::F32 => {
            for (slot, &bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *slot = f32::from_le_bytes(bytes);
            }
        }
        Encoding::BF16 => {
            for (slot, &bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *slot = bf16::from_le_bytes(bytes).to_f32();
            }
        }
        Encoding::F16 => {
            let mut halves = [f16::ZERO; 64];
            for (out, bytes) in out.chunks_mut(halves.len()).zip(bytes.chunks(2 * halves.len())) {
                for (half, &bytes) in halves.iter_mut().zip(bytes.as_chunks().0) {
                    *half = f16::from_le_bytes(bytes);
                }
                halves[..out.len()].convert_to_f32_slice(out);
            }
        }
        _ => out.copy_from_slice(&blocks_to_f32(encoding, bytes, out.len())?),
    }
    Ok(())
}

/// candle's own decoding of block types.
fn blocks_to_f32(encoding: Encoding, bytes: &[u8], elements: usize) -> Result<Vec<f32>, String> {
    // candle reads blocks in place and asserts their alignment, 4 bytes at most. Rows of a file may lie otherwise; an
    // allocator that aligns less would be very unusual, and is an error here instead of a panic there.
    let aligned = |bytes: &[u8]| (bytes.as_ptr() as usize).is_multiple_of(4);
    let bytes = if aligned(bytes) { Cow::Borrowed(bytes) } else { Cow::Owned(bytes.to_vec()) };
    if !aligned(&bytes) {
        return Err("the buffer for decoding is not aligned".to_string());
    }
    match encoding.from_data(bytes).dequantize(elements) {
        Ok(CpuStorage::F32(values)) if values.len() == elements => Ok(values),
        Ok(_) => Err(format!("{encoding:?} did not decode to f32")),
        Err(e) => Err(said(&e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored<'a>(shape: &'a [usize], encoding: Encoding, bytes: &'a [u8]) -> Stored<'a> {
        Stored { shape, encoding, bytes }
    }

    #[test]
    fn plain_floats_of_three_widths() {
        let f32s: Vec<u8> = [1.5f32, -2.0, 0.0, 3.0e-8].iter().flat_map(|x| x.to_le_bytes()).collect();
        let tensor = stored(&[2, 2], Encoding::F32, &f32s);
        assert_eq!(tensor.to_f32().unwrap(), [1.5, -2.0, 0.0, 3.0e-8]);
        // 1.5 and -2 in bf16; 1.5, the largest half and the smallest one in f16.
        let bf16s = [0x3fc0u16, 0xc000].map(u16::to_le_bytes).concat();
        assert_eq!(stored(&[2], Encoding::BF16, &bf16s).to_f32().unwrap(), [1.5, -2.0]);
        let f16s = [0x3e00u16, 0x7bff, 0x0001].map(u16::to_le_bytes).concat();
        assert_eq!(stored(&[3, 1], Encoding::F16, &f16s).to_f32().unwrap(), [1.5, 65504.0, 2f32.powi(-24)]);
    }

    #[test]
    fn blocks_decode_wherever_they_lie() {
        // Scale 0.5 in f16, then 32 times a value, two rows; one byte further on they are not aligned.
        let mut bytes = vec![0u8];
        for value in [3u8, 254] {
            bytes.extend([0x00, 0x38]);
            bytes.extend([value; 32]);
        }
        let rows = stored(&[2, 32], Encoding::Q8_0, &bytes[1..]);
        let mut out = [0f32; 32];
        rows.decode_row(1, &mut out).unwrap();
        assert_eq!(out, [-1.0; 32]);
        assert_eq!(rows.to_f32().unwrap()[..32], [1.5; 32]);
    }

    #[test]
    fn shapes_that_do_not_fit_the_bytes_are_errors() {
        assert_eq!((stored(&[], Encoding::F32, &[]).rows(), stored(&[], Encoding::F32, &[]).columns()), (1, 1));
        assert_eq!(stored(&[3, 4, 5], Encoding::F32, &[]).rows(), 12);
        assert!(stored(&[0, 4], Encoding::F32, &[]).to_f32().unwrap().is_empty());
        assert!(stored(&[4, 0], Encoding::F32, &[]).to_f32().unwrap().is_empty());
        assert!(stored(&[], Encoding::F32, &[0; 3]).to_f32().unwrap_err().contains("not in its 3 bytes"));
        assert!(stored(&[usize::MAX, 8], Encoding::F32, &[0; 32]).to_f32().unwrap_err().contains("not in its"));
        assert!(stored(&[1, 33], Encoding::Q8_0, &[0; 99]).to_f32().unwrap_err().contains("blocks of 32"));
        assert!(stored(&[1, 2], Encoding::F32, &[0; 8]).decode_row(1, &mut [0.0; 2]).is_err());
        assert!(stored(&[1, 2], Encoding::F32, &[0; 8]).decode_row(0, &mut [0.0; 3]).is_err());
    }
}
