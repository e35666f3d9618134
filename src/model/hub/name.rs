//! Names: how a model of the hub is written in one word.
//!
//! In: `org/name`, with `@revision` and `:file.gguf` where they are wanted. Out: the parts, checked to be safe in paths and URLs.

use std::fmt;
use std::path::{Component, Path};

/// A model of the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubName {
    /// `org/name`.
    pub id: String,
    /// Branch, tag or commit; None is the branch `main`.
    pub revision: Option<String>,
    /// A GGUF file of the repository; None is its safetensors.
    pub file: Option<String>,
}

impl HubName {
    /// The parts; None where the text is no hub id.
    pub fn parse(text: &str) -> Option<HubName> {
        let (rest, file) = match text.split_once(':') {
            Some((rest, file)) => (rest, Some(file)),
            None => (text, None),
        };
        let (id, revision) = match rest.split_once('@') {
            Some((id, revision)) => (id, Some(revision)),
            None => (rest, None),
        };
        let (organisation, name) = id.split_once('/')?;
        if ![organisation, name].into_iter().all(is_part) || is_file_name(name) {
            return None;
        }
        if !revision.is_none_or(is_revision) || !file.is_none_or(stays_inside) {
            return None;
        }
        let owned = |part: Option<&str>| part.map(str::to_string);
        Some(HubName { id: id.to_string(), revision: owned(revision), file: owned(file) })
    }

    /// The same at a revision; None where that can't be one.
    pub fn at(self, revision: &str) -> Option<HubName> {
        is_revision(revision).then(|| HubName { revision: Some(revision.to_string()), ..self })
    }
}

impl fmt::Display for HubName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)?;
        if let Some(revision) = &self.revision {
            write!(f, "@{revision}")?;
        }
        if let Some(file) = &self.file {
            write!(f, ":{file}")?;
        }
        Ok(())
    }
}

/// The hub's rule for names of organisations and repositories.
fn is_part(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=96).contains(&text.len())
        && text.chars().all(fits)
        && !text.starts_with(['.', '-'])
        && !text.ends_with(['.', '-'])
        && !text.contains("..")
        && !text.contains("--")
}

/// `models/llama.gguf` is a file that is not there, and no repository.
fn is_file_name(name: &str) -> bool {
    [".gguf", ".safetensors", ".bin", ".json"].iter().any(|end| name.ends_with(end))
}

/// Branches and tags of git, of the characters that need no care in a path; `refs/pr/1` is one.
fn is_revision(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    text.chars().all(fits) && stays_inside(text)
}

/// Whether a relative path stays below where it starts.
pub(super) fn stays_inside(path: &str) -> bool {
    let normal = |part: Component<'_>| matches!(part, Component::Normal(_));
    !path.is_empty() && !path.contains('\\') && Path::new(path).components().all(normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_name() {
        let parse = |text| HubName::parse(text).map(|n| (n.id, n.revision, n.file));
        let some = |text: &str| Some(text.to_string());
        assert_eq!(parse("Qwen/Qwen2.5-0.5B"), Some(("Qwen/Qwen2.5-0.5B".into(), None, None)));
        assert_eq!(parse("a/b@v1.0:q/x.gguf"), Some(("a/b".into(), some("v1.0"), some("q/x.gguf"))));
        assert_eq!(parse("a/b@refs/pr/1"), Some(("a/b".into(), some("refs/pr/1"), None)));
        for wrong in
            ["demo", "a/b/c", "./b", "../b", "/b", "a/", "a/b.gguf", "a b/c", "a/b@", "a/b@../x", "a/b:../x", "a/b:/x"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        let name = HubName::parse("a/b:x.gguf").unwrap().at("v2").unwrap();
        assert_eq!(name.to_string(), "a/b@v2:x.gguf");
        assert_eq!(name.at("../v2"), None);
    }
}
