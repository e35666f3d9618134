//! Every family against the reference library: logits and hidden states at all positions, greedy tokens and their scores.
//!
//! In: tiny models of the true architectures, and what the reference library computes on them (`scripts/golden_families.py`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use super::super::cache_dir;
use super::super::decoder::{Row, Workspace};
use super::super::generate;
use super::super::job::{Answers, Job, Layers, Settings};
use super::super::tree::{NodeId, Tree};
use super::*;

/// Largest distance of a row of logits or of a hidden state, relative to its length.
const RELATIVE: f64 = 1e-4;
/// Largest distance of a log-probability or an entropy, nats.
const NATS: f64 = 1e-4;
/// The logits of each model's own files.
const LOGITS: &str = "logits.f32";
/// New tokens of each response.
const NEW: usize = 12;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/families")
}

fn models() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("families.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["models"].as_array().unwrap().clone()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as u32).collect()
}

fn floats(path: &Path) -> Vec<f32> {
    let raw = std::fs::read(path).unwrap();
    raw.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect()
}

/// The prompts of a model that fit it: those of longrope must stay within the original context.
fn prompts(model: &Value) -> Vec<&Value> {
    let outline = Outline::of_config(&Config::open(&dir(model)).unwrap()).unwrap();
    let all = model["prompts"].as_array().unwrap();
    let fitting: Vec<&Value> = all.iter().take_while(|p| ids(&p["ids"]).len() + NEW <= outline.context()).collect();
    assert!(fitting.len() == 3 || (name(model) == "phi3_longrope" && fitting.len() == 2), "{}", name(model));
    fitting
}

fn name(model: &Value) -> &str {
    model["folder"].as_str().unwrap()
}

fn dir(model: &Value) -> PathBuf {
    folder().join(name(model))
}

fn of_folder(dir: &Path, compute: Compute) -> Decoder {
    let outline = Outline::of_config(&Config::open(dir).unwrap()).unwrap();
    outline.build(&Arc::new(Weights::open(dir).unwrap()), compute).unwrap()
}

fn of_gguf(path: &Path, compute: Compute) -> Decoder {
    let gguf = Gguf::open(path).unwrap();
    let outline = Outline::of_gguf(&gguf).unwrap();
    outline.build(&gguf.weights, compute).unwrap()
}

/// |a - b| / |b|.
fn relative(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    let away = norm(&mut a.iter().zip(b).map(|(&a, &b)| f64::from(a) - f64::from(b)));
    away / norm(&mut b.iter().map(|&b| f64::from(b))).max(1e-30)
}

/// Largest relative distances of hidden states, and of logits from those of a file, over all positions of all prompts, which
/// go through together.
fn distances(decoder: &Decoder, model: &Value, logits: &str) -> (f64, f64) {
    let prompts: Vec<Vec<u32>> = prompts(model).into_iter().map(|p| ids(&p["ids"])).collect();
    let (width, layers) = (decoder.width, decoder.blocks.len());
    let mut tree = Tree::default();
    let mut cache = decoder.cache();
    let mut work = Workspace::default();
    let paths: Vec<Vec<NodeId>> = prompts
        .iter()
        .map(|prompt| {
            let mut path: Vec<NodeId> = Vec::new();
            prompt.iter().for_each(|&token| path.push(tree.extend_apart(path.last().copied(), token)));
            path
        })
        .collect();
    cache.reserve(tree.slots());
    let rows: Vec<Row<'_>> = paths
        .iter()
        .zip(&prompts)
        .flat_map(|(path, prompt)| {
            let row = |i: usize| Row { token: prompt[i], path: &path[..=i], capture: true, keep_before: false };
            (0..path.len()).map(row)
        })
        .collect();
    let captured = decoder.forward(&rows, &mut cache, &mut work);
    let dir = dir(model);
    let (hidden, logits) = (floats(&dir.join("hidden.f32")), floats(&dir.join(logits)));
    let (mut worst_hidden, mut worst_logits) = (0f64, 0f64);
    let (mut before, mut row) = (0, 0);
    for path in &paths {
        let distributions = decoder.distributions(path, &cache, &mut work);
        for (i, distribution) in distributions.iter().enumerate() {
            let want = &logits[(before + i) * decoder.vocabulary..][..decoder.vocabulary];
            worst_logits = worst_logits.max(relative(&distribution.logits[..decoder.vocabulary], want));
            for layer in 0..=layers {
                let place = before * (layers + 1) + layer * path.len() + i;
                let ours = &captured[row][layer * width..][..width];
                worst_hidden = worst_hidden.max(relative(ours, &hidden[place * width..][..width]));
            }
            row += 1;
        }
        before += path.len();
    }
    (worst_hidden, worst_logits)
}

fn answer(decoder: &Decoder, prompts: &[Vec<u32>], forced: &[(usize, usize)], batch: usize) -> Answers {
    let settings = Settings { max_new_tokens: NEW, batch, ..Settings::default() };
    let job = Job { prompts, draw_keys: &[], forced, settings, layers: &Layers::All };
    generate::answer(decoder, &[], &job, &AtomicBool::new(false), &|_| ()).unwrap()
}

