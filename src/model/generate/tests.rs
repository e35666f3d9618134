//! A job of which one prompt has no finite numbers, on both engines.

use std::sync::Arc;

use super::super::engine::Loaded;
use super::super::families::Outline;
use super::super::matrix::Compute;
use super::super::simd::LANES;
use super::super::tensors::{OnDevice, Place};
use super::super::weights::Weights;
use super::super::weights::config::Config;
use super::*;
use crate::model::Settings;

/// One block over eight tokens, of which the last has an embedding that is no number.
fn model() -> (Outline, Arc<Weights>) {
    let (width, vocabulary) = (LANES, 8);
    let weights = |n: usize, phase: f32| (0..n).map(|i| (i as f32 * 0.7 + phase).sin()).collect::<Vec<f32>>();
    let mut embedding = weights(vocabulary * width, 0.0);
    embedding[7 * width] = f32::NAN;
    // The last token's logit is the mean of the others', so that it is never chosen.
    let mut output = weights((vocabulary - 1) * width, 8.0);
    let mean = |i: usize| output.iter().skip(i).step_by(width).sum::<f32>() / (vocabulary - 1) as f32;
    let last: Vec<f32> = (0..width).map(mean).collect();
    output.extend(last);
    let square = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"]
        .into_iter()
        .chain(["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"])
        .enumerate()
        .map(|(i, name)| (format!("model.layers.0.{name}.weight"), weights(width * width, 1.0 + i as f32)));
    let norms = ["model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm", "model.norm"];
    let norms = norms.into_iter().map(|name| (format!("{name}.weight"), vec![1.0; width]));
    let ends = [("model.embed_tokens.weight".to_string(), embedding), ("lm_head.weight".to_string(), output)];
    let folder = tempfile::tempdir().unwrap();
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, values) in square.chain(norms).chain(ends) {
        let shape = if values.len() == width { vec![width] } else { vec![values.len() / width, width] };
        let from = data.len();
        data.extend(values.iter().flat_map(|x| x.to_le_bytes()));
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [from, data.len()]});
        header.insert(name, entry);
    }
    let header = serde_json::Value::Object(header).to_string().into_bytes();
    let file = [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat();
    std::fs::write(folder.path().join("model.safetensors"), file).unwrap();
    let config = serde_json::json!({"model_type": "llama", "hidden_size": width, "intermediate_size": width,
        "num_hidden_layers": 1, "num_attention_heads": 1, "rms_norm_eps": 1e-5, "max_position_embeddings": 64});
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let outline = Outline::of_config(&Config::open(folder.path()).unwrap()).unwrap();
    (outline, Arc::new(Weights::open(folder.path()).unwrap()))
}

#[test]
fn only_what_is_not_finite_fails() {
    let (outline, weights) = model();
    let place = Place::new(candle_core::Device::Cpu, Compute::F32).unwrap();
    let both = [
        Loaded::Cpu(outline.build(&weights, &Compute::F32).unwrap()),
        Loaded::Device(OnDevice::new("tiny", outline.build(&weights, &place).unwrap(), place)),
    ];
    let prompts = [vec![1, 2], vec![1, 7], vec![3]];
    // (prompt, baseline): a broken prompt, a broken baseline, both, neither.
    let forced = [(1, 0), (0, 1), (1, 1), (2, 0), (0, 0)];
    for (decoder, layers) in both.iter().flat_map(|d| [(d, Layers::All), (d, Layers::None)]) {
        let settings = Settings { max_new_tokens: 3, ..Settings::default() };
        let job = Job { prompts: &prompts, draw_keys: &[], forced: &forced, settings, layers: &layers };
        let made = answer(&mut *decoder.begin().unwrap(), &[], &job, &AtomicBool::new(false), &|_| ()).unwrap();
        let finishes: Vec<Finish> = made.generations.iter().map(|g| g.finish).collect();
        assert_eq!(finishes, [Finish::Length, Finish::Broken, Finish::Length]);
        assert!(made.generations[1].token_ids.is_empty() && made.generations[1].logprobs.is_empty());
        let broken: Vec<Option<usize>> = made.forced.iter().map(|f| f.broken_at).collect();
        assert_eq!(broken, [Some(0), None, None, None, None]);
        let lengths: Vec<usize> = made.forced.iter().map(|f| f.logprobs.len()).collect();
        assert_eq!(lengths, [3, 0, 0, 3, 3]);
        let finite = |numbers: &[f32]| numbers.iter().all(|x| x.is_finite());
        let sound = [&made.forced[3], &made.forced[4]];
        assert!(sound.iter().all(|f| finite(&f.logprobs) && finite(&f.entropies) && finite(&f.jsds)));
    }
}
