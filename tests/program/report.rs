//! `sago report`: one page, the same bytes each time, with what it is told to leave out left out.

use std::fs;

use super::whole_job::study;
use super::{output, text};

#[test]
fn a_page_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = study(dir.path(), "").to_string_lossy().into_owned();
    let run = dir.path().join("run").to_string_lossy().into_owned();
    assert!(output(&["run", &file, "--out", &run, "--quiet"]).status.success());
    let page = |arguments: &[&str]| {
        let done = output(&[&["report", &run], arguments].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        fs::read_to_string(text(&done.stdout).trim_end()).unwrap()
    };

    let whole = page(&[]);
    assert!(dir.path().join("run/report/index.html").is_file());
    assert!(whole.starts_with("<!doctype html>") && whole.ends_with("</html>\n"));
    assert!(whole.contains("default-src 'none'") && whole.contains("id=\"texts-1\""));
    let other = dir.path().join("other").to_string_lossy().into_owned();
    assert!(whole == page(&["--out", &other]), "the same run gave another page");
    assert!(output(&["verify", &run]).status.success(), "a report must not make a run look damaged");

    assert!(!page(&["--without-prompts"]).contains("id=\"texts-"));
    let size = format!("{}B", whole.len() - 1);
    assert!(page(&["--max-size", &size]).len() < whole.len());
    let small = output(&["report", &run, "--max-size", "1KiB"]);
    assert_eq!(small.status.code(), Some(2));
    assert!(text(&small.stderr).contains("key: --max-size"), "{}", text(&small.stderr));

    let no_model = output(&["report", &run, "--tokenizer", "other=x.gguf"]);
    assert_eq!(no_model.status.code(), Some(2));
    assert!(text(&no_model.stderr).contains("there is no model other in the run"), "{}", text(&no_model.stderr));
    let several = output(&["report", &run, &run]);
    assert_eq!(several.status.code(), Some(2));
    assert!(text(&several.stderr).contains("--out DIR"), "{}", text(&several.stderr));

    fs::remove_dir_all(dir.path().join("run/analysis")).unwrap();
    let stale = output(&["report", &run]);
    assert_eq!(stale.status.code(), Some(2));
    assert!(text(&stale.stderr).contains("sago analyze"), "{}", text(&stale.stderr));
    fs::remove_file(dir.path().join("run/prompts.parquet")).unwrap();
    let damaged = output(&["report", &run]);
    assert_eq!(damaged.status.code(), Some(2));
    assert!(text(&damaged.stderr).contains("the run is damaged"), "{}", text(&damaged.stderr));
}

#[test]
fn tokens_are_cut_where_the_tokenizer_says() {
    let dir = tempfile::tempdir().unwrap();
    let file = study(dir.path(), "").to_string_lossy().into_owned();
    let run = dir.path().join("run").to_string_lossy().into_owned();
    assert!(output(&["run", &file, "--out", &run, "--quiet"]).status.success());
    let models = std::env::var("SAGO_CACHE").ok().map(std::path::PathBuf::from).unwrap_or_else(|| {
        let cache = std::env::var("XDG_CACHE_HOME").ok().map(std::path::PathBuf::from);
        let home = || std::path::PathBuf::from(std::env::var("HOME").unwrap_or_default()).join(".cache");
        cache.unwrap_or_else(home).join("sago")
    });
    let model = models.join("models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf");
    let with = output(&["report", &run, "--tokenizer", &format!("smol={}", model.display())]);
    assert!(with.status.success(), "{}", text(&with.stderr));
    let shaded = fs::metadata(text(&with.stdout).trim_end()).unwrap().len();
    let plain = output(&["report", &run]);
    assert!(shaded > fs::metadata(text(&plain.stdout).trim_end()).unwrap().len(), "the page holds no tokens");
    let wrong = output(&["report", &run, "--tokenizer", &format!("smol={}", dir.path().join("prompts.csv").display())]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong.stderr));
}
