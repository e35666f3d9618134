//! Texts that may not be passed on.

use std::fs;

use super::*;

/// What a harmless model promises.
const CALM: &str = "unique = [\"model\", \"axis\"]";

/// The rows of every table, as CSV.
fn all_rows(release: &Path) -> String {
    let files = files_below(&release.join("data")).unwrap();
    files
        .iter()
        .map(|file| of_file(release, "select *", &file.strip_prefix(release).unwrap().to_string_lossy()))
        .collect()
}

#[test]
fn texts_that_may_not_be_passed_on_stay_out() {
    let dir = tempfile::tempdir().unwrap();
    let held = |release: &Path, what: &str, name: &str| {
        of_file(release, &format!("select count({what}) as n, count(*) as rows"), name)
            .lines()
            .nth(1)
            .unwrap()
            .to_string()
    };
    let both = release(&[&run()], dir.path(), "both", &[]);
    assert_eq!(held(&both, "text", "data/prompts.parquet"), "2,4");
    assert_eq!(held(&both, "source_hash", "data/prompts.parquet"), "4,4");
    let none = release(&[&run()], dir.path(), "none", &["--without-texts", "triviaqa"]);
    for (what, table) in [("text", "variants"), ("prompt_token_ids", "generations"), ("answers", "prompts")] {
        let name = format!("data/{table}.parquet");
        assert!(held(&none, what, &name).starts_with("0,"), "{table}.{what}");
        assert!(!held(&both, what, &name).starts_with("0,"), "{table}.{what}");
    }
    assert!(!all_rows(&both).contains("Name a primary colour"));
    assert_eq!(failed(&none), [""; 0]);
    let card = fs::read_to_string(none.join("README.md")).unwrap();
    assert!(card.contains("--without-texts") && card.contains("allows passing them on only"), "{card}");
}

#[test]
fn a_table_of_ones_own_carries_no_texts_out() {
    let dir = tempfile::tempdir().unwrap();
    let prompts = run().join("prompts.parquet");
    let by_file = format!("select prompt_id, text from '{}'", prompts.display());
    let models = [
        ("words", "select dataset, prompt_id, text from variants", ""),
        ("through", "select * from words", ""),
        ("by_file", &by_file, ""),
        ("calm", "select model, axis, sgs from sgs_model where normalization = 'fixed'", CALM),
        ("dataset_ratio", "select dataset, text from prompts", "unique = [\"dataset\", \"text\"]"),
        // In the place of a built-in one, with other columns and a contract of its own.
        ("judge_noise", "select model, axis, sgs as mine from sgs_model where normalization = 'fixed'", CALM),
        // With the columns of the built-in model it counts as that.
        ("variant_coverage", &fs::read_to_string("sql/axes/variant_coverage.sql").unwrap(), ""),
    ];
    let run = with_models(dir.path(), "own", &models);
    assert!(rows(&run, "select text from words").contains("Name a primary colour"));
    let tables = |release: &Path| -> Vec<String> {
        let index = json(release, "release.json");
        index["tables"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap().to_string()).collect()
    };
    let own = ["words", "through", "by_file", "dataset_ratio", "calm"];
    let (code, said) = try_release(&[&run], &dir.path().join("without"), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("words is left out: a model of your own makes it; --own-tables adds those"), "{said}");
    let without = tables(&dir.path().join("without"));
    assert!(!own.iter().any(|name| without.contains(&(*name).to_string())), "{without:?}");
    assert!(without.contains(&"variant_coverage".to_string()));

    let with = dir.path().join("with");
    let (code, said) = try_release(&[&run], &with, &["--own-tables"]);
    assert_eq!(code, Some(0), "{said}");
    let names = tables(&with);
    for name in &own[..4] {
        assert!(!names.contains(&(*name).to_string()), "{name}: {names:?}");
        assert!(said.contains(&format!("{name} is left out: its model reads a table with texts")), "{name}: {said}");
    }
    assert!(names.contains(&"calm".to_string()), "{names:?}");
    assert!(of_file(&with, "select count(mine) as n", "data/judge_noise.parquet") != "n\n0\n");
    assert!(!all_rows(&with).contains("Name a primary colour"));
    assert_eq!(failed(&with), [""; 0]);
}

#[test]
fn a_page_with_texts_that_may_not_be_passed_on_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (run, out) = (run().to_string_lossy().into_owned(), dir.path().to_string_lossy().into_owned());
    let said = |more: &[&str]| text(&output(&[&["report", &run, "--out", &out][..], more].concat()).stderr);
    let with = said(&[]);
    assert!(with.contains("texts of alpaca") && with.contains("--without-prompts"), "{with}");
    assert!(!with.contains("texts of triviaqa"), "{with}");
    assert!(!said(&["--without-prompts"]).contains("texts of"));
}
