//! Similarity against the reference libraries' values, and BERTScore's promises on batches and failures.
//!
//! The golden files hold sacrebleu's values on 0..100 and bert-score's as they are; the `_odd` ones are made by
//! `scripts/golden_similarity.py`. BERTScore needs the encoder that `scripts/fetch-models.sh` fetches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sago::measure::bertscore::{BertScorer, Score};
use sago::measure::{bleu, chrf, validity};
use serde::Deserialize;

#[derive(Deserialize)]
struct Similar {
    reference: String,
    candidate: String,
    bleu: f64,
    bleu_effective_order: f64,
    chrf: f64,
}

#[derive(Deserialize)]
struct Matched {
    reference: String,
    candidate: String,
    num_layers: usize,
    precision: f64,
    recall: f64,
    f1: f64,
}

fn golden<T: for<'de> Deserialize<'de>>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The encoder's folder; a test that needs it fails without it.
fn encoder() -> PathBuf {
    let var = |name| std::env::var_os(name).map(PathBuf::from);
    let cache = var("SAGO_CACHE")
        .or_else(|| var("XDG_CACHE_HOME").map(|d| d.join("sago")))
        .or_else(|| var("HOME").map(|d| d.join(".cache/sago")))
        .expect("HOME is set");
    let dir = cache.join("models/all-minilm-l6-v2");
    assert!(dir.join("model.safetensors").exists(), "no encoder in {}: run scripts/fetch-models.sh", dir.display());
    dir
}

fn sacrebleu_agrees(file: &str, rows: usize) {
    let golden: Vec<Similar> = golden(file);
    assert_eq!(golden.len(), rows);
    for row in &golden {
        let (plain, effective) = bleu::bleu_both(&row.reference, &row.candidate);
        let ours = [plain, effective, chrf::chrf(&row.reference, &row.candidate)];
        for (ours, theirs) in ours.into_iter().zip([row.bleu, row.bleu_effective_order, row.chrf]) {
            let theirs = theirs / 100.0;
            let off = (ours - theirs).abs();
            assert!(
                off <= 1e-9 * theirs.abs() || off < 1e-12,
                "{file}: {ours} for {theirs}\n{:?}\n{:?}",
                row.reference,
                row.candidate
            );
            assert!((0.0..=1.0).contains(&ours));
        }
    }
}

#[test]
fn bleu_and_chrf_are_sacrebleus() {
    sacrebleu_agrees("bleu.jsonl", 120);
}

#[test]
fn bleu_and_chrf_are_sacrebleus_on_odd_texts() {
    sacrebleu_agrees("bleu_odd.jsonl", 320);
}

fn bert_score_agrees(file: &str, rows: usize) {
    let dir = encoder();
    let mut by_layer: BTreeMap<usize, Vec<Matched>> = BTreeMap::new();
    for row in golden::<Matched>(file) {
        by_layer.entry(row.num_layers).or_default().push(row);
    }
    assert_eq!(by_layer.values().map(Vec::len).sum::<usize>(), rows);
    let mut worst = 0f64;
    for (layer, rows) in by_layer {
        let scorer = BertScorer::load(&dir, Some(layer)).unwrap();
        let pairs: Vec<_> = rows.iter().map(|r| (r.reference.as_str(), r.candidate.as_str())).collect();
        let scores = scorer.score(&pairs).unwrap();
        assert_eq!(scores.len(), rows.len());
        for (row, score) in rows.iter().zip(scores) {
            for (ours, theirs) in [(score.precision, row.precision), (score.recall, row.recall), (score.f1, row.f1)] {
                worst = worst.max((ours - theirs).abs());
                assert!(
                    (ours - theirs).abs() < 1e-4,
                    "{file}, layer {layer}: {ours} for {theirs}\n{:?}\n{:?}",
                    row.reference,
                    row.candidate
                );
            }
        }
    }
    println!("{file}: greatest difference {worst:.1e}");
}

#[test]
fn bertscore_is_bert_scores() {
    bert_score_agrees("bertscore_minilm.jsonl", 240);
}

#[test]
fn bertscore_is_bert_scores_on_odd_and_long_texts() {
    bert_score_agrees("bertscore_minilm_odd.jsonl", 267);
}

/// Texts of very different lengths.
fn mixed() -> Vec<(String, String)> {
    (0..24)
        .map(|n| {
            let words = |k: usize| {
                (0..k).map(|i| ["river", "stone", "seven", "blue"][(i * i + n) % 4]).collect::<Vec<_>>().join(" ")
            };
            (words(1 + n * n % 61), words(1 + n * 7 % 31))
        })
        .collect()
}

