//! Models: the SQL files of `sql/`, compiled in.
//!
//! In: nothing. Out: [`built_in`], every model with its contract, in the order of the method.
//! A model's name is its file's; the folders are the stages of the method.

use std::path::PathBuf;

/// One SQL model: a `select` under a name, and what it promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Name of the table that it makes.
    pub name: String,
    /// One `select` statement.
    pub sql: String,
    /// TOML text of the contract; empty for a model without one.
    pub contract: String,
    /// The file that the SQL was read from, where it is a user's; the contract's is the same with the ending `.toml`.
    pub file: Option<PathBuf>,
}

impl Source {
    /// A model from its SQL and its contract (may be empty).
    pub fn new(name: impl Into<String>, sql: impl Into<String>, contract: impl Into<String>) -> Self {
        Source { name: name.into(), sql: sql.into(), contract: contract.into(), file: None }
    }
}

macro_rules! models {
    ($($folder:literal: $($name:literal)+;)+) => {
        /// The folders of `sql/`, each with its models, in the order of the method.
        pub(super) const STAGES: &[(&str, &[&str])] = &[$(($folder, &[$($name),+])),+];

        /// Every built-in model.
        pub fn built_in() -> Vec<Source> {
            vec![$($(Source::new(
                $name,
                include_str!(concat!("../../sql/", $folder, "/", $name, ".sql")),
                include_str!(concat!("../../sql/", $folder, "/", $name, ".toml")),
            )),+),+]
        }
    };
}

models! {
    "constants": "axes" "effects" "marks" "normalizations" "settings" "study_sizes" "tolerances";
    "staging": "baselines" "measured_variants" "responses";
    "axes":
        "layer_cosines" "activation_geometry" "generation_consistency" "confidence" "mirroring"
        "response_shape" "generated_confidence" "axis_values" "coverage" "variant_coverage"
        "measure_signatures";
    "stability":
        "deltas" "baseline_check" "reference_set" "reference_sizes" "quantile_scales" "scales" "reference_scales"
        "normalized_wide" "normalized" "instability" "sgs_dataset" "sgs_model" "sgs_parts" "sgs_family" "sgs_subtype" "sgs_place"
        "sgs_strength" "sgs_layer" "dataset_ratio";
    "comparison":
        "shared_variants" "shared_instability" "sgs_shared" "sgs_shared_dataset" "normalization_agreement"
        "sgs_by_size" "size_trend" "score_lists" "resampled_sgs" "rank_agreement" "split_half" "rank_distribution";
    "significance":
        "tested_scores" "t_tests" "sign_flip_tests" "median_tests" "adjusted_tests" "significance_dataset"
        "significance_model" "effect_sizes" "intervals" "stability_claims" "power" "sample_sizes" "sample_size_curve"
        "influence" "variance_shares" "dose_response" "noise_floor" "axis_correlation" "model_comparisons"
        "equivalence_tests";
    "accuracy":
        "answer_scores" "answer_matches" "scored_wordings" "accuracy" "accuracy_variant" "flips"
        "prediction_agreement" "robustness" "token_f1" "judge_agreement" "judge_noise";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::contract::Contract;
    use std::path::Path;

    fn sql_files() -> Vec<std::path::PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
        let mut files = Vec::new();
        for folder in std::fs::read_dir(root).unwrap() {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                let file = file.unwrap().path();
                if file.extension().is_some_and(|e| e == "sql") {
                    files.push(file);
                }
            }
        }
        files
    }

    #[test]
    fn every_file_is_compiled_in() {
        let names: Vec<String> = built_in().into_iter().map(|s| s.name).collect();
        let files = sql_files();
        assert_eq!(files.len(), names.len());
        for file in files {
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(names.contains(&stem), "{stem} is missing from models.rs");
        }
    }

    #[test]
    fn every_model_has_a_header_and_a_contract() {
        for source in built_in() {
            let head = format!("-- {}: ", source.name);
            assert!(source.sql.starts_with(&head), "{} does not start with {head:?}", source.name);
            for part in ["-- grain ", "-- reads ", "-- source "] {
                assert!(source.sql.contains(part), "{}'s header has no {part:?}", source.name);
            }
            assert!(source.sql.lines().all(|line| line.chars().count() <= 80), "{} is wider than 80", source.name);
            let contract = Contract::parse(&source.name, &source.contract).unwrap();
            assert!(!contract.unique.is_empty() && !contract.columns.is_empty(), "{}", source.name);
        }
    }

    #[test]
    fn headers_name_what_the_sql_reads() {
        let graph = crate::query::graph::Graph::new(&built_in(), &crate::query::raw::names()).unwrap();
        for model in graph.models() {
            // A list that is longer than a line goes on below, under its first name.
            let list: Vec<&str> = model
                .sql
                .lines()
                .skip_while(|line| !line.starts_with("-- reads "))
                .enumerate()
                .map_while(
                    |(i, line)| if i == 0 { line.strip_prefix("-- reads ") } else { line.strip_prefix("--    ") },
                )
                .collect();
            let mut said: Vec<String> = list.join(" ").split(',').map(|name| name.trim().to_string()).collect();
            said.retain(|name| name != "nothing");
            said.sort();
            assert_eq!(said, model.reads, "{}", model.name);
        }
    }
}
