//! Finds the threshold of prompt validity for an encoder: prints how BERTScore F1 spreads over faithful and wrong rewrites.
//!
//! usage: calibrate_validity ENCODER_DIR PAIRS.jsonl [LAYER]
//!
//! A line of PAIRS.jsonl is `{"reference": TEXT, "candidate": TEXT, "label": "faithful" | "wrong", "kind": TEXT}`; kind is
//! optional and splits the tables. Without LAYER all layers are compared; with it, every misjudged pair is printed.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use sago::measure::bertscore::BertScorer;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Label {
    Faithful,
    Wrong,
}

#[derive(Deserialize)]
struct Pair {
    reference: String,
    candidate: String,
    label: Label,
    #[serde(default)]
    kind: String,
}

impl Pair {
    fn is_faithful(&self) -> bool {
        matches!(self.label, Label::Faithful)
    }
}

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (dir, file, layer) = match args.as_slice() {
        [dir, file] => (Path::new(dir), file, None),
        [dir, file, layer] => (Path::new(dir), file, Some(layer.parse().context("LAYER is no number")?)),
        _ => bail!("usage: calibrate_validity ENCODER_DIR PAIRS.jsonl [LAYER]"),
    };
    let text = std::fs::read_to_string(file).with_context(|| format!("could not read {file}"))?;
    let pairs = text
        .lines()
        .enumerate()
        .map(|(n, line)| serde_json::from_str(line).with_context(|| format!("{file}, line {}", n + 1)))
        .collect::<anyhow::Result<Vec<Pair>>>()?;
    ensure!(
        pairs.iter().any(Pair::is_faithful) && !pairs.iter().all(Pair::is_faithful),
        "{file} needs faithful and wrong pairs"
    );
    match layer {
        Some(layer) => one_layer(dir, &pairs, layer),
        None => all_layers(dir, &pairs),
    }
}

/// A line a layer: how often a faithful rewrite scores above a wrong one, and the best threshold.
fn all_layers(dir: &Path, pairs: &[Pair]) -> anyhow::Result<()> {
    println!("layer  P(faithful > wrong)  threshold  balanced accuracy");
    for layer in 1.. {
        // The first layer that the encoder lacks ends the table; an encoder that can't be loaded at all is an error.
        let scorer = match BertScorer::load(dir, Some(layer)) {
            Ok(scorer) => scorer,
            Err(_) if layer > 1 => break,
            Err(e) => return Err(e.into()),
        };
        let scores = f1(&scorer, pairs)?;
        let (threshold, accuracy) = best_threshold(&scores);
        println!("{layer:5}  {:19.3}  {threshold:9.3}  {accuracy:17.3}", separation(&scores));
    }
    Ok(())
}

/// The spread of F1 by label and kind, the best threshold, and what it gets wrong.
fn one_layer(dir: &Path, pairs: &[Pair], layer: usize) -> anyhow::Result<()> {
    let scorer = BertScorer::load(dir, Some(layer))?;
    let scores = f1(&scorer, pairs)?;
    let (threshold, accuracy) = best_threshold(&scores);
    println!("scorer     {}", scorer.signature());
    println!("threshold  {threshold:.3}  (balanced accuracy {accuracy:.3})\n");
    println!("label     kind               n    min    25%    50%    75%    max  misjudged");
    let mut groups: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for (pair, &(f1, faithful)) in pairs.iter().zip(&scores) {
        let label = if faithful { "faithful" } else { "wrong" };
        groups.entry((label, "all")).or_default().push(f1);
        groups.entry((label, &pair.kind)).or_default().push(f1);
    }
    for ((label, kind), values) in &mut groups {
        values.sort_by(f64::total_cmp);
        let wrong = values.iter().filter(|&&f1| (f1 >= threshold) != (*label == "faithful")).count();
        let at = |part: f64| values[((values.len() - 1) as f64 * part).round() as usize];
        println!(
            "{label:9} {kind:15} {:4}  {:.3}  {:.3}  {:.3}  {:.3}  {:.3}  {wrong:9}",
            values.len(),
            at(0.0),
            at(0.25),
            at(0.5),
            at(0.75),
            at(1.0)
        );
    }
    println!("\nmisjudged:");
    for (pair, &(f1, faithful)) in pairs.iter().zip(&scores) {
        if (f1 >= threshold) != faithful {
            let label = if faithful { "faithful" } else { "wrong" };
            println!("{f1:.3}  {label:8}  {}  =>  {}", pair.reference, pair.candidate);
        }
    }
    Ok(())
}

/// F1 of each pair, and whether it is faithful.
fn f1(scorer: &BertScorer, pairs: &[Pair]) -> anyhow::Result<Vec<(f64, bool)>> {
    let texts: Vec<_> = pairs.iter().map(|p| (p.reference.as_str(), p.candidate.as_str())).collect();
    Ok(scorer.score(&texts)?.iter().zip(pairs).map(|(score, pair)| (score.f1, pair.is_faithful())).collect())
}

/// Probability that a faithful pair scores above a wrong one, ties counted half (area under the ROC curve).
fn separation(scores: &[(f64, bool)]) -> f64 {
    let (mut above, mut n) = (0.0, 0.0);
    for (faithful, _) in scores.iter().filter(|(_, faithful)| *faithful) {
        for (wrong, _) in scores.iter().filter(|(_, faithful)| !faithful) {
            above += if faithful > wrong {
                1.0
            } else if faithful == wrong {
                0.5
            } else {
                0.0
            };
            n += 1.0;
        }
    }
    above / n
}

/// The threshold with the greatest balanced accuracy (mean of the shares of faithful pairs kept and of wrong ones cut):
/// the midpoint of neighbouring scores, the lowest of equally good ones, so that doubt keeps a rewrite.
fn best_threshold(scores: &[(f64, bool)]) -> (f64, f64) {
    let mut sorted: Vec<f64> = scores.iter().map(|(f1, _)| *f1).collect();
    sorted.sort_by(f64::total_cmp);
    let faithful = scores.iter().filter(|(_, faithful)| *faithful).count() as f64;
    let wrong = scores.len() as f64 - faithful;
    let mut best = (0.0, 0.5);
    for threshold in sorted.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0) {
        let kept = scores.iter().filter(|(f1, faithful)| *faithful && *f1 >= threshold).count() as f64;
        let cut = scores.iter().filter(|(f1, faithful)| !faithful && *f1 < threshold).count() as f64;
        let accuracy = (kept / faithful + cut / wrong) / 2.0;
        if accuracy > best.1 {
            best = (threshold, accuracy);
        }
    }
    best
}
