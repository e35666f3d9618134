//! Wordings: what the files call a variant, in this project's terms.
//!
//! In: an id as `spacing/global/20`, or subtype, place and strength. Out: a [`Wording`], and which one others are
//! measured against. Numbers in ids become shortest decimals, so that `length/global/1.0` is `length/global/1`.

use std::collections::HashMap;

use crate::variants::{BASELINE, Level, Place, Subtype};

/// Subtype of an own wording that names none, and the prefix of own ids.
const PARAPHRASE: &str = "paraphrase";
const OWN: &str = "own";

/// One wording, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wording {
    /// variant_id.
    pub(super) id: String,
    pub(super) family: String,
    pub(super) subtype: String,
    pub(super) place: Option<Place>,
    /// Strength as it stands in the id.
    pub(super) level: Option<String>,
    /// Whether it is the prompt itself, or the wording of a subtype that changes nothing.
    pub(super) is_baseline: bool,
    /// The built-in subtype.
    grid: Option<Subtype>,
}

impl Wording {
    /// The prompt itself.
    pub(super) fn baseline() -> Wording {
        let name = BASELINE.to_string();
        let (id, family, subtype) = (name.clone(), name.clone(), name);
        Wording { id, family, subtype, place: None, level: None, is_baseline: true, grid: None }
    }

    /// A wording of a built-in subtype.
    pub(super) fn of_grid(subtype: Subtype, place: Place, level: &Level) -> Wording {
        Wording {
            id: format!("{}/{}/{level}", subtype.as_str(), place.as_str()),
            family: subtype.family().to_string(),
            subtype: subtype.as_str().to_string(),
            place: Some(place),
            level: Some(level.to_string()),
            is_baseline: *level == neutral(subtype),
            grid: Some(subtype),
        }
    }

    /// A wording that is not on the method's grid.
    fn own(id: String, subtype: &str, place: Place, level: Option<&str>) -> Wording {
        Wording {
            id,
            family: OWN.to_string(),
            subtype: subtype.to_string(),
            place: Some(place),
            level: level.map(str::to_string),
            is_baseline: false,
            grid: None,
        }
    }

    /// The wording that an id names: `baseline`, `subtype/place/strength` of the grid, or an own one as
    /// `own/subtype/place/strength`, `own/x` or any other text.
    ///
    /// # Errors
    /// A strength that its built-in subtype can't have: what is accepted.
    pub(super) fn parse(id: &str) -> Result<Wording, String> {
        if id == BASELINE {
            return Ok(Wording::baseline());
        }
        let (own, rest) = id.strip_prefix("own/").map_or((false, id), |rest| (true, rest));
        let mut parts = rest.splitn(3, '/');
        let (first, place, level) = (parts.next().unwrap_or(rest), parts.next(), parts.next());
        let known = place.and_then(|place| Place::parse(place).ok());
        match (known, level) {
            (Some(place), level) => match (own, Subtype::parse(first), level) {
                (false, Ok(subtype), Some(level)) => {
                    Ok(Wording::of_grid(subtype, place, &self::level(subtype, level)?))
                }
                _ => Ok(Wording::own(id.to_string(), first, place, level)),
            },
            (None, _) => match rest.split_once('/') {
                Some((subtype, level)) => Ok(Wording::own(id.to_string(), subtype, Place::Global, Some(level))),
                None => Ok(Wording::own(id.to_string(), PARAPHRASE, Place::Global, Some(rest))),
            },
        }
    }

    /// The wording that subtype, place and strength name.
    ///
    /// # Errors
    /// As [`Wording::parse`].
    pub(super) fn of_parts(subtype: &str, place: Place, strength: Option<&str>) -> Result<Wording, String> {
        if subtype == BASELINE {
            return Ok(Wording::baseline());
        }
        match (Subtype::parse(subtype), strength) {
            (Ok(known), Some(strength)) => Ok(Wording::of_grid(known, place, &level(known, strength)?)),
            (Ok(known), None) => Err(format!("a strength of {}, in a column strength", known.as_str())),
            _ => {
                let ending = strength.map_or_else(String::new, |s| format!("/{s}"));
                Ok(Wording::own(format!("{OWN}/{subtype}/{}{ending}", place.as_str()), subtype, place, strength))
            }
        }
    }

    /// Strength as a number.
    pub(super) fn strength(&self) -> Option<f64> {
        self.level.as_deref()?.parse().ok().filter(|x: &f64| x.is_finite())
    }
}

/// The strength at which a subtype leaves a prompt as it is (the method's section 2).
pub(super) fn neutral(subtype: Subtype) -> Level {
    match subtype {
        Subtype::Length => Level::Number(1.0),
        Subtype::Form => Level::Word("interrogative".to_string()),
        Subtype::Politeness | Subtype::Spacing | Subtype::Punctuation | Subtype::Casing => Level::Number(0.0),
    }
}

