//! Begun: a later measurement that has not ended.
//!
//! In: what is measured again. Out: measuring.json, which is there from just before the first part is replaced until the manifest
//! knows the new ones. While it is there, similarities and judgements may be of two kinds.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::files;
use super::run_dir::read_json;
use crate::{Error, Result};

const FILE: &str = "measuring.json";

/// `measuring.json`: what is measured again, as the user said it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// BERTScore's encoder, as said; None where BERTScore is left as it is.
    pub encoder: Option<String>,
    /// The encoder's layer, where one was said.
    pub layer: Option<i64>,
    /// Whether BERTScore weighs tokens by IDF.
    #[serde(default)]
    pub idf: bool,
    /// Whether BLEU and chrF are computed again.
    pub metrics: bool,
    /// Whether the built-in rules judge again.
    pub judges: bool,
}

impl Begun {
    /// The measurement that was begun in `run` and has not ended.
    ///
    /// # Errors
    /// measuring.json can't be read or is damaged.
    pub fn read(run: &Path) -> Result<Option<Begun>> {
        let path = run.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let begun = serde_json::from_value(read_json(&path)?);
        begun.map(Some).map_err(|e| Error::input(format!("{} is damaged: {e}", path.display())).file(&path).into())
    }

    /// Says that it is begun.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(&self, run: &Path) -> Result<()> {
        files::write_json(&run.join(FILE), self)
    }

    /// Says that it has ended.
    ///
    /// # Errors
    /// The file can't be removed.
    pub fn end(run: &Path) -> Result<()> {
        let path = run.join(FILE);
        std::fs::remove_file(&path).map_err(Error::io("remove", &path))
    }

    /// Whether this, carried out to its end, leaves nothing of `other` half done. Another encoder, layer or
    /// weight replaces a begun one.
    pub fn covers(&self, other: &Begun) -> bool {
        let has = |mine: bool, others: bool| mine || !others;
        has(self.encoder.is_some(), other.encoder.is_some())
            && has(self.metrics, other.metrics)
            && has(self.judges, other.judges)
    }

    /// The command that carries it out.
    pub fn command(&self, run: &Path) -> String {
        let mut command = format!("sago measure {}", run.display());
        if let Some(encoder) = &self.encoder {
            command.push_str(&format!(" --encoder {encoder}"));
        }
        if let Some(layer) = self.layer {
            command.push_str(&format!(" --layer {layer}"));
        }
        command.push_str(if self.idf { " --idf" } else { "" });
        command.push_str(if self.metrics { " --metrics" } else { "" });
        command.push_str(if self.judges { " --judges rules" } else { "" });
        command
    }

    /// The error of a run that can't be used before the measurement has ended.
    pub fn unfinished(&self, run: &Path) -> Error {
        let what = format!("a measurement of {} was begun and has not ended", run.display());
        let fix = format!("finish it: {}", self.command(run));
        Error::input(what).found("similarities or judgements of two kinds").fix(fix).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_begun_is_read_back_and_must_be_finished() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Begun::read(dir.path()).unwrap(), None);
        let begun =
            Begun { encoder: Some("minilm".to_string()), layer: Some(3), idf: true, metrics: true, judges: false };
        begun.write(dir.path()).unwrap();
        assert_eq!(Begun::read(dir.path()).unwrap().as_ref(), Some(&begun));
        assert_eq!(begun.command(Path::new("r")), "sago measure r --encoder minilm --layer 3 --idf --metrics");
        let other = Begun { encoder: Some("other".to_string()), ..begun.clone() };
        assert!(other.covers(&begun) && Begun { judges: true, ..begun.clone() }.covers(&begun));
        assert!(!Begun { metrics: false, ..other }.covers(&begun));
        Begun::end(dir.path()).unwrap();
        assert_eq!(Begun::read(dir.path()).unwrap(), None);
        std::fs::write(dir.path().join(FILE), "{").unwrap();
        assert!(Begun::read(dir.path()).is_err());
    }
}
