//! Layers: which layer bert-score compares in encoders that it knows.
//!
//! In: an encoder's name. Out: its layer in bert-score 0.3.12, chosen there by agreement with human judgements of translations.

/// Encoders of the families here, without the hub's name of their owner.
const LAYERS: &[(&str, usize)] = &[
    ("bert-base-uncased", 9),
    ("bert-large-uncased", 18),
    ("bert-base-cased-finetuned-mrpc", 9),
    ("bert-base-multilingual-cased", 9),
    ("bert-base-chinese", 8),
    ("bert-base-turkish-cased", 10),
    ("scibert_scivocab_uncased", 8),
    ("scibert_scivocab_cased", 9),
    ("scibert_basevocab_uncased", 9),
    ("spanbert-base-cased", 8),
    ("spanbert-large-cased", 17),
    ("finbert", 10),
    ("unsup-simcse-bert-base-uncased", 10),
    ("unsup-simcse-bert-large-uncased", 18),
    ("sup-simcse-bert-base-uncased", 10),
    ("sup-simcse-bert-large-uncased", 18),
    ("roberta-base", 10),
    ("roberta-large", 17),
    ("roberta-large-mnli", 19),
    ("roberta-base-openai-detector", 7),
    ("roberta-large-openai-detector", 15),
    ("distilroberta-base", 5),
    ("unsup-simcse-roberta-base", 8),
    ("unsup-simcse-roberta-large", 13),
    ("sup-simcse-roberta-base", 10),
    ("sup-simcse-roberta-large", 16),
    ("xlm-roberta-base", 9),
    ("xlm-roberta-large", 17),
    ("distilbert-base-uncased", 5),
    ("distilbert-base-uncased-distilled-squad", 4),
    ("distilbert-base-multilingual-cased", 5),
    ("distilbert-base-turkish-cased", 4),
    ("deberta-base", 9),
    ("deberta-base-mnli", 9),
    ("deberta-large", 16),
    ("deberta-large-mnli", 18),
    ("deberta-xlarge", 18),
    ("deberta-xlarge-mnli", 40),
    ("deberta-v2-xlarge", 10),
    ("deberta-v2-xlarge-mnli", 17),
    ("deberta-v2-xxlarge", 21),
    ("deberta-v2-xxlarge-mnli", 22),
    ("deberta-v3-xsmall", 10),
    ("deberta-v3-small", 4),
    ("deberta-v3-base", 9),
    ("deberta-v3-large", 12),
    ("mdeberta-v3-base", 10),
];

/// The layer that bert-score compares in the encoder of this name; None where it has none.
pub(in crate::measure) fn of(name: &str) -> Option<usize> {
    let name = without_owner(name).to_lowercase();
    LAYERS.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer)
}

/// `roberta-large` of `FacebookAI/roberta-large`.
pub(in crate::measure) fn without_owner(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
