//! Figures: what the charts and tables of the page show, one query each.
//!
//! In: a session of one run. Out: every query's rows under its name.
//! The queries are files beside this one, written as a user would write them for `sago sql`.

use serde_json::{Map, Value};

use super::columns::table;
use crate::Result;
use crate::query::Session;

macro_rules! queries {
    ($($name:literal)+) => {
        /// Name and SQL of each.
        const QUERIES: &[(&str, &str)] = &[$(($name, include_str!(concat!("queries/", $name, ".sql")))),+];
    };
}

queries! {
    "axes" "facts" "models" "sgs" "tests" "cells" "coverage" "wording_coverage" "dose" "scores" "correlation" "ranks"
    "rank_agreement" "split_half" "accuracy" "layers" "sizes" "traces"
}

/// The rows of every query.
///
/// # Errors
/// As [`Session::query`].
pub fn rows(session: &Session) -> Result<Value> {
    let mut all = Map::new();
    for (name, sql) in QUERIES {
        all.insert((*name).to_string(), table(&session.query(sql)?, None)?);
    }
    Ok(Value::Object(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_file_is_asked() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/queries");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        let mut names: Vec<String> = QUERIES.iter().map(|(name, _)| (*name).to_string()).collect();
        files.sort();
        names.sort();
        assert_eq!(names, files);
    }
}