fn furthest(ours: &[f32], want: &Value) -> f64 {
    let want: Vec<f64> = want.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert_eq!(ours.len(), want.len());
    ours.iter().zip(want).map(|(&a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max)
}

#[test]
fn logits_hidden_states_and_greedy_tokens_are_the_references() {
    let models = models();
    assert!(models.len() >= 18);
    let mut failed = Vec::new();
    for model in &models {
        let name = name(model);
        let decoder = of_folder(&dir(model), Compute::F32);
        let (hidden, logits) = distances(&decoder, model, LOGITS);
        let prompts = prompts(model);
        let token_ids: Vec<Vec<u32>> = prompts.iter().map(|p| ids(&p["ids"])).collect();
        let made = answer(&decoder, &token_ids, &[], 8);
        let mut nats = 0f64;
        for (generation, prompt) in made.generations.iter().zip(prompts) {
            if generation.token_ids != ids(&prompt["tokens"]) {
                failed.push(format!("{name}: greedy tokens"));
            }
            nats = nats.max(furthest(&generation.logprobs, &prompt["logprobs"]));
            nats = nats.max(furthest(&generation.entropies, &prompt["entropies"]));
        }
        println!("{name}: hidden {hidden:.1e}, logits {logits:.1e} relative, scores {nats:.1e}");
        if !(hidden < RELATIVE && logits < RELATIVE && nats < NATS) {
            failed.push(format!("{name}: hidden {hidden:e}, logits {logits:e}, scores {nats:e}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn gguf_files_of_the_same_models_give_the_same() {
    let mut failed = Vec::new();
    let mut files = 0;
    for model in &models() {
        for file in model["gguf"].as_array().unwrap() {
            let (name, logits_file) = (file["file"].as_str().unwrap(), file["logits"].as_str().unwrap());
            let decoder = of_gguf(&dir(model).join(name), Compute::F32);
            let (hidden, logits) = distances(&decoder, model, logits_file);
            println!("{name}: hidden {hidden:.1e}, logits {logits:.1e} relative");
            // What GGUF can't say is left out of the logits, and there are no hidden states without it.
            if logits > RELATIVE || (logits_file == LOGITS && hidden > RELATIVE) {
                failed.push(format!("{name}: hidden {hidden:e}, logits {logits:e}"));
            }
            files += 1;
        }
    }
    assert!(failed.is_empty() && files >= 19, "{failed:#?}");
}

/// Log-probabilities of given responses after their prompts, token by token.
fn scores(decoder: &Decoder, texts: &[(Vec<u32>, Vec<u32>)]) -> Vec<f64> {
    let mut tree = Tree::default();
    let (mut cache, mut work) = (decoder.cache(), Workspace::default());
    let mut all = Vec::new();
    for (prompt, response) in texts {
        let tokens = [&prompt[..], response].concat();
        let mut path: Vec<NodeId> = Vec::new();
        tokens.iter().for_each(|&token| path.push(tree.extend_apart(path.last().copied(), token)));
        cache.reserve(tree.slots());
        let row = |i: usize| Row { token: tokens[i], path: &path[..=i], capture: false, keep_before: false };
        decoder.forward(&(0..tokens.len()).map(row).collect::<Vec<_>>(), &mut cache, &mut work);
        let before = &path[prompt.len() - 1..path.len() - 1];
        let distributions = decoder.distributions(before, &cache, &mut work);
        all.extend(distributions.iter().zip(response).map(|(d, &token)| d.log_probability(token)));
    }
    all
}

/// The demo model computed in its own four-bit integers, beside f32: on the same responses.
#[test]
fn integers_stay_close_to_floats() {
    let path = cache_dir::demo_model().unwrap_or_else(|e| panic!("this test needs the demo model\n{e}"));
    let text = std::fs::read_to_string(folder().join("../engine_scores.jsonl")).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let texts: Vec<_> = rows.map(|row| (ids(&row["ids"]), ids(&row["tokens"]))).collect();
    let of = |compute| scores(&of_gguf(&path, compute), &texts);
    let floats = of(Compute::F32);
    for (compute, mean_bound, bound) in [(Compute::Int8, 0.1, 1.5), (Compute::Bf16, 0.05, 0.5)] {
        let away: Vec<f64> = of(compute).iter().zip(&floats).map(|(a, b)| (a - b).abs()).collect();
        let most = away.iter().fold(0f64, |a, &b| a.max(b));
        let mean = away.iter().sum::<f64>() / away.len() as f64;
        println!(
            "{}: {} log-probabilities, most {most:.3} nats from f32, mean {mean:.4}",
            compute.as_str(),
            away.len()
        );
        assert!(mean > 0.0 && mean < mean_bound && most < bound, "{}: {mean} {most}", compute.as_str());
    }
}

#[test]
fn alone_and_together_the_bits_are_the_same() {
    for (model, compute) in models().into_iter().flat_map(|model| Compute::ALL.map(|c| (model.clone(), c))) {
        let name = format!("{} in {}", name(&model), compute.as_str());
        let decoder = of_folder(&dir(&model), compute);
        let mut prompts: Vec<Vec<u32>> = prompts(&model).into_iter().map(|p| ids(&p["ids"])).collect();
        // Prompts that begin alike, one of them with another whole: shared positions, and states that must stay.
        let longest = prompts.iter().max_by_key(|prompt| prompt.len()).unwrap().clone();
        prompts.push(longest[..longest.len() / 2].to_vec());
        prompts.push([&longest[..longest.len() / 2], &[5, 6, 7]].concat());
        let forced: Vec<(usize, usize)> = (0..prompts.len()).map(|prompt| (prompt, 1)).collect();
        let together = answer(&decoder, &prompts, &forced, 8);
        for (i, prompt) in prompts.iter().enumerate() {
            let alone = answer(&decoder, &[prompt.clone(), prompts[1].clone()], &[(0, 1)], 1);
            assert_eq!(alone.generations[0], together.generations[i], "{name}, prompt {i}");
            assert_eq!(alone.hidden[0], together.hidden[i], "{name}, prompt {i}");
            assert_eq!(alone.forced[0], together.forced[i], "{name}, prompt {i}");
        }
    }
}
