//! Panels of 8-bit integers, multiplied with rows rounded to 8 bits.
//!
//! In: stored weights and f32 rows. Out: products. Weights of block encodings are held exactly, as w = scale * code + minimum
//! with the encoding's own blocks; other weights and the rows are rounded. For each group of neighbouring k that has one
//! scale, the sum of codes times row values is exact in integers; groups are then added up in f32, in order:
//!
//! product = sum over groups of (row's scale * scale) * sum(code * x) + minimum * (row's scale * sum(x))
//!
//! The steps are the same with every instruction set, and so are the bits.
//!
//! | file | holds |
//! |---|---|
//! | `codes` | stored blocks as codes, scales and minimums |
//! | `rows` | rows rounded to 8 bits, in tiles |
//! | `avx512`, `avx2`, `plain` | a tile of rows times a panel |

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod codes;
mod plain;
mod rows;

use super::float::Strip;
use super::{PANEL, Part};
use codes::{Coder, Form};
pub use rows::IntRows;
use rows::{IntTile, STEP};

/// Instruction sets that a tile is multiplied with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Isa {
    /// AVX-512 with its dot products of bytes (VNNI).
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What every processor has.
    #[default]
    Plain,
}

impl Isa {
    /// The best that this processor has.
    fn best() -> Isa {
        #[cfg(target_arch = "x86_64")]
        {
            use crate::model::simd::{Width, width};
            match width() {
                Width::Avx512 if std::is_x86_feature_detected!("avx512vnni") => return Isa::Avx512,
                Width::Avx512 | Width::Avx2 => return Isa::Avx2,
                Width::Baseline => {}
            }
        }
        Isa::Plain
    }

    /// Rows of the largest tile: as many as leave the sums in registers.
    fn tile_rows(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => 6,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => 2,
            Isa::Plain => 2,
        }
    }
}

/// Codes of [`PANEL`] outputs at [`STEP`] neighbouring k, or at twice as many where two codes of 4 bits share a byte.
type Codes = Strip<[u8; STEP]>;

/// The weights of [`PANEL`] outputs.
#[derive(Debug)]
pub struct IntPanel {
    form: Form,
    codes: Vec<Codes>,
    /// Scales of each group.
    scales: Vec<Strip<f32>>,
    /// Minimums of each group; none where codes are centred.
    minimums: Vec<Strip<f32>>,
}

impl IntPanel {
    /// Packs the part's rows from `from` on, up to a panel of them; columns without one are zeros.
    pub fn pack(k: usize, part: &Part<'_>, from: usize) -> Result<IntPanel, String> {
        let coder = Coder::of(part.stored.encoding);
        let form = coder.form();
        let groups = form.groups(k);
        let mut panel = IntPanel {
            form,
            codes: vec![Strip([[0; STEP]; PANEL]); groups * form.strips()],
            scales: vec![Strip([0.0; PANEL]); groups],
            minimums: vec![Strip([0.0; PANEL]); if form.centred { 0 } else { groups }],
        };
        let mut row = codes::Row::new(form, k);
        for column in 0..PANEL {
            let Some(at) = part.row(from + column) else { break };
            coder.decode(&part.stored, at, &mut row)?;
            panel.put(column, &row);
        }
        Ok(panel)
    }

    fn put(&mut self, column: usize, row: &codes::Row) {
        let (steps, _) = row.codes.as_chunks::<STEP>();
        if self.form.halves {
            for (strip, pair) in self.codes.iter_mut().zip(steps.as_chunks::<2>().0) {
                strip.0[column] = std::array::from_fn(|i| pair[0][i] | pair[1][i] << 4);
            }
        } else {
            for (strip, step) in self.codes.iter_mut().zip(steps) {
                strip.0[column] = *step;
            }
        }
        for (strip, &scale) in self.scales.iter_mut().zip(&row.scales) {
            strip.0[column] = scale;
        }
        for (strip, &minimum) in self.minimums.iter_mut().zip(&row.minimums) {
            strip.0[column] = minimum;
        }
    }

    /// Copies the weights of one column.
    #[cfg(test)]
    pub fn copy_column(&self, column: usize, out: &mut [f32]) {
        for (i, slot) in out.iter_mut().enumerate() {
            let (group, step) = (i / self.form.group, i / STEP);
            let strip = if self.form.halves { step / 2 } else { step };
            let (Some(codes), Some(scales)) = (self.codes.get(strip), self.scales.get(group)) else { return };
            let byte = codes.0[column][i % STEP];
            let code = match self.form.halves {
                true => byte >> (step % 2 * 4) & 15,
                false => byte,
            };
            *slot = match self.minimums.get(group) {
                Some(minimums) => f32::from(code) * scales.0[column] + minimums.0[column],
                None => f32::from(i16::from(code) - codes::CENTRE) * scales.0[column],
            };
        }
    }

