//! `sago report`.

use std::path::PathBuf;

use clap::Args;

use super::{Done, mib, note_if_incomplete, print, say};
use crate::release::texts_not_to_be_passed_on;
use crate::report::{FigureKind, PageSize, Report, TokenizerFile};
use crate::store::check::check_parts;
use crate::{Error, Result};

/// Write one HTML page that shows a run: charts, tables, and every response beside its baseline's
#[derive(Debug, Args)]
#[command(
    name = "report",
    after_help = "Examples:
  sago report runs/first                              writes runs/first/report/index.html
  sago report runs/base runs/tuned --out both         one page of two runs
  sago report runs/first --without-prompts            charts and tables only
  sago report runs/first --max-size 8MiB              as many prompts as go into 8 MiB
  sago report runs/first --tokenizer llama=llama.gguf   tokens shaded by their probability
  sago report runs/first --figures svg,tex            and each figure and table as a file, in runs/first/report/figures

The page is one file and asks nothing of a network. It holds the texts of prompts and responses: where these are not to be \
passed on, say --without-prompts. Prompts are left out where the page would be larger than --max-size, those first whose \
behaviour moved least, and the page says so."
)]
pub struct ReportCommand {
    /// Directories of analysed runs
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Directory of the page [default: RUN/report]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Leave prompts, wordings and responses out
    #[arg(long)]
    without_prompts: bool,
    /// Most bytes of the page, as 8MiB; charts, tables and code take 1 to 3 MiB of it
    #[arg(long, value_name = "SIZE", default_value = "32MiB")]
    max_size: PageSize,
    /// A model's GGUF file or folder, for tokens shaded by their probability; may be given several times
    #[arg(long, value_name = "MODEL=PATH", conflicts_with = "without_prompts")]
    tokenizer: Vec<TokenizerFile>,
    /// Write each figure and table as a file, too, into DIR/figures; several kinds with a comma between
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',')]
    figures: Vec<FigureKind>,
}

impl ReportCommand {
    pub fn carry_out(self) -> Result<Done> {
        let out = match (&self.out, self.runs.as_slice()) {
            (Some(out), _) => out.clone(),
            (None, [run]) => run.join("report"),
            (None, _) => {
                return Err(Error::input("a page of several runs belongs to none of them")
                    .key("--out")
                    .expected("--out DIR, the directory of the page")
                    .into());
            }
        };
        for run in &self.runs {
            check_parts(run)?;
            note_if_incomplete(run);
        }
        let report = Report {
            prompts: !self.without_prompts,
            max_size: self.max_size,
            tokenizers: self.tokenizer,
            figures: self.figures,
        };
        let written = report.write(&self.runs, &out)?;
        if let Some((held, all)) = written.prompts
            && held < all
        {
            say(&format!("note: the texts of {} of {all} prompts did not fit; --max-size allows more", all - held));
        }
        if written.prompts.is_some() {
            for run in &self.runs {
                for set in texts_not_to_be_passed_on(run)? {
                    let advice = "keep the page to yourself, or make it with --without-prompts";
                    say(&format!("note: the page holds texts of {}, and {}: {advice}", set.dataset, set.why));
                }
            }
        }
        say(&mib(written.bytes));
        print(&format!("{}\n", written.path.display()))?;
        if let Some(figures) = written.figures {
            figures.notes.iter().for_each(|note| say(&format!("note: {note}")));
            say(&format!("{} files of figures and tables", figures.files));
            print(&format!("{}\n", figures.folder.display()))?;
        }
        Ok(Done::All)
    }
}
