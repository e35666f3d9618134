//! What is in the folder.

use std::fs;

use super::*;

#[test]
fn a_release_holds_the_run_and_is_the_same_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let run = run();
    let options = ["--csv", "--author", "A. \"B\" C", "--license", "CC-BY-4.0"];
    let first = release(&[&run], dir.path(), "first", &options);
    // What a run's folder is called says nothing of the run.
    let other = dir.path().join("other");
    copy(&run, &other);
    let second = release(&[&other], dir.path(), "second", &options);
    fs::remove_dir_all(&other).unwrap();
    assert_eq!(failed(&first), [""; 0]);
    let sums = |folder: &Path| fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(&first), sums(&second));
    let there: Vec<String> =
        fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(there.len(), 2, "nothing is left beside them: {there:?}");

    for table in ["generations", "deltas", "sgs_model", "instability", "variants"] {
        let count = format!("select count(*) as n from {table}");
        assert_eq!(of_file(&first, "select count(*) as n", &format!("data/{table}.parquet")), rows(&run, &count));
    }
    assert!(!first.join("data/work.parquet").exists() && !first.join("data/activations.parquet").exists());
    let fixed = of_file(&first, "select distinct normalization", "data/normalized.parquet");
    assert_eq!(fixed, "normalization\nfixed\n");

    // A row of the fixed matrix is the prompt's instability.
    let ids = rows(&run, "select distinct variant_id from variants where not is_baseline and is_valid order by 1");
    let ids: Vec<&str> = ids.lines().skip(1).collect();
    let square = |id: &&str| format!("coalesce(\"{id}\" * \"{id}\", 0)");
    let one = |id: &&str| format!("case when \"{id}\" is null then 0 else 1 end");
    let sum = |of: &dyn Fn(&&str) -> String| ids.iter().map(of).collect::<Vec<_>>().join(" + ");
    let model = rows(&run, "select model from models").lines().nth(1).unwrap().to_string();
    let by_matrix = format!(
        "select round(avg(s), 12) as s from (select sqrt(({}) / ({})) as s from '{}')",
        sum(&square),
        sum(&one),
        first.join(format!("deltas/fixed/{model}/ent.parquet")).display()
    );
    let by_matrix = text(&output(&["sql", "-c", &by_matrix, "--format", "csv"]).stdout);
    let sgs = "select round(sgs, 12) as s from sgs_model where axis = 'ent' and normalization = 'fixed'";
    assert_eq!(by_matrix, rows(&run, sgs));
    let csv = fs::read_to_string(first.join(format!("deltas/raw/{model}/ent.csv"))).unwrap();
    assert!(csv.starts_with("dataset,prompt_id,spacing/") && csv.lines().count() == 5, "{csv}");

    let card = fs::read_to_string(first.join("README.md")).unwrap();
    for part in ["license: \"cc-by-4.0\"", "config_name: \"deltas\"", "| model | cos |", "CC-BY-NC-4.0", &model] {
        assert!(card.contains(part), "{part}: {card}");
    }
    assert!(card.contains("- \"data/deltas.parquet\"") && card.contains("LICENSES/"), "{card}");
    // Texts of Alpaca are left out, those of its starter prompts are not.
    assert!(card.contains("| text | text | yes |"), "{card}");
    let croissant = json(&first, "croissant.json");
    assert_eq!(croissant["creator"][0]["name"], "A. \"B\" C");
    let licences: Vec<_> = files_below(&first.join("LICENSES")).unwrap();
    assert_eq!(licences, ["Apache-2.0.txt", "CC-BY-4.0.txt"].map(|name| first.join("LICENSES").join(name)));
    assert!(fs::read_to_string(&licences[0]).unwrap().contains("Apache License"));
    assert_eq!(croissant["license"][0], "CC-BY-4.0", "{}", croissant["license"]);
    let models = output(&["verify", &first.to_string_lossy(), "--sql", &dir.path().to_string_lossy()]);
    assert!(models.status.code() == Some(2) && text(&models.stderr).contains("leave --sql out"));
    let citation = fs::read_to_string(first.join("CITATION.cff")).unwrap();
    assert!(citation.contains("- name: \"A. \\\"B\\\" C\"") && citation.contains("Stanford Alpaca"), "{citation}");
}

