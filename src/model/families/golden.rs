//! Every family against the reference library: logits and hidden states at all positions, greedy tokens and their scores.
//!
//! In: tiny models of the true architectures, and what the reference library computes on them (`scripts/golden_families.py`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use super::super::cache_dir;
use super::super::decoder::Row;
use super::super::engine::{Loaded, Sizes};
use super::super::generate;
use super::super::job::{Answers, Job, Layers, Settings};
use super::super::tensors::{OnDevice, Place};
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

/// A decoder of this processor's code.
fn on_cpu(path: &Path, compute: Compute) -> Loaded {
    let (outline, weights) = files(path);
    Loaded::Cpu(outline.build(&weights, &compute).unwrap())
}

/// A decoder of devices, on this processor.
fn in_tensors(path: &Path, compute: Compute) -> Loaded {
    let (outline, weights) = files(path);
    let place = Place::new(candle_core::Device::Cpu, compute).unwrap();
    let decoder = outline.build(&weights, &place).unwrap();
    Loaded::Device(OnDevice::new("tiny", decoder, place))
}

/// What a folder or a GGUF file holds.
fn files(path: &Path) -> (Outline, Arc<Weights>) {
    if path.is_dir() {
        let outline = Outline::of_config(&Config::open(path).unwrap()).unwrap();
        return (outline, Arc::new(Weights::open(path).unwrap()));
    }
    let gguf = Gguf::open(path).unwrap();
    (Outline::of_gguf(&gguf).unwrap(), Arc::clone(&gguf.weights))
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
fn distances(decoder: &Loaded, model: &Value, logits: &str) -> (f64, f64) {
    let prompts: Vec<Vec<u32>> = prompts(model).into_iter().map(|p| ids(&p["ids"])).collect();
    let mut engine = decoder.begin().unwrap();
    let Sizes { width, layers, .. } = engine.sizes();
    let mut tree = Tree::default();
    let paths: Vec<Vec<NodeId>> = prompts
        .iter()
        .map(|prompt| {
            let mut path: Vec<NodeId> = Vec::new();
            prompt.iter().for_each(|&token| path.push(tree.extend_apart(path.last().copied(), token)));
            path
        })
        .collect();
    let rows: Vec<Row<'_>> = paths
        .iter()
        .zip(&prompts)
        .flat_map(|(path, prompt)| {
            let row = |i: usize| Row { token: prompt[i], path: &path[..=i], capture: true, keep_before: false };
            (0..path.len()).map(row)
        })
        .collect();
    let captured = engine.forward(&rows, tree.slots()).unwrap();
    let dir = dir(model);
    let (hidden, logits) = (floats(&dir.join("hidden.f32")), floats(&dir.join(logits)));
    let (mut worst_hidden, mut worst_logits) = (0f64, 0f64);
    let positions: usize = model["prompts"].as_array().unwrap().iter().map(|p| ids(&p["ids"]).len()).sum();
    let vocabulary = logits.len() / positions;
    let (mut before, mut row) = (0, 0);
    for path in &paths {
        let distributions = engine.distributions(path).unwrap();
        for (i, distribution) in distributions.iter().enumerate() {
            let want = &logits[(before + i) * vocabulary..][..vocabulary];
            worst_logits = worst_logits.max(relative(&distribution.logits[..vocabulary], want));
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

fn answer(decoder: &Loaded, prompts: &[Vec<u32>], forced: &[(usize, usize)], batch: usize) -> Answers {
    let settings = Settings { max_new_tokens: NEW, batch, ..Settings::default() };
    let job = Job { prompts, draw_keys: &[], forced, settings, layers: &Layers::All };
    generate::answer(&mut *decoder.begin().unwrap(), &[], &job, &AtomicBool::new(false), &|_| ()).unwrap()
}

fn furthest(ours: &[f32], want: &Value) -> f64 {
    let want: Vec<f64> = want.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert_eq!(ours.len(), want.len());
    ours.iter().zip(want).map(|(&a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max)
}

#[test]
fn logits_hidden_states_and_greedy_tokens_are_the_references() {
    check_all(|dir| on_cpu(dir, Compute::F32));
}

#[test]
fn tensors_are_the_references_too() {
    check_all(|dir| in_tensors(dir, Compute::F32));
}

#[test]
fn tensors_in_f16_are_near() {
    // 11 bits of mantissa through some layers.
    const NEAR: f64 = 2e-2;
    for model in models() {
        let (hidden, logits) = distances(&in_tensors(&dir(&model), Compute::F16), &model, LOGITS);
        println!("{}: hidden {hidden:.1e}, logits {logits:.1e} relative in f16", name(&model));
        assert!(hidden < NEAR && logits < NEAR, "{}: hidden {hidden:e}, logits {logits:e}", name(&model));
    }
}

fn check_all(load: impl Fn(&Path) -> Loaded) {
    let models = models();
    assert!(models.len() >= 18);
    let mut failed = Vec::new();
    for model in &models {
        let name = name(model);
        let decoder = load(&dir(model));
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
        let both = [on_cpu, in_tensors].map(|load| model["gguf"].as_array().unwrap().iter().map(move |f| (f, load)));
        for (file, load) in both.into_iter().flatten() {
            let (name, logits_file) = (file["file"].as_str().unwrap(), file["logits"].as_str().unwrap());
            let decoder = load(&dir(model).join(name), Compute::F32);
            let (hidden, logits) = distances(&decoder, model, logits_file);
            println!("{name}: hidden {hidden:.1e}, logits {logits:.1e} relative");
            // What GGUF can't say is left out of the logits, and there are no hidden states without it.
            if logits > RELATIVE || (logits_file == LOGITS && hidden > RELATIVE) {
                failed.push(format!("{name}: hidden {hidden:e}, logits {logits:e}"));
            }
            files += 1;
        }
    }
    assert!(failed.is_empty() && files >= 2 * 19, "{failed:#?}");
}

/// Log-probabilities of given responses after their prompts, token by token.
fn scores(decoder: &Loaded, texts: &[(Vec<u32>, Vec<u32>)]) -> Vec<f64> {
    let mut tree = Tree::default();
    let mut engine = decoder.begin().unwrap();
    let mut all = Vec::new();
    for (prompt, response) in texts {
        let tokens = [&prompt[..], response].concat();
        let mut path: Vec<NodeId> = Vec::new();
        tokens.iter().for_each(|&token| path.push(tree.extend_apart(path.last().copied(), token)));
        let row = |i: usize| Row { token: tokens[i], path: &path[..=i], capture: false, keep_before: false };
        engine.forward(&(0..tokens.len()).map(row).collect::<Vec<_>>(), tree.slots()).unwrap();
        let before = &path[prompt.len() - 1..path.len() - 1];
        let distributions = engine.distributions(before).unwrap();
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
    let of = |compute| scores(&on_cpu(&path, compute), &texts);
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

/// A model's prompts and two more that begin like one of them, one of these with another whole: shared positions, and states
/// that must stay.
fn prompts_that_share(model: &Value) -> Vec<Vec<u32>> {
    let mut prompts: Vec<Vec<u32>> = prompts(model).into_iter().map(|p| ids(&p["ids"])).collect();
    let longest = prompts.iter().max_by_key(|prompt| prompt.len()).unwrap().clone();
    prompts.push(longest[..longest.len() / 2].to_vec());
    prompts.push([&longest[..longest.len() / 2], &[5, 6, 7]].concat());
    prompts
}

#[test]
fn alone_and_together_the_bits_are_the_same() {
    for (model, compute) in models().into_iter().flat_map(|model| Compute::ALL.map(|c| (model.clone(), c))) {
        let name = format!("{} in {}", name(&model), compute.as_str());
        let decoder = on_cpu(&dir(&model), compute);
        let prompts = prompts_that_share(&model);
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

/// Largest distance of two lists, relative to the second.
fn apart(a: &[f32], b: &[f32]) -> f64 {
    if b.is_empty() { a.len() as f64 } else { relative(a, b) }
}

#[test]
fn tensors_alone_and_together_are_equal_within_rounding() {
    for model in models() {
        let name = name(&model);
        let decoder = in_tensors(&dir(&model), Compute::F32);
        let prompts = prompts_that_share(&model);
        let forced: Vec<(usize, usize)> = (0..prompts.len()).map(|prompt| (prompt, 1)).collect();
        let together = answer(&decoder, &prompts, &forced, 8);
        assert!(together.forced[1].jsds.iter().all(|&jsd| jsd == 0.0), "{name}: {:?}", together.forced[1].jsds);
        for (i, prompt) in prompts.iter().enumerate() {
            let alone = answer(&decoder, &[prompt.clone(), prompts[1].clone()], &[(0, 1)], 1);
            assert_eq!(alone.generations[0].token_ids, together.generations[i].token_ids, "{name}, prompt {i}");
            let pairs = [
                (&alone.generations[0].logprobs, &together.generations[i].logprobs),
                (&alone.generations[0].entropies, &together.generations[i].entropies),
                (&alone.forced[0].logprobs, &together.forced[i].logprobs),
            ];
            let hidden = alone.hidden[0].iter().zip(&together.hidden[i]);
            let worst = pairs.into_iter().chain(hidden).map(|(a, b)| apart(a, b)).fold(0.0, f64::max);
            assert!(worst < RELATIVE, "{name}, prompt {i}: {worst:e}");
        }
    }
}
