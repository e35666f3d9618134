//! Grid: which subtypes, places and strengths are made of every prompt.
//!
//! In: strengths by subtype, and places (from a plan or a preset). Out: a checked grid and its cells in order.
//! Order is fixed (subtype, place, rising strength), so two plans with the same cells are the same grid.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::subtype::{Level, Place, Subtype};
use crate::{Error, Result};

/// A checked grid. Length and form are made at `global` whatever the places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Grid {
    levels: BTreeMap<Subtype, Vec<Level>>,
    places: Vec<Place>,
}

/// A grid as it was written down.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    levels: BTreeMap<Subtype, Vec<Level>>,
    places: Vec<Place>,
}

impl TryFrom<Unchecked> for Grid {
    type Error = Error;

    fn try_from(raw: Unchecked) -> Result<Grid> {
        Grid::new(raw.levels, raw.places)
    }
}

/// One cell: a variant of every prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell<'a> {
    pub subtype: Subtype,
    pub place: Place,
    pub level: &'a Level,
}

impl Grid {
    /// A grid of these strengths and places, sorted; subtypes that are not named are left out.
    ///
    /// # Errors
    /// A strength that its subtype doesn't accept, a strength or place named twice, a subtype without strengths, or
    /// places missing where politeness or noise needs them. The message names the subtype and what is accepted.
    pub fn new(levels: BTreeMap<Subtype, Vec<Level>>, mut places: Vec<Place>) -> Result<Grid> {
        let mut sorted = BTreeMap::new();
        for (subtype, mut strengths) in levels {
            let wrong = |what: String, found: String| {
                Err(Error::input(what).key(subtype.as_str()).found(found).expected(subtype.accepted()).into())
            };
            if strengths.is_empty() {
                return wrong(format!("{} has no strengths", subtype.as_str()), "an empty list".to_string());
            }
            if let Some(level) = strengths.iter().find(|level| !subtype.accepts(level)) {
                return wrong(format!("{} can't have this strength", subtype.as_str()), level.to_string());
            }
            strengths.sort_by(|a, b| a.number().unwrap_or(0.0).total_cmp(&b.number().unwrap_or(0.0)));
            if let Some([twice, _]) = strengths.array_windows().find(|[a, b]| a == b) {
                return wrong(format!("{} has a strength twice", subtype.as_str()), twice.to_string());
            }
            sorted.insert(subtype, strengths);
        }
        places.sort();
        if let Some([twice, _]) = places.array_windows().find(|[a, b]| a == b) {
            return Err(Error::input("a place is named twice").key("places").found(twice.as_str()).into());
        }
        if places.is_empty() && sorted.keys().any(|s| !s.is_rewrite()) {
            let all = Place::ALL.map(Place::as_str).join(", ");
            return Err(Error::input("no places for the variants").key("places").expected(all).into());
        }
        Ok(Grid { levels: sorted, places })
    }

    /// The method's full grid: 81 variants a prompt.
    pub fn paper() -> Grid {
        let numbers = |list: &[f64]| list.iter().copied().map(Level::Number).collect();
        let levels = BTreeMap::from([
            (Subtype::Politeness, numbers(&[-10.0, -8.0, -6.0, -4.0, -2.0, 2.0, 4.0, 6.0, 8.0, 10.0])),
            (Subtype::Spacing, numbers(&[1.0, 5.0, 20.0, 50.0, 100.0])),
            (Subtype::Punctuation, numbers(&[1.0, 3.0, 5.0, 10.0, 20.0])),
            (Subtype::Casing, numbers(&[10.0, 25.0, 50.0, 75.0, 100.0])),
            (Subtype::Length, numbers(&[0.25, 0.5, 1.5, 2.0, 3.0])),
            (Subtype::Form, vec![Level::from("imperative")]),
        ]);
        Grid { levels, places: Place::ALL.to_vec() }
    }

    /// The same grid with these subtypes only; subtypes that it doesn't have stay out.
    #[must_use]
    pub fn only(&self, subtypes: &[Subtype]) -> Grid {
        let mut grid = self.clone();
        grid.levels.retain(|subtype, _| subtypes.contains(subtype));
        grid
    }

    /// Strengths by subtype, rising.
    pub fn levels(&self) -> &BTreeMap<Subtype, Vec<Level>> {
        &self.levels
    }

