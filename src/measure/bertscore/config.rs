//! Config: what `config.json` says of an encoder.
//!
//! In: the file's text. Out: a [`Shape`]: family, sizes, how positions are told.
//! Whatever would compute something else than the blocks here is refused.

use serde::Deserialize;

use super::rows::Activation;

/// Which tensors hold the parts of a block, and what they are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// BERT; RoBERTa and XLM-RoBERTa, which differ in positions only.
    Bert,
    DistilBert,
    /// The first DeBERTa: query, key and value in one tensor, head by head.
    Deberta,
    /// DeBERTa v2 and v3.
    DebertaV2,
}

/// `model_type` of the encoders that can be used.
const KNOWN: [(&str, Family); 7] = [
    ("bert", Family::Bert),
    ("camembert", Family::Bert),
    ("deberta", Family::Deberta),
    ("deberta-v2", Family::DebertaV2),
    ("distilbert", Family::DistilBert),
    ("roberta", Family::Bert),
    ("xlm-roberta", Family::Bert),
];

/// What an encoder's network is.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) family: Family,
    /// Length of a hidden state.
    pub(super) width: usize,
    pub(super) blocks: usize,
    pub(super) heads: usize,
    /// Width of the feed-forward part.
    pub(super) inner: usize,
    pub(super) vocabulary: usize,
    /// Kinds of segments; a text is all of the first.
    pub(super) segments: usize,
    pub(super) activation: Activation,
    pub(super) epsilon: f32,
    pub(super) absolute: Option<Absolute>,
    pub(super) relative: Option<Relative>,
    pub(super) convolution: Option<Convolution>,
    /// How many scores of equal size are added up, by which DeBERTa scales them.
    pub(super) score_terms: usize,
    /// Most tokens of a text.
    pub(super) max_tokens: usize,
}

/// A learned vector for each position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Absolute {
    pub(super) rows: usize,
    /// RoBERTa counts from the padding token's id on, and leaves padding tokens out.
    pub(super) padding: Option<u32>,
}

/// DeBERTa's vectors for distances between tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relative {
    /// Distances beyond half of it share buckets on a logarithmic scale; None for a vector for each distance.
    pub(super) buckets: Option<usize>,
    /// The greatest distance that is told apart.
    pub(super) most: usize,
    /// Whether a token's query is matched with the distance's key.
    pub(super) by_query: bool,
    /// Whether a token's key is matched with the distance's query.
    pub(super) by_key: bool,
    /// Whether distances are projected by the tokens' matrices.
    pub(super) shared: bool,
    /// Whether the vectors are normed first.
    pub(super) normed: bool,
}

impl Relative {
    /// Distances on each side of 0 that have a vector.
    pub(super) fn span(&self) -> usize {
        self.buckets.unwrap_or(self.most)
    }
}

/// A convolution over the embeddings beside the first block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Convolution {
    /// Tokens that it sees at once; odd.
    pub(super) kernel: usize,
    pub(super) activation: Activation,
}

#[derive(Deserialize)]
struct Raw {
    #[serde(alias = "dim")]
    hidden_size: usize,
    #[serde(alias = "n_layers")]
    num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    num_attention_heads: usize,
    #[serde(alias = "hidden_dim")]
    intermediate_size: usize,
    #[serde(alias = "activation")]
    hidden_act: String,
    vocab_size: usize,
    max_position_embeddings: usize,
    #[serde(default)]
    type_vocab_size: usize,
    layer_norm_eps: Option<f32>,
    pad_token_id: Option<u32>,
    position_embedding_type: Option<String>,
    #[serde(default)]
    relative_attention: bool,
    position_biased_input: Option<bool>,
    pos_att_type: Option<Words>,
    max_relative_positions: Option<i64>,
    position_buckets: Option<i64>,
    norm_rel_ebd: Option<String>,
    #[serde(default)]
    share_att_key: bool,
    conv_kernel_size: Option<usize>,
    conv_act: Option<String>,
    conv_groups: Option<usize>,
    embedding_size: Option<usize>,
    attention_head_size: Option<usize>,
    #[serde(default)]
    talking_head: bool,
}

