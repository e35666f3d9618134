//! Validity: whether a rewrite still asks what its baseline asks, by BERTScore F1 against a threshold.
//!
//! In: the signature of the scorer, and the F1 between the two prompts. Out: the threshold, and the verdict.
//! A threshold belongs to one encoder at one layer: [`CALIBRATIONS`]; `docs/validity.md` tells how MiniLM's was found.

use super::bertscore::layers;

/// An encoder whose layer and threshold have been chosen on examples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Name of the encoder.
    pub encoder: &'static str,
    /// First twelve digits of the SHA-256 of its weights; None where the name alone tells.
    pub weights: Option<&'static str>,
    /// The layer that the threshold is for.
    pub layer: usize,
    /// Least F1 of a valid rewrite.
    pub threshold: f64,
    /// Where the threshold is from.
    pub source: &'static str,
}

/// The known encoders. An encoder is looked up by the hash of its weights, since anyone can rename a folder.
pub const CALIBRATIONS: &[Calibration] = &[
    Calibration {
        encoder: "all-minilm-l6-v2",
        weights: Some("53aa51172d14"),
        layer: 6,
        threshold: 0.71,
        source: "docs/validity.md: keeps 95 % of faithful rewrites, hand-made and built-in",
    },
    Calibration {
        encoder: "roberta-large",
        weights: None,
        layer: 17,
        threshold: 0.85,
        source: "the published study; layer as bert-score's default",
    },
];

/// The threshold for F1 of the scorer with this signature (see [`BertScorer::signature`](super::bertscore::BertScorer::signature));
/// None where its encoder or layer has not been calibrated, or it weighs by IDF: validity can then be recorded, but not applied.
pub fn default_threshold(signature: &str) -> Option<f64> {
    let field = |key: &str| signature.split('|').filter_map(|part| part.split_once(':')).find(|(k, _)| *k == key);
    let (_, encoder) = field("encoder")?;
    let layer: usize = field("layer")?.1.parse().ok()?;
    if field("idf").is_some_and(|(_, idf)| idf != "no") {
        return None;
    }
    let weights = field("weights").map(|(_, weights)| weights);
    let named = |c: &Calibration| c.encoder == layers::without_owner(encoder);
    let fits = |c: &&Calibration| c.layer == layer && c.weights.map_or(named(c), |w| weights == Some(w));
    CALIBRATIONS.iter().find(fits).map(|c| c.threshold)
}

/// The layer that is compared where none is asked for, of the encoder of this name, with these weights and so many blocks.
///
/// A calibrated encoder's own; else bert-score's for an encoder that it knows by name; else three quarters of the blocks,
/// rounded up, near bert-score's choices (9 of 12, 18 of 24), which were tuned on human judgements of translations.
pub fn default_layer(name: &str, weights: &str, blocks: usize) -> usize {
    let calibrated = CALIBRATIONS.iter().find(|c| c.weights == Some(weights)).map(|c| c.layer);
    let known = calibrated.or_else(|| layers::of(name)).filter(|&layer| layer <= blocks);
    known.unwrap_or_else(|| (3 * blocks).div_ceil(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_for_one_encoder_at_one_layer() {
        assert_eq!(default_threshold("BERTScore|encoder:renamed|layer:6|weights:53aa51172d14|idf:no"), Some(0.71));
        assert_eq!(default_threshold("BERTScore|encoder:all-minilm-l6-v2|layer:3|weights:53aa51172d14"), None);
        assert_eq!(default_threshold("BERTScore|encoder:all-minilm-l6-v2|layer:6|weights:000000000000"), None);
        assert_eq!(default_threshold("BERTScore|encoder:roberta-large|layer:17|weights:123456789abc"), Some(0.85));
        let of_hub = "BERTScore|encoder:FacebookAI/roberta-large|layer:17|weights:123456789abc|idf:no";
        assert_eq!(default_threshold(of_hub), Some(0.85));
        assert_eq!(default_threshold(&of_hub.replace("idf:no", "idf:yes|idf_corpus:123456789abc")), None);
        assert_eq!(default_threshold("BERTScore|encoder:roberta-large"), None);
        assert_eq!(default_threshold(""), None);
    }

    #[test]
    fn layers_are_calibrated_or_bert_scores_or_lie_at_three_quarters() {
        assert_eq!(default_layer("renamed", "53aa51172d14", 6), 6);
        assert_eq!(default_layer("roberta-large", "unknown", 24), 17);
        assert_eq!(default_layer("microsoft/deberta-xlarge-mnli", "unknown", 48), 40);
        assert_eq!(default_layer("roberta-large", "unknown", 6), 5);
        assert_eq!(default_layer("mine", "unknown", 12), 9);
        assert_eq!(default_layer("mine", "unknown", 24), 18);
        assert_eq!(default_layer("mine", "unknown", 1), 1);
    }
}
