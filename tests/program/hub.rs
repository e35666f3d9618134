//! Models of the hub, as the program meets them: in the hub's cache, missing there, and refused.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;

use sago::model::cache_dir::{demo_encoder, demo_model};

use super::{sago, text};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Says what a run on `more` would be, with the hub's cache at `cache` and these variables.
fn dry_run(cache: &Path, variables: &[(&str, &str)], more: &[&str]) -> Output {
    let mut command = sago(&["run", "--dataset", "alpaca", "-n", "1", "--dry-run"]);
    if !more.contains(&"--encoder") {
        command.args(["--encoder", "none"]);
    }
    for name in ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_ENDPOINT", "HF_TOKEN"] {
        command.env_remove(name);
    }
    command.env("HF_HUB_CACHE", cache).envs(variables.iter().copied()).args(more).output().unwrap()
}

/// A cache that holds the demo model as a model of the hub, a model of safetensors whose chat template has an option, and
/// the default encoder as one of the hub.
fn cache(folder: &Path) {
    let snapshot = repository(folder, "models--org--demo");
    let blob = folder.join("models--org--demo/blobs/abc");
    fs::create_dir(blob.parent().unwrap()).unwrap();
    symlink(demo_model().unwrap(), blob).unwrap();
    symlink("../../blobs/abc", snapshot.join("tiny.gguf")).unwrap();
    let links = |from: &Path, snapshot: &Path| {
        for file in fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            symlink(file.path(), snapshot.join(file.file_name())).unwrap();
        }
    };
    let thinker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/families/qwen3");
    links(&thinker, &repository(folder, "models--org--thinker"));
    links(&demo_encoder().unwrap(), &repository(folder, "models--org--encoder"));
}

/// The folder of the only commit's files, which is what the branch `main` is.
fn repository(cache: &Path, name: &str) -> PathBuf {
    let (refs, snapshot) = (cache.join(name).join("refs"), cache.join(name).join("snapshots").join(COMMIT));
    for folder in [&snapshot, &refs] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(refs.join("main"), COMMIT).unwrap();
    snapshot
}

#[test]
fn what_the_cache_holds_runs_without_the_network() {
    let dir = tempfile::tempdir().unwrap();
    cache(dir.path());
    let offline = [("HF_HUB_OFFLINE", "1")];
    for model in ["org/demo:tiny.gguf", &format!("org/demo@{COMMIT}:tiny.gguf")] {
        let out = dry_run(dir.path(), &offline, &["--model", model]);
        let said = text(&out.stdout);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        assert!(said.contains("tiny: llama, 135 M weights"), "{said}");
        assert!(said.contains(&format!("from the hub: org/demo:tiny.gguf at {COMMIT}")), "{said}");
    }
    for encoder in ["org/encoder", &format!("org/encoder@{COMMIT}")] {
        let out = dry_run(dir.path(), &offline, &["--model", "demo", "--encoder", encoder]);
        let said = text(&out.stdout);
        assert!(said.contains("BERTScore|encoder:org/encoder|layer:6|"), "{said}{}", text(&out.stderr));
    }
    let study = dir.path().join("study.toml");
    let options = "revision = \"main\"\ndtype = \"auto\"\ntemplate = { enable_thinking = false }\n";
    let with = |path: &str, max: &str| {
        fs::write(&study, format!("[[model]]\npath = \"{path}\"\n{options}")).unwrap();
        dry_run(dir.path(), &offline, &[&study.to_string_lossy(), "--max-new-tokens", max])
    };
    let out = with("org/thinker", "8");
    let said = text(&out.stdout);
    assert!(said.contains("f32, cpu, chat template, enable_thinking = false"), "{said}{}", text(&out.stderr));
    let out = with("org/demo:tiny.gguf", "8");
    let said = text(&out.stderr);
    assert!(out.status.code() == Some(2) && said.contains("no such option"), "{said}");
    assert!(said.contains("key: enable_thinking"), "{said}");
}

#[test]
fn what_can_not_be_fetched_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    cache(dir.path());
    let refused = |variables: &[(&str, &str)], more: &[&str], parts: &[&str]| {
        let out = dry_run(dir.path(), variables, more);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{said}");
        for part in parts {
            assert!(said.contains(part), "no {part:?} in: {said}");
        }
    };
    let offline = [("HF_HUB_OFFLINE", "1")];
    refused(
        &offline,
        &["--model", "org/other"],
        &["org/other", "HF_HUB_OFFLINE", "nothing of it", "models--org--other"],
    );
    refused(&offline, &["--model", "org/demo:q8.gguf"], &[COMMIT, "without q8.gguf"]);
    let encoder = |name: &'static str| ["--model", "demo", "--encoder", name];
    refused(&offline, &encoder("org/other"), &["org/other", "HF_HUB_OFFLINE", "nothing of it", "key: --encoder"]);
    refused(&offline, &encoder("org/demo:tiny.gguf"), &["no encoder org/demo:tiny.gguf", "key: --encoder", "minilm"]);
    let study = dir.path().join("study.toml");
    fs::write(&study, "[[model]]\npath = \"org/demo\"\nrevision = \"v2\"\n").unwrap();
    refused(&offline, &[&study.to_string_lossy()], &["org/demo@v2", "other revisions of it"]);

    let hub = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", hub.local_addr().unwrap());
    thread::spawn(move || {
        for stream in hub.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 404 Not Found\r\nx-error-code: RepoNotFound\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
        }
    });
    let at_hub = [("HF_ENDPOINT", endpoint.as_str())];
    refused(&at_hub, &["--model", "org/other"], &["the hub has no model org/other", "status 404", "key: --model"]);

    let types = ["--model", "demo", "--dtype", "f8"];
    refused(&offline, &types, &["\"f8\" is not a compute type", "auto, f32, bf16, f16, int8", "key: --dtype"]);
    let device = |word: &'static str| ["--model", "demo", "--device", word];
    refused(&offline, &device("gpu"), &["\"gpu\" is not a device", "auto, cpu, cuda, cuda:N", "key: --device"]);
    if !cfg!(feature = "cuda") {
        refused(&offline, &device("cuda:1"), &["can't compute on cuda:1", "--features cuda", "key: --device"]);
    }
    fs::write(&study, "[[model]]\npath = \"demo\"\ndevice = \"tpu\"\n").unwrap();
    refused(&offline, &[&study.to_string_lossy()], &["\"tpu\" is not a device", "study.toml, line 3", "model.device"]);
    fs::write(&study, "[[model]]\npath = \"demo\"\ntemplate = { day = 2026-01-01 }\n").unwrap();
    refused(&offline, &[&study.to_string_lossy()], &["the option day", "study.toml, line 3", "model.template"]);
}
