//! Report: one page that shows a run.
//!
//! In: analysed runs. Out: `index.html`, which holds its data, its charts and its own code, and asks nothing of a network.
//! Figures come from SQL queries (`figures`), texts for the prompt browser from the raw tables (`texts`). On request each
//! figure is a file, too: the page's code draws it without a browser (`engine`), and `png` makes pixels of it.

mod code;
mod columns;
mod engine;
mod figures;
mod fit;
mod pack;
mod page;
mod pieces;
mod png;
mod saved;
mod texts;

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::query::{Analysis, Session, check_analyzed, run_names};
use crate::store::begun::Begun;
use crate::store::files::write_text;
use crate::{Result, hash};

use self::page::Run;
use self::pieces::Tokenizers;
use self::texts::Texts;

pub use fit::PageSize;
pub use pieces::TokenizerFile;
pub use saved::{FigureKind, SavedFigures};

/// What goes into a page.
#[derive(Debug, Clone)]
pub struct Report {
    /// Whether prompts, wordings and responses go into it.
    pub prompts: bool,
    /// Most that the page may take; prompts are left out until it fits. Figures and code always go in.
    pub max_size: PageSize,
    /// Tokenizers, for the shading of tokens by their probability.
    pub tokenizers: Vec<TokenizerFile>,
    /// Kinds of files in which each figure and table is written, too; none where empty.
    pub figures: Vec<FigureKind>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The page.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Prompts whose texts the page holds, of how many; None without the prompt browser.
    pub prompts: Option<(usize, usize)>,
    /// The figures' own files; None where none were asked for.
    pub figures: Option<SavedFigures>,
}

impl Report {
    /// Writes `out/index.html` of one run or several, and its figures to `out/figures`. The same runs give the same bytes.
    ///
    /// # Errors
    /// A run that is none, is not analysed, or can't be read; a tokenizer that fits no model; a figure can't be drawn;
    /// `out` can't be written.
    pub fn write(&self, runs: &[PathBuf], out: &Path) -> Result<Written> {
        let sessions = runs.iter().map(|run| open(run)).collect::<Result<Vec<_>>>()?;
        let tokenizers = Tokenizers::open(&self.tokenizers, &sessions)?;
        let mut read = Vec::new();
        for ((path, name), session) in runs.iter().zip(run_names(runs)?).zip(&sessions) {
            let texts = if self.prompts { Some(Texts::read(session, &tokenizers)?) } else { None };
            let plan = path.join("plan.json");
            let id = if plan.is_file() { Some(hash::of_file(&plan)?) } else { None };
            let complete = path.join("manifest.json").is_file() && Begun::read(path)?.is_none();
            let tables = figures::rows(session)?;
            let figures = json!({ "name": name, "id": id, "complete": complete, "tables": tables });
            read.push(Run { figures, texts });
        }
        let page = fit::page(&read, self.max_size.bytes)?;
        let path = out.join("index.html");
        write_text(&path, &page.html)?;
        let figures = if self.figures.is_empty() {
            None
        } else {
            let data: Vec<_> = read.iter().map(|run| &run.figures).collect();
            Some(saved::save(&json!({ "runs": data }).to_string(), &self.figures, &out.join("figures"))?)
        };
        Ok(Written { bytes: page.html.len() as u64, prompts: self.prompts.then_some(page.prompts), figures, path })
    }
}

/// A session of an analysed run, on one thread: sums must come out the same to the last digit.
fn open(run: &Path) -> Result<Session> {
    check_analyzed(run)?;
    Analysis::default().with_threads(1).open(run)
}
