//! Tokenizers of every kind against transformers (`scripts/golden_tokenizers.py`), and what bad files say.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;

fn golden() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/tokenizers"))
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as u32).collect()
}

fn kinds() -> Vec<PathBuf> {
    let mut kinds: Vec<PathBuf> = std::fs::read_dir(golden()).unwrap().map(|entry| entry.unwrap().path()).collect();
    kinds.sort();
    kinds
}

fn rows(kind: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(kind.join("texts.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The differences from the reference on the texts of one kind.
fn differences(tokenizer: &Tokenizer, kind: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |what: &str, text: &str, ours: Value, wanted: &Value| {
        if ours != *wanted {
            wrong.push(format!("{} {what} of {text:?}\n  ours {ours}\n  not  {wanted}", kind.display()));
        }
    };
    for row in rows(kind) {
        let text = row["text"].as_str().unwrap();
        compare("ids", text, json!(tokenizer.encode(text, None).unwrap()), &row["ids"]);
        compare("text", text, json!(tokenizer.decode(&ids(&row["ids"])).unwrap()), &row["decoded"]);
        compare("marks", text, json!(tokenizer.has_special_text(text)), &row["special"]);
        let broken = tokenizer.break_special_text(text, '\u{e123}');
        let escaped = if row["escaped"].is_null() { &row["ids"] } else { &row["escaped"] };
        compare("escaped ids", text, json!(tokenizer.encode(&broken, Some('\u{e123}')).unwrap()), escaped);
    }
    wrong
}

#[test]
fn tokens_are_the_references() {
    let (mut texts, mut wrong) = (0, Vec::new());
    for kind in kinds() {
        let facts: Value = serde_json::from_slice(&std::fs::read(kind.join("facts.json")).unwrap()).unwrap();
        let folder = Tokenizer::from_folder(&kind).unwrap();
        let mut ways = vec![folder];
        if kind.join("model.gguf").exists() {
            ways.push(Tokenizer::open(&kind.join("model.gguf")).unwrap());
        }
        for tokenizer in &ways {
            texts += rows(&kind).len();
            wrong.extend(differences(tokenizer, &kind));
            assert_eq!(json!(tokenizer.vocabulary), facts["vocabulary"], "{}", kind.display());
        }
        assert_eq!(json!(ways[0].begin.iter().collect::<Vec<_>>()), facts["begin"], "{}", kind.display());
    }
    assert!(texts > 1000, "{texts} texts");
    assert!(wrong.is_empty(), "{} differences in {texts} texts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn begin_and_end_tokens_are_the_files() {
    let of = |kind: &str| Tokenizer::from_folder(&golden().join(kind)).unwrap();
    assert_eq!((of("llama3").begin, of("llama3").ends), (Some(420), vec![421, 422]));
    assert_eq!((of("qwen2").begin, of("qwen2").ends), (None, vec![422]));
    assert_eq!(of("qwen35").ends, [420, 422]);
    assert_eq!((of("gemma").begin, of("gemma4").ends), (Some(2), vec![1, 5]));
    let gguf = |kind: &str| Tokenizer::open(&golden().join(kind).join("model.gguf")).unwrap();
    assert_eq!((gguf("llama3").begin, gguf("llama2").begin, gguf("phi3").begin), (Some(420), Some(1), None));
    assert_eq!((gguf("gemma").begin, gguf("gemma4").begin), (Some(2), Some(2)));
    assert_eq!(of("gemma").names[..2], [("bos_token", "<bos>".to_string()), ("eos_token", "<eos>".to_string())]);
}

#[test]
fn what_goes_on_a_text_keeps_its_space() {
    let tokenizer = Tokenizer::from_folder(&golden().join("llama2")).unwrap();
    let tokens = tokenizer.encode("What is", None).unwrap();
    assert_eq!(tokenizer.decode(&tokens).unwrap(), "What is");
    assert_eq!(tokenizer.decode_rest(&tokens).unwrap(), " What is");
}

/// A copy of a kind's folder, to be changed.
fn copied(kind: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in ["tokenizer.json", "tokenizer_config.json", "config.json"] {
        std::fs::copy(golden().join(kind).join(file), dir.path().join(file)).unwrap();
    }
    dir
}

fn write(dir: &tempfile::TempDir, file: &str, content: &Value) {
    std::fs::write(dir.path().join(file), content.to_string()).unwrap();
}

#[test]
fn the_chat_template_is_found_where_it_lies() {
    let dir = copied("qwen2");
    let read = || Tokenizer::from_folder(dir.path()).unwrap();
    let before = read();
    assert!(before.chat_template.is_none() && !before.has_special_text("<think>"));
    let template = "{{ '<|im_start|>' }}<think>{{ '<|im_end|>' }}";
    write(&dir, "tokenizer_config.json", &json!({"chat_template": template, "eos_token": "<|endoftext|>"}));
    write(&dir, "config.json", &json!({}));
    let tokenizer = read();
    assert_eq!(tokenizer.chat_template.as_ref().unwrap().text, template);
    // A token that the template writes is no plain text, and one that it closes turns with ends responses.
    assert!(tokenizer.has_special_text("a <think> b"));
    assert_eq!(tokenizer.ends, [420, 422]);
    let named = json!([{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]);
    write(&dir, "tokenizer_config.json", &json!({ "chat_template": named }));
    assert_eq!(read().chat_template.unwrap().text, "d");
    let hash = read().sha256;
    std::fs::write(dir.path().join("chat_template.jinja"), "j\n").unwrap();
    let with_file = read();
    assert_eq!(with_file.chat_template, Some(Source { from: "chat_template.jinja".into(), text: "j\n".into() }));
    assert_eq!(with_file.sha256, hash);
    assert_ne!(before.sha256, hash);
}

#[test]
fn tokens_that_only_the_configuration_lists_are_added() {
    let dir = copied("gpt2");
    let listed = json!({"421": {"content": "<extra>", "special": true, "rstrip": true}});
    write(&dir, "tokenizer_config.json", &json!({"added_tokens_decoder": listed, "eos_token": "<extra>"}));
    write(&dir, "added_tokens.json", &json!({"<more>": 422}));
    write(&dir, "generation_config.json", &json!({"eos_token_id": [7, 421]}));
    let tokenizer = Tokenizer::from_folder(dir.path()).unwrap();
    assert_eq!((tokenizer.vocabulary, tokenizer.ends.clone()), (423, vec![7, 421]));
    assert_eq!(tokenizer.encode("<extra>  <more>", None).unwrap(), [421, 422]);
    assert_eq!(tokenizer.decode(&[421, 422]).unwrap(), "<more>");
    tokenizer.check_rows("m", 423).unwrap();
    tokenizer.check_rows("m", 512).unwrap();
    let message = tokenizer.check_rows("m", 422).unwrap_err().to_string();
    assert!(message.contains("423 tokens") && message.contains("422 rows"), "{message}");
    write(&dir, "added_tokens.json", &json!({"<more>": 500}));
    let message = Tokenizer::from_folder(dir.path()).unwrap_err().to_string();
    assert!(message.contains("two ids") && message.contains("<more>") && message.contains("500"), "{message}");
}

#[test]
fn bad_folders_say_what_is_wrong_in_which_file() {
    let bad = |file: &str, content: &str| {
        let dir = copied("llama3");
        std::fs::write(dir.path().join(file), content).unwrap();
        let error = Tokenizer::from_folder(dir.path()).unwrap_err();
        assert!(matches!(error, Error::Input(_)), "{error}");
        assert!(error.to_string().contains(file), "{error}");
        error.to_string()
    };
    bad("tokenizer.json", "{");
    bad("tokenizer.json", "{\"model\": {}}");
    assert!(bad("tokenizer_config.json", "{\n\"bos_token\": }").contains("line 2"));
    bad("tokenizer_config.json", "[]");
    assert!(bad("tokenizer_config.json", "{\"eos_token\": 5}").contains("eos_token"));
    assert!(bad("tokenizer_config.json", "{\"chat_template\": [{\"name\": \"x\"}]}").contains("default"));
    assert!(bad("tokenizer_config.json", "{\"added_tokens_decoder\": {\"x\": {}}}").contains("added_tokens_decoder.x"));
    assert!(bad("config.json", "{\"eos_token_id\": \"two\"}").contains("eos_token_id"));
    let dir = tempfile::tempdir().unwrap();
    let message = Tokenizer::from_folder(dir.path()).unwrap_err().to_string();
    assert!(message.contains("no tokenizer.json") && message.contains("save_pretrained"), "{message}");
}

#[test]
fn an_unknown_kind_or_cut_is_named_with_the_known_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.gguf");
    let whole = std::fs::read(golden().join("gpt2/model.gguf")).unwrap();
    for (from, to, known) in
        [("\x04\0\0\0\0\0\0\0gpt2", "\x04\0\0\0\0\0\0\0bert", "llama (SentencePiece)"), ("gpt-2", "gpt-9", "tekken")]
    {
        let mut raw = whole.clone();
        // The last place: the first may be the architecture's name.
        let at = raw.windows(from.len()).rposition(|window| window == from.as_bytes()).unwrap();
        raw[at..at + to.len()].copy_from_slice(to.as_bytes());
        std::fs::write(&path, raw).unwrap();
        let message = Tokenizer::open(&path).unwrap_err().to_string();
        assert!(message.contains(known) && message.contains(&to[to.len() - 4..]), "{message}");
    }
}
