//! Options: what a release is made of and says of itself.
//!
//! In: the words of its maker. Out: [`Options`], or an error that names the option and what would do.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::licences;
use crate::{Error, Result};

/// What a release is made of and says of itself.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Complete, analysed runs.
    pub runs: Vec<PathBuf>,
    /// The folder to make; it must not be there, or be empty.
    pub out: PathBuf,
    /// Name for people; None for one made of the models' names.
    pub title: Option<String>,
    /// Who is to be cited.
    pub authors: Vec<String>,
    /// SPDX identifier of the licence of the results; None where its maker has not said one.
    pub license: Option<String>,
    /// Page at which the release will be found.
    pub url: Option<String>,
    /// Data sets whose texts are left out, beside those that may not be passed on.
    pub without_texts: Vec<String>,
    /// Whether tables of a user's own models are released.
    pub own_tables: bool,
    /// Whether hidden states are released.
    pub activations: bool,
    /// Bytes at which a file of a table ends and the next begins; None for 512 MiB.
    pub part_bytes: Option<usize>,
    /// Whether matrices are written as CSV too.
    pub csv: bool,
}

impl Options {
    /// Refuses words that would spoil the card, the citation or the metadata.
    ///
    /// # Errors
    /// An empty text, a page that is none, an unknown licence, an author who is named twice.
    pub(super) fn check(&self) -> Result<()> {
        let title = self.title.iter().map(|text| ("--title", text));
        let authors = self.authors.iter().map(|text| ("--author", text));
        let licence = self.license.iter().map(|text| ("--license", text));
        if let Some((key, _)) = title.chain(authors).chain(licence).find(|(_, text)| text.trim().is_empty()) {
            let error = Error::input(format!("{key} is empty")).key(key);
            return Err(error.fix("say it, or leave the option out").into());
        }
        let mut before = BTreeSet::new();
        if let Some(twice) = self.authors.iter().find(|author| !before.insert(author.as_str())) {
            return Err(Error::input("an author is named twice").key("--author").found(twice).into());
        }
        if let Some(url) = self.url.as_ref().filter(|url| !is_page(url)) {
            let error = Error::input("--url is no web page").key("--url").found(url);
            return Err(error.expected("an address as https://example.org/data").into());
        }
        self.license.as_deref().map_or(Ok(()), licences::check)
    }
}

fn is_page(url: &str) -> bool {
    let after = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    after.is_some_and(|rest| !rest.is_empty()) && !url.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_would_spoil_a_release_are_refused() {
        let refused = |options: Options| options.check().unwrap_err().to_string();
        let text = |text: &str| Some(text.to_string());
        assert!(refused(Options { license: text(""), ..Options::default() }).contains("--license is empty"));
        assert!(refused(Options { title: text(" "), ..Options::default() }).contains("--title is empty"));
        let licence = refused(Options { license: text("CC BY 4.0"), ..Options::default() });
        assert!(licence.contains("did you mean CC-BY-4.0?"), "{licence}");
        assert!(refused(Options { url: text("example.org"), ..Options::default() }).contains("https://"));
        let authors = ["A", "B", "A"].map(str::to_string).to_vec();
        assert!(refused(Options { authors, ..Options::default() }).contains("named twice"));
        let good = Options { license: text("CC-BY-4.0"), url: text("https://example.org/x"), ..Options::default() };
        good.check().unwrap();
    }
}
