//! The published layout: deltas of three models as the study's files hold them, and the SGS and tests they must give.

use std::collections::BTreeMap;
use std::fs::read_to_string;

use sago::import::{Import, Layout, Source};
use serde_json::Value as Json;

use crate::run::{Run, Value, close, values};

/// The run that an import makes of the published rows.
pub fn published_run() -> Run {
    let path = "tests/golden/deltas_published_layout.csv".into();
    Run::imported(&Import::new(Layout::Published, vec![Source { path, ..Source::default() }])).unwrap()
}

/// The study's name of an axis in the expected file.
fn axis(published: &str) -> &'static str {
    match published {
        "delta_activation_similarity" => "cos",
        "delta_bleu" => "bleu",
        "delta_bertscore_response" => "bert",
        "delta_log_prob" => "prob",
        "delta_entropy" => "ent",
        "delta_mirroring_rate" => "mirror",
        other => panic!("axis {other}"),
    }
}

fn expected() -> Json {
    serde_json::from_str(&read_to_string("tests/golden/sgs_expected.json").unwrap()).unwrap()
}

/// Rows of a query by the texts of their first `keys` columns.
fn by_key(run: &Run, keys: usize, sql: &str) -> BTreeMap<Vec<String>, Vec<Value>> {
    let mut found = BTreeMap::new();
    for mut row in values(&run.session().query(sql).unwrap()) {
        let rest = row.split_off(keys);
        let key = row.into_iter().map(|v| if let Value::Text(t) = v { t } else { panic!("{v:?}") }).collect();
        found.insert(key, rest);
    }
    found
}

fn key(row: &Json, columns: &[&str]) -> Vec<String> {
    let text = |column: &str| match &row[column] {
        Json::String(text) if column == "axis" => axis(text).to_string(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    columns.iter().map(|column| text(column)).collect()
}

fn assert_close(found: &Value, expected: &Json, what: &dyn std::fmt::Debug) {
    match (found, expected) {
        (Value::Null, Json::Null) => {}
        (Value::Number(found), Json::Number(expected)) => {
            let expected = expected.as_f64().unwrap();
            assert!(close(*found, expected), "{what:?}: {found} is not {expected}");
        }
        other => panic!("{what:?}: {other:?}"),
    }
}

#[test]
fn instability_sgs_and_tests_are_reproduced() {
    let run = published_run();
    run.analyze();
    let expected = expected();

    let found = by_key(
        &run,
        4,
        "select model, dataset, prompt_id, axis, n_variants, s from instability where normalization = 'fixed'",
    );
    let rows = expected["per_prompt"].as_array().unwrap();
    assert_eq!(found.len(), rows.len());
    for row in rows {
        let key = key(row, &["model", "dataset", "prompt_id", "axis"]);
        assert_close(&found[&key][0], &row["n_variants"], &key);
        assert_close(&found[&key][1], &row["s"], &key);
    }

    for (section, keys, sgs, significance) in [
        ("per_dataset", &["model", "dataset", "axis"][..], "sgs_dataset", "significance_dataset"),
        ("total", &["model", "axis"][..], "sgs_model", "significance_model"),
    ] {
        let columns = keys.join(", ");
        let scores = by_key(
            &run,
            keys.len(),
            &format!("select {columns}, sgs, n_prompts from {sgs} where normalization = 'fixed'"),
        );
        let tests = by_key(
            &run,
            keys.len() + 1,
            &format!(
                "select {columns}, cast(epsilon as varchar), statistic, p, n from {significance}
                 where normalization = 'fixed' and test = 't'"
            ),
        );
        let rows = expected[section].as_array().unwrap();
        assert_eq!(scores.len(), rows.len());
        assert_eq!(tests.len(), 3 * rows.len());
        for row in rows {
            let key = key(row, keys);
            assert_close(&scores[&key][0], &row["sgs"], &key);
            assert_close(&scores[&key][1], &row["n"], &key);
            for test in row["tests"].as_array().unwrap() {
                let mut key = key.clone();
                key.push(test["epsilon"].to_string());
                assert_close(&tests[&key][0], &test["t"], &key);
                assert_close(&tests[&key][1], &test["p"], &key);
                assert_close(&tests[&key][2], &row["n"], &key);
            }
        }
    }
}

#[test]
fn every_baseline_is_zero_and_every_contract_holds() {
    let run = published_run();
    run.analyze();
    let session = run.session();
    let rows = values(&session.query("select count(*), sum(cast(holds as integer)) from baseline_check").unwrap());
    // 264 baseline rows with six axes, 44 without mirroring; of the closed model 132 with four, 22 with three.
    assert_eq!(rows[0][0], Value::Number(2398.0));
    assert_eq!(rows[0][0], rows[0][1]);
    assert_eq!(sago::query::check_contracts(run.path()).unwrap(), []);
}

#[test]
fn the_table_shows_what_a_model_lacks() {
    let run = published_run();
    run.analyze();
    let text = sago::query::sgs_table(run.path()).unwrap();
    let closed: Vec<&str> = text.lines().filter(|line| line.contains("closed-c")).collect();
    assert_eq!(closed.len(), 3, "{text}");
    // A closed model gives no hidden states and no logits: cos and prob are blank, the others are not.
    for line in &closed {
        assert_eq!(line.matches('–').count(), 2, "{line}");
    }
    assert!(closed[0].contains("0.2302†") && closed[0].contains("11!"), "{}", closed[0]);
    assert!(text.contains("one-sided t-test") && text.contains("fewer than 30 prompts"));
    // It has fewer wordings than the others: the table says so, and where ranks are.
    assert!(text.contains("different wordings on: cos, bleu, bert") && text.contains("sgs_shared"), "{text}");
    println!("{text}");
}
