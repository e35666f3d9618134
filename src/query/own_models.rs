//! Own models: a user's SQL files beside the built-in ones.
//!
//! In: a folder of `NAME.sql`, each with `NAME.toml` beside it or not. Out: sources that know their files.
//! A run keeps those that its derived tables were made with, so that every later command has the same tables.

use std::fs;
use std::path::{Path, PathBuf};

use super::models::Source;
use crate::store::files::{files_below, write_atomically};
use crate::{Error, Result, text_file};

/// Where a run keeps them.
const KEPT: &str = "analysis/models";

impl Source {
    /// Every model in `folder` and its sub-folders, in the order of their paths. A model is named as its file: in lower
    /// case letters, digits and `_`. Hidden files and files of other endings are passed over.
    ///
    /// # Errors
    /// The folder can't be read or holds no model; a name that is none; two files of one name; a contract without
    /// its SQL; a file that is not UTF-8.
    pub fn from_folder(folder: &Path) -> Result<Vec<Source>> {
        if !folder.is_dir() {
            let found = if folder.exists() { "a file" } else { "no such folder" };
            let error = Error::input(format!("{} is no folder of models", folder.display())).found(found);
            return Err(error.expected("a folder with files NAME.sql").into());
        }
        let files = files_below(folder)?;
        let mut sources: Vec<Source> = Vec::new();
        for file in files.iter().filter(|file| is_visible(file) && ends_in(file, "sql")) {
            let name = name(file)?;
            if let Some(other) = sources.iter().find(|source| source.name == name) {
                let other = other.file.as_deref().unwrap_or(folder).display();
                return Err(Error::input(format!("two files hold a model {name}"))
                    .file(file)
                    .found(format!("{other} as well"))
                    .fix("give one of them another name")
                    .into());
            }
            let contract = file.with_extension("toml");
            let contract = if files.contains(&contract) { text_file::read(&contract)? } else { String::new() };
            sources.push(Source { file: Some(file.clone()), ..Source::new(name, text_file::read(file)?, contract) });
        }
        let lone =
            files.iter().find(|f| is_visible(f) && ends_in(f, "toml") && !files.contains(&f.with_extension("sql")));
        if let Some(contract) = lone {
            let sql = contract.with_extension("sql");
            let sql = sql.file_name().unwrap_or_default().to_string_lossy();
            return Err(Error::input(format!("a contract without its model: there is no {sql} beside it"))
                .file(contract)
                .into());
        }
        if sources.is_empty() {
            return Err(Error::input(format!("{} holds no .sql file", folder.display())).into());
        }
        Ok(sources)
    }
}

/// The models that `run` keeps; none where it keeps none.
pub(super) fn kept(run: &Path) -> Result<Vec<Source>> {
    let folder = run.join(KEPT);
    if folder.is_dir() && !files_below(&folder)?.is_empty() { Source::from_folder(&folder) } else { Ok(Vec::new()) }
}

/// Keeps `sources` in `run`, and no others.
pub(super) fn keep(run: &Path, sources: &[Source]) -> Result<()> {
    let folder = run.join(KEPT);
    let mut files: Vec<(PathBuf, &str)> = Vec::new();
    for source in sources {
        files.push((folder.join(&source.name).with_extension("sql"), &source.sql));
        if !source.contract.trim().is_empty() {
            files.push((folder.join(&source.name).with_extension("toml"), &source.contract));
        }
    }
    if folder.is_dir() {
        for old in files_below(&folder)?.into_iter().filter(|old| !files.iter().any(|(file, _)| file == old)) {
            fs::remove_file(&old).map_err(Error::io("remove", &old))?;
        }
    }
    for (file, text) in files {
        use std::io::Write;
        write_atomically(&file, |f| f.write_all(text.as_bytes()).map_err(Error::io("write", &file)))?;
    }
    Ok(())
}

fn ends_in(file: &Path, ending: &str) -> bool {
    file.extension().is_some_and(|e| e == ending)
}

fn is_visible(file: &Path) -> bool {
    !file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// SQL takes names without quotes as lower case, and a name is a file's too.
fn name(file: &Path) -> Result<String> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.chars().all(fits) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(name);
    }
    Err(Error::input(format!("\"{name}\" can't be the name of a model"))
        .file(file)
        .expected("lower case letters, digits and _, as my_scores.sql")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        folder
    }

    #[test]
    fn files_of_a_folder_are_models_and_what_is_kept_is_read_again() {
        let own = folder(&[
            ("b.sql", "select 2"),
            ("deep/er/a.sql", "select 1"),
            ("b.toml", "unique = []"),
            (".c.sql", "no"),
            ("notes.md", "no"),
        ]);
        let read = Source::from_folder(own.path()).unwrap();
        let plain = |sources: &[Source]| -> Vec<(String, String, String)> {
            sources.iter().map(|s| (s.name.clone(), s.sql.clone(), s.contract.clone())).collect()
        };
        let text = |t: &str| t.to_string();
        assert_eq!(
            plain(&read),
            [(text("b"), text("select 2"), text("unique = []")), (text("a"), text("select 1"), text(""))]
        );
        assert_eq!(read[1].file, Some(own.path().join("deep/er/a.sql")));

        let run = folder(&[]);
        assert!(kept(run.path()).unwrap().is_empty());
        keep(run.path(), &read).unwrap();
        let mut found = plain(&kept(run.path()).unwrap());
        found.reverse();
        assert_eq!(found, plain(&read));
        keep(run.path(), &read[1..]).unwrap();
        assert_eq!(plain(&kept(run.path()).unwrap()), plain(&read[1..]));
    }

    #[test]
    fn faults_name_the_file() {
        let error = |files: &[(&str, &str)]| {
            let own = folder(files);
            let text = Source::from_folder(own.path()).unwrap_err().to_string();
            text.replace(&own.path().display().to_string(), "DIR")
        };
        assert_eq!(error(&[("notes.md", "")]), "DIR holds no .sql file");
        assert_eq!(
            error(&[("a.sql", ""), ("x/a.sql", "")]),
            "two files hold a model a\n  in DIR/x/a.sql\n  found: DIR/a.sql as well\n  give one of them another name"
        );
        assert!(error(&[("My Model.sql", "")]).contains("\"My Model\" can't be the name of a model\n  in DIR/My"));
        assert!(error(&[("a.sql", ""), ("b.toml", "")]).contains("no b.sql beside it\n  in DIR/b.toml"));
        assert!(Source::from_folder(Path::new("nowhere")).unwrap_err().to_string().contains("no such folder"));
    }
}
