//! Saved figures: every figure and table of a page as a file of its own.
//!
//! In: the data of a page, and kinds of files. Out: SVG, PNG and LaTeX files in a folder, and words on what the run has
//! nothing for.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rayon::prelude::*;

use super::engine::{self, Drawn, Made, Wanted};
use super::png::{Fonts, png};
use crate::store::files::{write_atomically, write_text};
use crate::{Error, Result};

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FigureKind {
    /// Drawings that scale
    Svg,
    /// Pixels, 288 to the inch
    Png,
    /// Tables in LaTeX, for the package booktabs
    Tex,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFigures {
    /// The folder.
    pub folder: PathBuf,
    /// How many files.
    pub files: usize,
    /// What is not among them, and why.
    pub notes: Vec<String>,
}

/// Writes the files of `kinds` into `folder`. The same data give the same bytes (of a PNG: on one machine, with its
/// fonts). `data` is the page's data as JSON.
///
/// # Errors
/// A figure can't be drawn; a PNG is wanted where no font is installed; the folder can't be written.
pub fn save(data: &str, kinds: &[FigureKind], folder: &Path) -> Result<SavedFigures> {
    let wants = |kind| kinds.contains(&kind);
    let fonts = if wants(FigureKind::Png) { Some(Fonts::of_machine()?) } else { None };
    let wanted = Wanted { pictures: wants(FigureKind::Svg) || fonts.is_some(), tables: wants(FigureKind::Tex) };
    let ids = engine::ids()?;
    let made: Vec<Result<(usize, Vec<String>)>> = ids
        .par_iter()
        .map(|id| {
            let Made { files, notes } = engine::made(data, id, wanted)?;
            let mut written = 0;
            for file in &files {
                written += write(file, wants(FigureKind::Svg), fonts.as_ref(), folder)?;
            }
            Ok((written, notes))
        })
        .collect();
    let stand_in = fonts.as_ref().and_then(|fonts| fonts.stand_in.as_ref()).map(|font| {
        format!("the PNGs are in {font}, which may be wider than the drawings are laid out for; with Arial or a font of its widths (Debian: apt-get install fonts-liberation) no long name touches another")
    });
    let mut saved = SavedFigures { folder: folder.to_path_buf(), files: 0, notes: stand_in.into_iter().collect() };
    for made in made {
        let (files, notes) = made?;
        saved.files += files;
        saved.notes.extend(notes);
    }
    Ok(saved)
}

/// Writes one figure's files; how many they are.
fn write(drawn: &Drawn, svg_too: bool, fonts: Option<&Fonts>, folder: &Path) -> Result<usize> {
    let path = |ending: &str| folder.join(format!("{}.{ending}", drawn.name));
    let mut files = 0;
    if let Some(svg) = &drawn.svg {
        if svg_too {
            write_text(&path("svg"), svg)?;
            files += 1;
        }
        if let Some(fonts) = fonts {
            let pixels = png(svg, &drawn.name, fonts)?;
            let path = path("png");
            write_atomically(&path, |file| {
                std::io::Write::write_all(file, &pixels).map_err(Error::io("write", &path))
            })?;
            files += 1;
        }
    }
    if let Some(tex) = &drawn.tex {
        write_text(&path("tex"), tex)?;
        files += 1;
    }
    Ok(files)
}
