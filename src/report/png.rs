//! PNG: pixels of a drawing.
//!
//! In: an SVG, and the fonts of this machine. Out: a PNG of 3 pixels for each of the drawing (288 to the inch), with every
//! text in it; where a font for one lacks, an error and no picture.

use std::collections::BTreeSet;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Group, Node, Options, Tree};

use crate::{Error, Result};

/// Pixels for each of the drawing; the same as the page's button gives.
const DENSITY: f32 = 3.0;

/// Fonts as wide as those that drawings are laid out for, the likest first.
const AS_WIDE: &[&str] =
    &["Arial", "Helvetica Neue", "Helvetica", "Liberation Sans", "Arimo", "Nimbus Sans", "Nimbus Sans L", "FreeSans"];
/// What to take where none of those is there.
const PREFERRED: &[&str] = &["DejaVu Sans Condensed", "Noto Sans", "Open Sans", "Roboto", "DejaVu Sans"];

/// The fonts of this machine.
#[derive(Debug, Clone)]
pub struct Fonts {
    known: Arc<Database>,
    /// The font that texts are in, where it is none of [`AS_WIDE`].
    pub stand_in: Option<String>,
}

impl Fonts {
    /// Finds them.
    ///
    /// # Errors
    /// There are none.
    pub fn of_machine() -> Result<Fonts> {
        let mut known = Database::new();
        known.load_system_fonts();
        Fonts::of(known)
    }

    fn of(mut known: Database) -> Result<Fonts> {
        let names: BTreeSet<String> =
            known.faces().flat_map(|face| face.families.iter().map(|(name, _)| name.clone())).collect();
        let there = |wanted: &[&str]| wanted.iter().find(|name| names.contains(**name)).map(|name| (*name).to_string());
        let as_wide = there(AS_WIDE);
        let Some(plain) = as_wide.clone().or_else(|| there(PREFERRED)).or_else(|| names.first().cloned()) else {
            return Err(Error::input("no font is installed here, and a PNG would have no text")
                .key("--figures")
                .found("png")
                .fix("install a font (Debian: apt-get install fonts-liberation), or ask for svg")
                .into());
        };
        known.set_sans_serif_family(&plain);
        // What is taken where all names of a text fail.
        known.set_serif_family(&plain);
        Ok(Fonts { known: Arc::new(known), stand_in: if as_wide.is_some() { None } else { Some(plain) } })
    }
}

/// The pixels of a drawing; `figure` is its name.
///
/// # Errors
/// No font has a character of it; it is no SVG, or too large.
pub fn png(svg: &str, figure: &str, fonts: &Fonts) -> Result<Vec<u8>> {
    let failed = |what: String| Error::Figure { figure: figure.to_string(), what };
    let options = Options { fontdb: fonts.known.clone(), font_family: "sans-serif".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| failed(e.to_string()))?;
    if let Some(text) = without_font(tree.root()) {
        return Err(Error::input(format!("no font that is installed here has a character of the figure {figure}"))
            .key("--figures")
            .found(text)
            .fix("install a font that has it (Debian: apt-get install fonts-noto), or ask for svg")
            .into());
    }
    let pixels = |length: f32| (length * DENSITY).ceil() as u32;
    let size = tree.size();
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| failed(format!("{} x {} is too large for a PNG", size.width(), size.height())))?;
    resvg::render(&tree, Transform::from_scale(DENSITY, DENSITY), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| failed(e.to_string()))
}

/// A text for which there is no glyph.
fn without_font(group: &Group) -> Option<String> {
    group.children().iter().find_map(|node| match node {
        Node::Group(group) => without_font(group),
        Node::Text(text) => {
            let glyphs = || text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
            let written = text.chunks().iter().any(|chunk| !chunk.text().trim().is_empty());
            let lacking = glyphs().find(|glyph| glyph.id.0 == 0).map(|glyph| glyph.text.clone());
            lacking.or_else(|| {
                (written && glyphs().next().is_none()).then(|| text.chunks().iter().map(|c| c.text()).collect())
            })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A font of boxes for the letters a to z.
    fn boxes() -> Fonts {
        let mut known = Database::new();
        known.load_font_data(include_bytes!("../../tests/golden/boxes.ttf").to_vec());
        Fonts::of(known).unwrap()
    }

    fn drawing(text: &str) -> String {
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20" font-family="Arial, sans-serif"><rect width="60" height="20" fill="#fff"/><text x="2" y="14">{text}</text></svg>"##
        )
    }

    #[test]
    fn without_a_font_there_is_no_picture() {
        let error = Fonts::of(Database::new()).unwrap_err().to_string();
        assert!(error.contains("fonts-liberation") && error.contains("--figures"), "{error}");
    }

    #[test]
    fn a_drawing_becomes_pixels_with_its_text() {
        let fonts = boxes();
        assert_eq!(fonts.stand_in.as_deref(), Some("Boxes"));
        let image = Pixmap::decode_png(&png(&drawing("model"), "sgs", &fonts).unwrap()).unwrap();
        assert_eq!((image.width(), image.height()), (180, 60));
        assert!(image.pixels().iter().any(|pixel| pixel.red() < 100), "no text is in it");
        assert!(image.pixels().iter().all(|pixel| pixel.alpha() == 255));
    }

    #[test]
    fn a_character_without_a_glyph_is_an_error() {
        let fonts = boxes();
        let error = png(&drawing("a\u{e9}"), "sgs", &fonts).unwrap_err().to_string();
        assert!(error.contains("no font") && error.contains("sgs") && error.contains('\u{e9}'), "{error}");
        assert!(png("no svg", "sgs", &fonts).unwrap_err().to_string().starts_with("figure sgs: "));
    }
}
