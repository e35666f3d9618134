//! The whole job on the demo model: own prompts and paraphrases in, responses, scores and SGS out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{output, rows, sago, text};

/// Writes a study of three own prompts (one of them with special-token text) and returns its path.
pub fn study(folder: &Path, more: &str) -> PathBuf {
    let prompts = "key,ask,gold\n\
                   france,What is the capital of France?,Paris\n\
                   odd,Say <|im_end|> twice.,\n\
                   water,Is water wet?,yes; it is\n";
    fs::write(folder.join("prompts.csv"), prompts).unwrap();
    let own = "prompt_id,text\nfrance,Which city is the capital of France?\nwater,Would you call water wet?\n";
    fs::write(folder.join("own.csv"), own).unwrap();
    let text = format!(
        "prompts = 3\n[generation]\nmax_new_tokens = 10\n[variants]\nsubtypes = [\"form\"]\n\
         paraphrases = \"own.csv\"\n[[model]]\npath = \"demo\"\nname = \"smol\"\n{more}\n\
         [[dataset]]\nname = \"mine\"\npath = \"prompts.csv\"\nprompt = \"ask\"\nanswers = \"gold\"\nid = \"key\"\n"
    );
    let file = folder.join("study.toml");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn own_prompts_and_paraphrases() {
    let dir = tempfile::tempdir().unwrap();
    let file = study(dir.path(), "").to_string_lossy().into_owned();
    let run = dir.path().join("run");
    let out = run.to_string_lossy().into_owned();

    let dry = output(&["run", &file, "--dry-run"]);
    let plan = text(&dry.stdout);
    assert!(dry.status.success() && !run.exists(), "{}", text(&dry.stderr));
    for part in ["smol: llama, 135 M weights, 30 layers of 576", "mine: 3 of 3 prompts, from prompts.csv", "own / "] {
        assert!(plan.contains(part), "{part}: {plan}");
    }

    let done = output(&["run", &file, "--out", &out, "--quiet"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let table = text(&done.stdout);
    assert!(table.contains("smol") && table.contains("mine") && table.contains("bleu"), "{table}");

    // Another compute type is another run.
    let other = output(&["run", &file, "--out", &out, "--dtype", "bf16"]);
    let said = text(&other.stderr);
    assert!(other.status.code() == Some(2) && said.contains("models[0].dtype: \"f32\" there, \"bf16\" now"), "{said}");

    let verified = output(&["verify", &out]);
    let lines = text(&verified.stdout);
    assert_eq!(verified.status.code(), Some(0), "{lines}");
    assert!(lines.lines().count() >= 9 && lines.lines().all(|line| line.starts_with("ok  ")), "{lines}");
    let part = run.join("forced/model=smol/dataset=mine/part-00001.parquet");
    let whole = fs::read(&part).unwrap();
    let mut bytes = whole.clone();
    bytes[whole.len() / 2] ^= 1;
    fs::write(&part, bytes).unwrap();
    let broken = output(&["verify", &out]);
    assert_eq!(broken.status.code(), Some(3));
    assert!(text(&broken.stdout).starts_with("FAILED"), "{}", text(&broken.stdout));
    assert!(text(&broken.stdout).contains("forced/model=smol/dataset=mine/part-00001.parquet"));
    fs::write(&part, whole).unwrap();

    let france = "select response from generations where prompt_id = 'france' and variant_id = 'baseline'";
    assert_eq!(rows(&run, france), "response\nThe capital of France is Paris.\n");
    let start = "select prompt_token_ids[1] as a, prompt_token_ids[2] as b, prompt_token_ids[3] as c, \
                 prompt_token_ids[4] as d from generations where prompt_id = 'france' and variant_id = 'baseline'";
    assert_eq!(rows(&run, start), "a,b,c,d\n1,9690,198,2683\n");
    let flagged = "select distinct prompt_id from generations where special_text";
    assert_eq!(rows(&run, flagged), "prompt_id\nodd\n");
    let own = "select prompt_id from variants where family = 'own' order by prompt_id";
    assert_eq!(rows(&run, own), "prompt_id\nfrance\nwater\n");
    let anchored = "select count(*) as n from deltas as d inner join variants as v using (dataset, prompt_id, variant_id) \
                    where v.is_baseline and d.delta <> 0";
    assert_eq!(rows(&run, anchored), "n\n0\n");
    let axes = "select distinct axis from sgs_model where axis in ('cos', 'bleu', 'bert', 'prob', 'ent') order by axis";
    assert_eq!(rows(&run, axes), "axis\nbert\nbleu\ncos\nent\nprob\n");
}

/// Fault of another tool: an error written as an answer, one failure losing the rest
/// (<https://github.com/tenstorrent/tt-inference-server/issues/2214>).
#[test]
fn a_prompt_over_the_context_is_an_error_row_and_the_others_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let long = "word ".repeat(9000);
    let prompts = format!("{{\"q\": \"Is water wet?\"}}\n{{\"q\": \"{long}?\"}}\n");
    fs::write(dir.path().join("prompts.jsonl"), prompts).unwrap();
    let study = "prompts = 2\n[generation]\nmax_new_tokens = 3\n[variants]\nsubtypes = [\"spacing\"]\nplaces = [\"prefix\"]\n\
                 [measure]\nencoder = \"none\"\n[[model]]\npath = \"demo\"\n\
                 [[dataset]]\nname = \"mine\"\npath = \"prompts.jsonl\"\nprompt = \"q\"\n";
    fs::write(dir.path().join("study.toml"), study).unwrap();
    let file = dir.path().join("study.toml").to_string_lossy().into_owned();
    let run = dir.path().join("run");
    let done = output(&["run", &file, "--out", &run.to_string_lossy()]);
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("6 rows failed"), "{}", text(&done.stderr));
    let kinds = "select prompt_id, count(error) as errors, count(response) as responses from generations \
                 group by prompt_id order by prompt_id";
    assert_eq!(rows(&run, kinds), "prompt_id,errors,responses\n0,0,6\n1,6,0\n");
    let why = rows(&run, "select distinct error from generations where error is not null");
    assert!(why.contains("8192"), "{why}");
    let bert = rows(&run, "select count(*) as n from sgs_model where axis = 'bert'");
    assert_eq!(bert, "n\n0\n", "without an encoder there is no bert axis, not a 0");
    let again = output(&["run", &file, "--out", &run.to_string_lossy()]);
    assert_eq!(again.status.code(), Some(1), "a complete run with failed rows says so again");
}

/// Fault of another tool: results change with batch size (<https://github.com/EleutherAI/lm-evaluation-harness/issues/1645>).
#[test]
fn the_batch_changes_no_token() {
    let dir = tempfile::tempdir().unwrap();
    let file = study(dir.path(), "").to_string_lossy().into_owned();
    let with = |batch: &str| {
        let run = dir.path().join(format!("batch{batch}"));
        let out = run.to_string_lossy().into_owned();
        let done = output(&["run", &file, "--subtypes", "spacing,casing", "--batch", batch, "--quiet", "--out", &out]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        rows(&run, "select prompt_id, variant_id, response_token_ids from generations order by prompt_id, variant_id")
    };
    let alone = with("1");
    assert!(alone.lines().count() > 60);
    assert_eq!(alone, with("8"));
    assert_eq!(alone, with("96"));
}

#[test]
fn an_interrupt_keeps_what_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let out = run.to_string_lossy().into_owned();
    let job =
        ["run", "--model", "demo", "--dataset", "alpaca", "-n", "4", "--max-new-tokens", "8", "--encoder", "none"];
    let mut child =
        sago(&[&job[..], &["--subtypes", "spacing", "--out", &out]].concat()).stderr(Stdio::piped()).spawn().unwrap();
    let work = run.join("work");
    let begun = Instant::now();
    while !work.exists() && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert!(child.wait().unwrap().code().is_some(), "it ended by itself");
    let done = rows(&run, "select count(distinct prompt_id) as n from work");
    assert!(["n\n1\n", "n\n2\n", "n\n3\n"].contains(&done.as_str()), "{done}");
    assert!(!run.join("manifest.json").exists());
}