    /// Places of politeness and noise.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Whether the subtype is on the grid.
    pub fn has(&self, subtype: Subtype) -> bool {
        self.levels.contains_key(&subtype)
    }

    /// Non-baseline variants a prompt.
    pub fn len(&self) -> usize {
        self.cells().count()
    }

    /// Whether nothing is varied.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.levels.iter().flat_map(move |(&subtype, levels)| {
            let places: &[Place] = if subtype.is_rewrite() { &[Place::Global] } else { &self.places };
            places.iter().flat_map(move |&place| levels.iter().map(move |level| Cell { subtype, place, level }))
        })
    }
}

/// Non-baseline variants a prompt by subtype, in grid order; subtypes that are not on the grid have none and are left out.
pub fn count(grid: &Grid) -> Vec<(Subtype, usize)> {
    grid.levels().keys().map(|&s| (s, grid.cells().filter(|cell| cell.subtype == s).count())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(subtype: Subtype, level: impl Into<Level>) -> Result<Grid> {
        Grid::new(BTreeMap::from([(subtype, vec![level.into()])]), vec![Place::Global])
    }

    #[test]
    fn the_full_grid_has_81_variants() {
        let counts: Vec<usize> = count(&Grid::paper()).into_iter().map(|(_, n)| n).collect();
        assert_eq!(counts, [30, 15, 15, 15, 5, 1]);
        assert_eq!(Grid::paper().len(), 81);
    }

    #[test]
    fn presets_pass_their_own_check() {
        for grid in [Grid::paper(), Grid::paper().only(&[Subtype::Casing])] {
            assert_eq!(Grid::new(grid.levels().clone(), grid.places().to_vec()).unwrap(), grid);
        }
    }

    #[test]
    fn order_of_writing_does_not_matter() {
        let grid = |list: [f64; 2], places: Vec<Place>| {
            Grid::new(BTreeMap::from([(Subtype::Spacing, list.map(Level::Number).to_vec())]), places).unwrap()
        };
        assert_eq!(
            grid([20.0, 5.0], vec![Place::Global, Place::Prefix]),
            grid([5.0, 20.0], vec![Place::Prefix, Place::Global])
        );
    }

    #[test]
    fn impossible_strengths_are_refused_with_what_is_accepted() {
        for (subtype, level) in [
            (Subtype::Politeness, 0.0),
            (Subtype::Politeness, 12.0),
            (Subtype::Politeness, 1.5),
            (Subtype::Spacing, 0.0),
            (Subtype::Spacing, 1001.0),
            (Subtype::Punctuation, 2.5),
            (Subtype::Casing, 0.0),
            (Subtype::Casing, 101.0),
            (Subtype::Length, 1.0),
            (Subtype::Length, 0.0),
            (Subtype::Length, 11.0),
            (Subtype::Length, f64::NAN),
            (Subtype::Form, 1.0),
        ] {
            let message = one(subtype, level).unwrap_err().to_string();
            assert!(message.contains(subtype.as_str()) && message.contains(subtype.accepted()), "{message}");
        }
        assert!(one(Subtype::Form, "exclamatory").is_err());
        assert!(one(Subtype::Spacing, "many").is_err());
        assert!(one(Subtype::Form, "imperative").is_ok());
        assert!(one(Subtype::Politeness, -9.0).is_ok());
    }

    #[test]
    fn twice_the_same_or_nothing_is_refused() {
        let levels =
            |list: &[f64]| BTreeMap::from([(Subtype::Casing, list.iter().copied().map(Level::Number).collect())]);
        assert!(Grid::new(levels(&[10.0, 10.0]), vec![Place::Global]).is_err());
        assert!(Grid::new(levels(&[]), vec![Place::Global]).is_err());
        assert!(Grid::new(levels(&[10.0]), vec![]).is_err());
        assert!(Grid::new(levels(&[10.0]), vec![Place::Global, Place::Global]).is_err());
    }

    #[test]
    fn a_grid_survives_json_and_stays_checked() {
        let json = serde_json::to_string(&Grid::paper()).unwrap();
        assert!(json.contains("\"length\":[0.25,0.5,1.5,2,3]"), "{json}");
        assert_eq!(serde_json::from_str::<Grid>(&json).unwrap(), Grid::paper());
        assert!(serde_json::from_str::<Grid>(&json.replace("0.25", "-1")).is_err());
    }
}
