//! Measuring again: other scores from the same responses, whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

use sago::run::{Again, Silent, again};
use sago::store::begun::Begun;
use sago::store::files::files_below;
use sago::store::manifest::Manifest;

use super::whole_job::study;
use super::{output, rows, sago, text};

const SIMILARITIES: &str = "select * from similarities order by model, dataset, prompt_id, variant_id, repeat";
const JUDGEMENTS: &str = "select * from judgements order by model, dataset, prompt_id, variant_id, repeat, judge";
const SIGNATURES: &str = "select distinct bertscore_signature as s from similarities";

/// A complete run of the demo model on three own prompts.
fn complete(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let file = study(folder, "").to_string_lossy().into_owned();
    let run = folder.join(name);
    let out = run.to_string_lossy().into_owned();
    let job = ["run", &file, "--subtypes", "spacing,politeness", "--quiet", "--out", &out];
    let done = output(&[&job[..], more].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    run
}

fn copy(from: &Path, to: &Path) {
    for file in files_below(from).unwrap() {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, target).unwrap();
    }
}

/// Bytes of every file but those that measuring again may replace.
fn untouched(run: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let stays = |file: &PathBuf| {
        let name = file.strip_prefix(run).unwrap();
        let replaced = ["similarities", "judgements", "analysis", "manifest.json", ".lock"];
        !replaced.iter().any(|part| name.starts_with(part))
    };
    files_below(run).unwrap().into_iter().filter(stays).map(|f| (f.clone(), fs::read(f).unwrap())).collect()
}

fn measure(run: &Path, more: &[&str]) -> (Option<i32>, String) {
    let out = output(&[&["measure", &run.to_string_lossy()][..], more].concat());
    (out.status.code(), text(&out.stderr))
}

/// Fault of another tool: rescoring needs regeneration (<https://github.com/EleutherAI/lm-evaluation-harness/issues/1627>).
#[test]
fn an_encoder_that_comes_later_gives_the_scores_of_one_that_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let without = complete(dir.path(), "without", &["--encoder", "none"]);
    let with = complete(dir.path(), "with", &[]);
    let has_bert = "select count(*) > 0 as bert from sgs_model where axis = 'bert'";
    assert_eq!(rows(&without, has_bert), "bert\nfalse\n");
    let before = untouched(&without);
    assert!(before.iter().any(|(file, _)| file.to_string_lossy().contains("generations")));

    let (code, said) = measure(&without, &["--encoder", "minilm"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("3 of 3 parts replaced") && said.contains("analyzing"), "{said}");
    assert!(before == untouched(&without), "files changed that measuring must leave alone");
    assert_eq!(rows(&without, SIMILARITIES), rows(&with, SIMILARITIES));
    assert_eq!(rows(&without, JUDGEMENTS), rows(&with, JUDGEMENTS));
    assert_eq!(rows(&without, has_bert), "bert\ntrue\n");
    let manifest = Manifest::read(&without).unwrap();
    assert_eq!(manifest.measured_again.iter().map(|m| m.what.clone()).collect::<Vec<_>>(), [["bertscore"]]);
    assert!(manifest.signatures["bertscore"].first().unwrap().contains("all-minilm-l6-v2"), "{manifest:?}");
    assert_eq!(output(&["analyze", &without.to_string_lossy()]).status.code(), Some(0), "the manifest knows the parts");

    // Once more there is nothing to do; after a change of layer and back the tables are the same.
    let known = fs::read(without.join("manifest.json")).unwrap();
    let (code, said) = measure(&without, &["--encoder", "minilm", "--metrics", "--judges", "rules"]);
    assert!(code == Some(0) && said.contains("nothing was replaced"), "{said}");
    assert!(fs::read(without.join("manifest.json")).unwrap() == known);
    let sgs = "select axis, sgs from sgs_model where axis in ('bert', 'bleu') order by axis, normalization";
    let first = rows(&without, sgs);
    assert_eq!(measure(&without, &["--layer", "2", "--quiet"]), (Some(0), String::new()));
    assert!(rows(&without, SIGNATURES).contains("layer:2"));
    assert_ne!(rows(&without, sgs), first, "the derived tables follow");
    assert_eq!(measure(&without, &["--encoder", "minilm", "--quiet"]).0, Some(0));
    assert_eq!(rows(&without, SIMILARITIES), rows(&with, SIMILARITIES));
    assert_eq!(rows(&without, sgs), first);

    // A unit that is lost is made again as the plan has it, here without scores: that is a mixture too.
    let part = without.join("generations/model=smol/dataset=mine/part-00001.parquet");
    fs::remove_file(&part).unwrap();
    let damaged = text(&output(&["analyze", &without.to_string_lossy()]).stderr);
    assert!(damaged.contains("bertscore") && damaged.contains("--encoder ENCODER"), "{damaged}");
    fs::remove_file(without.join("manifest.json")).unwrap();
    let (file, out) = (dir.path().join("study.toml"), without.to_string_lossy().into_owned());
    let job = ["run", &file.to_string_lossy(), "--subtypes", "spacing,politeness", "--encoder", "none", "--out", &out];
    let mixed = output(&job);
    assert_eq!(mixed.status.code(), Some(2), "{}", text(&mixed.stderr));
    assert!(text(&mixed.stderr).contains("found: none and "), "{}", text(&mixed.stderr));
    assert_eq!(measure(&without, &["--encoder", "minilm", "--quiet"]).0, Some(0));
    assert_eq!(rows(&without, SIMILARITIES), rows(&with, SIMILARITIES));
}