/// A list, or words with bars between them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    Barred(String),
}

impl Words {
    fn has(&self, word: &str) -> bool {
        match self {
            Words::List(words) => words.iter().any(|w| w == word),
            Words::Barred(words) => words.split('|').any(|w| w.trim() == word),
        }
    }
}

/// Why a config can't be used.
#[derive(Debug)]
pub(super) enum Unfit {
    /// `model_type` is none of these; what it is.
    Kind { found: String, known: String },
    /// Anything else, in words.
    Other(String),
}

impl Shape {
    /// Reads config.json. Errors: a kind that is not known, a key that is missing, sizes or parts that can't be.
    pub(super) fn read(json: &[u8]) -> Result<Shape, Unfit> {
        let unfit = |what: String| Unfit::Other(what);
        let all: serde_json::Value = serde_json::from_slice(json).map_err(|e| unfit(e.to_string()))?;
        let kind = match all.get("model_type").and_then(|kind| kind.as_str()) {
            Some(kind) => kind.to_string(),
            None => "no model_type".to_string(),
        };
        let Some(&(_, family)) = KNOWN.iter().find(|(name, _)| *name == kind) else {
            return Err(Unfit::Kind { found: kind, known: KNOWN.map(|(name, _)| name).join(", ") });
        };
        let raw: Raw = serde_json::from_value(all).map_err(|e| unfit(e.to_string()))?;
        let counts_from_padding = family == Family::Bert && kind != "bert";
        let padding = counts_from_padding.then_some(raw.pad_token_id.unwrap_or(1));
        let of_v2 = family == Family::DebertaV2;
        let disentangled = matches!(family, Family::Deberta | Family::DebertaV2);
        raw.check(disentangled).map_err(unfit)?;
        let has = |term| disentangled && raw.pos_att_type.as_ref().is_some_and(|types| types.has(term));
        let most = match raw.max_relative_positions.and_then(|most| usize::try_from(most).ok()) {
            Some(most) if most > 0 => most,
            _ => raw.max_position_embeddings,
        };
        let relative = (disentangled && raw.relative_attention).then(|| Relative {
            buckets: raw.position_buckets.and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0 && of_v2),
            most,
            by_query: has("c2p"),
            by_key: has("p2c"),
            shared: of_v2 && raw.share_att_key,
            normed: of_v2
                && raw
                    .norm_rel_ebd
                    .as_ref()
                    .is_some_and(|by| by.to_lowercase().split('|').any(|w| w.trim() == "layer_norm")),
        });
        let rows = raw.max_position_embeddings;
        let activation =
            |name: &str| Activation::named(name).ok_or_else(|| unfit(format!("activation {name} is not known")));
        let max_tokens = rows.saturating_sub(padding.map_or(0, |id| id as usize + 1));
        if max_tokens < 3 {
            return Err(unfit(format!("max_position_embeddings = {rows} leaves no room for a text")));
        }
        Ok(Shape {
            family,
            width: raw.hidden_size,
            blocks: raw.num_hidden_layers,
            heads: raw.num_attention_heads,
            inner: raw.intermediate_size,
            vocabulary: raw.vocab_size,
            segments: if family == Family::DistilBert { 0 } else { raw.type_vocab_size },
            activation: activation(&raw.hidden_act)?,
            epsilon: raw.layer_norm_eps.unwrap_or(1e-12),
            absolute: (!disentangled || raw.position_biased_input.unwrap_or(true))
                .then_some(Absolute { rows, padding }),
            convolution: match raw.conv_kernel_size {
                Some(kernel) if of_v2 && kernel > 0 => {
                    Some(Convolution { kernel, activation: activation(raw.conv_act.as_deref().unwrap_or("tanh"))? })
                }
                _ => None,
            },
            score_terms: 1 + usize::from(has("c2p")) + usize::from(has("p2c")),
            relative,
            max_tokens,
        })
    }
}

