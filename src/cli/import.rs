//! `sago import`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::progress::Tables;
use super::{Done, print, say};
use crate::import::{self, Confidence, Layout, Responses, Source};
use crate::{Error, Result, query};

/// Make a run of other people's files, and analyse it
#[derive(Debug, Args)]
#[command(after_help = "Layouts:
  published   CSV files of the published study, one a style (spacing.csv, letter_case.csv, ...) or one long file
  lm-eval     samples_*.jsonl of lm-evaluation-harness (--log_samples), a file or folder a wording
  deltas      a table (CSV, TSV, JSON, JSONL, Parquet) with columns model, dataset, prompt_id, axis, delta, and
              variant or subtype, place, strength; value and repeat if you have them

Examples:
  sago import --layout published gpt54_alpaca/ --model gpt-5.4 --dataset alpaca --out runs/gpt
  sago import --layout published gpt-5.4/alpaca=gpt54_alpaca/ gpt-5.4/triviaqa=gpt54_trivia/ --out runs/gpt
  sago import --layout lm-eval --variant baseline=out/plain/ --variant politeness/prefix/-4=out/rude/ --out runs/lm
  sago import --layout deltas mine.parquet --column prompt_id=item --column axis=metric --out runs/mine
  sago sql runs/mine -c \"select * from sgs_model\"

What the files do not say is NULL, or has no row; the table coverage tells what is missing.")]
pub struct Import {
    /// Files, or folders of them; MODEL/DATASET=PATH names whose they are
    #[arg(value_name = "[MODEL/DATASET=]PATH")]
    sources: Vec<String>,
    /// How the files are laid out
    #[arg(long, value_enum)]
    layout: LayoutName,
    /// Directory of the run: new, empty, or with this same import
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Name of the model, where the files do not say it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Name of the data set, where the files do not say it
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// lm-eval: the file or folder of one wording; `baseline` is the prompts as they are (again for each wording)
    #[arg(long = "variant", value_name = "ID=PATH")]
    variants: Vec<String>,
    /// The file's column THEIRS is the column NAME (again for each column)
    #[arg(long = "column", value_name = "NAME=THEIRS")]
    columns: Vec<String>,
    /// published: whether confidence was scored on the baseline's response or on the generated tokens [default: by the
    /// column's name, entropy_shift means generated]
    #[arg(long, value_enum)]
    confidence: Option<ConfidenceName>,
    /// Add baseline rows with delta 0 where the files leave them out
    #[arg(long)]
    add_baselines: bool,
    /// lm-eval: read the rows of this filter [default: the first that a file has]
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
    /// lm-eval: what the model wrote, or what the filter made of it
    #[arg(long, value_enum, default_value_t = ResponsesName::Raw)]
    responses: ResponsesName,
    /// Only write the run; `sago analyze` analyses it later
    #[arg(long)]
    no_analysis: bool,
    /// Only the SGS table, not what was written
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LayoutName {
    Published,
    LmEval,
    Deltas,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ConfidenceName {
    Forced,
    Generated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ResponsesName {
    Raw,
    Filtered,
}

impl Import {
    pub fn carry_out(self) -> Result<Done> {
        let imported = self.settled()?.carry_out(&self.out)?;
        imported.notes.iter().for_each(|note| say(&format!("note: {note}")));
        if !self.quiet {
            for (table, rows) in &imported.rows {
                say(&format!("{table:28} {rows:9} rows"));
            }
        }
        if self.no_analysis {
            return Ok(Done::All);
        }
        let analysis = query::Analysis::default();
        let mut progress = Tables::new(self.quiet);
        analysis.run_with(&self.out, |step| progress.tell(step))?;
        drop(progress);
        print(&query::sgs_table(&self.out)?)?;
        super::checks(&analysis, &self.out)
    }

    /// The options as the library takes them.
    fn settled(&self) -> Result<import::Import> {
        let is_lm_eval = self.layout == LayoutName::LmEval;
        let misplaced = [
            ("--variant", !is_lm_eval && !self.variants.is_empty()),
            ("--filter", !is_lm_eval && self.filter.is_some()),
            ("--responses", !is_lm_eval && self.responses == ResponsesName::Filtered),
            ("PATH without --variant", is_lm_eval && !self.sources.is_empty()),
            ("--add-baselines", is_lm_eval && self.add_baselines),
            ("--confidence", self.layout != LayoutName::Published && self.confidence.is_some()),
        ];
        if let Some((option, _)) = misplaced.into_iter().find(|(_, is_misplaced)| *is_misplaced) {
            return Err(Error::input("an option does not belong to the layout")
                .key(option)
                .fix("`sago import --help` says which layout takes it")
                .into());
        }
        let mut sources: Vec<Source> = self.sources.iter().map(|text| source(text)).collect();
        for text in &self.variants {
            let (id, path) = pair("--variant", text, "baseline=samples.jsonl")?;
            sources.push(Source { path: path.into(), variant: Some(id.to_string()), ..Source::default() });
        }
        let mut columns = BTreeMap::new();
        for text in &self.columns {
            let (ours, theirs) = pair("--column", text, "prompt_id=item")?;
            if columns.insert(ours.to_string(), theirs.to_string()).is_some() {
                return Err(Error::input(format!("the column {ours} is named twice"))
                    .key("--column")
                    .found(text)
                    .into());
            }
        }
        let layout = match self.layout {
            LayoutName::Published => Layout::Published,
            LayoutName::LmEval => Layout::LmEval,
            LayoutName::Deltas => Layout::Deltas,
        };
        Ok(import::Import {
            model: self.model.clone(),
            dataset: self.dataset.clone(),
            columns,
            confidence: self.confidence.map(|name| match name {
                ConfidenceName::Forced => Confidence::Forced,
                ConfidenceName::Generated => Confidence::Generated,
            }),
            add_baselines: self.add_baselines,
            filter: self.filter.clone(),
            responses: match self.responses {
                ResponsesName::Raw => Responses::Raw,
                ResponsesName::Filtered => Responses::Filtered,
            },
            ..import::Import::new(layout, sources)
        })
    }
}

/// A path, with or without `MODEL/DATASET=` before it; what is there as a path is one.
fn source(text: &str) -> Source {
    let named = text.split_once('=').and_then(|(names, path)| Some((names.split_once('/')?, path)));
    match named {
        Some(((model, dataset), path))
            if !Path::new(text).exists() && ![model, dataset].iter().any(|n| n.is_empty() || n.contains('/')) =>
        {
            Source {
                path: path.into(),
                model: Some(model.to_string()),
                dataset: Some(dataset.to_string()),
                variant: None,
            }
        }
        _ => Source { path: text.into(), ..Source::default() },
    }
}

/// The two sides of `NAME=VALUE`.
fn pair<'a>(option: &str, text: &'a str, example: &str) -> Result<(&'a str, &'a str)> {
    match text.split_once('=') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() => Ok((left, right)),
        _ => Err(Error::input(format!("{option} takes two names with = between them"))
            .key(option)
            .found(text)
            .expected(example)
            .into()),
    }
}
