//! Stored weights as codes, scales and minimums.
//!
//! In: rows of a stored tensor. Out: w = scale * code + minimum, or scale * (code - [`CENTRE`]), exactly for the block
//! encodings of GGUF; rows of other encodings are rounded to blocks of [`BLOCK`] values, of which the largest is 127 scales.

use half::f16;

use crate::model::weights::stored::{Encoding, Stored};

/// Values that share a scale, where the encoding does not say otherwise.
pub const BLOCK: usize = 32;

/// What is added to signed codes to hold them unsigned.
pub const CENTRE: i16 = 128;

/// How codes are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Neighbouring k that share a scale: 32 or 16.
    pub group: usize,
    /// Whether two codes of 4 bits share a byte.
    pub halves: bool,
    /// Whether codes are signed and stand for themselves plus [`CENTRE`]; if not, there are minimums.
    pub centred: bool,
}

impl Form {
    /// Groups of a row of length `k`, filled up to whole blocks.
    pub fn groups(&self, k: usize) -> usize {
        k.next_multiple_of(BLOCK) / self.group
    }

    /// Strips of a group's codes, scales and minimums.
    pub fn length(&self) -> usize {
        self.strips() + if self.centred { 1 } else { 2 }
    }

    /// Strips of a group's codes.
    pub fn strips(&self) -> usize {
        self.group / super::STEP / if self.halves { 2 } else { 1 }
    }
}

/// A row of weights.
#[derive(Debug)]
pub struct Row {
    pub codes: Vec<u8>,
    pub scales: Vec<f32>,
    pub minimums: Vec<f32>,
    /// Values of encodings that are rounded.
    values: Vec<f32>,
}

impl Row {
    /// Room for a row of length `k`.
    pub fn new(form: Form, k: usize) -> Row {
        let groups = form.groups(k);
        Row {
            codes: vec![0; groups * form.group],
            scales: vec![0.0; groups],
            minimums: vec![0.0; if form.centred { 0 } else { groups }],
            values: vec![0.0; k],
        }
    }
}

/// Decodes one stored block: its bytes, then codes, scales and minimums of its groups.
type Decode = fn(&[u8], &mut [u8], &mut [f32], &mut [f32]);

/// Decodes rows of an encoding.
#[derive(Debug, Clone, Copy)]
pub struct Coder {
    form: Form,
    /// None where rows are rounded.
    decode: Option<Decode>,
}

impl Coder {
    /// The coder of an encoding.
    pub fn of(encoding: Encoding) -> Coder {
        let coder = |group: usize, halves: bool, centred: bool, decode: Decode| Coder {
            form: Form { group, halves, centred },
            decode: Some(decode),
        };
        match encoding {
            Encoding::Q4_0 => coder(32, true, false, q4_0),
            Encoding::Q4_1 => coder(32, true, false, q4_1),
            Encoding::Q5_0 => coder(32, false, true, q5_0),
            Encoding::Q5_1 => coder(32, false, false, q5_1),
            Encoding::Q8_0 => coder(32, false, true, q8_0),
            Encoding::Q2K => coder(16, true, false, q2_k),
            Encoding::Q3K => coder(16, false, true, q3_k),
            Encoding::Q4K => coder(32, true, false, q4_k),
            Encoding::Q5K => coder(32, false, false, q5_k),
            Encoding::Q6K => coder(16, false, true, q6_k),
            Encoding::F32 | Encoding::F16 | Encoding::BF16 | Encoding::Q8_1 | Encoding::Q8K => {
                Coder { form: Form { group: BLOCK, halves: false, centred: true }, decode: None }
            }
        }
    }

    /// How it holds codes.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Decodes row `at` of a tensor.
    pub fn decode(&self, stored: &Stored<'_>, at: usize, row: &mut Row) -> Result<(), String> {
        let Some(decode) = self.decode else {
            stored.decode_row(at, &mut row.values)?;
            round(row);
            return Ok(());
        };
        let bytes = stored.row(at)?;
        let (values, size) = (stored.encoding.block_size(), stored.encoding.type_size());
        let groups = values / self.form.group;
        let blocks = bytes.chunks_exact(size).zip(row.codes.chunks_exact_mut(values));
        for (b, ((bytes, codes), scales)) in blocks.zip(row.scales.chunks_exact_mut(groups)).enumerate() {
            let minimums = row.minimums.get_mut(b * groups..(b + 1) * groups).unwrap_or_default();
            decode(bytes, codes, scales, minimums);
        }
        Ok(())
    }
}

/// Rounds the row's values; the last block's missing ones stay zeros.
fn round(row: &mut Row) {
    for ((values, codes), scale) in row.values.chunks(BLOCK).zip(row.codes.chunks_mut(BLOCK)).zip(&mut row.scales) {
        // Magnitudes compared as integers, so that what is no number stays.
        let top = values.iter().map(|x| x.abs().to_bits()).max().map_or(0.0, f32::from_bits);
        *scale = top / 127.0;
        for (code, x) in codes.iter_mut().zip(values) {
            let steps = if *scale > 0.0 { (x / *scale).round_ties_even() } else { 0.0 };
            *code = (steps as i16 + CENTRE) as u8;
        }
    }
}

fn half_at(bytes: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
}

/// Bytes of two codes each: the first half of `codes` from the low bits, the second from the high ones.
fn nibbles(bytes: &[u8], codes: &mut [u8]) {
    let (low, high) = codes.split_at_mut(bytes.len());
    for ((byte, low), high) in bytes.iter().zip(low).zip(high) {
        (*low, *high) = (byte & 15, byte >> 4);
    }
}

