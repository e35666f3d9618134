//! Subtype, place, strength: the three things that name a variant.
//!
//! In: names and numbers from a plan. Out: values that print as they stand in ids.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::{Error, Result};

/// What is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subtype {
    /// Rude to polite framing around the prompt.
    Politeness,
    /// Added spaces.
    Spacing,
    /// Added punctuation marks.
    Punctuation,
    /// Letters made upper case.
    Casing,
    /// Fewer or more words.
    Length,
    /// Question or instruction.
    Form,
}

impl Subtype {
    /// Every subtype, in grid order.
    pub const ALL: [Subtype; 6] =
        [Subtype::Politeness, Subtype::Spacing, Subtype::Punctuation, Subtype::Casing, Subtype::Length, Subtype::Form];

    /// Name in tables, ids and plans.
    pub fn as_str(self) -> &'static str {
        match self {
            Subtype::Politeness => "politeness",
            Subtype::Spacing => "spacing",
            Subtype::Punctuation => "punctuation",
            Subtype::Casing => "casing",
            Subtype::Length => "length",
            Subtype::Form => "form",
        }
    }

    /// The family that it belongs to in the method's grid.
    pub fn family(self) -> &'static str {
        match self {
            Subtype::Politeness => "social_register",
            Subtype::Spacing | Subtype::Punctuation | Subtype::Casing => "surface_noise",
            Subtype::Length | Subtype::Form => "structural_rewriting",
        }
    }

    /// Whether it is rewritten (length, form): such wordings may fail and are what the validity rule applies to.
    pub fn is_rewrite(self) -> bool {
        matches!(self, Subtype::Length | Subtype::Form)
    }

    /// The subtype of this name.
    ///
    /// # Errors
    /// An unknown name; the message lists the known ones.
    pub fn parse(name: &str) -> Result<Subtype> {
        Subtype::ALL.into_iter().find(|s| s.as_str() == name).ok_or_else(|| {
            Error::input("unknown subtype of variants")
                .found(name)
                .expected(Subtype::ALL.map(Subtype::as_str).join(", "))
                .into()
        })
    }

    /// What is accepted as its strength, in words.
    pub fn accepted(self) -> &'static str {
        match self {
            Subtype::Politeness => "whole numbers from -10 to 10 without 0 (the method's grid has the even ones)",
            Subtype::Spacing | Subtype::Punctuation => "whole numbers from 1 to 1000",
            Subtype::Casing => "percentages over 0 and up to 100",
            Subtype::Length => "multiples of the prompt's length over 0 and up to 10, without 1",
            Subtype::Form => "imperative (interrogative is its baseline)",
        }
    }

    pub(super) fn accepts(self, level: &Level) -> bool {
        let whole = |x: f64, low: f64, high: f64| x.fract() == 0.0 && (low..=high).contains(&x);
        match (self, level) {
            (Subtype::Politeness, Level::Number(x)) => whole(*x, -10.0, 10.0) && *x != 0.0,
            (Subtype::Spacing | Subtype::Punctuation, Level::Number(x)) => whole(*x, 1.0, 1000.0),
            (Subtype::Casing, Level::Number(x)) => *x > 0.0 && *x <= 100.0,
            (Subtype::Length, Level::Number(x)) => *x > 0.0 && *x <= 10.0 && *x != 1.0,
            (Subtype::Form, Level::Word(word)) => word == "imperative",
            _ => false,
        }
    }
}

/// Where the change is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Before the prompt; for casing its first half.
    Prefix,
    /// After the prompt; for casing its second half.
    Suffix,
    /// Anywhere in the prompt; for politeness on both sides.
    Global,
}

impl Place {
    /// Every place, in grid order.
    pub const ALL: [Place; 3] = [Place::Prefix, Place::Suffix, Place::Global];

    /// Name in tables, ids and plans.
    pub fn as_str(self) -> &'static str {
        match self {
            Place::Prefix => "prefix",
            Place::Suffix => "suffix",
            Place::Global => "global",
        }
    }

    /// The place of this name.
    ///
    /// # Errors
    /// An unknown name; the message lists the known ones.
    pub fn parse(name: &str) -> Result<Place> {
        Place::ALL.into_iter().find(|p| p.as_str() == name).ok_or_else(|| {
            Error::input("unknown place of variants")
                .found(name)
                .expected(Place::ALL.map(Place::as_str).join(", "))
                .into()
        })
    }
}

/// A strength: a number, or the word of a form. Prints as it stands in ids, a number as its shortest decimal.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// A strength on a scale; the unit depends on the subtype.
    Number(f64),
    /// `imperative` or `interrogative`.
    Word(String),
}

impl Level {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Level::Number(x) => Some(*x),
            Level::Word(_) => None,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Number(x) => write!(f, "{x}"),
            Level::Word(word) => f.write_str(word),
        }
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, out: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            // Written as it stands in ids: 20, not 20.0.
            Level::Number(x) if x.fract() == 0.0 && x.abs() < 1e9 => out.serialize_i64(*x as i64),
            Level::Number(x) => out.serialize_f64(*x),
            Level::Word(word) => out.serialize_str(word),
        }
    }
}

impl From<f64> for Level {
    fn from(x: f64) -> Self {
        Level::Number(x)
    }
}

impl From<&str> for Level {
    fn from(word: &str) -> Self {
        Level::Word(word.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_list_the_known_ones() {
        let message = Subtype::parse("shouting").unwrap_err().to_string();
        assert!(message.contains("shouting") && message.contains("politeness, spacing"), "{message}");
        assert!(Place::parse("middle").unwrap_err().to_string().contains("prefix, suffix, global"));
        assert!(Subtype::ALL.into_iter().all(|s| Subtype::parse(s.as_str()).unwrap() == s));
    }

    #[test]
    fn numbers_print_as_shortest_decimals() {
        let shown: Vec<String> = [0.25, 2.0, 1.5, -4.0, 20.0].map(|x| Level::Number(x).to_string()).to_vec();
        assert_eq!(shown, ["0.25", "2", "1.5", "-4", "20"]);
    }
}
