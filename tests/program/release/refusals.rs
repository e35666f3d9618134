//! What is refused, and leaves nothing.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::super::sago;
use super::*;

#[test]
fn what_can_not_be_released_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |run: &Path, out: &Path, more: &[&str], part: &str| {
        let (run, out) = (run.to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
        let done = output(&[&["release", &run, "--out", &out], more].concat());
        let message = text(&done.stderr);
        assert!(done.status.code() == Some(2) && message.contains(part), "{part}: {message}");
    };
    let out = dir.path().join("out");
    let run = run();
    fs::create_dir(dir.path().join("full")).unwrap();
    fs::write(dir.path().join("full/thesis.tex"), "x").unwrap();
    refused(&run, &dir.path().join("full"), &[], "not empty");
    refused(&run, &dir.path().join("full/thesis.tex"), &[], "a file");
    refused(&run, &out, &["--without-texts", "trivia"], "no run has a data set trivia");
    refused(dir.path(), &out, &[], "is not a run");
    refused(&run, &run.join("out"), &[], "inside the run");
    refused(&run, &out, &["--license", "CC BY 4.0"], "did you mean CC-BY-4.0?");
    refused(&run, &out, &["--author", ""], "--author is empty");
    let neither = output(&["verify", &dir.path().to_string_lossy()]);
    assert!(neither.status.code() == Some(2) && text(&neither.stderr).contains("neither a run nor a release"));

    let broken = dir.path().join("broken");
    copy(&run, &broken);
    let stored = broken.join("analysis/sgs_model.parquet");
    // Its metadata goes as well: it is not the table that the raw tables give.
    fs::remove_file(&stored).unwrap();
    refused(&broken, &out, &[], "sago analyze");
    copy(&run, &broken);
    flip(&broken.join("analysis/intervals.parquet"));
    refused(&broken, &dir.path().join("deep/er/out"), &[], "intervals.parquet has other bytes");
    copy(&run, &broken);
    let part = files_below(&broken.join("forced")).unwrap().remove(0);
    flip(&part);
    refused(&broken, &out, &[], "other bytes");
    fs::remove_file(broken.join("manifest.json")).unwrap();
    refused(&broken, &out, &[], "is not complete");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn figures_that_do_not_hold_together_are_told_and_not_released() {
    let dir = tempfile::tempdir().unwrap();
    let twice = fs::read_to_string("sql/stability/instability.sql").unwrap();
    // The method's instability under its name, doubled.
    let sql = twice.replacen("sqrt(avg(n.fixed * n.fixed)) as fixed", "2 * sqrt(avg(n.fixed * n.fixed)) as fixed", 1);
    assert_ne!(sql, twice);
    let run = with_models(dir.path(), "own", &[("instability", &sql, "")]);
    let out = dir.path().join("deep/out");
    let (code, said) = try_release(&[&run], &out, &["--quiet"]);
    assert!(code == Some(3) && said.contains("FAILED  instability and SGS follow") && said.contains("s is "), "{said}");
    assert!(!dir.path().join("deep").exists());
}

#[test]
fn scores_of_two_kinds_are_not_released() {
    let dir = tempfile::tempdir().unwrap();
    let mixed = dir.path().join("mixed");
    copy(&run(), &mixed);
    let part = files_below(&mixed.join("similarities")).unwrap().remove(0);
    let name = part.strip_prefix(&mixed).unwrap().to_string_lossy().into_owned();
    write_rows(&part, "select * replace ('another' as chrf_signature) from {}");
    let mut manifest = json(&mixed, "manifest.json");
    let bytes = part.metadata().unwrap().len();
    manifest["parts"][&name] = serde_json::json!({"bytes": bytes, "sha256": sago::hash::of_file(&part).unwrap()});
    fs::write(mixed.join("manifest.json"), manifest.to_string()).unwrap();
    output(&["analyze", &mixed.to_string_lossy(), "--quiet"]);
    let (code, said) = try_release(&[&mixed], &dir.path().join("out"), &[]);
    assert!(code == Some(2) && said.contains("are of 2 kinds") && said.contains("chrf"), "{said}");
}

#[test]
fn a_signal_ends_it_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("deep/out");
    let (run, to) = (run().to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
    let mut release = sago(&["release", &run, "--out", &to]);
    let release = release.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !dir.path().join("deep/.out.sago-release/release").exists() {
        assert!(start.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(2));
    }
    let signal = std::process::Command::new("kill").args(["-TERM", &release.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let ended = release.wait_with_output().unwrap();
    let said = text(&ended.stderr);
    assert!(ended.status.code() == Some(2) && said.contains("nothing was released, and nothing is left"), "{said}");
    assert!(!dir.path().join("deep").exists());
}