#[test]
fn weights_by_idf_are_the_same_in_a_run_and_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let plain = complete(dir.path(), "plain", &[]);
    let file = study(dir.path(), "[measure]\nidf = true");
    let weighed = dir.path().join("weighed");
    let (path, out) = (file.to_string_lossy().into_owned(), weighed.to_string_lossy().into_owned());
    let job = ["run", &path, "--subtypes", "spacing,politeness", "--quiet", "--out", &out];
    let refused = output(&job);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("no validity threshold is known"), "{}", text(&refused.stderr));
    let said = fs::read_to_string(&file).unwrap();
    fs::write(&file, said.replace("[variants]", "[variants]\nthreshold = 0.5")).unwrap();
    let done = output(&job);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(fs::read_to_string(weighed.join("plan.json")).unwrap().contains("|idf:yes|idf_corpus:"));

    assert_ne!(rows(&plain, SIMILARITIES), rows(&weighed, SIMILARITIES));
    assert_eq!(measure(&plain, &["--idf", "--quiet"]), (Some(0), String::new()));
    assert_eq!(rows(&plain, SIMILARITIES), rows(&weighed, SIMILARITIES));
    assert_eq!(rows(&plain, SIGNATURES), rows(&weighed, SIGNATURES));
}

#[test]
fn what_ends_before_the_first_part_is_replaced_was_not_begun() {
    let dir = tempfile::tempdir().unwrap();
    let run = complete(dir.path(), "run", &["--encoder", "none"]);
    let said = Begun { metrics: true, judges: true, ..Begun::default() };
    let stopped = again(&run, &Again { said, scorer: None }, &AtomicBool::new(true), &Silent);
    assert!(matches!(stopped, Err(sago::Error::Interrupted)), "{stopped:?}");
    assert_eq!(Begun::read(&run).unwrap(), None);
    assert_eq!(output(&["analyze", &run.to_string_lossy(), "--quiet"]).status.code(), Some(0));
}

