//! Published: the CSV files of the study, a row a wording and a column an axis.
//!
//! In: a long file (model, dataset, style, ...), or a file a style (`spacing.csv`, `letter_case.csv`, ...) of one model
//! and data set. Out: the deltas under this project's names: BLEU on 0..1, everything relative to its own baseline.
//!
//! The form `original` (the prompt before it was made a question) is left out, as the study leaves it out.

use std::path::Path;

use super::columns::{Cells, Columns, Spot};
use super::deltas::{Said, known_axes, place_of};
use super::gathered::{Delta, Gathered, Key, WHOLE_ROW};
use super::wording::{Wording, level};
use super::{Confidence, Import, ReadFile, Source, files};
use crate::datasets::table::{self, Format, Wanted, name};
use crate::variants::Subtype;
use crate::{Error, Result};

/// What the study calls the subtypes: in its long files, and as names of files a style.
const STYLES: [(Subtype, [&str; 3]); 6] = [
    (Subtype::Politeness, ["polite.", "politeness", "polite"]),
    (Subtype::Spacing, ["spacing", "spacing", "spacing"]),
    (Subtype::Punctuation, ["punct.", "punctuation", "punct"]),
    (Subtype::Casing, ["casing", "letter_case", "case"]),
    (Subtype::Length, ["length", "length_variation", "length"]),
    (Subtype::Form, ["form", "inter_vs_imper", "form"]),
];

/// What makes a figure the method's delta on the method's scale.
#[derive(Debug, Clone, Copy)]
enum Scale {
    AsItIs,
    /// 0..100 becomes 0..1.
    Percent,
    /// Baseline minus wording becomes wording minus baseline.
    TurnedRound,
}

impl Scale {
    /// The scaled figure. Adding 0 turns the -0 of the files into 0.
    fn apply(self, x: f64) -> f64 {
        match self {
            Scale::AsItIs => x + 0.0,
            Scale::Percent => x / 100.0 + 0.0,
            Scale::TurnedRound => 0.0 - x,
        }
    }
}

/// A column of figures.
struct Figure {
    column: &'static str,
    /// Axis and scale where it is a score of the baseline's response, or no score at all.
    forced: (&'static str, Scale),
    /// Axis and scale where it is a score of generated tokens.
    generated: (&'static str, Scale),
    /// Whether the baseline's figure is still in it.
    is_unanchored: bool,
}

const fn figure(column: &'static str, axis: &'static str, scale: Scale) -> Figure {
    Figure { column, forced: (axis, scale), generated: (axis, scale), is_unanchored: false }
}

const fn entropy(column: &'static str, is_unanchored: bool) -> Figure {
    let (forced, generated) = (("ent", Scale::AsItIs), ("ent_generated", Scale::AsItIs));
    Figure { column, forced, generated, is_unanchored }
}

const FIGURES: [Figure; 7] = [
    figure("delta_activation_similarity", "cos", Scale::AsItIs),
    figure("delta_bleu", "bleu", Scale::Percent),
    figure("delta_bertscore_response", "bert", Scale::AsItIs),
    Figure {
        column: "delta_log_prob",
        forced: ("prob", Scale::AsItIs),
        // Of generated tokens the study's scripts subtract the wording from the baseline.
        generated: ("prob_generated", Scale::TurnedRound),
        is_unanchored: false,
    },
    entropy("delta_entropy", false),
    entropy(SHIFT, true),
    figure("delta_mirroring_rate", "mirror", Scale::AsItIs),
];

/// The column that only files of chat APIs have.
const SHIFT: &str = "entropy_shift";
const KEYS: [&str; 6] = ["model", "dataset", "style", "strength", "place", "prompt_id"];
const NEEDED: [&str; 3] = ["strength", "place", "prompt_id"];

/// Reads all sources.
pub(super) fn read(import: &Import) -> Result<Gathered> {
    let known: Vec<&str> = KEYS.iter().copied().chain(FIGURES.iter().map(|f| f.column)).collect();
    let columns = Columns::new(&import.columns, &known)?;
    let mut gathered = Gathered::new(known_axes()?);
    let mut originals = 0;
    for source in &import.sources {
        for path in files(&source.path, "CSV files", &|file| file.to_lowercase().ends_with(".csv"))? {
            originals += Reading { import, source, path: &path, columns: &columns }.carry_out(&mut gathered)?;
        }
    }
    if originals > 0 {
        gathered.notes.push(format!("{originals} rows of the form \"original\" are left out, as in the study"));
    }
    gathered.finish(import.add_baselines)?;
    Ok(gathered)
}

/// The reading of one file.
struct Reading<'a> {
    import: &'a Import,
    source: &'a Source,
    path: &'a Path,
    columns: &'a Columns<'a>,
}

/// What the header of a file says.
struct Layout {
    /// The style of all rows; None where a column says it.
    style: Option<Subtype>,
    /// Columns of figures that are there, with axis, scale and whether the baseline is still in them.
    figures: Vec<(&'static str, u16, Scale, bool)>,
}

impl Reading<'_> {
    /// Reads the file; gives the number of rows of the form `original`.
    fn carry_out(&self, gathered: &mut Gathered) -> Result<u64> {
        let (path, columns) = (self.path, self.columns);
        let file = gathered.begin(path);
        let names = KEYS.iter().copied().chain(FIGURES.iter().map(|f| f.column));
        let wanted = Wanted::by(names.map(|ours| columns.theirs(ours)));
        let said = Said {
            model: self.source.model.as_deref().or(self.import.model.as_deref()),
            dataset: self.source.dataset.as_deref().or(self.import.dataset.as_deref()),
        };
        let (mut number, mut originals, mut layout) = (0, 0, None);
        let head = table::scan(path, &Format::of(path)?, &wanted, &mut |found, row| {
            number += 1;
            let layout = match &layout {
                Some(layout) => layout,
                None => {
                    said.check(path, columns, &row, found)?;
                    layout.insert(self.layout(&row, found, gathered)?)
                }
            };
            let spot = Spot::of(file, &row, number);
            let was_taken = take(&Cells { path, columns, row: &row, spot }, layout, &said, gathered)?;
            originals += u64::from(!was_taken);
            Ok(())
        })?;
        let (model, dataset) = (self.source.model.clone(), self.source.dataset.clone());
        gathered.files.push(ReadFile {
            file: name(path),
            sha256: head.sha256,
            rows: number,
            model,
            dataset,
            variant: None,
        });
        Ok(originals)
    }

