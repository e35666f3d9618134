//! Schemas: every raw table of a run, declared once.
//!
//! In: nothing. Out: [`TABLES`], from which writers, checks, `\d` and the data dictionary are made.
//! A column's doc line is its only description.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

/// Version of the raw tables' contract; written into every part as `sago.schema_version`.
pub const SCHEMA_VERSION: u32 = 1;

/// Tables whose parts a later measurement replaces: what they say of a response can be computed again from its text.
pub const MEASURED_AGAIN: [&str; 2] = ["similarities", "judgements"];

/// One raw table.
#[derive(Debug)]
pub struct Table {
    /// Name in SQL, and of the file or folder in a run.
    pub name: &'static str,
    /// What a row is.
    pub doc: &'static str,
    /// Whether parts lie under `model=M/dataset=D/`; these two columns are then in the path, not in the file.
    pub partitioned: bool,
    /// The columns that make a row unique.
    pub key: &'static [&'static str],
    /// The columns inside the file.
    pub columns: &'static [Column],
}

/// One column of a raw table.
#[derive(Debug)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// Whether NULL (not available) may stand here.
    pub nullable: bool,
    /// Meaning, unit, shape.
    pub doc: &'static str,
}

/// Types of columns: plain ones that every Parquet reader opens the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// 64-bit float.
    Double,
    /// 32-bit integer.
    Int,
    /// 64-bit integer.
    Long,
    /// True or false.
    Flag,
    /// List of texts.
    Texts,
    /// List of 32-bit integers (token ids).
    Ints,
    /// List of 32-bit floats.
    Floats,
}

impl Kind {
    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        let list = |item| DataType::List(Arc::new(Field::new("item", item, true)));
        match self {
            Kind::Text => DataType::Utf8,
            Kind::Double => DataType::Float64,
            Kind::Int => DataType::Int32,
            Kind::Long => DataType::Int64,
            Kind::Flag => DataType::Boolean,
            Kind::Texts => list(DataType::Utf8),
            Kind::Ints => list(DataType::Int32),
            Kind::Floats => list(DataType::Float32),
        }
    }
}

impl Table {
    /// The table of this name.
    pub fn named(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|t| t.name == name)
    }

    /// Schema of the columns inside the file.
    pub fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().map(|c| Field::new(c.name, c.kind.data_type(), c.nullable));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

const fn col(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, nullable: false, doc }
}

const fn opt(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, nullable: true, doc }
}

const PROMPT_ID: Column = col("prompt_id", Kind::Text, "key of the prompt within its data set");
const VARIANT_ID: Column =
    col("variant_id", Kind::Text, "key of the wording within its prompt, as `spacing/global/20`");
const REPEAT: Column = col("repeat", Kind::Int, "number of the repetition, from 0; the analysis uses repeat 0");
const KEY: &[&str] = &["model", "dataset", "prompt_id", "variant_id", "repeat"];

