//! Families: what the decoder of each architecture is made of.
//!
//! In: a folder's config or a GGUF file's metadata, and weights. Out: a [`Decoder`].
//! A family is a [`Description`]: one function over the facts, whichever file they stand in. What is common is read once, in
//! `build`; a family says only what differs.
//!
//! | file | holds |
//! |---|---|
//! | `facts` | numbers and flags of a config or of GGUF metadata |
//! | `description` | what a family says |
//! | `rotations` | frequencies of rotary positions, scaled as configs say |
//! | `llama`, `qwen`, `gemma`, `phi` | the families |
//! | `names` | tensors' names in both kinds of files |
//! | `build` | a description and weights become a decoder |

mod build;
mod description;
mod facts;
mod gemma;
#[cfg(test)]
mod golden;
mod llama;
mod names;
mod phi;
mod qwen;
mod rotations;

use std::sync::Arc;

use super::decoder::Decoder;
use super::decoder::form::Form;
use super::matrix::Compute;
use super::weights::Weights;
use super::weights::config::Config;
use super::weights::gguf::Gguf;
use crate::{Error, Result};
use description::Description;
use facts::Facts;

/// A family's names and how it is described.
struct Family {
    /// `model_type` of a config, of the text's part where there is one.
    config: &'static [&'static str],
    /// `general.architecture` of GGUF.
    gguf: &'static str,
    describe: fn(&Facts<'_>) -> Result<Description>,
    /// What keys that a config leaves out mean.
    absent: &'static [(&'static str, f32)],
}

/// All families. `llama` is also what files of Llama 2, SmolLM2 and others of its shape call themselves.
const FAMILIES: [Family; 11] = [
    Family { config: &["llama"], gguf: "llama", describe: llama::llama, absent: &[] },
    Family { config: &["mistral"], gguf: "", describe: llama::mistral, absent: &[] },
    Family { config: &["smollm3"], gguf: "smollm3", describe: llama::smollm3, absent: &[] },
    Family { config: &["qwen2"], gguf: "qwen2", describe: qwen::qwen2, absent: &[] },
    Family { config: &["qwen3"], gguf: "qwen3", describe: qwen::qwen3, absent: &[] },
    Family { config: &["qwen3_5_text", "qwen3_5"], gguf: "qwen35", describe: qwen::qwen3_5, absent: &[] },
    Family { config: &["gemma"], gguf: "gemma", describe: gemma::gemma, absent: &[] },
    Family { config: &["gemma2"], gguf: "gemma2", describe: gemma::gemma2, absent: &[] },
    Family { config: &["gemma3_text", "gemma3"], gguf: "gemma3", describe: gemma::gemma3, absent: gemma::GEMMA3 },
    Family { config: &["gemma4_text", "gemma4"], gguf: "gemma4", describe: gemma::gemma4, absent: &[] },
    Family { config: &["phi3"], gguf: "phi3", describe: phi::phi3, absent: &[] },
];

/// What a model's files say of its decoder, before its weights are read.
#[derive(Debug)]
pub struct Outline {
    /// Architecture, as the file names it.
    pub family: String,
    description: Description,
}

impl Outline {
    /// Of a folder's config.
    ///
    /// # Errors
    /// [`Error::Input`] where the family is not known, or asks for something that it does not have here.
    pub fn of_config(config: &Config) -> Result<Outline> {
        let family = config.text("model_type")?.to_string();
        let known = FAMILIES.iter().find(|known| known.config.contains(&family.as_str()));
        let Some(known) = known else {
            let names: Vec<&str> = FAMILIES.iter().flat_map(|family| family.config.first().copied()).collect();
            return Err(unknown(config.path(), "model_type", &family, &names));
        };
        let description = (known.describe)(&Facts::Config(config, known.absent))?;
        Ok(Outline { family, description })
    }

    /// Of a GGUF file's metadata.
    ///
    /// # Errors
    /// As [`Outline::of_config`].
    pub fn of_gguf(gguf: &Gguf) -> Result<Outline> {
        const KEY: &str = "general.architecture";
        let family = gguf.text(KEY)?.to_string();
        let Some(known) = FAMILIES.iter().find(|known| known.gguf == family) else {
            let names: Vec<&str> = FAMILIES.iter().map(|family| family.gguf).filter(|name| !name.is_empty()).collect();
            return Err(unknown(gguf.path(), KEY, &family, &names));
        };
        let description = (known.describe)(&Facts::Gguf(gguf, &family))?;
        Ok(Outline { family, description })
    }

    /// Number of blocks.
    pub fn layers(&self) -> usize {
        self.description.layers.len()
    }

    /// Length of a hidden state.
    pub fn width(&self) -> usize {
        self.description.width
    }

    /// Most tokens of prompt and response together.
    pub fn context(&self) -> usize {
        self.description.context
    }

    /// Tokens that can come next: rows of the embedding, of which the tokenizer may know fewer.
    ///
    /// # Errors
    /// [`Error::Input`] where there is no embedding.
    pub fn vocabulary(&self, weights: &Weights) -> Result<usize> {
        build::vocabulary(&self.description, weights)
    }

    /// Bytes that the weights will take in memory, computed in `compute`.
    ///
    /// # Errors
    /// As [`Outline::vocabulary`].
    pub fn bytes(&self, weights: &Weights, compute: Compute) -> Result<u64> {
        build::bytes(&self.description, weights, compute)
    }

    /// The decoder, its weights in this form.
    ///
    /// # Errors
    /// [`Error::Input`] where tensors are missing, of a wrong shape, or left over; [`Error::Model`] where they can't be held.
    pub fn build<F: Form>(&self, weights: &Arc<Weights>, form: &F) -> Result<Decoder<F>> {
        build::decoder(&self.description, weights, form)
    }
}

fn unknown(path: &std::path::Path, key: &str, found: &str, known: &[&str]) -> Error {
    Error::input("the model is of a family that is not known")
        .file(path)
        .key(key)
        .found(found)
        .expected(known.join(", "))
        .fix("take a model of one of these families, or describe this one: docs/extending.md")
        .into()
}
