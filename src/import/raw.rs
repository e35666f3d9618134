//! Raw: responses become a run with raw tables, as if they had been generated here.
//!
//! In: responses with their documents. Out: plan.json, prompts, variants, models, parts of generations, similarities and
//! judgements (by the rules), manifest.json. What the logs do not hold (token ids, log-probabilities) is NULL.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::lm_eval::{Harvest, Key};
use super::write::{complete, finish, model_rows, open, variant};
use super::{Import, Imported};
use crate::Result;
use crate::datasets::source_hash;
use crate::run::texts::{self, Pair};
use crate::store::rows::{Cell, Rows};

/// Responses of one part.
const PART: usize = 8192;

/// Writes a run that knows responses.
pub(super) fn write(import: &Import, mut harvest: Harvest, out: &Path) -> Result<Imported> {
    let models = harvest.models.as_folders("model", &mut harvest.notes)?;
    let datasets = harvest.datasets.as_folders("data set", &mut harvest.notes)?;
    let dataset = |number: u32| datasets.get(number as usize).map_or("", String::as_str);
    let (mut prompts, mut variants) = (Rows::of("prompts")?, Rows::of("variants")?);
    for (&(set, prompt), document) in &harvest.documents {
        let prompt_id = harvest.prompts.get(prompt);
        for (&wording, text) in &document.texts {
            let key = Key { model: 0, dataset: set, prompt, wording };
            let baseline = harvest.baseline_of(key).and_then(|number| harvest.wordings.get(number));
            if let (Some(wording), Some(baseline)) = (harvest.wordings.get(wording), baseline) {
                variant(&mut variants, dataset(set), prompt_id, wording, baseline, Some(text.clone()))?;
            }
        }
        // The prompt itself, or what stands in its place.
        let is_baseline = |number: &&u32| harvest.wordings.get(**number).is_some_and(|w| w.is_baseline);
        let text = document.texts.keys().find(is_baseline).and_then(|number| document.texts.get(number));
        let text = text.cloned().unwrap_or_default();
        let hash = source_hash(&text, &document.answers);
        prompts.push([
            dataset(set).into(),
            prompt_id.into(),
            text.into(),
            document.answers.clone().into(),
            Cell::Null,
            prompt_id.parse::<i64>().ok().into(),
            hash.into(),
        ])?;
    }
    let generations: usize = harvest.responses.values().map(|said| said.responses.len()).sum();
    let counts = json!({
        "prompts": harvest.documents.len(), "variants": variants.len(), "generations": generations,
    });
    let (files, notes) = (std::mem::take(&mut harvest.files), std::mem::take(&mut harvest.notes));
    let dir = open(import, &files, &models, &datasets, counts, out)?;
    if dir.is_complete() {
        return complete(&dir, notes);
    }
    dir.write_table(model_rows(&models)?)?;
    dir.write_table(prompts)?;
    dir.write_table(variants)?;
    let mut units: BTreeMap<(u32, u32), Vec<Key>> = BTreeMap::new();
    for key in harvest.responses.keys() {
        units.entry((key.model, key.dataset)).or_default().push(*key);
    }
    for ((model, set), keys) in units {
        for (number, keys) in keys.chunks(PART).enumerate() {
            let model = models.get(model as usize).map_or("", String::as_str);
            dir.write_unit(model, dataset(set), number, parts(&harvest, keys)?)?;
        }
    }
    finish(&dir, notes)
}

/// Rows of generations, similarities and judgements.
fn parts(harvest: &Harvest, keys: &[Key]) -> Result<Vec<Rows>> {
    let mut generations = Rows::of("generations")?;
    let mut pairs: Vec<Pair> = Vec::new();
    for key in keys {
        let (Some(said), Some(wording)) = (harvest.responses.get(key), harvest.wordings.get(key.wording)) else {
            continue;
        };
        let of_baseline = harvest.baseline_of(*key).and_then(|wording| harvest.responses.get(&Key { wording, ..*key }));
        let baseline = of_baseline.and_then(|said| said.responses.first()).map(String::as_str);
        let (prompt_id, variant_id) = (harvest.prompts.get(key.prompt), wording.id.as_str());
        for (repeat, response) in (0..).zip(&said.responses) {
            let [a, b, c, d, e, f, g, h] = std::array::from_fn(|_| Cell::Null);
            let response = response.as_str();
            generations.push([
                prompt_id.into(),
                variant_id.into(),
                repeat.into(),
                a,
                response.into(),
                b,
                c,
                d,
                e,
                f,
                g,
                h,
            ])?;
            pairs.push(Pair {
                prompt_id,
                variant_id,
                repeat,
                subtype: &wording.subtype,
                strength: wording.strength(),
                is_baseline: wording.is_baseline,
                response,
                baseline,
            });
        }
    }
    Ok(vec![generations, texts::similarities(&pairs, None, None)?, texts::judgements(&pairs)?])
}
