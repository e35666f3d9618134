//! How a byte-level vocabulary cuts a text before its merges.
//!
//! In: the name that a GGUF file gives (`tokenizer.ggml.pre`). Out: the steps, and what else goes with the name.
//! The patterns are those that the vocabularies' merges were learned with, as their tokenizer.json has them.

use tokenizers::normalizers::unicode::NFC;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{SplitDelimiterBehavior, Tokenizer as Inner};

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pre {
    name: &'static str,
    cut: Cut,
    /// Whether a piece that is a token as a whole is that token, whatever the merges would make of it.
    pub whole_first: bool,
    /// Whether a begin token comes before a prompt where the file does not say.
    pub begins: bool,
    /// Whether letters and their marks are composed first.
    composes: bool,
}

#[derive(Debug, Clone, Copy)]
enum Cut {
    /// GPT-2's pattern.
    Bytes,
    /// Each digit alone, then GPT-2's pattern.
    DigitsThenBytes,
    /// A pattern of its own.
    Pattern(&'static str),
}

const PLAIN: Pre = Pre { name: "", cut: Cut::Bytes, whole_first: false, begins: false, composes: false };
const LLAMA: Pre = Pre { cut: Cut::Pattern(LLAMA3), whole_first: true, begins: true, ..PLAIN };
const QWEN: Pre = Pre { cut: Cut::Pattern(QWEN2), composes: true, ..PLAIN };

const NAMES: [Pre; 15] = [
    Pre { name: "default", ..PLAIN },
    Pre { name: "gpt-2", ..PLAIN },
    Pre { name: "phi-2", ..PLAIN },
    Pre { name: "smollm", cut: Cut::DigitsThenBytes, ..PLAIN },
    Pre { name: "llama-bpe", ..LLAMA },
    Pre { name: "llama3", ..LLAMA },
    Pre { name: "llama-v3", ..LLAMA },
    Pre { name: "dbrx", cut: Cut::Pattern(LLAMA3), ..PLAIN },
    Pre { name: "smaug-bpe", cut: Cut::Pattern(LLAMA3), ..PLAIN },
    Pre { name: "qwen2", ..QWEN },
    Pre { name: "deepseek-r1-qwen", composes: false, ..QWEN },
    Pre { name: "qwen35", cut: Cut::Pattern(QWEN35), ..QWEN },
    Pre { name: "tekken", cut: Cut::Pattern(TEKKEN), ..LLAMA },
    Pre { name: "gpt-4o", cut: Cut::Pattern(GPT4O), ..PLAIN },
    Pre { name: "llama4", cut: Cut::Pattern(GPT4O), ..PLAIN },
];

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN35: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const GPT4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

impl Pre {
    /// What `name` stands for.
    pub(super) fn named(name: &str) -> Option<Pre> {
        NAMES.into_iter().find(|pre| pre.name == name)
    }

    /// All names, for messages.
    pub(super) fn names() -> String {
        NAMES.map(|pre| pre.name).join(", ")
    }

    /// Sets the steps before the merges.
    ///
    /// # Errors
    /// The library can't compile a pattern.
    pub(super) fn set(&self, inner: &mut Inner) -> tokenizers::Result<()> {
        let bytes = |pattern| PreTokenizerWrapper::from(ByteLevel::new(false, true, pattern));
        let steps = match self.cut {
            Cut::Bytes => vec![bytes(true)],
            Cut::DigitsThenBytes => vec![Digits::new(true).into(), bytes(true)],
            Cut::Pattern(pattern) => {
                let pattern = SplitPattern::Regex(pattern.to_string());
                let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false)?;
                vec![split.into(), bytes(false)]
            }
        };
        inner.with_pre_tokenizer(Some(Sequence::new(steps)));
        if self.composes {
            inner.with_normalizer(Some(NFC))?;
        }
        Ok(())
    }
}
