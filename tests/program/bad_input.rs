//! Bad input: exit code 2 and one clear message that names file, line, column, key or option; never a panic.

use std::fs;
use std::path::Path;

use super::{output, text};

/// Runs, expects exit code 2, and that stderr is one message with all of `parts`.
fn refused(arguments: &[&str], parts: &[&str]) {
    let out = output(arguments);
    let message = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(message.lines().filter(|l| l.starts_with("error:")).count(), 1, "{arguments:?}: {message}");
    assert!(!message.contains("panicked"), "{arguments:?}: {message}");
    assert!(out.stdout.is_empty(), "{arguments:?}: {}", text(&out.stdout));
    for part in parts {
        assert!(message.contains(part), "{arguments:?}: no {part:?} in: {message}");
    }
}

/// A run on one data set file, which must be refused.
fn refused_file(folder: &Path, dataset: &str, name: &str, content: &[u8], parts: &[&str]) {
    let file = folder.join(name);
    fs::write(&file, content).unwrap();
    let dataset = format!("{dataset}={}", file.display());
    let out = folder.join("run");
    refused(&["run", "--model", "demo", "--dataset", &dataset, "-n", "1", "--out", &out.to_string_lossy()], parts);
    assert!(!out.exists(), "nothing was written for {name}");
}

#[test]
fn data_set_files() {
    let dir = tempfile::tempdir().unwrap();
    let missing = format!("alpaca={}", dir.path().join("nowhere.json").display());
    refused(&["run", "--model", "demo", "--dataset", &missing, "--out", "x"], &["nowhere.json", "No such file"]);
    refused_file(
        dir.path(),
        "truthfulqa",
        "q.csv",
        b"id,text,answer\n1,Why?,No\n",
        &["q.csv", "id, text, answer", "line 1"],
    );
    let good = "{\"question\": \"who\", \"answer\": [\"a\"]}\n";
    let broken = good.repeat(6) + "{\"question\": \"who\", \"answer\": [\n" + good;
    refused_file(dir.path(), "natural_questions", "nq.jsonl", broken.as_bytes(), &["nq.jsonl", "line 7"]);
    refused_file(dir.path(), "natural_questions", "empty.jsonl", b"", &["empty.jsonl"]);
    refused_file(dir.path(), "alpaca", "empty.json", b"[]", &["empty.json"]);
    refused_file(
        dir.path(),
        "natural_questions",
        "latin.jsonl",
        b"{\"question\": \"caf\xe9\"}\n",
        &["latin.jsonl", "UTF-8"],
    );
    refused(
        &["run", "--model", "demo", "--dataset", "nosuchset", "--out", "x"],
        &["nosuchset", "truthfulqa", "alpaca"],
    );
}

#[test]
fn models() {
    let dir = tempfile::tempdir().unwrap();
    let gguf = |name: &str, bytes: &[u8], parts: &[&str]| {
        let file = dir.path().join(name);
        fs::write(&file, bytes).unwrap();
        let model = file.to_string_lossy().into_owned();
        refused(&["run", "--model", &model, "--dataset", "alpaca", "-n", "1", "--out", "x"], parts);
    };
    let whole = fs::read(sago::model::cache_dir::demo_model().unwrap()).unwrap();
    gguf("short.gguf", &whole[..1_000_000], &["short.gguf"]);
    gguf("cut.gguf", &whole[..whole.len() - 1000], &["cut.gguf"]);
    gguf("text.gguf", b"once upon a time there was no model here", &["text.gguf"]);
    gguf("empty.gguf", b"", &["empty.gguf"]);
    // The same file under another architecture's name of the same length.
    let at = whole.windows(5).position(|w| w == b"llama").unwrap();
    let mut renamed = whole.clone();
    renamed[at..at + 5].copy_from_slice(b"mamba");
    gguf("mamba.gguf", &renamed, &["mamba", "llama"]);
    // A model whose context is no longer than a response: the default is checked as what the user says is.
    let key = b"llama.context_length";
    let at = whole.windows(key.len()).position(|w| w == key).unwrap() + key.len() + 4;
    let mut small = whole;
    small[at..at + 4].copy_from_slice(&100u32.to_le_bytes());
    gguf("small.gguf", &small, &["100 new tokens do not fit model small", "max_new_tokens", "context of 100 tokens"]);
    refused(&["run", "--model", "nowhere.gguf", "--dataset", "alpaca", "--out", "x"], &["nowhere.gguf", "org/name"]);
    let folder = dir.path().to_string_lossy().into_owned();
    refused(&["run", "--model", &folder, "--dataset", "alpaca", "--out", "x"], &["no config.json", "mamba.gguf"]);
}