/// A strength of a built-in subtype as a file writes it.
///
/// # Errors
/// What is accepted.
pub(super) fn level(subtype: Subtype, text: &str) -> Result<Level, String> {
    let text = text.trim();
    if subtype == Subtype::Form {
        return match text {
            "imperative" | "interrogative" => Ok(Level::Word(text.to_string())),
            _ => Err("imperative or interrogative".to_string()),
        };
    }
    match text.parse::<f64>() {
        // -0 is 0.
        Ok(x) if x.is_finite() => Ok(Level::Number(x + 0.0)),
        _ => Err(format!("a number, as {} takes it", subtype.as_str())),
    }
}

/// Wordings in the order in which they came, each once.
#[derive(Debug, Default)]
pub(super) struct Wordings {
    numbers: HashMap<String, u32>,
    all: Vec<Wording>,
}

impl Wordings {
    /// The number of a wording.
    pub(super) fn number(&mut self, wording: Wording) -> u32 {
        if let Some(&number) = self.numbers.get(&wording.id) {
            return number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.numbers.insert(wording.id.clone(), number);
        self.all.push(wording);
        number
    }

    /// The wording with this number.
    pub(super) fn get(&self, number: u32) -> Option<&Wording> {
        self.all.get(number as usize)
    }

    /// The wording that `number` is measured against, of those that `is_there` accepts: itself if it changes nothing;
    /// the one of its own subtype and place that changes nothing; the prompt itself.
    pub(super) fn baseline_of(&self, number: u32, is_there: &dyn Fn(u32) -> bool) -> Option<u32> {
        let wording = self.get(number)?;
        if wording.is_baseline {
            return Some(number);
        }
        let own = wording.grid.zip(wording.place).map(|(subtype, place)| {
            let place = if subtype.is_rewrite() { Place::Global } else { place };
            Wording::of_grid(subtype, place, &neutral(subtype)).id
        });
        let numbers = own.as_deref().into_iter().chain([BASELINE]).filter_map(|id| self.numbers.get(id).copied());
        numbers.into_iter().find(|&number| is_there(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(id: &str) -> String {
        let w = Wording::parse(id).unwrap();
        let place = w.place.map_or("-", Place::as_str);
        format!("{} {} {} {place} {:?} {:?} {}", w.id, w.family, w.subtype, w.level, w.strength(), w.is_baseline)
    }

    #[test]
    fn ids_are_read_as_the_method_writes_them() {
        assert_eq!(shown("baseline"), "baseline baseline baseline - None None true");
        assert_eq!(
            shown("length/global/1.50"),
            "length/global/1.5 structural_rewriting length global Some(\"1.5\") Some(1.5) false"
        );
        assert_eq!(
            shown("casing/prefix/-0.0"),
            "casing/prefix/0 surface_noise casing prefix Some(\"0\") Some(0.0) true"
        );
        assert_eq!(
            shown("form/global/interrogative"),
            "form/global/interrogative structural_rewriting form global Some(\"interrogative\") None true"
        );
        assert_eq!(shown("own/x"), "own/x own paraphrase global Some(\"x\") None false");
        assert_eq!(shown("own/slang/suffix/2"), "own/slang/suffix/2 own slang suffix Some(\"2\") Some(2.0) false");
        assert_eq!(shown("typos/3"), "typos/3 own typos global Some(\"3\") Some(3.0) false");
        assert!(Wording::parse("spacing/global/many").unwrap_err().contains("a number"));
        assert!(Wording::parse("form/global/original").unwrap_err().contains("imperative"));
    }

    #[test]
    fn parts_and_ids_name_the_same() {
        assert_eq!(Wording::of_parts("spacing", Place::Prefix, Some("20.0")), Wording::parse("spacing/prefix/20"));
        assert_eq!(Wording::of_parts("slang", Place::Global, Some("2")), Wording::parse("own/slang/global/2"));
        assert_eq!(Wording::of_parts("slang", Place::Global, None).unwrap().id, "own/slang/global");
        assert_eq!(Wording::of_parts("baseline", Place::Global, None), Ok(Wording::baseline()));
    }

    #[test]
    fn a_subtype_is_measured_against_its_own_baseline_where_there_is_one() {
        let mut wordings = Wordings::default();
        let mut number = |id: &str| wordings.number(Wording::parse(id).unwrap());
        let (spaces, none, plain) = (number("spacing/prefix/5"), number("spacing/prefix/0"), number("baseline"));
        let own = number("own/x");
        assert_eq!(wordings.baseline_of(spaces, &|_| true), Some(none));
        assert_eq!(wordings.baseline_of(spaces, &|n| n != none), Some(plain));
        assert_eq!(wordings.baseline_of(own, &|_| true), Some(plain));
        assert_eq!(wordings.baseline_of(own, &|_| false), None);
        assert_eq!(wordings.baseline_of(none, &|_| true), Some(none));
    }
}