    /// Bytes that it takes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of_val(self.codes.as_slice()) + size_of_val(self.scales.as_slice()) + size_of_val(self.minimums.as_slice())
    }

    /// Whether groups are half as long as usual, so that rows need sums of such groups.
    pub fn has_short_groups(&self) -> bool {
        self.form.group < codes::BLOCK
    }

    /// Multiplies rows into segments, one for each row.
    pub fn multiply(&self, rows: &IntRows, out: &mut [[f32; PANEL]]) {
        let mut rest = out;
        for tile in rows.tiles() {
            let Some((out, after)) = rest.split_at_mut_checked(tile.height()) else { return };
            rest = after;
            match rows.isa() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Isa::best` has found every feature that the function is compiled for.
                Isa::Avx512 => unsafe { avx512::multiply(tile, self, out) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Isa::Avx2 => unsafe { avx2::multiply(tile, self, out) },
                Isa::Plain => plain::multiply(tile, self, out),
            }
        }
    }
}

/// Calls a kernel's `tile::<M, STEPS, STRIPS, MINIMUMS>` for a tile's height and a panel's form.
macro_rules! for_shape {
    ($tile:ident, $rows:expr, $panel:expr, $out:expr, [$($height:literal),*]) => {
        match ($panel.form, $rows.height()) {
            $(
                (Form { group: 32, halves: false, centred: true }, $height) => $tile::<$height, 8, 8, false>($rows, $panel, $out),
                (Form { group: 32, halves: false, centred: false }, $height) => $tile::<$height, 8, 8, true>($rows, $panel, $out),
                (Form { group: 32, halves: true, .. }, $height) => $tile::<$height, 8, 4, true>($rows, $panel, $out),
                (Form { group: 16, halves: false, .. }, $height) => $tile::<$height, 4, 4, false>($rows, $panel, $out),
                (Form { group: 16, halves: true, .. }, $height) => $tile::<$height, 4, 2, true>($rows, $panel, $out),
            )*
            _ => {}
        }
    };
}
use for_shape;

#[cfg(test)]
mod tests {
    use super::super::tests::{noise, quantized};
    use super::*;
    use crate::model::weights::stored::{Encoding, Stored};

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let (n, k, m) = (PANEL, 512, 7);
        let rows = noise(m * k, 8);
        let mut found = vec![Isa::Plain];
        #[cfg(target_arch = "x86_64")]
        found.extend([Isa::best(), Isa::Avx2].iter().filter(|_| Isa::best() != Isa::Plain));
        for encoding in [Encoding::Q4_1, Encoding::Q5_1, Encoding::Q8_0, Encoding::Q6K, Encoding::Q2K] {
            let bytes = quantized(encoding, n, k, 1);
            let stored = Stored { shape: &[n, k], encoding, bytes: &bytes };
            let part = Part::all(stored);
            let panel = IntPanel::pack(k, &part, 0).unwrap();
            let mut of_plain = Vec::new();
            for &isa in &found {
                let mut tiles = IntRows::default();
                tiles.fill_for(isa, &rows, k, true);
                let mut out = vec![[0f32; PANEL]; m];
                panel.multiply(&tiles, &mut out);
                if isa == Isa::Plain {
                    of_plain = out;
                } else {
                    assert_eq!(out, of_plain, "{encoding:?} {isa:?}");
                }
            }
        }
    }

    #[test]
    fn the_largest_codes_and_values_do_not_overflow() {
        // Q8_0 blocks of scale 1 whose codes are all -128, times rows of -127 and 127.
        let (k, m) = (64, 2);
        let block: Vec<u8> = [0x00, 0x3c].into_iter().chain([0x80; 32]).collect();
        let bytes = block.repeat(PANEL * k / 32);
        let stored = Stored { shape: &[PANEL, k], encoding: Encoding::Q8_0, bytes: &bytes };
        let part = Part::all(stored);
        let panel = IntPanel::pack(k, &part, 0).unwrap();
        let rows: Vec<f32> = [vec![-127.0; k], vec![127.0; k]].concat();
        for isa in [Isa::best(), Isa::Plain] {
            let mut tiles = IntRows::default();
            tiles.fill_for(isa, &rows, k, false);
            let mut out = vec![[0f32; PANEL]; m];
            panel.multiply(&tiles, &mut out);
            assert_eq!(out, [[128.0 * 127.0 * 64.0; PANEL], [-128.0 * 127.0 * 64.0; PANEL]]);
        }
    }
}
