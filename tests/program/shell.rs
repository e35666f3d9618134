//! What holds for all commands: `--verbose`, `sago doctor`, `sago completions`, `sago man`.

use std::fs;

use super::{output, text};

#[test]
fn the_doctor_tells_models_that_work_from_those_that_do_not() {
    let done = output(&["doctor"]);
    let said = text(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{said}{}", text(&done.stderr));
    for part in ["processor  ", "memory     ", "cache      ", "llama, 135 million weights", "BERTScore|encoder:"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let dir = tempfile::tempdir().unwrap();
    let broken = dir.path().join("broken.gguf");
    fs::write(&broken, "GGUF").unwrap();
    let done = output(&["doctor", &broken.to_string_lossy()]);
    assert_eq!(done.status.code(), Some(3));
    let said = text(&done.stdout);
    assert!(said.contains("FAILED  ") && said.contains("broken.gguf"), "{said}");
}

#[test]
fn verbose_says_what_is_read_and_asked() {
    let query = "select 41 + 1 as answer";
    let said = |flags: &[&str]| text(&output(&[flags, &["sql", "-c", query]].concat()).stderr);
    assert_eq!(said(&[]), "");
    assert!(!said(&["-v"]).contains(query));
    assert!(said(&["-vv"]).contains(query));
    let run = output(&["run", "--preset", "quick", "--dry-run", "--verbose"]);
    let said = text(&run.stderr);
    for part in ["model SmolLM2", ".gguf", "data set triviaqa", "encoder of BERTScore: "] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(text(&run.stdout).starts_with("models"));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&output(&["completions", shell]).stdout);
        assert!(script.contains("fail-if") && script.contains("release"), "{shell}");
    }
    let dir = tempfile::tempdir().unwrap();
    let done = output(&["man", "--out", &dir.path().to_string_lossy()]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let page = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(page("sago.1").contains("sago\\-compare"));
    assert!(page("sago-compare.1").contains("fail\\-if"));
}