#[test]
fn several_runs_have_a_column_run() {
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other");
    copy(&run(), &other);
    let both = release(&[&run(), &other], dir.path(), "both", &[]);
    assert_eq!(failed(&both), [""; 0]);
    let by_run = "select count(*) as n, count(distinct run) as runs";
    let of_one: usize = rows(&run(), "select count(*) from deltas").lines().nth(1).unwrap().parse().unwrap();
    assert_eq!(of_file(&both, by_run, "data/deltas.parquet"), format!("n,runs\n{},2\n", 2 * of_one));
    let index = json(&both, "release.json");
    assert_eq!(index["runs"].as_array().unwrap().len(), 2);
    assert!(both.join("deltas/raw/other").is_dir() && both.join("deltas/raw/run").is_dir());
    let citation = fs::read_to_string(both.join("CITATION.cff")).unwrap();
    assert_eq!(citation.matches("authors of Alpaca").count(), 1, "{citation}");
    // What one run holds says nothing about the rows of another.
    let moved = "case when run = 'other' and variant_id = 'spacing/global/20' then 'no' else prompt_id end";
    let first_only = "select * from {} where not (run = 'other' and variant_id = 'spacing/global/20')";
    let strayed = dir.path().join("strayed");
    copy(&both, &strayed);
    rewrite(&strayed, "data/generations.parquet", &format!("select * replace ({moved} as prompt_id) from {{}}"));
    has(&failed(&strayed), "whose wording is not in the table variants: run=other");
    let fewer = dir.path().join("fewer");
    copy(&both, &fewer);
    rewrite(&fewer, "data/variants.parquet", first_only);
    has(&failed(&fewer), "whose wording is not in the table variants: run=other");
    let unasked = dir.path().join("unasked");
    copy(&both, &unasked);
    let asked = "select * from {} where not (run = 'other' and variant_id = 'baseline')";
    rewrite(&unasked, "data/generations.parquet", asked);
    has(&failed(&unasked), "not the baseline that they are measured against: run=other");
    let card = fs::read_to_string(both.join("README.md")).unwrap();
    assert_eq!(card.matches("- Alpaca: ").count(), 1, "{card}");
}

#[test]
fn constants_that_one_run_brought_stand_once_in_the_card() {
    let dir = tempfile::tempdir().unwrap();
    let tolerances = fs::read_to_string("sql/constants/tolerances.sql").unwrap();
    let axes = fs::read_to_string("sql/constants/axes.sql").unwrap();
    let own = with_models(dir.path(), "own", &[("axes", &axes, ""), ("tolerances", &tolerances, "")]);
    let both = release(&[&run(), &own], dir.path(), "both", &[]);
    assert_eq!(failed(&both), [""; 0]);
    let card = fs::read_to_string(both.join("README.md")).unwrap();
    let header = card.lines().find(|line| line.starts_with("| run | model | ")).unwrap();
    let columns: Vec<&str> = header.split(" | ").collect();
    let once: std::collections::BTreeSet<&&str> = columns.iter().collect();
    assert_eq!(once.len(), columns.len(), "{header}");
    // A row by model, one by each of two data sets.
    assert_eq!(card.lines().filter(|line| line.starts_with("| own | ")).count(), 3, "{card}");
}

#[test]
fn hidden_states_are_released_where_they_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let (code, said) = try_release(&[&run()], &dir.path().join("bare"), &[]);
    assert!(code == Some(0) && said.contains("left out; --activations adds them"), "{said}");
    let with = release(&[&run()], dir.path(), "with", &["--activations"]);
    assert_eq!(failed(&with), [""; 0]);
    let count = "select count(*) as n, sum(layer) as layers from activations";
    let of_release = of_file(&with, "select count(*) as n, sum(layer) as layers", "data/activations.parquet");
    assert_eq!(of_release, rows(&run(), count));
}

/// Deltas of two axes: a hundred prompts, a hundred wordings of each.
fn many_deltas() -> String {
    let mut text = String::from("model,dataset,prompt_id,variant,axis,delta\n");
    for prompt in 0..100 {
        for axis in ["bleu", "chrf"] {
            text.push_str(&format!("m,d,p{prompt},baseline,{axis},0\n"));
            for wording in 0..100 {
                let delta = f64::from((prompt * 7 + wording * 13) % 50) / 100.0;
                text.push_str(&format!("m,d,p{prompt},own/{wording},{axis},-{delta}\n"));
            }
        }
    }
    text
}

