//! `sago import` as its users meet it: a run, the table on stdout, exit codes, refusals.

use std::fs;

use super::{output, rows, text};

const DELTAS: &str = "model,dataset,prompt_id,variant,axis,delta
m,d,p,baseline,bleu,0
m,d,p,own/x,bleu,-0.3
m,d,p,own/y,bleu,-0.4
";

#[test]
fn an_import_is_a_run_that_every_command_reads() {
    let dir = tempfile::tempdir().unwrap();
    let (file, run) = (dir.path().join("mine.csv"), dir.path().join("run"));
    fs::write(&file, DELTAS).unwrap();
    let (file, out) = (file.to_string_lossy().into_owned(), run.to_string_lossy().into_owned());
    let made = output(&["import", "--layout", "deltas", &file, "--out", &out]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    // sqrt((0.3^2 + 0.4^2) / 2)
    assert!(text(&made.stdout).contains("0.3536"), "{}", text(&made.stdout));
    assert!(text(&made.stderr).contains("given/deltas"), "{}", text(&made.stderr));
    let again = output(&["analyze", &out, "--quiet"]);
    assert_eq!((again.status.code(), text(&again.stderr)), (Some(0), String::new()));
    assert_eq!(again.stdout, made.stdout);
    assert_eq!(rows(&run, "select delta from deltas where variant_id = 'own/y'"), "delta\n-0.4\n");
    let verified = output(&["verify", &out]);
    assert_eq!(verified.status.code(), Some(0), "{}{}", text(&verified.stdout), text(&verified.stderr));
    // A baseline that is not 0 is a check that does not hold.
    let off = dir.path().join("off.csv");
    fs::write(&off, DELTAS.replace("baseline,bleu,0", "baseline,bleu,0.1")).unwrap();
    let other = dir.path().join("off").to_string_lossy().into_owned();
    let made = output(&["import", "--layout", "deltas", &off.to_string_lossy(), "--out", &other]);
    assert_eq!(made.status.code(), Some(3), "{}", text(&made.stderr));
    let said = text(&made.stderr);
    assert!(said.contains("baseline_check"), "{said}");
    assert!(said.contains("1 deltas of baselines are not 0") && said.contains("off.csv, line 2 ("), "{said}");
}

#[test]
fn figures_that_cannot_be_right_are_noted_and_what_is_missing_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let import = |name: &str, csv: &str| {
        let file = dir.path().join(format!("{name}.csv"));
        fs::write(&file, csv).unwrap();
        let out = dir.path().join(name).to_string_lossy().into_owned();
        let made = output(&["import", "--layout", "deltas", &file.to_string_lossy(), "--no-analysis", "--out", &out]);
        (made.status.code(), text(&made.stderr))
    };
    let (code, said) = import("percent", &DELTAS.replace("-0.3", "-30"));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 deltas are larger than their axis can give") && said.contains("line 3"), "{said}");
    let valued =
        "model,dataset,prompt_id,variant,axis,value,delta\nm,d,p,baseline,bleu,1,0\nm,d,p,own/x,bleu,0.6,-0.3\n";
    let (_, said) = import("valued", valued);
    assert!(said.contains("1 deltas are not their value less the baseline's; first -0.3"), "{said}");
    let (_, said) = import("right", &valued.replace("-0.3", "-0.4"));
    assert!(!said.contains("first"), "{said}");
    let (code, said) =
        import("weak", "model,dataset,prompt_id,subtype,axis,delta\nm,d,p,baseline,bleu,0\nm,d,p,spacing,bleu,1\n");
    assert!(code == Some(2) && said.contains("strength") && said.contains("line 3"), "{said}");
    let gone = output(&["import", "--layout", "deltas", "nowhere", "--out", &dir.path().join("x").to_string_lossy()]);
    assert_eq!(gone.status.code(), Some(2));
    assert!(text(&gone.stderr).contains("could not open nowhere: No such file"), "{}", text(&gone.stderr));
}

