//! `sago compare`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{Done, note_if_incomplete, print, say};
use crate::query::{self, Comparison, Format, Session, Side};
use crate::store::check::check_parts;
use crate::{Error, Result};

/// Compare two runs, or two models of one run, prompt by prompt
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago compare runs/base runs/tuned                    each model that both runs have, base first
  sago compare runs/base runs/tuned --models base,tuned   models of different names
  sago compare runs/all --models llama,qwen            two models of one run
  sago compare runs/base runs/tuned --fail-if \"sgs.bleu > 0.05\" --fail-if \"low.ent > 0\"

Both sides are compared on the wordings that they share in the same words. difference = B - A: above 0, B is less stable.
low and high: 95 % BCa interval of the difference over prompts; p: paired t-test, two-sided; is_equivalent: both one-sided
tests (TOST) within margin.

--fail-if takes a condition in SQL over all data sets together: sgs.AXIS (of B), baseline.AXIS (of A), difference.AXIS,
low.AXIS, high.AXIS, p.AXIS. Where one comes true the exit code is 3, for a pipeline that guards a fine-tune or a template.")]
pub struct Compare {
    /// The run that is measured against
    a: PathBuf,
    /// The run that is measured; without it, two models of A
    b: Option<PathBuf>,
    /// The model of A and the model of B, separated by a comma
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    models: Vec<String>,
    /// A condition that must not come true; may be given several times
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// How to print the rows
    #[arg(long, default_value = "table", value_parser = PossibleValuesParser::new(Format::TEXTS).try_map(|s| s.parse::<Format>()))]
    format: Format,
}

impl Compare {
    pub fn carry_out(self) -> Result<Done> {
        let b = self.b.as_ref().unwrap_or(&self.a);
        for run in std::iter::once(&self.a).chain(&self.b) {
            check_parts(run)?;
            note_if_incomplete(run);
        }
        let mut failed = false;
        for (model_a, model_b) in self.pairs()? {
            let a = Side { run: self.a.clone(), model: model_a };
            let b = Side { run: b.clone(), model: model_b };
            let comparison = Comparison::new(&a, &b)?;
            say(&format!("A: {} of {}\nB: {} of {}", a.model, a.run.display(), b.model, b.run.display()));
            let shared = comparison.shared()?;
            say(&format!("{} wordings shared", shared.same));
            if shared.other_text > 0 {
                say(&format!("{} left out: same id, another text (another seed or prompt)", shared.other_text));
            }
            if shared.one_side > 0 {
                say(&format!("{} left out: only one side has them", shared.one_side));
            }
            let rows = comparison.rows()?;
            if rows.iter().all(|batch| batch.num_rows() == 0) {
                return Err(Error::input("the two sides share no axis: there is nothing to compare")
                    .found(format!("{} of {} and {} of {}", a.model, a.run.display(), b.model, b.run.display()))
                    .fix("see what each was measured on: sago sql RUN -c \"select * from coverage\"")
                    .into());
            }
            let mut table = Vec::new();
            query::print(&rows, self.format, &mut table)?;
            print(&String::from_utf8_lossy(&table))?;
            comparison.cautions()?.iter().for_each(|caution| say(&format!("note: {caution}")));
            for condition in &self.fail_if {
                if comparison.gate(condition)? {
                    let (of_b, of_a) = (b.run.display(), a.run.display());
                    say(&format!(
                        "gate: {condition} comes true for {} of {of_b} against {} of {of_a}",
                        b.model, a.model
                    ));
                    failed = true;
                }
            }
        }
        Ok(if failed { Done::CheckFailed } else { Done::All })
    }

    /// Which model of A goes with which of B.
    fn pairs(&self) -> Result<Vec<(String, String)>> {
        if let [a, b] = self.models.as_slice() {
            return Ok(vec![(a.clone(), b.clone())]);
        }
        let models_a = query::models_of(&Session::open_run(&self.a)?)?;
        let wanted = |why: &str, found: String| -> Error {
            Error::input(why).key("--models").found(found).expected("--models A,B: the model of each side").into()
        };
        if !self.models.is_empty() {
            return Err(wanted("a comparison is of two models", self.models.join(",")));
        }
        let Some(b) = &self.b else {
            return match models_a.as_slice() {
                [a, b] => Ok(vec![(a.clone(), b.clone())]),
                _ => Err(wanted("which two models of the run are to be compared?", models_a.join(", "))),
            };
        };
        let models_b = query::models_of(&Session::open_run(b)?)?;
        let both: Vec<(String, String)> =
            models_a.iter().filter(|m| models_b.contains(m)).map(|m| (m.clone(), m.clone())).collect();
        match (both.is_empty(), models_a.as_slice(), models_b.as_slice()) {
            (false, ..) => Ok(both),
            // One model on each side: there is no doubt which.
            (true, [a], [b]) => Ok(vec![(a.clone(), b.clone())]),
            _ => Err(wanted("no model is in both runs", format!("{}; {}", models_a.join(", "), models_b.join(", ")))),
        }
    }
}
