//! Licences: their names and their texts.
//!
//! In: SPDX identifiers of the results and of the sources. Out: `LICENSES/ID.txt` for each whose texts are in the
//! release; an error for a licence that SPDX does not have.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use spdx::identifiers::LICENSES;
use spdx::license_id;

use super::Options;
use super::sources::Sources;
use crate::query::closest;
use crate::store::files::write_text;
use crate::{Error, Result};

/// Folder of a release for the texts.
pub(super) const FOLDER: &str = "LICENSES";

/// Refuses what is no SPDX identifier.
///
/// # Errors
/// It is none; the closest are named.
pub(super) fn check(id: &str) -> Result<()> {
    if license_id(id).is_some_and(|licence| licence.name == id) {
        return Ok(());
    }
    let names: BTreeSet<&str> = LICENSES.iter().map(|licence| licence.name).collect();
    let near = closest(id, &names);
    let error = Error::input("--license is not an SPDX identifier").key("--license").found(id);
    let fix = match near.is_empty() {
        true => "https://spdx.org/licenses lists them; of another licence leave the option out".to_string(),
        false => format!("did you mean {}?", near.join(" or ")),
    };
    Err(error.expected("as CC-BY-4.0 or MIT").fix(fix).into())
}

/// The licences of the results and of the texts in a release of which there is a text, by file within the release.
pub(super) fn texts(sources: &Sources, options: &Options) -> BTreeMap<String, &'static str> {
    let of_texts = sources.datasets().filter(|(_, set)| set.left_out.is_none());
    let ids = of_texts.filter_map(|(_, set)| set.licence.as_deref()).chain(options.license.as_deref());
    let known = ids.filter_map(license_id);
    known.map(|licence| (format!("{FOLDER}/{}.txt", licence.name), licence.text())).collect()
}

/// Writes the texts.
pub(super) fn write(sources: &Sources, options: &Options, folder: &Path) -> Result<()> {
    texts(sources, options).iter().try_for_each(|(name, text)| write_text(&folder.join(name), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::descriptors;

    #[test]
    fn an_identifier_is_spelt_as_spdx_spells_it() {
        check("CC-BY-4.0").unwrap();
        assert!(check("cc-by-4.0").unwrap_err().to_string().contains("did you mean CC-BY-4.0?"));
        assert!(check("my own rules").unwrap_err().to_string().contains("spdx.org"));
    }

    #[test]
    fn every_known_data_set_has_a_licence_with_a_text() {
        for set in descriptors().unwrap() {
            assert!(license_id(&set.licence).unwrap().text().len() > 500, "{}", set.name);
        }
    }
}
