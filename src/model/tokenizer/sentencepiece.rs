//! Vocabularies of SentencePiece: merges by score, and bytes for what has no token.
//!
//! In: tokens as the model's file spells them (`▁` for a space), with scores or merges. Out: the same steps that
//! transformers' converted tokenizers have. Merges come from the scores: every pair of tokens that together are a token,
//! the best score first.

use std::collections::HashMap;

use tokenizers::decoders::DecoderWrapper;
use tokenizers::decoders::byte_fallback::ByteFallback;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::sequence::Sequence as Decoders;
use tokenizers::decoders::strip::Strip;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::prepend::Prepend;
use tokenizers::normalizers::replace::{Replace, ReplacePattern};
use tokenizers::normalizers::{NormalizerWrapper, Sequence as Normalizers};
use tokenizers::{Result, Tokenizer as Inner};

/// What stands for a space.
pub(super) const SPACE: &str = "▁";

/// How a text is made ready for the merges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spaces {
    /// A space comes before every stretch of text, also after an added token.
    pub prefix: bool,
    /// Spaces at both ends go, and of several in a row one stays.
    pub squeeze: bool,
}

/// A tokenizer without added tokens.
///
/// # Errors
/// A merge names a token that is not in the vocabulary.
pub(super) fn build(
    tokens: &[String],
    merges: Vec<(String, String)>,
    unknown: Option<&str>,
    spaces: Spaces,
) -> Result<Inner> {
    let vocabulary: Vocab = tokens.iter().enumerate().map(|(id, token)| (token.clone(), id as u32)).collect();
    let mut model = BPE::builder().vocab_and_merges(vocabulary, merges).byte_fallback(true).fuse_unk(true);
    if let Some(unknown) = unknown {
        model = model.unk_token(unknown.to_string());
    }
    let mut inner = Inner::new(model.build()?);
    let mut steps: Vec<NormalizerWrapper> = Vec::new();
    if spaces.squeeze {
        for (pattern, content) in [(r"\A +| +\z", ""), (" {2,}", " ")] {
            steps.push(Replace::new(ReplacePattern::Regex(pattern.to_string()), content)?.into());
        }
    }
    if spaces.prefix {
        steps.push(Prepend::new(SPACE.to_string()).into());
    }
    steps.push(Replace::new(" ", SPACE)?.into());
    inner.with_normalizer(Some(Normalizers::new(steps)))?;
    let mut back: Vec<DecoderWrapper> =
        vec![Replace::new(SPACE, " ")?.into(), ByteFallback::new().into(), Fuse::new().into()];
    if spaces.prefix {
        back.push(Strip::new(' ', 1, 0).into());
    }
    inner.with_decoder(Some(Decoders::new(back)));
    Ok(inner)
}

/// Every pair of tokens that together are a token: the greatest rank first, of one rank the longest left part first.
pub(super) fn merges(tokens: &[String], rank: impl Fn(usize) -> f64) -> Vec<(String, String)> {
    let ids: HashMap<&str, usize> = tokens.iter().enumerate().map(|(id, token)| (token.as_str(), id)).collect();
    let mut found = Vec::new();
    for (id, token) in tokens.iter().enumerate() {
        // A doubled token counts where its text is found.
        if ids.get(token.as_str()) != Some(&id) {
            continue;
        }
        for (at, _) in token.char_indices().skip(1) {
            let (left, right) = token.split_at(at);
            if ids.contains_key(left) && ids.contains_key(right) {
                found.push((rank(id), left, right));
            }
        }
    }
    let length = |text: &str| text.chars().count();
    // Stable, so that tokens of one rank and lengths keep their order.
    found.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then_with(|| length(b.1).cmp(&length(a.1))).then_with(|| length(b.2).cmp(&length(a.2)))
    });
    found.into_iter().map(|(_, left, right)| (left.to_string(), right.to_string())).collect()
}
