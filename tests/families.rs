//! Tiny models of every family, as a user has them: loaded from a folder or a GGUF file, asked through their chat template.
//!
//! What they compute is compared in `src/model/families/golden.rs`; here it is what they are asked, and how they fail.
//! Files: `scripts/golden_families.py`, `family_tokenizers.py`, `family_gguf.py`.

use std::path::{Path, PathBuf};

use sago::Error;
use sago::model::{Loading, Model, TemplateOptions};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/families")
}

fn read(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as u32).collect()
}

fn load(path: &Path, options: &TemplateOptions) -> Result<Model, Error> {
    Model::load("tiny", path, &Loading { template_options: options.clone(), ..Loading::default() })
}

/// A conversation of one user turn, with or without a system turn: what a study asks.
fn turns(conversation: &Value) -> Option<(Option<&str>, &str)> {
    let is = |turn: &Value, role: &str| turn["role"] == role;
    match conversation.as_array().unwrap().as_slice() {
        [user] if is(user, "user") => Some((None, user["content"].as_str().unwrap())),
        [system, user] if is(system, "system") && is(user, "user") => {
            Some((system["content"].as_str(), user["content"].as_str().unwrap()))
        }
        _ => None,
    }
}

#[test]
fn prompts_are_the_references_from_folders_and_gguf() {
    let (index, tokenizers) = (read("families.json"), read("tokenizers.json"));
    let mut compared = 0;
    for model in index["models"].as_array().unwrap() {
        let name = model["folder"].as_str().unwrap();
        let dir = folder().join(name);
        let of_folder = tokenizers["of"][name].as_str().unwrap();
        // Where GGUF can't say what tokenizer.json does, the ids are another model's.
        let same = |file: &&Value| file["tokenizer"] == *of_folder;
        let files = model["gguf"].as_array().unwrap().iter().filter(same);
        let of_gguf = files.map(|file| dir.join(file["file"].as_str().unwrap()));
        for path in [dir.clone()].into_iter().chain(of_gguf) {
            for chat in tokenizers["models"][of_folder]["chats"].as_array().unwrap() {
                let conversation = &tokenizers["conversations"][chat["conversation"].as_u64().unwrap() as usize];
                let Some((system, user)) = turns(conversation) else { continue };
                if chat["add_generation_prompt"] != true {
                    continue;
                }
                let options = chat["options"].as_object().unwrap();
                let what = format!("{}, {system:?}, {user:?}, {options:?}", path.display());
                let loaded = load(&path, options).unwrap_or_else(|e| panic!("{what}: {e}"));
                match (loaded.render(user, system, false), chat["text"].as_str()) {
                    (Ok(prompt), Some(text)) => {
                        assert_eq!(prompt.text, text, "{what}");
                        assert_eq!(prompt.token_ids, ids(&chat["ids"]), "{what}");
                    }
                    (Err(Error::Model { .. }), None) => {}
                    (ours, text) => panic!("{what}: {ours:?}, not {text:?}"),
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// A copy of a tiny model's folder, changed.
fn changed(name: &str, change: impl Fn(&Path)) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(folder().join(name)).unwrap() {
        let file = file.unwrap().path();
        std::fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
    }
    change(copy.path());
    copy
}

fn edit(path: &Path, change: impl Fn(&mut Value)) {
    let mut value: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    change(&mut value);
    std::fs::write(path, value.to_string()).unwrap();
}

#[test]
fn what_can_not_be_computed_is_refused_by_name() {
    let says = |copy: &tempfile::TempDir, parts: &[&str]| {
        let error = load(copy.path(), &TemplateOptions::new()).unwrap_err();
        let text = error.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    let config = |name, change: &dyn Fn(&mut Value)| changed(name, |dir| edit(&dir.join("config.json"), change));
    // A family that is not known, and one whose experts are not.
    says(&config("llama2", &|c| c["model_type"] = "mamba".into()), &["not known", "model_type", "mamba", "qwen2"]);
    says(&config("gemma4_e2b", &|c| c["enable_moe_block"] = true.into()), &["enable_moe_block", "experts"]);
    // Numbers that do not fit the tensors: the tensor is named.
    says(&config("llama2", &|c| c["intermediate_size"] = 80.into()), &["wrong shape", "mlp."]);
    says(&config("qwen2", &|c| c["num_hidden_layers"] = 9.into()), &["no tensor model.layers.3."]);
    says(&config("qwen2", &|c| c["num_hidden_layers"] = 2.into()), &["does not use: model.layers.2."]);
    says(&config("llama3_1", &|c| c["rope_scaling"]["rope_type"] = "dynamic".into()), &["dynamic", "llama3"]);
    says(&config("llama2", &|c| c["num_key_value_heads"] = 3.into()), &["num_key_value_heads", "a divisor of"]);
    says(&config("llama2", &|c| c["rms_norm_eps"] = (-1.0).into()), &["rms_norm_eps", "above 0"]);
    // A missing shard, and an index without its files.
    let shard = "model-00002-of-00002.safetensors";
    says(&changed("qwen2", |dir| std::fs::remove_file(dir.join(shard)).unwrap()), &[shard]);
    // A tokenizer of another model, with more tokens than there are rows.
    let other = changed("llama2", |dir| {
        edit(&dir.join("tokenizer.json"), |t| {
            let tokens = t["added_tokens"].as_array_mut().unwrap();
            let mut more = tokens[0].clone();
            (more["id"], more["content"]) = (5000.into(), "<|far|>".into());
            tokens.push(more);
            t["model"]["vocab"]["<|far|>"] = 5000.into();
        })
    });
    says(&other, &["5001 tokens", "320 rows"]);
    says(&config("llama2", &|c| c["num_hidden_layers"] = 1_000_000_000.into()), &["num_hidden_layers", "at most 4096"]);
}

#[test]
fn tokenizers_that_lose_texts_are_refused() {
    let says = |change: &dyn Fn(&mut Value), parts: &[&str]| {
        let copy = changed("llama2", |dir| edit(&dir.join("tokenizer.json"), change));
        let text = load(copy.path(), &TemplateOptions::new()).unwrap_err().to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    says(&|t| t["model"]["dropout"] = 0.5.into(), &["tokenizer.json", "model.dropout", "0.5"]);
    let precompiled = serde_json::json!({"type": "Precompiled", "precompiled_charsmap": "AAAA"});
    says(&|t| t["normalizer"] = precompiled.clone(), &["tokenizer.json", "can't be used"]);
    let nothing = serde_json::json!({"type": "Replace", "pattern": {"Regex": "."}, "content": ""});
    says(&|t| t["normalizer"] = nothing.clone(), &["same tokens of different texts"]);
}

#[test]
fn tensors_in_the_same_place_are_refused() {
    let copy = changed("llama2", |dir| {
        let path = dir.join("model.safetensors");
        let bytes = std::fs::read(&path).unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let name = |of: &str| format!("model.layers.{of}.input_layernorm.weight");
        header[name("1")] = header[name("0")].clone();
        let header = header.to_string();
        let parts = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &bytes[8 + length..]];
        std::fs::write(&path, parts.concat()).unwrap();
    });
    let text = load(copy.path(), &TemplateOptions::new()).unwrap_err().to_string();
    assert!(text.contains("lie in the same place") && text.contains("model.safetensors"), "{text}");
}

#[test]
fn options_and_faults_of_templates_are_named() {
    let thinking: TemplateOptions = [("enable_thinking".to_string(), false.into())].into_iter().collect();
    let error = load(&folder().join("llama2"), &thinking).unwrap_err().to_string();
    assert!(error.contains("enable_thinking"), "{error}");
    let broken = changed("qwen3", |dir| {
        let text = "{{ bos_token }}\n{% for message in messages %}\n{{ message.content | nothing }}\n{% endfor %}";
        std::fs::write(dir.join("chat_template.jinja"), text).unwrap();
    });
    let text = load(broken.path(), &TemplateOptions::new()).unwrap_err().to_string();
    assert!(text.contains("line 3") && text.contains("nothing"), "{text}");
    let says = |template: &str, part: &str| {
        let copy = changed("qwen3", |dir| std::fs::write(dir.join("chat_template.jinja"), template).unwrap());
        let text = load(copy.path(), &TemplateOptions::new()).unwrap_err().to_string();
        assert!(text.contains(part) && text.contains("chat_template.jinja"), "{text}");
    };
    says("hello", "leaves the prompt out");
    let loops = "{% for a in range(90000) %}{% for b in range(90000) %}{{ a }}{% endfor %}{% endfor %}";
    says(loops, "does not end");
    let doubled =
        "{% set n = namespace(x='xxxxxxxx') %}{% for a in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}";
    says(doubled, "does not end");
}