#[test]
fn a_score_does_not_depend_on_what_is_scored_beside_it() {
    let scorer = BertScorer::load(&encoder(), None).unwrap();
    let texts = mixed();
    let pairs: Vec<_> = texts.iter().map(|(r, c)| (r.as_str(), c.as_str())).collect();
    let together = scorer.score(&pairs).unwrap();
    let mut reversed: Vec<_> = pairs.iter().copied().rev().collect();
    reversed.dedup();
    assert_eq!(reversed.len(), pairs.len());
    let backwards = scorer.score(&reversed).unwrap();
    let alone = pairs.iter().map(|pair| scorer.score(&[*pair]).unwrap()[0]);
    for ((a, b), c) in together.iter().zip(backwards.iter().rev()).zip(alone) {
        for (x, y) in [(a, b), (a, &c)] {
            assert_eq!(x, y, "to the bit");
        }
    }
}

/// Faults of other tools: scores that can't be reproduced, no rule for empty and over-long texts
/// (<https://github.com/Tiiiger/bert_score/issues/164>, <https://github.com/mjpost/sacrebleu/issues/278>).
#[test]
fn empty_and_over_long_texts_follow_the_rules() {
    let scorer = BertScorer::load(&encoder(), None).unwrap();
    let long = "word ".repeat(2000);
    let scores =
        scorer.score(&[("", ""), ("a", " \n"), ("", "a"), ("same", "same"), (&long, &long), ("word", &long)]).unwrap();
    for score in &scores[..3] {
        assert_eq!(*score, Score { precision: 0.0, recall: 0.0, f1: 0.0, empty: true, truncated: false });
    }
    assert!(scores[3].f1 == 1.0 && !scores[3].empty && !scores[3].truncated);
    assert!(scores[4].f1 == 1.0 && scores[4].truncated);
    assert!(scores[5].truncated);
    assert!(scorer.score(&[]).unwrap().is_empty());
}

#[test]
fn the_signature_names_encoder_layer_and_weights_and_has_a_threshold() {
    let scorer = BertScorer::load(&encoder(), None).unwrap();
    assert_eq!(
        scorer.signature(),
        "BERTScore|encoder:all-minilm-l6-v2|layer:6|weights:53aa51172d14|max_tokens:512|idf:no|rescale:no|floor:0|dtype:f32|as:bert-score-0.3.12"
    );
    assert!(validity::default_threshold(scorer.signature()).is_some());
}

#[test]
fn an_encoder_that_cannot_be_used_says_why() {
    let dir = encoder();
    let message = |dir: &Path, layer| BertScorer::load(dir, layer).unwrap_err().to_string();
    assert!(message(&dir, Some(7)).contains("expected: 1 to 6"), "{}", message(&dir, Some(7)));
    assert!(message(&dir, Some(0)).contains("found: 0"));
    let broken = tempfile::tempdir().unwrap();
    assert!(message(broken.path(), None).contains("run scripts/fetch-models.sh"));
    for file in ["config.json", "tokenizer.json"] {
        std::fs::copy(dir.join(file), broken.path().join(file)).unwrap();
    }
    let weights = std::fs::read(dir.join("model.safetensors")).unwrap();
    std::fs::write(broken.path().join("model.safetensors"), &weights[..weights.len() / 2]).unwrap();
    let cut = message(broken.path(), None);
    assert!(cut.contains("cut or damaged") && cut.contains("model.safetensors"), "{cut}");
    // Weights that are all NaN load, but what they compute is no score.
    let header = 8 + u64::from_le_bytes(weights[..8].try_into().unwrap()) as usize;
    let mut nan = weights;
    nan[header..].fill(0xff);
    std::fs::write(broken.path().join("model.safetensors"), nan).unwrap();
    let scorer = BertScorer::load(broken.path(), None).unwrap();
    for pair in [("a river", "a stone"), ("same", "same")] {
        let message = scorer.score(&[pair]).unwrap_err().to_string();
        assert!(message.contains("the encoder gave numbers that are not finite"), "{message}");
    }
    std::fs::write(broken.path().join("tokenizer.json"), "{").unwrap();
    std::fs::write(broken.path().join("config.json"), "[]").unwrap();
    assert!(message(broken.path(), None).contains("config.json"));
}