#[test]
fn models_and_data_sets_are_named_beside_the_paths() {
    let dir = tempfile::tempdir().unwrap();
    for (folder, x) in [("one", "-30"), ("two", "-40")] {
        fs::create_dir(dir.path().join(folder)).unwrap();
        let csv = format!("prompt_id,place,strength,delta_bleu\n0,global,0,0\n0,global,5,{x}\n");
        fs::write(dir.path().join(folder).join("letter_case.csv"), csv).unwrap();
    }
    let named = |names: &str, folder: &str| format!("{names}={}", dir.path().join(folder).display());
    let run = dir.path().join("run");
    let made = output(&[
        "import",
        "--layout",
        "published",
        &named("a/d", "one"),
        &named("b/d", "two"),
        "--no-analysis",
        "--out",
        &run.to_string_lossy(),
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert!(made.stdout.is_empty() && !run.join("analysis").exists());
    let scores = "select model, sgs from sgs_model where normalization = 'fixed' order by model";
    assert_eq!(rows(&run, scores), "model,sgs\na,0.3\nb,0.4\n");
}

#[test]
fn the_same_import_again_leaves_a_later_measurement_alone() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let out = run.to_string_lossy().into_owned();
    let logs = ["baseline=tests/golden/lm_eval/plain", "own/x=tests/golden/lm_eval/rude"];
    let job = ["import", "--layout", "lm-eval", "--variant", logs[0], "--variant", logs[1], "--out", &out];
    let made = output(&job);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let measured = output(&["measure", &out, "--encoder", "minilm", "--quiet"]);
    assert_eq!(measured.status.code(), Some(0), "{}", text(&measured.stderr));
    let (manifest, scores) = (run.join("manifest.json"), "select count(bertscore_f1) > 0 as scored from similarities");
    let before = fs::read(&manifest).unwrap();
    let again = output(&job);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("nothing was written"), "{}", text(&again.stderr));
    assert_eq!(rows(&run, scores), "scored\ntrue\n");
    assert!(fs::read(&manifest).unwrap() == before);
    // Damage is said, and the advice ends with the measurement.
    fs::remove_file(run.join("similarities/model=acme__tiny-1b/dataset=sky/part-00000.parquet")).unwrap();
    let damaged = output(&job);
    assert_eq!(damaged.status.code(), Some(2), "{}", text(&damaged.stderr));
    assert!(text(&damaged.stderr).contains("sago measure"), "{}", text(&damaged.stderr));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (file, run) = (dir.path().join("mine.csv"), dir.path().join("run"));
    fs::write(&file, DELTAS).unwrap();
    let (file, out) = (file.to_string_lossy().into_owned(), run.to_string_lossy().into_owned());
    let cases: &[(&[&str], &[&str])] = &[
        (&["--layout", "deltas", &file, "--variant", "baseline=x"], &["--variant", "does not belong"]),
        (&["--layout", "lm-eval", &file], &["PATH without --variant"]),
        (&["--layout", "lm-eval", "--variant", "baseline"], &["--variant", "baseline=samples.jsonl"]),
        (&["--layout", "deltas", &file, "--column", "text=x"], &["no column \"text\"", "prompt_id"]),
        (&["--layout", "deltas", &file, "--column", "axis=metric"], &["no column \"metric\"", "line 1"]),
        (&["--layout", "deltas", &file, "--model", "m"], &["column \"model\" of its own", "leave the option out"]),
        (&["--layout", "deltas"], &["nothing to import"]),
        (&["--layout", "deltas", "nowhere.csv"], &["nowhere.csv", "No such file"]),
    ];
    for (arguments, parts) in cases {
        let all: Vec<&str> = ["import", "--out", &out].iter().chain(*arguments).copied().collect();
        let refused = output(&all);
        let message = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {message}");
        for part in *parts {
            assert!(message.contains(part), "{arguments:?}: no {part:?} in: {message}");
        }
        assert!(!run.exists());
    }
}