#[test]
fn killed_at_any_moment_it_is_finished_by_the_same_command() {
    let dir = tempfile::tempdir().unwrap();
    let old = complete(dir.path(), "old", &[]);
    let (calm, killed) = (dir.path().join("calm"), dir.path().join("killed"));
    copy(&old, &calm);
    copy(&old, &killed);
    let wanted = ["--encoder", "minilm", "--layer", "3", "--metrics", "--judges", "rules"];
    assert_eq!(measure(&calm, &wanted).0, Some(0));

    let path = killed.to_string_lossy().into_owned();
    let command = [&["measure", &path, "--quiet"][..], &wanted].concat();
    let begun = killed.join("measuring.json");
    let mut cut_off = 0;
    for kill in 0..6u64 {
        let mut child = sago(&command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let clock = Instant::now();
        while !begun.exists() && clock.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(2));
        }
        sleep(Duration::from_millis(kill * 60));
        child.kill().unwrap();
        child.wait().unwrap();
        if !begun.exists() {
            break;
        }
        cut_off += 1;
        for refused in [output(&["analyze", &path]), output(&["measure", &path, "--judges", "rules"])] {
            assert_eq!(refused.status.code(), Some(2));
            let said = text(&refused.stderr);
            let fix = format!("sago measure {path} --encoder minilm --layer 3 --metrics --judges rules");
            assert!(said.contains("has not ended") && said.contains(&fix), "{said}");
        }
        let asked = output(&["sql", &path, "-c", "select 1 as one"]);
        assert!(asked.status.success() && text(&asked.stderr).contains("has not ended"), "{}", text(&asked.stderr));
    }
    assert!(cut_off > 0, "no kill came before the end");
    let finished = output(&command);
    assert_eq!(finished.status.code(), Some(0), "{}", text(&finished.stderr));
    assert!(!begun.exists());
    for table in [SIMILARITIES, JUDGEMENTS, "select * from sgs_dataset order by dataset, axis, normalization"] {
        let found = rows(&killed, table);
        assert!(found.lines().count() > 2 && found == rows(&calm, table), "{table}");
    }
    assert!(untouched(&killed).iter().map(|f| &f.1).eq(untouched(&old).iter().map(|f| &f.1)));

    // A part that is lost afterwards is made again with the plan's encoder: the advice says how it ends, and a run that is
    // left with two encoders says so each time.
    let part = killed.join("similarities/model=smol/dataset=mine/part-00001.parquet");
    fs::remove_file(&part).unwrap();
    let damaged = text(&output(&["analyze", &path]).stderr);
    for advice in
        ["part-00001.parquet is missing", "and manifest.json", "judges", "layer:3", "--metrics --judges rules"]
    {
        assert!(damaged.contains(advice), "{advice}: {damaged}");
    }
    let verified = text(&output(&["verify", &path]).stdout);
    assert!(verified.contains("is missing; delete") && verified.contains("--metrics --judges rules"), "{verified}");
    fs::remove_file(killed.join("manifest.json")).unwrap();
    let file = dir.path().join("study.toml").to_string_lossy().into_owned();
    let run = || output(&["run", &file, "--subtypes", "spacing,politeness", "--quiet", "--out", &path]);
    for _ in 0..2 {
        let mixed = run();
        assert_eq!(mixed.status.code(), Some(2), "{}", text(&mixed.stderr));
        let said = text(&mixed.stderr);
        let fix = format!("sago measure {path} --encoder ENCODER");
        assert!(said.contains("key: bertscore") && said.contains("layer:3") && said.contains(&fix), "{said}");
    }
    let checked = output(&["analyze", &path, "--quiet"]);
    assert_eq!(checked.status.code(), Some(3), "{}", text(&checked.stderr));
    assert!(text(&checked.stderr).contains("measure_signatures"), "{}", text(&checked.stderr));
    assert_eq!(output(&command).status.code(), Some(0));
    assert_eq!(rows(&killed, SIMILARITIES), rows(&calm, SIMILARITIES));
    assert_eq!(run().status.code(), Some(0));
}

#[test]
fn what_cannot_be_measured_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let run = complete(dir.path(), "run", &["--encoder", "none"]);
    let refused = |run: &Path, more: &[&str], parts: &[&str]| {
        let before = files_below(run).unwrap();
        let (code, said) = measure(run, more);
        assert_eq!(code, Some(2), "{said}");
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
        let lock = |files: Vec<PathBuf>| files.into_iter().filter(|f| !f.ends_with(".lock")).collect::<Vec<_>>();
        assert_eq!(lock(before), lock(files_below(run).unwrap()));
    };
    refused(&run, &[], &["what should be measured?", "--encoder"]);
    refused(&run, &["--encoder", "none"], &["--encoder", "minilm"]);
    refused(&run, &["--encoder", "no-such-folder"], &["there is no encoder no-such-folder"]);
    refused(&run, &["--layer", "99"], &["no such layer", "1 to 6"]);
    refused(&run, &["--judges", "oracle"], &["oracle", "rules"]);

    // One byte of a part, in the middle: the size is as before.
    let part = run.join("generations/model=smol/dataset=mine/part-00001.parquet");
    let whole = fs::read(&part).unwrap();
    let mut flipped = whole.clone();
    let middle = whole.len() / 2;
    flipped[middle] ^= 1;
    fs::write(&part, &flipped).unwrap();
    let (code, said) = measure(&run, &["--metrics"]);
    assert!(code == Some(2) && said.contains("part-00001.parquet has other bytes"), "{said}");
    fs::write(&part, &whole).unwrap();
    assert_eq!(measure(&run, &["--metrics"]).0, Some(0));

    fs::remove_file(run.join("manifest.json")).unwrap();
    refused(&run, &["--metrics"], &["is not complete", "finish it first"]);

    let none = dir.path().join("none");
    fs::create_dir(&none).unwrap();
    refused(&none, &["--metrics"], &["can't be measured again", "a folder without plan.json"]);
    // As of an import: deltas, but no text.
    let manifest = "{\"run_id\": \"\", \"schema_version\": 1, \"version\": \"\", \"commit\": null, \"hosts\": [], \
                    \"started\": \"\", \"finished\": \"\", \"rows\": {}, \"failed_rows\": 0, \"parts\": {}}";
    fs::write(none.join("plan.json"), "{}").unwrap();
    fs::write(none.join("manifest.json"), manifest).unwrap();
    refused(&none, &["--metrics"], &["holds no responses to measure", "no table generations"]);
}
