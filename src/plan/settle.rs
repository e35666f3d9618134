//! Settle: a config becomes a study, or an error that says what to change.
//!
//! In: a [`Config`]. Out: a [`Study`]: every value checked, prompts sampled, variants made, hashes taken.

use std::collections::BTreeMap;

use super::config::{self, Config};
use super::{Counts, GenerationPlan, MeasuresPlan, Plan, Said, Study, VariantsPlan, preset, sources};
use crate::datasets::Prompt;
use crate::measure::mirroring::{courtesy, length, surface};
use crate::measure::{bleu, chrf, validity};
use crate::model::hub::Transfer;
use crate::store::schema::SCHEMA_VERSION;
use crate::variants::{self, Grid, Level, Paraphrase, Place, Subtype, Variant};
use crate::{Error, Result, hash};

/// New tokens a response, where nothing is said: the study's.
const MAX_NEW_TOKENS: usize = 100;

/// Checks a config and makes everything that a run needs but the models' answers; `transfer` is told of downloads.
///
/// # Errors
/// A value is impossible, a file is missing or unusable, or nothing is left to run: the message names key, place and
/// accepted values.
pub fn settle(config: Config, transfer: &dyn Transfer) -> Result<Study> {
    let config = match config.preset.clone() {
        Some(name) => config.over(preset(&name)?),
        None => config,
    };
    let seed = config.seed.as_ref().map_or(Ok(0), |s| s.whole("seed", 0..=i64::MAX))? as u64;
    let generation = generation(&config.generation)?;
    let paraphrases = config.variants.paraphrases.as_ref();
    let own = paraphrases.map(|p| variants::read_paraphrases(&p.value)).transpose()?.unwrap_or_default();
    let grid = match &config.variants.built_in {
        Some(said) if !said.value && paraphrases.is_none() => {
            let error =
                said.wrong("variants.built_in", "no variants are left: built_in is false and there are no paraphrases");
            return Err(error.fix("give a file with `paraphrases`, or leave built_in out").into());
        }
        Some(said) if !said.value => None,
        _ => Some(grid(&config.variants)?),
    };
    let (datasets, prompts) = sources::datasets(&config, seed)?;
    let variants = make_variants(&prompts, grid.as_ref(), &own, seed)?;
    let texts: Vec<&str> = prompts.iter().flatten().map(|prompt| prompt.text.as_str()).collect();
    let scorer = sources::scorer(&config.measure, &texts, transfer)?;
    let bertscore = scorer.as_ref().map(|s| s.signature().to_string());
    let (validity, threshold) = validity(&config.variants, bertscore.as_deref())?;
    // After what fails at once: a model may have to be fetched.
    let (models, found) = sources::models(&config, generation.max_new_tokens, transfer)?;
    let activation_layers =
        config.store.activations.as_ref().map(|said| sources::layers(said, &models)).transpose()?.flatten();
    let planned = counts(&prompts, &variants, models.len().saturating_mul(generation.repeats));
    let plan = Plan {
        schema_version: SCHEMA_VERSION,
        seed,
        models,
        datasets,
        generation,
        variants: VariantsPlan {
            grid,
            paraphrases_sha256: paraphrases.map(|p| hash::of_file(&p.value)).transpose()?,
            validity,
            threshold,
        },
        measures: MeasuresPlan {
            bleu: bleu::SIGNATURE.to_string(),
            chrf: chrf::SIGNATURE.to_string(),
            bertscore,
            judges: [surface::JUDGE, courtesy::JUDGE, length::JUDGE].map(str::to_string).to_vec(),
        },
        activation_layers,
        planned,
    };
    if plan.variants.grid.is_none()
        && variants.iter().flatten().flatten().all(|v| v.is_baseline)
        && let Some(paraphrases) = paraphrases
    {
        let error = paraphrases
            .wrong("variants.paraphrases", "no variants are left: the paraphrases belong to no sampled prompt");
        let ids: Vec<&str> = prompts.iter().flatten().map(|p| p.prompt_id.as_str()).take(5).collect();
        return Err(error.expected(format!("prompt_id of a sampled prompt: {}, ...", ids.join(", "))).into());
    }
    let notes = notes(&plan, &prompts, &own);
    Ok(Study { plan, prompts, variants, found, scorer, notes })
}

fn generation(said: &config::Generation) -> Result<GenerationPlan> {
    let number = |said: &Option<Said<f64>>, key: &str, default: f64, range: &str, fits: fn(f64) -> bool| match said {
        Some(s) if !fits(s.value) => {
            let error = s.wrong(key, format!("{key} = {} is impossible", s.value));
            Err(Error::from(error.expected(range)))
        }
        Some(s) => Ok(s.value),
        None => Ok(default),
    };
    let count = |said: &Option<Said<i64>>, key: &str, default, range| {
        said.as_ref().map_or(Ok(default), |s| s.whole(key, range))
    };
    Ok(GenerationPlan {
        max_new_tokens: count(&said.max_new_tokens, "generation.max_new_tokens", MAX_NEW_TOKENS, 1..=1_000_000)?,
        ignore_end: said.ignore_end.as_ref().is_some_and(|s| s.value),
        temperature: number(&said.temperature, "generation.temperature", 0.0, "a number from 0 to 100", |t| {
            (0.0..=100.0).contains(&t)
        })?,
        top_p: number(&said.top_p, "generation.top_p", 1.0, "a number above 0 and up to 1", |p| p > 0.0 && p <= 1.0)?,
        seed: count(&said.seed, "generation.seed", 0, 0..=i64::MAX)? as u64,
        system_prompt: said.system_prompt.as_ref().map(|s| s.value.clone()),
        repeats: count(&said.repeats, "generation.repeats", 1, 1..=10_000)?,
    })
}

