//! Resume: killed at any moment and started again, a run holds the rows of an undisturbed one.

use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use super::{output, rows, sago, text};

const TABLES: [&str; 7] = ["prompts", "variants", "models", "generations", "forced", "similarities", "judgements"];

fn arguments(out: &str) -> Vec<&str> {
    let job = "run --model demo --dataset alpaca --dataset natural_questions -n 2 --subtypes spacing,form \
               --max-new-tokens 6 --quiet --out";
    job.split_whitespace().chain([out]).collect()
}

/// Every raw table but `work`, as text, in key order.
fn contents(run: &Path) -> Vec<String> {
    let mut tables: Vec<String> = TABLES
        .iter()
        .map(|table| {
            let key = sago::store::schema::Table::named(table).unwrap().key.join(", ");
            rows(run, &format!("select * from {table} order by {key}"))
        })
        .collect();
    let vectors = "select model, dataset, prompt_id, variant_id, repeat, layer, vector from activations \
                   order by model, dataset, prompt_id, variant_id, repeat, layer";
    tables.push(rows(run, vectors));
    tables
}

/// Faults #8 of evaluation tools: EleutherAI/lm-evaluation-harness#2533, #2140.
#[test]
fn ten_kills_change_no_row() {
    let dir = tempfile::tempdir().unwrap();
    let (calm, killed) = (dir.path().join("calm"), dir.path().join("killed"));
    let undisturbed = output(&arguments(&calm.to_string_lossy()));
    assert!(undisturbed.status.success(), "{}", text(&undisturbed.stderr));
    let path = killed.to_string_lossy().into_owned();
    for kill in 0..10u64 {
        let mut child = sago(&arguments(&path)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Spread over start-up, loading, the first units and writing; a later start gets further.
        sleep(Duration::from_millis(150 + (kill * 977) % 4000));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let finished = output(&arguments(&path));
    assert!(finished.status.success(), "{}", text(&finished.stderr));
    for ((a, b), table) in contents(&calm).iter().zip(contents(&killed)).zip(TABLES.iter().chain(&["activations"])) {
        assert!(a.lines().count() > 1, "{table} has no rows");
        assert!(*a == b, "{table} differs after kills");
    }

    // Derived tables of less than the whole run, as after a kill between the last unit and the analysis, are not believed.
    let unit = killed.join("generations/model=SmolLM2-135M-Instruct.Q4_1/dataset=alpaca/part-00001.parquet");
    let aside = dir.path().join("aside.parquet");
    let manifest = std::fs::read(killed.join("manifest.json")).unwrap();
    std::fs::remove_file(killed.join("manifest.json")).unwrap();
    std::fs::rename(&unit, &aside).unwrap();
    let partial = output(&["analyze", &path]);
    assert!(partial.status.code().is_some_and(|c| c == 0 || c == 3), "{}", text(&partial.stderr));
    std::fs::rename(&aside, &unit).unwrap();
    std::fs::write(killed.join("manifest.json"), manifest).unwrap();
    let sgs =
        "select axis, normalization, round(sgs, 12) as sgs, n_prompts from sgs_model order by axis, normalization";
    assert_eq!(rows(&killed, sgs), rows(&calm, sgs));

    let again = output(&arguments(&path).into_iter().filter(|a| *a != "--quiet").collect::<Vec<_>>());
    assert!(again.status.success());
    assert!(text(&again.stderr).contains("nothing to do"), "{}", text(&again.stderr));
    let mut other = arguments(&path);
    other.extend(["--seed", "5"]);
    let refused = output(&other);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("seed: 0 there, 5 now"), "{}", text(&refused.stderr));
}

/// A part that is missing or damaged is found, said, and made again.
#[test]
fn damaged_runs_are_named_and_mended() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let path = run.to_string_lossy().into_owned();
    let job =
        ["run", "--model", "demo", "--dataset", "alpaca", "-n", "1", "--subtypes", "form", "--max-new-tokens", "3"];
    let again = || output(&[&job[..], &["--encoder", "none", "--quiet", "--out", &path]].concat());
    assert!(again().status.success());
    let generations = "select count(*) as n from generations";
    let before = rows(&run, generations);
    let part = run.join("generations/model=SmolLM2-135M-Instruct.Q4_1/dataset=alpaca/part-00000.parquet");
    for damage in [None, Some(0), Some(500)] {
        match damage {
            None => std::fs::remove_file(&part).unwrap(),
            Some(bytes) => std::fs::File::options().write(true).open(&part).unwrap().set_len(bytes).unwrap(),
        }
        for refused in [again(), output(&["analyze", &path])] {
            assert_eq!(refused.status.code(), Some(2));
            let message = text(&refused.stderr);
            assert!(message.contains("part-00000.parquet") && message.contains("manifest.json"), "{message}");
        }
        std::fs::remove_file(run.join("manifest.json")).unwrap();
        assert_eq!(again().status.code(), Some(0));
        assert_eq!(rows(&run, generations), before);
    }
    let stray = part.with_file_name("part-00007.parquet");
    std::fs::copy(&part, &stray).unwrap();
    assert!(text(&again().stderr).contains("part-00007.parquet"));
}