#[test]
fn a_large_table_comes_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let (file, run) = (dir.path().join("mine.csv"), dir.path().join("run"));
    fs::write(&file, many_deltas()).unwrap();
    let made = output(&["import", "--layout", "deltas", &file.to_string_lossy(), "--out", &run.to_string_lossy()]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let cut = release(&[&run], dir.path(), "cut", &["--part-size", "2kB"]);
    assert_eq!(failed(&cut), [""; 0]);
    assert!(cut.join("data/deltas/part-00001.parquet").is_file() && !cut.join("data/deltas.parquet").exists());
    let sums = |from: &str| format!("select count(*) as n, round(sum(delta), 9) as sum from {from}");
    let of_parts = output(&["sql", "-c", &sums(&format!("({})", parts(&cut, "deltas"))), "--format", "csv"]);
    assert_eq!(text(&of_parts.stdout), rows(&run, &sums("deltas")), "{}", text(&of_parts.stderr));
    let card = fs::read_to_string(cut.join("README.md")).unwrap();
    let whole = "data/deltas/*.parquet";
    for part in [&format!("  - \"{whole}\""), &format!("pl.read_parquet(\"{whole}\")"), "open_dataset(\"data/deltas\")"]
    {
        assert!(card.contains(part), "{part}: {card}");
    }
    assert!(!card.contains("part-0000"), "{card}");
}

/// All parts of a table as a query.
fn parts(release: &Path, table: &str) -> String {
    let files = files_below(&release.join("data").join(table)).unwrap();
    files.iter().map(|file| format!("select * from '{}'", file.display())).collect::<Vec<_>>().join(" union all ")
}

#[test]
fn a_run_without_wordings_that_count_is_released_without_scores() {
    let dir = tempfile::tempdir().unwrap();
    // Of no question and no request a question can't be made a request.
    fs::write(dir.path().join("words.csv"), "text\nred\nblue\n").unwrap();
    let data = format!("words={}", dir.path().join("words.csv").display());
    let out = dir.path().join("run");
    let job = ["run", "--model", "demo", "--dataset", &data, "-n", "2", "--subtypes", "form", "--encoder", "none"];
    let more = ["--max-new-tokens", "4", "--quiet", "--out", &out.to_string_lossy()];
    let done = output(&[&job[..], &more[..]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(rows(&out, "select count(*) as n from instability"), "n\n0\n");
    let bare = release(&[&out], dir.path(), "bare", &[]);
    assert_eq!(failed(&bare), [""; 0]);
    let card = fs::read_to_string(bare.join("README.md")).unwrap();
    assert!(card.contains("There are no scores") && card.contains("Without rows, and therefore left out"), "{card}");
    let tables = json(&bare, "release.json")["tables"].clone();
    let empty = tables.as_array().unwrap().iter().find(|table| table["name"] == "instability").unwrap().clone();
    assert!(empty["rows"] == 0 && empty["files"].as_array().unwrap().is_empty(), "{empty}");
    assert_eq!(json(&bare, "croissant.json")["url"], serde_json::Value::Null);
}

#[test]
fn the_card_names_the_encoder_that_measured_last() {
    let dir = tempfile::tempdir().unwrap();
    let again = dir.path().join("again");
    copy(&run(), &again);
    let done = output(&["measure", &again.to_string_lossy(), "--encoder", "minilm", "--quiet"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let measured = release(&[&again], dir.path(), "measured", &[]);
    let card = fs::read_to_string(measured.join("README.md")).unwrap();
    assert!(card.contains("| measure: bertscore | BERTScore\\|encoder:all-minilm"), "{card}");
    assert!(card.contains("| measured again | bertscore: "), "{card}");
}

#[test]
fn an_import_is_released_too() {
    let dir = tempfile::tempdir().unwrap();
    let deltas = "model,dataset,prompt_id,variant,axis,delta\nm,d,p,baseline,bleu,0\nm,d,p,own/x,bleu,-0.3\n";
    let (file, out) = (dir.path().join("mine.csv"), dir.path().join("run"));
    fs::write(&file, deltas).unwrap();
    let made = output(&["import", "--layout", "deltas", &file.to_string_lossy(), "--out", &out.to_string_lossy()]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let imported = release(&[&out], dir.path(), "imported", &[]);
    assert_eq!(failed(&imported), [""; 0]);
    assert_eq!(of_file(&imported, "select min(delta) as d", "data/deltas.parquet"), "d\n-0.3\n");
}
