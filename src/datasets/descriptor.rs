//! Descriptors: what is known of a public data set before any of its files is opened.
//!
//! In: `datasets/NAME.toml`, compiled in. Out: [`Descriptor`]s with their file [`Layout`]s.
//! A descriptor holds facts about a data set (owner, licence, columns) and none of its texts.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::ListForm;
use crate::Error;
use crate::error::{InputError, Result};

/// A public data set: whose it is, where it is published, and how its files are laid out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// Name in plans, tables and paths.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Whether it is one of the six data sets of the study.
    pub study: bool,
    /// Owner and name on the Hugging Face hub; None where the owner publishes a file elsewhere only.
    pub hub_id: Option<String>,
    /// Configuration on the hub, where there is more than one.
    pub config: Option<String>,
    /// Split that the prompts are taken from.
    pub split: String,
    /// The owner's page of the data set.
    pub homepage: String,
    /// The owner's licence, as an SPDX identifier.
    pub licence: String,
    /// Whether the texts may be passed on, for any use, inside a release of results (false for non-commercial licences).
    pub redistributable: bool,
    /// What passing them on asks for: attribution, same licence, non-commercial use.
    pub terms: String,
    /// Authors, title, venue and year of the paper that introduced it.
    pub citation: String,
    /// The file layouts that its loader reads; the first whose columns are all there is taken.
    #[serde(rename = "layout")]
    pub layouts: Vec<Layout>,
}

/// Which fields of a row hold what, in one kind of file.
///
/// A field is a column's name or a dotted path into nested values (`answer.aliases`); a path goes into lists (each
/// element) and into Python dicts and JSON objects written as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Name of the layout, as the plan records it.
    pub name: String,
    /// Endings of file names that alone have this layout, in place of what the extension would say. Empty: any file.
    #[serde(default)]
    pub suffixes: Vec<String>,
    /// For tab-separated files without a header line (CSV quoting): names for their columns.
    #[serde(default)]
    pub headerless: Vec<String>,
    /// Field of the prompt (of the instruction, where there is an input).
    pub prompt: String,
    /// Field that follows the prompt after a blank line, where it is not blank.
    pub input: Option<String>,
    /// Fields of the reference answers, the best first.
    #[serde(default)]
    pub answers: Vec<AnswerColumn>,
    /// Fields that may hold the row's own id; the first that is there. None there: the row's number from 0.
    #[serde(default)]
    pub id: Vec<String>,
    /// Field of the category; may be missing.
    pub category: Option<String>,
}

/// A field with reference answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerColumn {
    /// The field.
    pub column: String,
    /// How several answers stand in it.
    #[serde(default)]
    pub list: ListForm,
}

impl Layout {
    /// The fields that must be there for a file to have this layout: prompt, input, answers.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        let answers = self.answers.iter().map(|a| a.column.as_str());
        std::iter::once(self.prompt.as_str()).chain(self.input.as_deref()).chain(answers)
    }

    /// Every field, required or not.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.required().chain(self.id.iter().map(String::as_str)).chain(self.category.as_deref())
    }
}

/// File name and text of each compiled-in descriptor, the study's six first.
const SOURCES: &[(&str, &str)] = &[
    ("truthfulqa.toml", include_str!("../../datasets/truthfulqa.toml")),
    ("natural_questions.toml", include_str!("../../datasets/natural_questions.toml")),
    ("alpaca.toml", include_str!("../../datasets/alpaca.toml")),
    ("simpleqa_verified.toml", include_str!("../../datasets/simpleqa_verified.toml")),
    ("triviaqa.toml", include_str!("../../datasets/triviaqa.toml")),
    ("hotpotqa.toml", include_str!("../../datasets/hotpotqa.toml")),
    ("simpleqa.toml", include_str!("../../datasets/simpleqa.toml")),
];

static DESCRIPTORS: LazyLock<std::result::Result<Vec<Descriptor>, Box<InputError>>> =
    LazyLock::new(|| SOURCES.iter().map(|(file, text)| parse(file, text)).collect());

fn parse(file: &str, text: &str) -> std::result::Result<Descriptor, Box<InputError>> {
    toml::from_str(text)
        .map_err(|e| Error::input(format!("descriptor {file} is broken")).file(file).found(e.to_string()).into())
}

/// All compiled-in descriptors: the six data sets of the study in its order, then further ones.
///
/// # Errors
/// An [`Error::Input`] that names the file of a descriptor that does not parse (a fault of the build).
pub fn descriptors() -> Result<&'static [Descriptor]> {
    DESCRIPTORS.as_deref().map_err(|e| Error::Input(e.clone()))
}

/// The descriptor of this name.
///
/// # Errors
/// An [`Error::Input`] that lists the names there are.
pub fn descriptor(name: &str) -> Result<&'static Descriptor> {
    let all = descriptors()?;
    all.iter().find(|d| d.name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|d| d.name.as_str()).collect();
        Error::input(format!("there is no built-in data set \"{name}\""))
            .expected(names.join(", "))
            .fix("or give a file of your own: `path = \"prompts.csv\"` and `prompt = \"COLUMN\"` under [[dataset]]")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_study_has_six_and_every_descriptor_is_named_for_its_file() {
        let all = descriptors().unwrap();
        assert_eq!(all.iter().filter(|d| d.study).count(), 6);
        assert!(all.iter().take(6).all(|d| d.study));
        for (d, (file, _)) in all.iter().zip(SOURCES) {
            assert_eq!(format!("{}.toml", d.name), *file);
            assert!(!d.layouts.is_empty() && !d.licence.is_empty() && !d.citation.is_empty(), "{file}");
            assert!(d.layouts.iter().all(|l| !l.answers.is_empty()), "{file}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = descriptor("triviaq").unwrap_err().to_string();
        assert!(
            message.contains("\"triviaq\"") && message.contains("truthfulqa, natural_questions, alpaca"),
            "{message}"
        );
        assert!(message.contains("path ="), "{message}");
    }

    #[test]
    fn a_broken_descriptor_names_its_file_and_key() {
        let message = Error::Input(parse("mine.toml", "name = \"mine\"\nlicense = \"MIT\"").unwrap_err()).to_string();
        assert!(message.contains("mine.toml") && message.contains("license"), "{message}");
    }
}
