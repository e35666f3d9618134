//! The engine against the reference library: prompt tokens, greedy tokens, scores and hidden states of the demo model.
//!
//! Golden files: `scripts/golden_tokens.py` and `scripts/golden_engine.py` (transformers in f32 on the same GGUF file).
//! Needs the fetched demo model; without it every test here fails and says how to fetch it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use sago::Error;
use sago::backend::Backend;
use sago::backend::local::Local;
use sago::model::cache_dir::demo_model;
use sago::model::{Answers, Finish, Job, Layers, Loading, Model, Settings};
use sago::plan::GenerationPlan;
use sago::variants::{Grid, make};
use serde_json::Value;

/// Largest relative distance of a hidden state: |ours - reference| / |reference|.
const HIDDEN: f64 = 2e-5;
/// Largest distance of a log-probability, nats.
const LOGPROB: f64 = 2e-4;
/// Largest distance of an entropy, nats.
const ENTROPY: f64 = 2e-4;
/// Largest distance of a Jensen-Shannon divergence, nats.
const JSD: f64 = 2e-5;

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let path = demo_model().unwrap_or_else(|e| panic!("the engine's tests need the demo model\n{e}"));
    Model::load("demo", &path, &Loading::default()).unwrap()
});

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn rows(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(golden(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as u32).collect()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn settings(max_new_tokens: usize, batch: usize) -> Settings {
    Settings { max_new_tokens, batch, ..Settings::default() }
}

fn answer(prompts: &[Vec<u32>], forced: &[(usize, usize)], settings: Settings, layers: &Layers) -> Answers {
    let keys: Vec<String> = (0..prompts.len()).map(|i| format!("key {i}")).collect();
    let job = Job { prompts, draw_keys: &keys, forced, settings, layers };
    MODEL.answer(&job, &AtomicBool::new(false), &|_| ()).unwrap()
}

/// Largest distance of two lists of the same length.
fn distance(ours: &[f32], reference: &[f64]) -> f64 {
    assert_eq!(ours.len(), reference.len());
    ours.iter().zip(reference).map(|(&a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max)
}

/// Faults of other tools: a begin token doubled or missing through the chat template
/// (<https://github.com/princeton-pli/retaining-by-doing/issues/5>, <https://github.com/EleutherAI/lm-evaluation-harness/issues/1465>).
#[test]
fn prompt_tokens_are_the_references() {
    let rows = rows("engine_tokens.jsonl");
    assert!(rows.len() >= 40);
    for row in &rows {
        let (user, system) = (row["user"].as_str().unwrap(), row["system"].as_str());
        let ours = MODEL.render(user, system, false).unwrap();
        assert_eq!(ours.text, row["text"].as_str().unwrap());
        assert_eq!(ours.token_ids, ids(&row["ids"]), "{user:?}");
        assert_eq!(ours.special_text, row["special"].as_bool().unwrap(), "{user:?}");
        assert_eq!(MODEL.decode(&ours.token_ids).unwrap(), row["decoded"].as_str().unwrap(), "{user:?}");
        let escaped = MODEL.render(user, system, true).unwrap();
        let want = if row["escaped_ids"].is_null() { &row["ids"] } else { &row["escaped_ids"] };
        assert_eq!(escaped.token_ids, ids(want), "{user:?}, escaped");
        assert_eq!((escaped.text, escaped.special_text), (ours.text, ours.special_text));
    }
    assert_eq!(ids(&rows[0]["ids"])[..4], [1, 9690, 198, 2683]);
}

/// Fault of another tool: prompt text or special tokens in the response (<https://github.com/axolotl-ai-cloud/axolotl/issues/3990>).
#[test]
fn the_capital_of_france_is_paris() {
    let prompt = MODEL.render("What is the capital of France?", None, false).unwrap();
    let answers = answer(&[prompt.token_ids], &[(0, 0)], settings(32, 8), &Layers::None);
    let response = &answers.generations[0];
    assert_eq!(MODEL.decode(&response.token_ids).unwrap(), "The capital of France is Paris.");
    assert_eq!((response.finish, response.token_ids.last()), (Finish::Stop, Some(&2)));
    // The baseline on itself: the same values, without the end token, and no divergence at all.
    let (forced, n) = (&answers.forced[0], response.token_ids.len() - 1);
    assert_eq!(forced.token_ids, response.token_ids[..n]);
    assert_eq!(forced.logprobs, response.logprobs[..n]);
    assert_eq!(forced.entropies, response.entropies[..n]);
    assert!(forced.jsds.iter().all(|&jsd| jsd == 0.0) && forced.jsds.len() == n);
}

#[test]
fn an_end_token_that_is_ignored_is_a_token_like_others() {
    let prompts = [MODEL.render("What is the capital of France?", None, false).unwrap().token_ids];
    let stopped = &answer(&prompts, &[], settings(32, 8), &Layers::None).generations[0];
    let on = Settings { ignore_end: true, ..settings(32, 8) };
    let answers = answer(&prompts, &[(0, 0)], on, &Layers::None);
    let (response, n) = (&answers.generations[0], stopped.token_ids.len());
    assert_eq!((stopped.finish, response.finish, response.token_ids.len()), (Finish::Stop, Finish::Length, 32));
    assert_eq!(response.token_ids[..n], stopped.token_ids);
    assert_eq!(answers.forced[0].token_ids, response.token_ids);
}

/// Fault of another tool: batches that lack causality or share one position offset
/// (<https://github.com/huggingface/candle/issues/2967>).
#[test]
fn tokens_scores_and_hidden_states_are_the_references() {
    let rows = rows("engine_scores.jsonl");
    assert!(rows.len() >= 24);
    let prompts: Vec<Vec<u32>> = rows.iter().map(|row| ids(&row["ids"])).collect();
    let forced: Vec<(usize, usize)> =
        (0..rows.len()).filter(|&i| !rows[i]["forced"].is_null()).map(|i| (i, 0)).collect();
    assert_eq!(forced.len(), 6);
    let answers = answer(&prompts, &forced, settings(20, 96), &Layers::All);
    let (mut logprob, mut entropy, mut jsd, mut hidden) = (0f64, 0f64, 0f64, 0f64);
    for (i, row) in rows.iter().enumerate() {
        let ours = &answers.generations[i];
        assert_eq!(ours.token_ids, ids(&row["tokens"]), "{}", row["prompt"]);
        logprob = logprob.max(distance(&ours.logprobs, &floats(&row["logprobs"])));
        entropy = entropy.max(distance(&ours.entropies, &floats(&row["entropies"])));
        if row["norms"].is_null() {
            continue;
        }
        for (layer, state) in answers.hidden[i].iter().enumerate() {
            let norm = row["norms"][layer].as_f64().unwrap();
            let ours = f64::from(state.iter().map(|x| x * x).sum::<f32>().sqrt());
            hidden = hidden.max((ours - norm).abs() / norm);
            let places = [0usize, 1, 71, 142, 288, 311, 400, 575].map(|j| state[j]);
            hidden = hidden.max(distance(&places, &floats(&row["values"][layer])) / norm);
            let project = |f: &dyn Fn(f64) -> f64| -> f64 {
                state.iter().enumerate().map(|(j, &x)| f(j as f64) * f64::from(x)).sum()
            };
            let projections = [project(&|j| (0.37 * j + 1.0).cos()), project(&|j| (1.7 * j).sin())];
            // Each projection's own length is about sqrt(width / 2) = 17.
            for (ours, want) in projections.iter().zip(floats(&row["projections"][layer])) {
                hidden = hidden.max((ours - want).abs() / (17.0 * norm));
            }
        }
    }
    let raw = std::fs::read(golden("engine_hidden.f32")).unwrap();
    let whole: Vec<f64> = raw.as_chunks::<4>().0.iter().map(|&b| f64::from(f32::from_le_bytes(b))).collect();
    assert_eq!(whole.len(), 2 * 31 * 576);
    let ours = answers.hidden[..2].iter().flatten();
    for (state, want) in ours.zip(whole.chunks_exact(576)) {
        let norm = want.iter().map(|x| x * x).sum::<f64>().sqrt();
        let away = state.iter().zip(want).map(|(&a, b)| (f64::from(a) - b).powi(2)).sum::<f64>().sqrt();
        hidden = hidden.max(away / norm);
    }
    let (mut forced_logprob, mut forced_entropy) = (0f64, 0f64);
    for (ours, &(i, _)) in answers.forced.iter().zip(&forced) {
        let row = &rows[i]["forced"];
        forced_logprob = forced_logprob.max(distance(&ours.logprobs, &floats(&row["logprobs"])));
        forced_entropy = forced_entropy.max(distance(&ours.entropies, &floats(&row["entropies"])));
        jsd = jsd.max(distance(&ours.jsds, &floats(&row["jsds"])));
    }
    println!("largest differences: hidden {hidden:.1e} relative, log-prob {logprob:.1e}, entropy {entropy:.1e}");
    println!("  forced: log-prob {forced_logprob:.1e}, entropy {forced_entropy:.1e}, JSD {jsd:.1e}");
    assert!(hidden < HIDDEN, "hidden states: {hidden:e}");
    assert!(logprob.max(forced_logprob) < LOGPROB, "log-probabilities: {logprob:e}, forced {forced_logprob:e}");
    assert!(entropy.max(forced_entropy) < ENTROPY, "entropies: {entropy:e}, forced {forced_entropy:e}");
    assert!(jsd < JSD, "divergences: {jsd:e}");
}

/// Prompts of many lengths, 82 of them.
fn many() -> Vec<Vec<u32>> {
    let words = "Tell me in detail how the old lighthouse keeper counted 365 ships before winter came to the bay";
    let words: Vec<&str> = words.split(' ').collect();
    (0..82)
        .map(|i| {
            let text: Vec<&str> = (0..1 + i % 23).map(|j| words[(i * 5 + j * (1 + i % 3)) % words.len()]).collect();
            MODEL.render(&format!("{} {i}", text.join(" ")), None, false).unwrap().token_ids
        })
        .collect()
}

/// Faults of other tools: results change with batch size or padding (<https://github.com/EleutherAI/lm-evaluation-harness/issues/704>,
/// <https://github.com/huggingface/transformers/issues/26869>).
#[test]
fn alone_in_eight_and_in_eighty_two_the_bits_are_the_same() {
    let prompts = many();
    let forced: Vec<(usize, usize)> = (0..82).map(|i| (i, i / 41 * 41)).collect();
    let all = answer(&prompts, &forced, settings(6, 96), &Layers::All);
    let few = answer(&prompts, &forced, Settings { cache_bytes: 1 << 20, ..settings(6, 8) }, &Layers::All);
    let bits = |answers: &Answers, i: usize| {
        let generation = &answers.generations[i];
        let forced = &answers.forced[i];
        let scores = [&generation.logprobs, &generation.entropies, &forced.logprobs, &forced.entropies, &forced.jsds];
        let scores = scores.map(|x| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
        let hidden: Vec<u32> = answers.hidden[i].iter().flatten().map(|x| x.to_bits()).collect();
        (generation.token_ids.clone(), generation.finish, forced.token_ids.clone(), scores, hidden)
    };
    for i in 0..82 {
        assert_eq!(bits(&all, i), bits(&few, i), "prompt {i}");
    }
    for i in [0, 7, 40, 81] {
        let (baseline, prompt) = (prompts[i / 41 * 41].clone(), prompts[i].clone());
        let two = answer(&[baseline, prompt.clone()], &[(0, 0), (1, 0)], settings(6, 1), &Layers::All);
        assert_eq!(bits(&two, 1), bits(&all, i), "prompt {i}, with its baseline");
        let alone = answer(&[prompt], &[], settings(6, 1), &Layers::Some(vec![30, 0]));
        assert_eq!(alone.generations[0], all.generations[i], "prompt {i}, alone");
        assert_eq!(alone.hidden[0], [&all.hidden[i][30], &all.hidden[i][0]].map(Clone::clone));
    }
}

#[test]
fn one_thread_gives_the_bits_of_many() {
    let prompts = many()[..5].to_vec();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| answer(&prompts, &[(1, 0), (2, 0)], settings(5, 96), &Layers::All))
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one.generations, three.generations);
    assert_eq!(one.forced, three.forced);
    assert_eq!(one.hidden, three.hidden);
}

/// Fault of another tool: log-probabilities after temperature (<https://github.com/vllm-project/vllm/issues/9453>).
/// A nucleus of one token draws the greedy tokens at any temperature; their scores must stay those of the raw logits,
/// where scores after temperature and nucleus would be 0.
#[test]
fn scores_do_not_depend_on_sampling_settings() {
    let prompts = [MODEL.render("Name a colour.", None, false).unwrap().token_ids];
    let greedy = answer(&prompts, &[], settings(8, 1), &Layers::None);
    let hot = Settings { temperature: 3.0, top_p: 1e-9, ..settings(8, 1) };
    assert_eq!(answer(&prompts, &[], hot, &Layers::None).generations, greedy.generations);
    assert!(greedy.generations[0].logprobs.iter().any(|&l| l < -0.01));
}

#[test]
fn equal_texts_share_their_work_and_repeats_draw_on_their_own() {
    let prompt = MODEL.render("Name a colour.", None, false).unwrap().token_ids;
    let prompts = vec![prompt.clone(); 6];
    let greedy = answer(&prompts, &[], settings(4, 96), &Layers::Some(vec![30]));
    assert_eq!(greedy.time.prefill_tokens as usize, prompt.len());
    assert!(greedy.generations.iter().all(|g| *g == greedy.generations[0]));
    assert!(greedy.hidden.iter().all(|h| *h == greedy.hidden[0] && h.len() == 1));
    let hot = Settings { temperature: 1.5, top_p: 0.95, seed: 3, ..settings(6, 96) };
    let sampled = answer(&prompts, &[], hot, &Layers::None);
    assert!(sampled.generations.iter().any(|g| g.token_ids != sampled.generations[0].token_ids));
    // The draws hang on the key alone: in another batch the same repeat gives the same tokens.
    assert_eq!(answer(&prompts, &[], Settings { batch: 2, ..hot }, &Layers::None).generations, sampled.generations);
    assert_ne!(answer(&prompts, &[], Settings { seed: 4, ..hot }, &Layers::None).generations, sampled.generations);
    // Log-probabilities are of the raw logits, whatever the temperature.
    let first = &sampled.generations[0];
    assert_eq!(first.entropies[0], greedy.generations[0].entropies[0]);
}

#[test]
fn a_prompt_that_continues_another_has_its_own_hidden_state() {
    // The longer prompt comes first, so the shorter one's last position is in the tree before it is asked for.
    let long = MODEL.render("One two three four", None, false).unwrap().token_ids;
    let short = long[..long.len() - 5].to_vec();
    let both = answer(&[long, short.clone()], &[], settings(2, 96), &Layers::All);
    let alone = answer(&[short], &[], settings(2, 96), &Layers::All);
    assert_eq!(both.hidden[1], alone.hidden[0]);
    assert_eq!(both.generations[1], alone.generations[0]);
}

/// Fault of another tool: the prompt cut in silence (<https://github.com/EleutherAI/lm-evaluation-harness/issues/3115>).
#[test]
fn nothing_is_cut_in_silence() {
    assert_eq!(MODEL.fits(8000, 192), Ok(()));
    assert!(MODEL.fits(8000, 193).unwrap_err().contains("context of 8192"));
    assert!(MODEL.fits(0, 1).is_err());
    let try_job = |prompts: &[Vec<u32>], forced: &[(usize, usize)], layers: &Layers, temperature: f64| {
        let settings = Settings { temperature, ..settings(1, 1) };
        let job = Job { prompts, draw_keys: &[], forced, settings, layers };
        MODEL.answer(&job, &AtomicBool::new(false), &|_| ()).unwrap_err().to_string()
    };
    assert!(try_job(&[vec![1; 8192]], &[], &Layers::None, 0.0).contains("prompt 0"));
    assert!(try_job(&[vec![1], vec![]], &[], &Layers::None, 0.0).contains("prompt 1"));
    assert!(try_job(&[vec![49152]], &[], &Layers::None, 0.0).contains("token 49152"));
    assert!(try_job(&[vec![1]], &[(0, 1)], &Layers::None, 0.0).contains("(0, 1)"));
    assert!(try_job(&[vec![1]], &[], &Layers::Some(vec![31]), 0.0).contains("layer 31"));
    assert!(try_job(&[vec![1]], &[], &Layers::None, 1.0).contains("draw keys"));
}

#[test]
fn no_new_tokens_and_no_prompts_are_fine() {
    let none = answer(&[], &[], settings(5, 8), &Layers::All);
    assert!(none.generations.is_empty() && none.hidden.is_empty());
    let prompt = MODEL.render("Hi", None, false).unwrap().token_ids;
    let only_hidden = answer(&[prompt], &[(0, 0)], settings(0, 8), &Layers::All);
    assert_eq!((only_hidden.hidden[0].len(), only_hidden.generations[0].token_ids.len()), (31, 0));
    assert!(only_hidden.forced[0].logprobs.is_empty());
}

#[test]
fn prompts_that_wait_for_each_other_get_in_however_small_the_cache() {
    let prompt = |text: &str| MODEL.render(text, None, false).unwrap().token_ids;
    let prompts = [prompt("Hi"), prompt("Hello"), prompt("Good day")];
    let pairs = [(1, 0), (0, 1), (0, 2), (2, 2)];
    let roomy = answer(&prompts, &pairs, settings(3, 96), &Layers::None);
    let tight = answer(&prompts, &pairs, Settings { cache_bytes: 1, ..settings(3, 1) }, &Layers::None);
    assert_eq!(roomy.generations, tight.generations);
    assert_eq!(roomy.forced, tight.forced);
}

#[test]
fn cancelling_stops_between_steps() {
    let cancel = AtomicBool::new(false);
    let prompts = vec![MODEL.render("Count to one hundred.", None, false).unwrap().token_ids];
    let job = Job { prompts: &prompts, draw_keys: &[], forced: &[], settings: settings(100, 8), layers: &Layers::None };
    let stopped = MODEL.answer(&job, &cancel, &|progress| {
        if progress.new_tokens >= 2 {
            cancel.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn damaged_model_files_are_errors_that_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.gguf");
    let whole = std::fs::read(demo_model().unwrap()).unwrap();
    let load = |raw: &[u8]| {
        std::fs::write(&path, raw).unwrap();
        let error = Model::load("m", &path, &Loading::default()).unwrap_err();
        assert!(matches!(error, Error::Input(_)), "{error}");
        error.to_string()
    };
    assert!(load(&whole[..whole.len() - 1]).contains("cut or damaged"));
    assert!(load(&whole[..1_000_000]).contains("cut or damaged"));
    assert!(load(&whole[..10]).contains("cut or damaged"));
    assert!(load(&whole[..3]).contains("not a GGUF"));
    assert!(load(b"").contains("not a GGUF"));
    // The header with one name changed in place; the tensors are not needed before the check, but must be there.
    let changed = |from: &[u8], to: &[u8]| {
        let mut raw = whole.clone();
        let at = raw.windows(from.len()).position(|window| window == from).unwrap();
        raw[at..at + to.len()].copy_from_slice(to);
        raw
    };
    let family = load(&changed(
        b"general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0llama",
        b"general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0mamba",
    ));
    assert!(family.contains("mamba") && family.contains("expected: llama"), "{family}");
    let pre = load(&changed(b"smollm\x15\0\0\0", b"unseen\x15\0\0\0"));
    assert!(pre.contains("unseen") && pre.contains("qwen2"), "{pre}");
    // A Float32 (type 6) whose value makes every figure NaN.
    let (base, epsilon) = (&b"llama.rope.freq_base"[..], &b"llama.attention.layer_norm_rms_epsilon"[..]);
    for (key, value) in [(base, 0f32), (base, f32::INFINITY), (epsilon, -1.0), (epsilon, f32::NAN)] {
        let mut raw = whole.clone();
        let at = raw.windows(key.len()).position(|window| window == key).unwrap() + key.len();
        assert_eq!(raw[at..at + 4], [6, 0, 0, 0]);
        raw[at + 4..at + 8].copy_from_slice(&value.to_le_bytes());
        let message = load(&raw);
        assert!(message.contains(std::str::from_utf8(key).unwrap()) && message.contains("finite"), "{message}");
    }
    let missing = load(&changed(b"blk.7.attn_norm.weight", b"blk.7.attn_nose.weight"));
    assert!(missing.contains("no tensor blk.7.attn_norm.weight"), "{missing}");
    let missing = Model::load("m", &dir.path().join("none.gguf"), &Loading::default()).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }) && missing.to_string().contains("none.gguf"));
}

/// A model that computes NaN would look perfectly stable: the same token everywhere, and no divergence.
#[test]
fn a_model_whose_numbers_are_not_finite_gives_errors_and_no_figures() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.gguf");
    let whole = std::fs::read(demo_model().unwrap()).unwrap();
    let prompt = sago::datasets::Prompt {
        dataset: "d".into(),
        prompt_id: "1".into(),
        text: "Name a river.".into(),
        answers: vec![],
        category: None,
        source_row: 0,
        source_hash: String::new(),
    };
    let variants = make(&prompt, &Grid::paper(), 1);
    let wordings: Vec<_> = variants.iter().filter(|v| v.text.is_some()).take(3).collect();
    let baselines = [Some(0), Some(0), Some(0)];
    for wrong in [f32::NAN, f32::INFINITY] {
        // The norm's tensor is moved behind the old end of the file, where there is nothing but the wrong number.
        let mut raw = whole.clone();
        let name = b"\x12\0\0\0\0\0\0\0output_norm.weight";
        let at = raw.windows(name.len()).position(|window| window == name).unwrap() + name.len();
        // One dimension (4 bytes) of some length (8), encoding F32 (4), offset (8).
        assert_eq!((raw[at], raw[at + 12]), (1, 0));
        let end = raw.len() as u64;
        raw[at + 16..at + 24].copy_from_slice(&end.to_le_bytes());
        (0..1 << 21).for_each(|_| raw.extend(wrong.to_le_bytes()));
        std::fs::write(&path, &raw).unwrap();
        let local = Local::new(Model::load("m", &path, &Loading::default()).unwrap(), false, 8);
        for max_new_tokens in [0, 3] {
            let generation = GenerationPlan {
                max_new_tokens,
                ignore_end: false,
                temperature: 0.0,
                top_p: 1.0,
                seed: 0,
                system_prompt: None,
                repeats: 2,
            };
            let (answers, _) =
                local.answer(&wordings, &baselines, &generation, &AtomicBool::new(false), &|_| ()).unwrap();
            assert_eq!(answers.len(), 6);
            for answer in answers {
                let message = answer.error.unwrap();
                assert_eq!(message, "the model gave numbers that are not finite at new token 1");
                assert!(answer.response.is_none() && answer.forced.is_none() && answer.hidden.is_none());
                assert!(answer.prompt_token_ids.is_some());
            }
        }
    }
}
