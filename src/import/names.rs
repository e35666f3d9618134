//! Names: texts that stand in many rows, each kept once.
//!
//! In: names of models, data sets and prompts as the files write them. Out: small numbers, and the names in order of
//! appearance. Models and data sets are folders of a run: their names are made to fit.

use std::collections::HashMap;

use crate::store::folder_name;
use crate::{Error, Result};

/// Names in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, u32>,
    all: Vec<String>,
}

impl Names {
    /// The number of a name.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.numbers.insert(name.to_string(), number);
        self.all.push(name.to_string());
        number
    }

    /// The name with this number.
    pub(super) fn get(&self, number: u32) -> &str {
        self.all.get(number as usize).map_or("", String::as_str)
    }

    /// The names as they can stand in a path, with a note for each that had to change.
    ///
    /// # Errors
    /// Two names that become one, or an empty name.
    pub(super) fn as_folders(&self, what: &str, notes: &mut Vec<String>) -> Result<Vec<String>> {
        let mut folders: Vec<String> = Vec::new();
        for name in &self.all {
            let Some(folder) = folder_name::made_of(name) else {
                let option = if what == "model" { "--model" } else { "--dataset" };
                return Err(Error::input(format!("there is a {what} without a name"))
                    .fix(format!("name it: {option} NAME"))
                    .into());
            };
            if let Some(other) = folders.iter().position(|f| *f == folder) {
                let other = self.all.get(other).map_or("", String::as_str);
                return Err(Error::input(format!("two {what}s would both be named {folder}"))
                    .found(format!("\"{other}\" and \"{name}\""))
                    .expected(folder_name::RULE)
                    .fix("rename one of them in the file")
                    .into());
            }
            if folder != *name {
                notes.push(format!("{what} \"{name}\" is named {folder} here"));
            }
            folders.push(folder);
        }
        Ok(folders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_folders_change_and_must_not_meet() {
        let mut names = Names::default();
        assert_eq!((names.number("GPT-5.4"), names.number("a/b c"), names.number("GPT-5.4")), (0, 1, 0));
        let mut notes = Vec::new();
        assert_eq!(names.as_folders("model", &mut notes).unwrap(), ["GPT-5.4", "a-b-c"]);
        assert_eq!(notes, ["model \"a/b c\" is named a-b-c here"]);
        names.number("a-b-c");
        let message = names.as_folders("model", &mut notes).unwrap_err().to_string();
        assert!(message.contains("\"a/b c\" and \"a-b-c\""), "{message}");
    }
}