impl Raw {
    /// What the blocks here do not compute, and sizes that no network has.
    fn check(&self, disentangled: bool) -> Result<(), String> {
        let (width, heads) = (self.hidden_size, self.num_attention_heads);
        let sizes = [width, heads, self.num_hidden_layers, self.intermediate_size, self.vocab_size];
        if sizes.contains(&0) || !width.is_multiple_of(heads) {
            return Err(format!("{heads} attention heads for a width of {width}, or a size of 0, can't be"));
        }
        let head = width / heads;
        let distances = self.max_relative_positions.unwrap_or(0).max(self.position_buckets.unwrap_or(0));
        let refused = [
            ("position_embedding_type", self.position_embedding_type.as_deref().is_some_and(|p| p != "absolute")),
            ("talking_head", self.talking_head),
            ("embedding_size", disentangled && self.embedding_size.is_some_and(|size| size != width)),
            ("attention_head_size", disentangled && self.attention_head_size.is_some_and(|size| size != head)),
            ("conv_groups", self.conv_groups.is_some_and(|groups| groups != 1)),
            ("conv_kernel_size", self.conv_kernel_size.is_some_and(|size| size > 0 && size.is_multiple_of(2))),
            ("max_relative_positions", distances > 1_000_000),
        ];
        match refused.iter().find(|(_, is)| *is) {
            Some((key, _)) => Err(format!("its {key} is of a kind that is not known")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BERT: &str = r#""hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 96,
        "hidden_act": "gelu", "vocab_size": 100, "max_position_embeddings": 514, "type_vocab_size": 1"#;

    #[test]
    fn positions_of_roberta_begin_after_the_padding_token() {
        let read = |more: &str| Shape::read(format!("{{{BERT}, {more}}}").as_bytes()).unwrap();
        let roberta = read(r#""model_type": "roberta", "pad_token_id": 1"#);
        assert_eq!((roberta.max_tokens, roberta.blocks), (512, 2));
        assert_eq!(roberta.absolute.unwrap().padding, Some(1));
        let bert = read(r#""model_type": "bert", "pad_token_id": 0"#);
        assert_eq!(bert.max_tokens, 514);
        assert!(bert.absolute.unwrap().padding.is_none() && bert.relative.is_none());
        let deberta = read(
            r#""model_type": "deberta-v2", "relative_attention": true, "position_biased_input": false,
            "pos_att_type": "p2c|c2p", "max_relative_positions": -1, "position_buckets": 256, "norm_rel_ebd": "layer_norm""#,
        );
        let relative = deberta.relative.unwrap();
        assert_eq!((relative.span(), relative.most, deberta.score_terms), (256, 514, 3));
        assert!(relative.by_key && relative.by_query && relative.normed && deberta.absolute.is_none());
    }

    #[test]
    fn what_would_compute_something_else_is_refused() {
        let refuse = |more: &str| match Shape::read(format!("{{{BERT}, {more}}}").as_bytes()).unwrap_err() {
            Unfit::Kind { found, known } => format!("{found}: {known}"),
            Unfit::Other(what) => what,
        };
        assert!(refuse(r#""model_type": "gpt2""#).starts_with("gpt2: bert, camembert, deberta, deberta-v2"));
        assert!(refuse(r#""a": 0"#).contains("no model_type"));
        let relative = r#""model_type": "bert", "position_embedding_type": "relative_key""#;
        assert!(refuse(relative).contains("position_embedding_type"));
        assert!(refuse(r#""model_type": "deberta-v2", "conv_kernel_size": 4"#).contains("conv_kernel_size"));
        let none = Shape::read(br#"{"model_type": "bert"}"#).unwrap_err();
        assert!(matches!(none, Unfit::Other(what) if what.contains("hidden_size")));
    }
}
