//! Place: a device and the type that is computed in there; the form of weights that are tensors on it.
//!
//! In: rows of stored tensors, whatever their encoding. Out: dense tensors.

use candle_core::{DType, Device, Tensor};
use half::{bf16, f16};

use super::super::candle::said;
use super::super::decoder::attention::Attention;
use super::super::decoder::cache::Memory;
use super::super::decoder::delta_net::DeltaNet;
use super::super::decoder::form::Form;
use super::super::matrix::{Compute, Part};

/// A device, and the type in which matrices are held and multiplied there.
#[derive(Debug, Clone)]
pub struct Place {
    /// The device.
    pub device: Device,
    /// The type.
    pub dtype: DType,
}

impl Place {
    /// None for 8-bit integers, which only this processor's code computes in.
    pub fn new(device: Device, compute: Compute) -> Option<Place> {
        let dtype = match compute {
            Compute::F32 => DType::F32,
            Compute::Bf16 => DType::BF16,
            Compute::F16 => DType::F16,
            Compute::Int8 => return None,
        };
        Some(Place { device, dtype })
    }

    /// Values of this shape, in f32.
    pub fn floats(&self, values: Vec<f32>, shape: &[usize]) -> candle_core::Result<Tensor> {
        Tensor::from_vec(values, shape, &self.device)
    }

    /// A list of places in another tensor.
    pub fn indexes(&self, indexes: Vec<u32>) -> candle_core::Result<Tensor> {
        let length = indexes.len();
        Tensor::from_vec(indexes, length, &self.device)
    }
}

/// A matrix that maps rows of length k to rows of outputs: `[outputs, k]`.
#[derive(Debug)]
pub struct Linear(Tensor);

impl Linear {
    /// Multiplies f32 rows `[rows, k]` in the matrix's own type; the product comes back in f32.
    pub fn apply(&self, rows: &Tensor) -> candle_core::Result<Tensor> {
        self.apply_raw(rows)?.to_dtype(DType::F32)
    }

    /// The same, with the product as it was computed.
    pub fn apply_raw(&self, rows: &Tensor) -> candle_core::Result<Tensor> {
        rows.to_dtype(self.0.dtype())?.matmul(&self.0.t()?)
    }
}

/// The mixer of a layer.
#[derive(Debug)]
pub enum Mixer {
    /// Attention.
    Attention(Attention<Place>),
    /// Gated delta net.
    DeltaNet(DeltaNet<Place>),
}

impl Mixer {
    /// What it keeps of positions.
    pub fn memory(&self) -> Memory {
        match self {
            Mixer::Attention(attention) => attention.memory(),
            Mixer::DeltaNet(net) => net.memory(),
        }
    }
}

impl From<Attention<Place>> for Mixer {
    fn from(attention: Attention<Place>) -> Mixer {
        Mixer::Attention(attention)
    }
}

impl From<DeltaNet<Place>> for Mixer {
    fn from(net: DeltaNet<Place>) -> Mixer {
        Mixer::DeltaNet(net)
    }
}

impl Form for Place {
    type Matrix = Linear;
    type Vector = Tensor;
    type Mixer = Mixer;

    fn matrix(&self, k: usize, parts: &[Part<'_>]) -> Result<Linear, String> {
        let shape = (parts.iter().map(Part::outputs).sum::<usize>(), k);
        // Rows go over to the type one by one, so that no whole matrix stands in memory in f32.
        let tensor = match self.dtype {
            DType::BF16 => Tensor::from_vec(rows(k, parts, bf16::from_f32)?, shape, &self.device),
            DType::F16 => Tensor::from_vec(rows(k, parts, f16::from_f32)?, shape, &self.device),
            _ => Tensor::from_vec(rows(k, parts, |x| x)?, shape, &self.device),
        };
        tensor.map(Linear).map_err(said)
    }

    fn vector(&self, values: Vec<f32>) -> Result<Tensor, String> {
        let length = values.len();
        self.floats(values, &[length]).map_err(said)
    }
}

/// The rows that `parts` name, one after the other, in another type.
fn rows<T>(k: usize, parts: &[Part<'_>], into: impl Fn(f32) -> T) -> Result<Vec<T>, String> {
    for part in parts {
        part.check(k)?;
    }
    let mut out = Vec::with_capacity(k * parts.iter().map(Part::outputs).sum::<usize>());
    let mut decoded = vec![0f32; k];
    for part in parts {
        for row in (0..part.outputs()).filter_map(|output| part.row(output)) {
            part.stored.decode_row(row, &mut decoded)?;
            out.extend(decoded.iter().map(|&x| into(x)));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::super::matrix::RowOrder;
    use super::super::super::weights::{Encoding, Stored};
    use super::*;

    #[test]
    fn rows_in_their_order_and_in_the_type_of_the_place() {
        let bytes: Vec<u8> = [1f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let stored = Stored { shape: &[3, 2], encoding: Encoding::F32, bytes: &bytes };
        let parts = [Part { stored, rows: RowOrder::Listed(vec![2, 0]) }, Part { stored, rows: RowOrder::Range(1..2) }];
        let place = Place::new(Device::Cpu, Compute::F16).unwrap();
        let matrix = place.matrix(2, &parts).unwrap();
        assert_eq!(matrix.0.dtype(), DType::F16);
        let rows = place.floats(vec![1.0, 10.0], &[1, 2]).unwrap();
        assert_eq!(matrix.apply(&rows).unwrap().to_vec2::<f32>().unwrap(), [[65.0, 21.0, 43.0]]);
        assert!(place.matrix(3, &parts).is_err());
        assert!(Place::new(Device::Cpu, Compute::Int8).is_none());
    }
}
