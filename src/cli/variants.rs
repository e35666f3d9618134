//! `sago variants`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::{Done, print};
use crate::datasets::{self, Columns, Prompt, Spec};
use crate::query::plain_table;
use crate::variants::{self, Grid, Subtype, Variant};
use crate::{Error, Result};

/// Show how a prompt is reworded
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago variants \"Who wrote Dracula?\"
  sago variants \"Who wrote Dracula?\" --format json | jq .text
  sago variants --dataset alpaca -n 2               of two sampled starter prompts
  sago variants --dataset alpaca=alpaca.json --subtypes length,form")]
pub struct Variants {
    /// The prompt
    text: Option<String>,
    /// Take prompts of this data set instead
    #[arg(long, value_name = "NAME[=FILE]", conflicts_with = "text")]
    dataset: Option<String>,
    /// So many prompts of the data set
    #[arg(long, short = 'n', value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    prompts: u32,
    /// Seed of sampling and of the variants
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// Only these subtypes, separated by commas: politeness, spacing, punctuation, casing, length, form
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    subtypes: Vec<String>,
    /// For a person, or a JSON object a line for a program
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Variants {
    pub fn carry_out(self) -> Result<Done> {
        let mut grid = Grid::paper();
        if !self.subtypes.is_empty() {
            let subtypes = self.subtypes.iter().map(|name| Subtype::parse(name)).collect::<Result<Vec<_>>>()?;
            grid = grid.only(&subtypes);
        }
        let prompts = self.prompts()?;
        let mut out = String::new();
        for prompt in &prompts {
            let made = variants::make(prompt, &grid, self.seed);
            match self.format {
                Format::Json => made.iter().for_each(|v| out.push_str(&format!("{}\n", as_json(v)))),
                Format::Text => out.push_str(&as_table(prompt, &made)),
            }
        }
        print(&out)?;
        Ok(Done::All)
    }

    fn prompts(&self) -> Result<Vec<Prompt>> {
        match (&self.text, &self.dataset) {
            (Some(text), _) if text.trim().is_empty() => {
                Err(Error::input("the prompt is empty").key("TEXT").expected("some words").into())
            }
            (Some(text), _) => Ok(vec![Prompt {
                dataset: "given".to_string(),
                prompt_id: "0".to_string(),
                text: text.clone(),
                answers: Vec::new(),
                category: None,
                source_row: 0,
                source_hash: crate::datasets::source_hash(text, &[]),
            }]),
            (None, Some(entry)) => {
                let (name, path) = entry.split_once('=').map_or((entry.as_str(), None), |(n, p)| (n, Some(p)));
                let spec = Spec { name: name.to_string(), path: path.map(PathBuf::from), columns: Columns::default() };
                datasets::sample(datasets::load(&spec)?.prompts, self.prompts as usize, self.seed)
            }
            (None, None) => {
                Err(Error::input("there is no prompt").fix("give a text in quotes, or --dataset NAME").into())
            }
        }
    }
}

fn as_json(v: &Variant) -> serde_json::Value {
    json!({
        "dataset": v.dataset, "prompt_id": v.prompt_id, "variant_id": v.variant_id, "family": v.family,
        "subtype": v.subtype, "place": v.place, "strength": v.strength, "level": v.level,
        "is_baseline": v.is_baseline, "baseline_id": v.baseline_id, "seed": v.seed, "text": v.text,
        "rewriter": v.rewriter, "is_valid": v.is_valid, "invalid_reason": v.invalid_reason,
    })
}

/// A table with spaces made visible where they are the point.
fn as_table(prompt: &Prompt, made: &[Variant]) -> String {
    let mut table = plain_table();
    table.set_header(["variant", "text"]);
    for v in made {
        let text = match (&v.text, &v.invalid_reason) {
            (Some(text), _) if v.subtype == "spacing" => text.replace(' ', "·"),
            (Some(text), _) => text.clone(),
            (None, Some(reason)) => format!("(not made: {reason})"),
            (None, None) => "(not made)".to_string(),
        };
        table.add_row([v.variant_id.clone(), text]);
    }
    let made = made.iter().filter(|v| v.text.is_some() && !v.is_baseline).count();
    format!("{} / {}: {made} variants\n{}\n\n", prompt.dataset, prompt.prompt_id, table.trim_fmt())
}