    /// Makes out style and axes from the header.
    fn layout(&self, row: &table::Row, found: &[String], gathered: &Gathered) -> Result<Layout> {
        self.columns.check(self.path, row, found, &NEEDED)?;
        let has = |ours: &str| found.iter().any(|column| column == self.columns.theirs(ours));
        let style = if has("style") { None } else { Some(self.style_of_file(row, found)?) };
        let by_column = if has(SHIFT) { Confidence::Generated } else { Confidence::Forced };
        let confidence = self.import.confidence.unwrap_or(by_column);
        let mut figures: Vec<(&'static str, u16, Scale, bool)> = Vec::new();
        for figure in FIGURES.iter().filter(|figure| has(figure.column)) {
            let (axis, scale) = match confidence {
                Confidence::Forced => figure.forced,
                Confidence::Generated => figure.generated,
            };
            let axis = gathered.axis(axis).ok_or_else(|| Error::table("axes")(format!("{axis} is missing")))?;
            if figures.iter().any(|(_, other, ..)| *other == axis) {
                return Err(Error::input(format!("{} says the entropy twice", name(self.path)))
                    .file(self.path)
                    .line(1)
                    .found(format!("{} and delta_entropy", figure.column))
                    .fix("leave one of the two columns out")
                    .into());
            }
            figures.push((figure.column, axis, scale, figure.is_unanchored));
        }
        if figures.is_empty() {
            return Err(Error::input(format!("{} has no column of deltas", name(self.path)))
                .file(self.path)
                .line(1)
                .found(found.join(", "))
                .expected(FIGURES.iter().map(|f| f.column).collect::<Vec<_>>().join(", "))
                .fix("say which columns they are: --column delta_bleu=NAME")
                .into());
        }
        Ok(Layout { style, figures })
    }

    /// The style that the file's name says.
    fn style_of_file(&self, row: &table::Row, found: &[String]) -> Result<Subtype> {
        let stem = self.path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
        style(&stem).ok_or_else(|| {
            let known: Vec<&str> = STYLES.iter().map(|(_, names)| names[1]).collect();
            self.columns
                .lacking(self.path, row, found, "style")
                .expected(format!("a column \"style\", or a file named after its style: {}.csv", known.join(".csv, ")))
                .into()
        })
    }
}

/// The subtype of a style's name, in any letter case.
fn style(text: &str) -> Option<Subtype> {
    let text = text.to_lowercase();
    let is = |subtype: Subtype, names: &[&str]| subtype.as_str() == text || names.contains(&text.as_str());
    STYLES.iter().find(|(subtype, names)| is(*subtype, names)).map(|(subtype, _)| *subtype)
}

/// Takes a row; false for the form `original`.
fn take(cells: &Cells, layout: &Layout, said: &Said, gathered: &mut Gathered) -> Result<bool> {
    let subtype = match layout.style {
        Some(subtype) => subtype,
        None => style(&cells.required("style")?).ok_or_else(|| {
            let known: Vec<&str> = Subtype::ALL.map(Subtype::as_str).to_vec();
            cells.wrong("style", "names no style that is known").expected(known.join(", "))
        })?,
    };
    let strength = cells.required("strength")?;
    if subtype == Subtype::Form && strength == "original" {
        return Ok(false);
    }
    let level = level(subtype, &strength)
        .map_err(|expected| cells.wrong("strength", "is no strength of its style").expected(expected))?;
    let place = place_of(cells, &cells.required("place")?)?;
    let model = match said.model {
        Some(model) => gathered.models.number(model),
        None => gathered.models.number(&cells.required("model")?),
    };
    let dataset = match said.dataset {
        Some(dataset) => gathered.datasets.number(dataset),
        None => gathered.datasets.number(&cells.required("dataset")?),
    };
    let prompt = gathered.prompts.number(&cells.required("prompt_id")?);
    let wording = gathered.wordings.number(Wording::of_grid(subtype, place, &level));
    let key = Key { model, dataset, prompt, wording, repeat: 0, axis: WHOLE_ROW };
    gathered.claim(key, cells.spot)?;
    for &(column, axis, scale, is_unanchored) in &layout.figures {
        if let Some(x) = cells.number(column)? {
            let delta = Some(scale.apply(x));
            gathered.deltas.push(Delta { key: Key { axis, ..key }, value: None, delta, is_unanchored });
        }
    }
    Ok(true)
}
