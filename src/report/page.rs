//! Page: everything in one HTML file.
//!
//! In: packed data. Out: the file: style, data, chart library, diff library and the page's own code.
//! Its content security policy forbids every request; the licences of the libraries stand in it.

use serde_json::Value;

use super::code::{DIFF, DRAWING, ECHARTS, PAGE, script};
use super::texts::Texts;

/// One run of the page.
#[derive(Debug)]
pub struct Run {
    /// Its name, id and the rows of every figure.
    pub figures: Value,
    /// Its texts; None where the page shows none.
    pub texts: Option<Texts>,
}

/// Packed data under an element's id.
#[derive(Debug)]
pub struct Packed {
    /// Id of the element.
    pub id: String,
    /// What [`super::pack::pack`] gave.
    pub text: String,
}

impl Run {
    fn name(&self) -> &str {
        self.figures.get("name").and_then(Value::as_str).unwrap_or_default()
    }
}

const STYLE: &str = include_str!("assets/style.css");
/// Licences that must go with the libraries.
const LICENCES: &[(&str, &str)] = &[
    ("Apache ECharts: notice", include_str!("assets/echarts/NOTICE")),
    ("Apache ECharts (Apache-2.0)", include_str!("assets/echarts/LICENSE")),
    ("d3, a part of Apache ECharts (BSD-3-Clause)", include_str!("assets/echarts/LICENSE-d3")),
    ("jsdiff (BSD-3-Clause)", include_str!("assets/diff/LICENSE")),
];

/// The file. `figures` is the packed data of the figures, `packets` those of the prompt browser, `index` what each holds.
pub fn html(runs: &[Run], figures: &str, index: &str, packets: &[Packed]) -> String {
    let names = runs.iter().map(|run| escaped(run.name())).collect::<Vec<_>>().join(", ");
    let licences: String = LICENCES
        .iter()
        .map(|(name, text)| format!("<details><summary>{name}</summary><pre>{}</pre></details>", escaped(text)))
        .collect();
    let mut html = format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<title>sago: {names}</title>
<style>
{STYLE}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<h1>Does behaviour stay the same when the wording changes?</h1>
<p class="runs">sago report of {names}</p>
</header>
<nav aria-label="Contents"><ul id="contents"></ul></nav>
<main id="content" tabindex="-1">
<noscript><p class="note">The charts and tables of this page are drawn by its own JavaScript, which is switched off here.</p></noscript>
<p id="state" class="note" role="status">Drawing…</p>
</main>
<footer>
<p>Made by sago {version}. The figures are those of the run's SQL tables, rounded to 6 significant digits.
Charts: Apache ECharts; differences of texts: jsdiff.</p>
{licences}
</footer>
<script type="text/plain" id="figures">{figures}</script>
<script type="text/plain" id="texts">{index}</script>
<script>
{ECHARTS}
</script>
<script>
{DIFF}
</script>
<script>
{code}
</script>
"##,
        version = env!("CARGO_PKG_VERSION"),
        code = script(&[DRAWING, PAGE]),
    );
    for packet in packets {
        html.push_str(&format!("<script type=\"text/plain\" id=\"{}\">{}</script>\n", packet.id, packet.text));
    }
    html.push_str("</body>\n</html>\n");
    html
}

/// A text between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text() {
        let run = Run { figures: serde_json::json!({"name": "<b>&\"x"}), texts: None };
        assert!(html(&[run], "", "", &[]).contains("<title>sago: &lt;b&gt;&amp;&quot;x</title>"));
    }
}
