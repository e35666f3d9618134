//! Describe: a plan as `--dry-run` prints it.
//!
//! In: a [`Study`]. Out: text with models, data sets, variants, generations, and expected rows and bytes.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Plan, Study};

/// Bytes that Parquet takes for one float of a log-probability, entropy or divergence, and of a hidden state:
/// measured on runs of the demo model, zstd after byte-stream-split.
const SCORE_BYTES: f64 = 3.4;
const HIDDEN_BYTES: f64 = 3.5;
/// Bytes of texts, token ids and keys of a generation.
const TEXT_BYTES: f64 = 250.0;
/// Bytes of a part beside its values: schema, page index, statistics.
const PART_BYTES: f64 = 9000.0;

/// The plan for a person: what will be run and what it comes to.
pub fn describe(study: &Study) -> String {
    let plan = &study.plan;
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = models(&mut text, plan);
    let _ = datasets(&mut text, plan);
    let _ = variants(&mut text, study);
    let _ = generation(&mut text, plan);
    let _ = rows(&mut text, plan);
    text
}

fn models(out: &mut String, plan: &Plan) -> std::fmt::Result {
    writeln!(out, "models")?;
    for m in &plan.models {
        let template = if m.template_sha256.is_some() { "chat template" } else { "no chat template: plain prompts" };
        let millions = m.parameters as f64 / 1e6;
        let (name, family, layers, width) = (&m.name, &m.family, m.layers, m.width);
        let set = m.template_options.iter().map(|(option, value)| format!(", {option} = {value}")).collect::<String>();
        writeln!(
            out,
            "  {name}: {family}, {millions:.0} M weights, {layers} layers of {width}, {}, {}, {template}{set}",
            m.dtype, m.device
        )?;
        if let Some(commit) = &m.revision {
            writeln!(out, "    from the hub: {} at {commit}", m.source)?;
        }
    }
    Ok(())
}

fn datasets(out: &mut String, plan: &Plan) -> std::fmt::Result {
    writeln!(out, "data sets")?;
    for d in &plan.datasets {
        let source = if d.is_starter() { "starter prompts written for sago" } else { d.source.as_str() };
        let layout = d.layout.as_deref().map(|l| format!(", layout {l}")).unwrap_or_default();
        writeln!(out, "  {}: {} of {} prompts, from {source}{layout}", d.name, d.prompt_ids.len(), d.rows)?;
    }
    Ok(())
}

fn variants(out: &mut String, study: &Study) -> std::fmt::Result {
    let mut by_subtype: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for v in study.variants.iter().flatten().flatten().filter(|v| !v.is_baseline) {
        let count = by_subtype.entry((&v.family, &v.subtype)).or_default();
        count.0 += 1;
        count.1 += usize::from(v.text.is_none());
    }
    writeln!(out, "variants over all prompts, baselines not counted")?;
    for ((family, subtype), (all, impossible)) in by_subtype {
        let note = if impossible > 0 { format!(", {impossible} of them impossible to rewrite") } else { String::new() };
        writeln!(out, "  {family} / {subtype}: {all}{note}")?;
    }
    let planned = &study.plan.planned;
    writeln!(out, "  with baselines: {} rows, {} of them with a text", planned.variants, planned.wordings)?;
    let rule = match (study.plan.variants.validity.as_str(), study.plan.variants.threshold) {
        ("none", _) => "recorded, applied to nothing".to_string(),
        (_, Some(threshold)) => format!("length, form and own paraphrases need a BERTScore F1 of {threshold}"),
        (_, None) => "not checked: there is no encoder".to_string(),
    };
    writeln!(out, "  validity: {rule}")?;
    let signature = study.plan.measures.bertscore.as_deref();
    writeln!(out, "  meaning: {}", signature.unwrap_or("not scored, there is no encoder"))
}

fn generation(out: &mut String, plan: &Plan) -> std::fmt::Result {
    let g = &plan.generation;
    let how = if g.temperature == 0.0 {
        "greedy".to_string()
    } else {
        format!("temperature {}, top_p {}, seed {}", g.temperature, g.top_p, g.seed)
    };
    writeln!(out, "generation")?;
    let many = if g.ignore_end { "end tokens ignored, always" } else { "at most" };
    writeln!(out, "  {many} {} new tokens, {how}, {} time(s) a prompt", g.max_new_tokens, g.repeats)?;
    match &g.system_prompt {
        Some(system) => writeln!(out, "  system prompt: {system:?}"),
        None => writeln!(out, "  system prompt: the template's own default"),
    }
}

fn rows(out: &mut String, plan: &Plan) -> std::fmt::Result {
    let models = plan.models.len().max(1);
    let generations = plan.planned.generations;
    let once = plan.planned.wordings * models;
    let tokens = plan.generation.max_new_tokens as f64;
    let mut tables = vec![
        ("generations", generations, generations as f64 * (TEXT_BYTES + 2.0 * SCORE_BYTES * tokens)),
        ("forced", once, once as f64 * 3.0 * SCORE_BYTES * tokens),
        ("similarities", generations, generations as f64 * 30.0),
        ("judgements", generations, generations as f64 * 10.0),
    ];
    let (mut kept_rows, mut kept_bytes, mut drift_rows) = (0, 0.0, 0);
    for m in &plan.models {
        let kept = plan.activation_layers.as_ref().map_or(m.layers + 1, Vec::len);
        kept_rows += plan.planned.wordings * kept;
        kept_bytes += (plan.planned.wordings * kept * m.width) as f64 * HIDDEN_BYTES;
        drift_rows += plan.planned.wordings * (m.layers + 1 - kept);
    }
    tables.push(("activations", kept_rows, kept_bytes));
    tables.push(("drift", drift_rows, drift_rows as f64 * 12.0));
    writeln!(out, "expected at most")?;
    let parts = (plan.planned.prompts * models) as f64;
    tables.iter_mut().filter(|t| t.1 > 0).for_each(|t| t.2 += parts * PART_BYTES);
    for (table, rows, bytes) in &tables {
        writeln!(out, "  {table:13} {rows:10} rows {:>10}", indicatif::HumanBytes(*bytes as u64).to_string())?;
    }
    let bytes: f64 = tables.iter().map(|t| t.2).sum();
    let prompts = plan.planned.prompts;
    let all = indicatif::HumanBytes(bytes as u64);
    writeln!(out, "{prompts} prompts, {generations} generations, about {all} in all")
}