#[test]
fn settings() {
    let base = ["run", "--model", "demo", "--dataset", "alpaca", "--out", "x"];
    let with = |more: &[&str], parts: &[&str]| refused(&[&base[..], more].concat(), parts);
    with(&["-n", "0"], &["prompts = 0", "--prompts", "at least 1"]);
    with(&["-n", "1000"], &["1000", "alpaca"]);
    with(&["--subtypes", "spelling"], &["spelling", "politeness", "casing"]);
    with(&["--temperature", "-1"], &["temperature = -1", "--temperature"]);
    with(&["--top-p", "0"], &["top_p = 0"]);
    with(&["--max-new-tokens", "0"], &["max_new_tokens = 0", "at least 1"]);
    with(&["--max-new-tokens", "8192"], &["8192", "context"]);
    with(&["--repeats", "0"], &["repeats = 0"]);
    with(&["--activations", "31"], &["no layer 31", "0 (the embedding output) to 30"]);
    with(&["--preset", "huge"], &["huge", "paper or quick"]);
    with(&["--encoder", "nowhere"], &["nowhere", "minilm"]);
    with(&["--batch", "0"], &["--batch", "1..=100000"]);
    refused(&["run", "--dataset", "alpaca"], &["no model is given"]);
    refused(&["run", "--model", "demo"], &["no data set is given"]);
    refused(&["run", "--model", "demo", "--dataset", "alpaca", "-n", "1"], &["--out"]);
    with(&["--repeats", "9223372036854775807"], &["repeats", "at most 10000"]);
    refused(&["variants", " "], &["empty"]);
    refused(&["variants", "Why?", "--subtypes", "x"], &["found: x", "politeness"]);
}

#[test]
fn study_files() {
    let dir = tempfile::tempdir().unwrap();
    let study = |content: &str, parts: &[&str]| {
        let file = dir.path().join("study.toml");
        fs::write(&file, content).unwrap();
        refused(&["run", &file.to_string_lossy(), "--out", "x"], parts);
    };
    study("[generation]\nmax_tokens = 5\n", &["max_tokens", "line 2", "max_new_tokens"]);
    study("seed = \"x\"\n", &["line 1", "whole number"]);
    study("[variants.strengths]\nspacing = [1, -5]\n[[model]]\npath = \"demo\"\n", &["spacing", "-5", "line 2"]);
    study("[variants]\nsubtypes = [\n  \"casing\",\n  \"speling\",\n]\n", &["speling", "line 4", "politeness"]);
    study(
        "prompts = 1\n[[model]]\npath = \"demo\"\nname = \"a/b\"\n[[dataset]]\nname = \"alpaca\"\n",
        &["a/b", "line 4"],
    );
    study("[[model]]\npath = \"demo\"\n[variants]\nplaces = []\n", &["variants.places", "line 4"]);
    study("[variants.strengths]\nspacing = [5, 5]\n", &["variants.strengths.spacing", "line 2"]);
    study("model = \"demo\"\n", &["[[model]]", "line 1"]);
    fs::write(dir.path().join("own.csv"), "prompt_id,text\nnope,x\n").unwrap();
    let alone = "prompts = 1\n[variants]\nbuilt_in = false\nparaphrases = \"own.csv\"\n[[model]]\npath = \"demo\"\n";
    study(&format!("{alone}[[dataset]]\nname = \"alpaca\"\n"), &["belong to no sampled prompt", "line 4"]);
    refused(&["run", "nowhere.toml"], &["nowhere.toml"]);
}

#[test]
fn directories() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    let at = |out: &Path, parts: &[&str]| {
        let out = out.to_string_lossy().into_owned();
        refused(&["run", "--model", "demo", "--dataset", "alpaca", "-n", "1", "--out", &out], parts);
    };
    at(&dir.path().join("file"), &["is a file"]);
    at(&dir.path().join("file/below"), &["below"]);
    at(dir.path(), &["holds no plan.json"]);
    at(Path::new("/proc/sago"), &["/proc/sago"]);
    let nowhere = dir.path().join("nowhere").to_string_lossy().into_owned();
    refused(&["analyze", &nowhere], &["nowhere"]);
    refused(&["verify", &nowhere], &["nowhere", "neither a run nor a release"]);
    refused(&["analyze", &nowhere, "--sql", "no-models"], &["no-models", "no such folder"]);
    refused(&["sql", &nowhere, "-c", "select 1"], &["nowhere"]);
    refused(&["sql", "-c", "select nothing from 'nowhere.csv'"], &["nowhere.csv"]);
    refused(&["sql", "--sql", "models", "-c", "select 1"], &["--sql needs a run", "name the run"]);
    refused(&["sql", "-c", "selec 1"], &["selec", "line 1, column 1", "did you mean select?"]);
}