/// Every raw table.
pub const TABLES: &[Table] = &[
    Table {
        name: "prompts",
        doc: "a base prompt",
        partitioned: false,
        key: &["dataset", "prompt_id"],
        columns: &[
            col("dataset", Kind::Text, "name of the data set in the plan"),
            PROMPT_ID,
            col("text", Kind::Text, "the request as the models get it, before the chat template"),
            col("answers", Kind::Texts, "reference answers, the best first; empty where the source has none"),
            opt("category", Kind::Text, "the source's own category"),
            opt("source_row", Kind::Long, "row in the source, from 0; NULL where an import does not tell it"),
            col("source_hash", Kind::Text, "SHA-256 of the source row's text and answers"),
        ],
    },
    Table {
        name: "variants",
        doc: "one wording of one prompt; baselines are rows too",
        partitioned: false,
        key: &["dataset", "prompt_id", "variant_id"],
        columns: &[
            col("dataset", Kind::Text, "name of the data set in the plan"),
            PROMPT_ID,
            VARIANT_ID,
            col("family", Kind::Text, "social_register, surface_noise, structural_rewriting, own, or baseline"),
            col(
                "subtype",
                Kind::Text,
                "politeness, spacing, punctuation, casing, length, form, a user's own, or baseline",
            ),
            opt("place", Kind::Text, "prefix, suffix or global; NULL for the baseline"),
            opt("strength", Kind::Double, "strength as a number; NULL for form and for the baseline"),
            opt("level", Kind::Text, "strength as it stands in the id; `interrogative` or `imperative` for form"),
            col("is_baseline", Kind::Flag, "whether other variants are measured against this row"),
            col(
                "baseline_id",
                Kind::Text,
                "variant_id of the row that this one is measured against; its own for a baseline",
            ),
            opt("seed", Kind::Long, "seed of the variants, from the plan; NULL in an import"),
            opt(
                "text",
                Kind::Text,
                "the wording; NULL where no faithful rewrite could be made, or an import does not hold it",
            ),
            opt("rewriter", Kind::Text, "who made it: rules, own; NULL for noise and framing"),
            opt("prompt_bertscore", Kind::Double, "BERTScore F1 of the wording against its baseline's"),
            opt("scorer", Kind::Text, "signature of the scorer of prompt_bertscore"),
            col(
                "is_valid",
                Kind::Flag,
                "false only where the validity rule applies and fails, or no rewrite could be made",
            ),
            opt("invalid_reason", Kind::Text, "why it is not valid"),
        ],
    },
    Table {
        name: "models",
        doc: "a model of the run",
        partitioned: false,
        key: &["model"],
        columns: &[
            col("model", Kind::Text, "name of the model in the plan"),
            col("family", Kind::Text, "architecture, as its weights name it; unknown in an import"),
            opt("parameters", Kind::Long, "number of weights"),
            opt("layers", Kind::Int, "number of blocks; there are layers + 1 hidden states"),
            opt("width", Kind::Int, "length of a hidden state"),
            opt("vocabulary", Kind::Int, "number of tokens"),
            opt("context", Kind::Int, "most tokens of prompt and response together"),
            opt("dtype", Kind::Text, "compute type"),
            opt("device", Kind::Text, "what it was computed on: cpu, cuda:0, ..."),
            col("backend", Kind::Text, "candle, the chat API, or import"),
            opt("weights_sha256", Kind::Text, "hash of the weights' file; of several files, hash of their hashes"),
            opt("tokenizer_sha256", Kind::Text, "hash of the tokenizer"),
            opt("template_sha256", Kind::Text, "hash of the chat template"),
            opt("template_options", Kind::Text, "options given to the chat template, as JSON; NULL where none are"),
            opt("source", Kind::Text, "demo, name of the file or folder, or id on the hub; NULL in an import"),
            opt("revision", Kind::Text, "commit on the hub; NULL where the files are not from there"),
        ],
    },
    Table {
        name: "generations",
        doc: "a model's answer to one wording",
        partitioned: true,
        key: KEY,
        columns: &[
            PROMPT_ID,
            VARIANT_ID,
            REPEAT,
            opt("prompt_token_ids", Kind::Ints, "the prompt through the chat template"),
            opt("response", Kind::Text, "the new tokens as text, without special tokens"),
            opt("response_token_ids", Kind::Ints, "the new tokens, the end token included where it was generated"),
            opt("finish_reason", Kind::Text, "stop (an end token) or length (the limit of new tokens)"),
            opt("logprobs", Kind::Floats, "log-probability (nats, from raw logits) of each new token"),
            opt("entropies", Kind::Floats, "entropy (nats) of the full next-token distribution at each new token"),
            opt("error", Kind::Text, "why there is no answer"),
            opt(
                "truncated",
                Kind::Flag,
                "whether the prompt was cut; always false on local models, which refuse instead; NULL in an import",
            ),
            opt(
                "special_text",
                Kind::Flag,
                "whether the prompt's own text held special-token text, which the tokenizer took as tokens; NULL in an import",
            ),
        ],
    },
    Table {
        name: "forced",
        doc: "the baseline's response scored after the wording's prompt (teacher forcing)",
        partitioned: true,
        key: KEY,
        columns: &[
            PROMPT_ID,
            VARIANT_ID,
            REPEAT,
            col("target_token_ids", Kind::Ints, "the baseline's response without its end token"),
            col("logprobs", Kind::Floats, "log-probability (nats) of each target token"),
            col("entropies", Kind::Floats, "entropy (nats) of the next-token distribution at each target token"),
            col(
                "jsds",
                Kind::Floats,
                "Jensen-Shannon divergence (nats) from the distribution under the baseline's prompt",
            ),
        ],
    },
    Table {
        name: "activations",
        doc: "the hidden state of a prompt at one layer",
        partitioned: true,
        key: &["model", "dataset", "prompt_id", "variant_id", "repeat", "layer", "pooling"],
        columns: &[
            PROMPT_ID,
            VARIANT_ID,
            REPEAT,
            col(
                "layer",
                Kind::Int,
                "0 is the embedding output, then each block's output, the last after the final norm",
            ),
            col("pooling", Kind::Text, "last_token: the prompt's last token"),
            col("dim", Kind::Int, "length of the vector"),
            col("vector", Kind::Floats, "the hidden state"),
        ],
    },
    Table {
        name: "drift",
        doc: "how far a hidden state lies from the baseline's; in place of vectors that are not kept",
        partitioned: true,
        key: &["model", "dataset", "prompt_id", "variant_id", "repeat", "layer"],
        columns: &[
            PROMPT_ID,
            VARIANT_ID,
            REPEAT,
            col("layer", Kind::Int, "as in activations"),
            opt("cosine", Kind::Double, "cosine with the baseline's hidden state"),
            opt("norm_ratio", Kind::Double, "length of the vector over the baseline's"),
        ],
    },
    Table {
        name: "similarities",
        doc: "how close a response is to the baseline's response",
        partitioned: true,
        key: KEY,
        columns: &[
            PROMPT_ID,
            VARIANT_ID,
            REPEAT,
            opt("bleu", Kind::Double, "corpus BLEU (13a, exp smoothing), 0..1"),
            opt("bleu_effective_order", Kind::Double, "the same with effective order, 0..1"),
            opt("chrf", Kind::Double, "chrF, 0..1"),
            opt("bleu_signature", Kind::Text, "signature of bleu"),
            opt("bleu_effective_order_signature", Kind::Text, "signature of bleu_effective_order"),
            opt("chrf_signature", Kind::Text, "signature of chrf"),
            opt("bertscore_p", Kind::Double, "BERTScore precision"),
            opt("bertscore_r", Kind::Double, "BERTScore recall"),
            opt("bertscore_f1", Kind::Double, "BERTScore F1, without baseline rescaling"),
            opt("bertscore_signature", Kind::Text, "encoder, layer and rules of bertscore"),
            opt("bertscore_truncated", Kind::Flag, "whether a text was over the encoder's limit and scored up to it"),
        ],
    },
    Table {
        name: "judgements",
        doc: "whether a response takes on its wording's style, by one judge",
        partitioned: true,
        key: &["model", "dataset", "prompt_id", "variant_id", "repeat", "judge", "judge_repeat"],
        columns: &[
            PROMPT_ID,
            VARIANT_ID,
            REPEAT,
            col("judge", Kind::Text, "name of the judge"),
            col("judge_repeat", Kind::Int, "number of the judge's repetition, from 0"),
            opt("template_id", Kind::Text, "the judge's prompt template; NULL for rules"),
            opt("rendered_prompt", Kind::Text, "what the judge was asked; NULL for rules"),
            opt("raw_reply", Kind::Text, "what the judge said; for rules the figures it decided on"),
            opt("mirrored", Kind::Flag, "whether the response takes on the wording's style"),
            col("method", Kind::Text, "rule or llm"),
            opt("judge_model", Kind::Text, "the judging model; NULL for rules"),
            opt("temperature", Kind::Double, "of the judging model; NULL for rules"),
        ],
    },
    Table {
        name: "work",
        doc: "provenance of a row; left out when two runs are compared",
        partitioned: true,
        key: KEY,
        columns: &[
            PROMPT_ID,
            VARIANT_ID,
            REPEAT,
            col("host", Kind::Text, "name of the machine"),
            col("device", Kind::Text, "cpu, cuda:0, ..."),
            col("seconds", Kind::Double, "share of the wall time of the row's batch"),
            col("batch_size", Kind::Int, "most sequences in flight at once"),
            col("started", Kind::Text, "UTC time, RFC 3339"),
        ],
    },
];
