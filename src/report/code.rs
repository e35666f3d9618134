//! Code: the page's own JavaScript, and the libraries that it uses.
//!
//! In: the files beside this one. Out: what a page carries, and what draws figures without a browser; a figure is
//! described once and drawn by the same code in both.

/// The library of the charts.
pub const ECHARTS: &str = include_str!("assets/echarts/echarts.min.js");
/// The library of the differences of texts.
pub const DIFF: &str = include_str!("assets/diff/diff.min.js");

/// What figures and tables are and how they are drawn, in the order in which its parts build on each other. Nothing of it
/// needs a browser.
pub const DRAWING: &[&str] = &[
    include_str!("assets/data.js"),
    include_str!("assets/words.js"),
    include_str!("assets/theme.js"),
    include_str!("assets/controls.js"),
    include_str!("assets/chart.js"),
    include_str!("assets/heat_map.js"),
    include_str!("assets/dot_plot.js"),
    include_str!("assets/radar.js"),
    include_str!("assets/dose.js"),
    include_str!("assets/bleu_mirror.js"),
    include_str!("assets/correlation.js"),
    include_str!("assets/ranks.js"),
    include_str!("assets/accuracy.js"),
    include_str!("assets/layers.js"),
    include_str!("assets/sizes.js"),
    include_str!("assets/traces.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/contents.js"),
    include_str!("assets/latex.js"),
    include_str!("assets/drawing.js"),
];

/// The page around it; comes after [`DRAWING`].
pub const PAGE: &[&str] = &[
    include_str!("assets/unpack.js"),
    include_str!("assets/elements.js"),
    include_str!("assets/screen.js"),
    include_str!("assets/save.js"),
    include_str!("assets/figure.js"),
    include_str!("assets/section.js"),
    include_str!("assets/list.js"),
    include_str!("assets/compare.js"),
    include_str!("assets/browser.js"),
    include_str!("assets/main.js"),
];

/// What [`ECHARTS`] needs where there is no browser; comes before it.
pub const SURROUNDINGS: &str = include_str!("assets/engine.js");
/// What asks [`DRAWING`] for files; comes after it.
pub const FILES: &str = include_str!("assets/files.js");

/// Parts as one script whose names are its own.
pub fn script(parts: &[&[&str]]) -> String {
    format!("(() => {{\n\"use strict\";\n{}}})();", parts.concat().concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_library_or_code_ends_its_own_element() {
        for code in [ECHARTS, DIFF].iter().chain(DRAWING).chain(PAGE) {
            assert!(!code.to_ascii_lowercase().contains("</script"));
            assert!(!code.contains("<!--"));
        }
    }
}
