//! Report: one page that shows a run.
//!
//! In: analysed runs. Out: `index.html`, which holds its data, its charts and its own code, and asks nothing of a network.
//! Figures come from SQL queries (`figures`), texts for the prompt browser from the raw tables (`texts`).

mod columns;
mod figures;
mod fit;
mod pack;
mod page;
mod pieces;
mod texts;

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::query::{Analysis, Session, check_analyzed, run_names};
use crate::store::files::write_text;
use crate::{Error, Result, hash};

use self::page::Run;
use self::texts::Texts;

pub use fit::PageSize;
pub use pieces::TokenizerFile;

/// What goes into a page.
#[derive(Debug, Clone)]
pub struct Report {
    /// Whether prompts, wordings and responses go into it.
    pub prompts: bool,
    /// Most that the page may take; prompts are left out until it fits. Figures and code always go in.
    pub max_size: PageSize,
    /// Tokenizers, for the shading of tokens by their probability.
    pub tokenizers: Vec<TokenizerFile>,
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
}

impl Report {
    /// Writes `out/index.html` of one run or several. The same runs give the same bytes.
    ///
    /// # Errors
    /// A run that is none, is not analysed, or can't be read; a tokenizer that fits no model; `out` can't be written.
    pub fn write(&self, runs: &[PathBuf], out: &Path) -> Result<Written> {
        let names = run_names(runs)?;
        let mut read = Vec::new();
        for (path, name) in runs.iter().zip(names) {
            let session = open(path)?;
            let texts = if self.prompts { Some(Texts::read(&session, &self.tokenizers)?) } else { None };
            let plan = path.join("plan.json");
            let id = if plan.is_file() { Some(hash::of_file(&plan)?) } else { None };
            let figures = json!({ "name": name, "id": id, "tables": figures::rows(&session)? });
            read.push(Run { figures, texts });
        }
        self.check_tokenizers(&read)?;
        let page = fit::page(&read, self.max_size.bytes)?;
        let path = out.join("index.html");
        write_text(&path, &page.html)?;
        Ok(Written { bytes: page.html.len() as u64, prompts: self.prompts.then_some(page.prompts), path })
    }

    /// Each tokenizer must be of a model of one of the runs.
    fn check_tokenizers(&self, runs: &[Run]) -> Result<()> {
        let models: Vec<&str> = runs.iter().flat_map(Run::models).collect();
        match self.tokenizers.iter().find(|given| !models.contains(&given.model.as_str())) {
            None => Ok(()),
            Some(given) => Err(Error::input(format!("there is no model {} in the run", given.model))
                .key("--tokenizer")
                .found(given.model.as_str())
                .expected(models.join(", "))
                .into()),
        }
    }
}

/// A session of an analysed run, on one thread: sums must come out the same to the last digit.
fn open(run: &Path) -> Result<Session> {
    check_analyzed(run)?;
    Analysis::default().with_threads(1).open(run)
}
