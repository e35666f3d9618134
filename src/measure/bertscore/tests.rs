//! Encoders of every family against transformers and bert-score, on the tiny ones of `scripts/golden_encoders.py`.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::config::Shape;
use super::encoder::Encoder;
use super::network::Network;
use super::weights::Weights;
use super::*;

const ENCODERS: [&str; 7] = ["bert", "deberta", "deberta-v2", "deberta-v3", "distilbert", "roberta", "xlm-roberta"];
/// Tokens that each can take.
const LIMIT: usize = 40;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/encoders").join(name)
}

#[derive(Deserialize)]
struct Texts {
    pairs: Vec<(String, String)>,
    idf_corpus: Vec<String>,
}

fn texts() -> Texts {
    serde_json::from_slice(&std::fs::read(folder("texts.json")).unwrap()).unwrap()
}

fn pairs(texts: &Texts) -> Vec<(&str, &str)> {
    texts.pairs.iter().map(|(r, c)| (r.as_str(), c.as_str())).collect()
}

fn lines<T: DeserializeOwned>(name: &str, file: &str) -> Vec<T> {
    let text = std::fs::read_to_string(folder(name).join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[derive(Deserialize)]
struct Hidden {
    text: String,
    ids: Vec<u32>,
    layer: usize,
    states: Vec<Vec<f32>>,
}

#[test]
fn hidden_states_are_those_of_transformers() {
    for name in ENCODERS {
        let (dir, mut worst) = (folder(name), 0f32);
        let shape = Shape::read(&std::fs::read(dir.join("config.json")).unwrap()).unwrap();
        for layer in 1..=shape.blocks {
            let network = Network::load(Weights::open(&dir).unwrap(), shape.clone(), layer).unwrap();
            let encoder = Encoder::load(&dir, Some(layer)).unwrap();
            for row in lines::<Hidden>(name, "hidden.jsonl").into_iter().filter(|row| row.layer == layer) {
                assert_eq!(encoder.tokens(&row.text).unwrap().ids, row.ids, "{name}: {:?}", row.text);
                let (ours, theirs) = (network.states(&[&row.ids]).unwrap(), row.states.concat());
                let largest = theirs.iter().fold(0f32, |largest, x| largest.max(x.abs()));
                assert_eq!(ours.len(), theirs.len());
                for (ours, theirs) in ours.iter().zip(theirs) {
                    worst = worst.max((ours - theirs).abs() / largest);
                }
            }
        }
        println!("{name}: greatest difference of hidden states {worst:.1e} of the largest");
        assert!(worst < 1e-5, "{name}: {worst}");
    }
}

#[derive(Deserialize)]
struct Scored {
    layer: usize,
    idf: bool,
    precision_recall_f1: Vec<[f64; 3]>,
}

#[test]
fn scores_are_those_of_bert_score_with_and_without_idf() {
    let texts = texts();
    let (pairs, corpus) = (pairs(&texts), texts.idf_corpus.iter().map(String::as_str).collect::<Vec<_>>());
    for name in ENCODERS {
        let mut worst = 0f64;
        for expected in lines::<Scored>(name, "scores.jsonl") {
            let scorer = BertScorer::load(&folder(name), Some(expected.layer)).unwrap();
            let scorer = if expected.idf { scorer.with_idf(&corpus).unwrap() } else { scorer };
            assert_eq!(scorer.signature().contains("|idf:yes|idf_corpus:"), expected.idf);
            let scores = scorer.score(&pairs).unwrap();
            assert_eq!(scores.len(), expected.precision_recall_f1.len());
            for ((score, want), pair) in scores.iter().zip(expected.precision_recall_f1).zip(&pairs) {
                let off = [score.precision, score.recall, score.f1].into_iter().zip(want).map(|(a, b)| (a - b).abs());
                let off = off.fold(0.0, f64::max);
                assert!(
                    off < 1e-4,
                    "{name}, layer {}, idf {}: {score:?}, not {want:?}\n{pair:?}",
                    expected.layer,
                    expected.idf
                );
                worst = worst.max(off);
            }
        }
        println!("{name}: greatest difference of scores {worst:.1e}");
    }
}

#[test]
fn a_score_is_the_same_bits_whatever_it_is_scored_beside() {
    let texts = texts();
    let pairs = pairs(&texts);
    for name in ENCODERS {
        let scorer = BertScorer::load(&folder(name), None).unwrap();
        let together = scorer.score(&pairs).unwrap();
        for (pair, score) in pairs.iter().zip(together) {
            assert_eq!(scorer.score(&[*pair]).unwrap(), [score], "{name}: {pair:?}");
        }
    }
}

#[test]
fn texts_are_cut_at_the_limit_of_every_encoder() {
    for name in ENCODERS {
        let scorer = BertScorer::load(&folder(name), Some(1)).unwrap();
        let long = "the cat sat on the mat ".repeat(30);
        assert_eq!(scorer.encoder.tokens(&long).unwrap().ids.len(), LIMIT, "{name}");
        let edges = scorer.encoder.tokens("").unwrap().ids;
        let tokens = scorer.encoder.tokens(&long).unwrap().ids;
        assert_eq!((tokens.first(), tokens.last()), (edges.first(), edges.last()), "{name}");
        let scores = scorer.score(&[("cat", &long), ("cat", "mat"), (&long, &long)]).unwrap();
        assert_eq!(scores.iter().map(|score| score.truncated).collect::<Vec<_>>(), [true, false, true], "{name}");
    }
}

#[test]
fn an_encoder_of_another_family_or_with_missing_parts_is_refused() {
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(folder("xlm-roberta")).unwrap() {
        let path = file.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let message = || BertScorer::load(copy.path(), None).unwrap_err().to_string();
    assert!(BertScorer::load(copy.path(), None).is_ok());
    let config = std::fs::read_to_string(copy.path().join("config.json")).unwrap();
    let write = |text: &str| std::fs::write(copy.path().join("config.json"), text).unwrap();
    write(&config.replace("\"xlm-roberta\"", "\"gpt2\""));
    let known = "found: gpt2\n  expected: bert, camembert, deberta, deberta-v2, distilbert, roberta, xlm-roberta";
    assert!(message().contains(known), "{}", message());
    write(&config.replace("\"intermediate_size\": 48", "\"intermediate_size\": 47"));
    for part in ["tensor encoder.layer.0.intermediate.dense.weight", "found: [48, 32]", "expected: [47, 32]"] {
        assert!(message().contains(part), "no {part}: {}", message());
    }
    let vocabulary = config.lines().find(|line| line.contains("vocab_size\"") && !line.contains("type")).unwrap();
    write(&config.replace(vocabulary.trim(), "\"vocab_size\": 100"));
    assert!(message().contains("and the weights have 100 tokens"), "{}", message());
    write(&config);
    std::fs::remove_file(copy.path().join("model-00002-of-00002.safetensors")).unwrap();
    assert!(message().contains("expected: model-00002-of-00002.safetensors"), "{}", message());
    std::fs::remove_file(copy.path().join("model.safetensors.index.json")).unwrap();
    std::fs::write(copy.path().join("pytorch_model.bin"), "").unwrap();
    assert!(message().contains("found: pytorch_model.bin"), "{}", message());
    std::fs::write(copy.path().join("config.json"), &config).unwrap();
}