fn grid(said: &config::Variants) -> Result<Grid> {
    let paper = Grid::paper();
    let mut places = paper.places().to_vec();
    if let Some(list) = &said.places {
        let place = |p: &Said<String>| p.check("variants.places", Place::parse(&p.value));
        places = list.value.iter().map(place).collect::<Result<_>>()?;
        list.check("variants.places", Grid::new(paper.levels().clone(), places.clone()))?;
    }
    let mut levels = paper.levels().clone();
    let strengths = &said.strengths;
    for (subtype, list) in [
        (Subtype::Politeness, &strengths.politeness),
        (Subtype::Spacing, &strengths.spacing),
        (Subtype::Punctuation, &strengths.punctuation),
        (Subtype::Casing, &strengths.casing),
        (Subtype::Length, &strengths.length),
    ] {
        let Some(list) = list else { continue };
        let key = format!("variants.strengths.{}", subtype.as_str());
        let alone = |levels| Grid::new(BTreeMap::from([(subtype, levels)]), Place::ALL.to_vec());
        // Each by itself first, so that the message can name its line.
        for value in &list.value {
            value.check(&key, alone(vec![Level::from(value.value)]))?;
        }
        let chosen: Vec<Level> = list.value.iter().map(|v| Level::from(v.value)).collect();
        list.check(&key, alone(chosen.clone()))?;
        levels.insert(subtype, chosen);
    }
    if let Some(list) = &said.subtypes {
        let parse = |s: &Said<String>| s.check("variants.subtypes", Subtype::parse(&s.value));
        let chosen = list.value.iter().map(parse).collect::<Result<Vec<_>>>()?;
        if chosen.is_empty() {
            let error = list.wrong("variants.subtypes", "the grid holds no variants");
            return Err(error.expected(Subtype::ALL.map(Subtype::as_str).join(", ")).into());
        }
        levels.retain(|subtype, _| chosen.contains(subtype));
    }
    Grid::new(levels, places)
}

/// The validity rule's name and its threshold.
fn validity(said: &config::Variants, scorer: Option<&str>) -> Result<(String, Option<f64>)> {
    let rule = match &said.validity {
        Some(rule) if ["rewrites", "none"].contains(&rule.value.as_str()) => rule.value.clone(),
        Some(rule) => {
            let error = rule.wrong("variants.validity", format!("\"{}\" is no validity rule", rule.value));
            return Err(error.expected("rewrites or none").into());
        }
        None => "rewrites".to_string(),
    };
    if let Some(threshold) = &said.threshold
        && !(0.0..=1.0).contains(&threshold.value)
    {
        let error = threshold.wrong("variants.threshold", format!("threshold = {} is impossible", threshold.value));
        return Err(error.expected("a BERTScore F1, from 0 to 1").into());
    }
    let threshold = match (rule.as_str(), &said.threshold, scorer) {
        ("none", _, _) | (_, _, None) => None,
        (_, Some(threshold), Some(_)) => Some(threshold.value),
        (_, None, Some(scorer)) => Some(validity::default_threshold(scorer).ok_or_else(|| {
            Error::input(format!("no validity threshold is known for the scorer {scorer}"))
                .key("variants.threshold")
                .fix("set `threshold` under [variants], or `validity = \"none\"`")
        })?),
    };
    Ok((rule, threshold))
}

/// Variants by data set and prompt.
fn make_variants(
    prompts: &[Vec<Prompt>],
    grid: Option<&Grid>,
    own: &[Paraphrase],
    seed: u64,
) -> Result<Vec<Vec<Vec<Variant>>>> {
    let no_cells = Grid::new(BTreeMap::new(), Vec::new())?;
    let of_prompt = |prompt: &Prompt| -> Result<Vec<Variant>> {
        let mut made = variants::make(prompt, grid.unwrap_or(&no_cells), seed);
        made.extend(variants::own(prompt, own, seed)?);
        Ok(made)
    };
    prompts.iter().map(|dataset| dataset.iter().map(of_prompt).collect()).collect()
}

fn notes(plan: &Plan, prompts: &[Vec<Prompt>], own: &[Paraphrase]) -> Vec<String> {
    let mut notes = Vec::new();
    let starter: Vec<&str> = plan.datasets.iter().filter(|d| d.is_starter()).map(|d| d.name.as_str()).collect();
    if !starter.is_empty() {
        let names = starter.join(", ");
        notes.push(format!(
            "{names}: starter prompts written for sago; give the data set's own file with --dataset NAME=FILE"
        ));
    }
    let sampled: Vec<Prompt> = prompts.iter().flatten().cloned().collect();
    let unmatched = variants::unmatched(&sampled, own).len();
    if unmatched > 0 {
        notes.push(format!("{unmatched} of {} paraphrases belong to no sampled prompt and will not run", own.len()));
    }
    for model in plan.models.iter().filter(|m| m.template_sha256.is_none()) {
        notes.push(format!("{} has no chat template: it gets the plain prompts", model.name));
    }
    notes
}

fn counts(prompts: &[Vec<Prompt>], variants: &[Vec<Vec<Variant>>], asked: usize) -> Counts {
    let all = || variants.iter().flatten().flatten();
    let wordings = all().filter(|v| v.text.is_some()).count();
    Counts {
        prompts: prompts.iter().map(Vec::len).sum(),
        variants: all().count(),
        wordings,
        generations: wordings.saturating_mul(asked),
    }
}
