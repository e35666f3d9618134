//! Measures: how close two texts are, and whether a response takes on its wording's style.
//!
//! In: pairs of texts (a variant's and its baseline's). Out: [`bleu`], [`chrf`] and [`bertscore`] on 0..1, judgements
//! of [`mirroring`], [`refusal`] by rule, right [`answers`], and whether a rewrite still asks the same ([`validity`]).

pub mod answers;
pub mod bertscore;
pub mod bleu;
pub mod chrf;
pub mod cosine;
pub mod mirroring;
pub mod refusal;
mod tokenizer_13a;
pub mod validity;
pub mod words;