/// The same with a fifth bit each, bit i of `fifth` for code i.
fn with_fifth(bytes: &[u8], fifth: &[u8], codes: &mut [u8]) {
    nibbles(bytes, codes);
    for (i, code) in codes.iter_mut().enumerate() {
        *code |= (fifth[i / 8] >> (i % 8) & 1) << 4;
    }
}

/// From codes that count from `zero` to centred ones.
fn centre(codes: &mut [u8], zero: u8) {
    for code in codes {
        *code += CENTRE as u8 - zero;
    }
}

fn q4_0(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], minimums: &mut [f32]) {
    nibbles(&bytes[2..18], codes);
    scales[0] = half_at(bytes, 0);
    minimums[0] = -8.0 * scales[0];
}

fn q4_1(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], minimums: &mut [f32]) {
    nibbles(&bytes[4..20], codes);
    (scales[0], minimums[0]) = (half_at(bytes, 0), half_at(bytes, 2));
}

fn q5_0(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], _: &mut [f32]) {
    with_fifth(&bytes[6..22], &bytes[2..6], codes);
    centre(codes, 16);
    scales[0] = half_at(bytes, 0);
}

fn q5_1(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], minimums: &mut [f32]) {
    with_fifth(&bytes[8..24], &bytes[4..8], codes);
    (scales[0], minimums[0]) = (half_at(bytes, 0), half_at(bytes, 2));
}

fn q8_0(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], _: &mut [f32]) {
    for (code, &byte) in codes.iter_mut().zip(&bytes[2..34]) {
        *code = byte ^ 0x80;
    }
    scales[0] = half_at(bytes, 0);
}

/// Scales of 4 bits, minimums of 4 bits, codes of 2.
fn q2_k(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], minimums: &mut [f32]) {
    let (scale, minimum) = (half_at(bytes, 80), half_at(bytes, 82));
    for ((byte, s), m) in bytes[..16].iter().zip(scales).zip(minimums) {
        (*s, *m) = (scale * f32::from(byte & 15), -(minimum * f32::from(byte >> 4)));
    }
    two_bits(&bytes[16..80], codes);
}

/// Scales of 6 bits, codes of 2, and a third bit that takes 4 off where it is not set.
fn q3_k(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], _: &mut [f32]) {
    let (third, packed, scale) = (&bytes[..32], &bytes[96..108], half_at(bytes, 108));
    for (i, s) in scales.iter_mut().enumerate() {
        let low = packed[i % 8] >> (i / 8 * 4) & 15;
        let high = packed[8 + i % 4] >> (i / 4 * 2) & 3;
        *s = scale * (f32::from(low | high << 4) - 32.0);
    }
    two_bits(&bytes[32..96], codes);
    for (i, code) in codes.iter_mut().enumerate() {
        *code |= (third[i % 32] >> (i / 32) & 1) << 2;
    }
    centre(codes, 4);
}

/// Halves of 128 codes, each of 32 bytes, of which each pair of bits makes 32 codes.
fn two_bits(bytes: &[u8], codes: &mut [u8]) {
    for (i, code) in codes.iter_mut().enumerate() {
        *code = bytes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    }
}

fn q4_k(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], minimums: &mut [f32]) {
    six_bits(bytes, scales, minimums);
    for (bytes, codes) in bytes[16..144].chunks_exact(BLOCK).zip(codes.chunks_exact_mut(2 * BLOCK)) {
        nibbles(bytes, codes);
    }
}

fn q5_k(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], minimums: &mut [f32]) {
    six_bits(bytes, scales, minimums);
    let fifth = &bytes[16..48];
    for (bytes, codes) in bytes[48..176].chunks_exact(BLOCK).zip(codes.chunks_exact_mut(2 * BLOCK)) {
        nibbles(bytes, codes);
    }
    for (i, code) in codes.iter_mut().enumerate() {
        *code |= (fifth[i % BLOCK] >> (i / BLOCK) & 1) << 4;
    }
}

/// Scales and minimums of Q4_K and Q5_K: 8 of 6 bits each, packed in 12 bytes.
fn six_bits(bytes: &[u8], scales: &mut [f32], minimums: &mut [f32]) {
    let (scale, minimum, packed) = (half_at(bytes, 0), half_at(bytes, 2), &bytes[4..16]);
    for (i, (s, m)) in scales.iter_mut().zip(minimums).enumerate() {
        let (of_scale, of_minimum) = match i {
            0..4 => (packed[i] & 63, packed[i + 4] & 63),
            _ => {
                let (both, high) = (packed[i + 4], |at: usize| packed[at] >> 6 << 4);
                (both & 15 | high(i - 4), both >> 4 | high(i))
            }
        };
        (*s, *m) = (scale * f32::from(of_scale), -(minimum * f32::from(of_minimum)));
    }
}

fn q6_k(bytes: &[u8], codes: &mut [u8], scales: &mut [f32], _: &mut [f32]) {
    let (low, high, packed, scale) = (&bytes[..128], &bytes[128..192], &bytes[192..208], half_at(bytes, 208));
    for (s, &byte) in scales.iter_mut().zip(packed) {
        *s = scale * f32::from(byte as i8);
    }
    for (i, code) in codes.iter_mut().enumerate() {
        // Halves of 128: four times 32 codes, of which the last two take the high bits of the bytes of the first two.
        let (half, quarter, at) = (i / 128, i % 128 / BLOCK, i % BLOCK);
        let low = low[half * 64 + quarter % 2 * BLOCK + at] >> (quarter / 2 * 4) & 15;
        let high = high[half * BLOCK + at] >> (quarter * 2) & 3;
        *code = low | high << 4;
    }
    centre(codes, 32);
}
