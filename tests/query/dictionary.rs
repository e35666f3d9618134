//! The data dictionary: the committed pages are those that the sources give.

use std::path::Path;

#[test]
fn pages_are_those_of_the_sources() {
    let pages = sago::query::dictionary().unwrap();
    for (page, text) in &pages {
        let there = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap_or_default();
        let line = there.lines().zip(text.lines()).position(|(a, b)| a != b);
        assert!(there == *text, "{page} is not what the sources give (line {line:?}): run `make dictionary`");
    }
}

#[test]
fn every_table_and_column_has_its_line() {
    let pages = sago::query::dictionary().unwrap();
    let page = &pages[0].1;
    for part in [
        "### generations\n",
        "| special_text | true or false | yes |",
        "### sgs_model\n\nThe Stability Generalization Score of a model.\n`analysis/sgs_model.parquet`",
        "| sgs | double |  | mean of s over all prompts of all data sets; lower is more stable | at least 0; finite |",
        "| vector | list of float |  |",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for function in sago::query::functions::reference() {
        assert!(pages[1].1.contains(&format!("\n## {}\n", function.name)), "{}", function.name);
    }
    for source in sago::query::built_in() {
        assert!(page.contains(&format!("\n### {}\n", source.name)), "{}", source.name);
    }
}
